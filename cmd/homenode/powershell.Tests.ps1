# Pester 5 tests of the module. HOMENODE names the binary, or homenode is in PATH:
#   Invoke-Pester cmd/homenode/powershell.Tests.ps1

BeforeAll {
    $module = Join-Path $TestDrive 'Homenode'
    $binary = if ($env:HOMENODE) { $env:HOMENODE } else { 'homenode' }
    & $binary powershell $module
    Import-Module $module -Force
    $script:fleet = Join-Path $TestDrive 'a b''c$(x).txtar'
    Set-Content -LiteralPath $script:fleet -Value @'
release 7.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=1024GB
vm sql01 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm web01 vcpus=4 memory=16GB hotAdd=on
'@
}

Describe 'Objects' {
    It 'returns one object, although there are findings' {
        $a = Get-HomenodeAssessment $script:fleet
        $a.format | Should -Be 'homenode-assessment'
        $a.vms | Should -Be 2
        $a.PSObject.TypeNames[0] | Should -Be 'Homenode.assessment'
        ($a.findings | Where-Object { $_.rule -eq 'N001' }).vm | Should -Be 'sql01'
    }
    It 'reads a path of the current location' {
        Push-Location $TestDrive
        try { (Get-HomenodeAssessment (Split-Path -Leaf $script:fleet)).judged | Should -Be 2 }
        finally { Pop-Location }
    }
    It 'throws what homenode says' {
        { Get-HomenodeAssessment nowhere.txtar } | Should -Throw '*nowhere.txtar*'
    }
    It 'takes no argument for a flag' {
        { Get-HomenodeAssessment '--details' } | Should -Throw '*--details*'
    }
    It 'explains a VM on a host, after an event' {
        (Get-HomenodeExplanation $script:fleet sql01 -Event vmotion).event | Should -Be 'vmotion'
    }
    It 'asks without a source' {
        (Get-HomenodeFit -Vm '12x96GB*40' -Hosts '2x32c/1TB,2x48c/1.5TB').format | Should -Be 'homenode-size-fit'
    }
    It 'writes another form to a file' {
        $file = Join-Path $TestDrive 'report of a b.html'
        (Get-HomenodeAssessment $script:fleet -Format html -OutputFile $file).Length | Should -BeGreaterThan 1000
    }
    It 'leaves an argument as it is' {
        { Get-HomenodeExplanation $script:fleet 'a"b\' } | Should -Throw '*a\"b\\*'
    }
}
