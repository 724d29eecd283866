# Pester 5 tests of the module. HOMENODE names the binary, or homenode is in PATH:
#   Invoke-Pester powershell/Homenode.Tests.ps1

BeforeAll {
    Import-Module (Join-Path $PSScriptRoot 'Homenode' 'Homenode.psd1') -Force
    $script:fleet = Join-Path $TestDrive 'a b''c$(x).txtar'
    Set-Content -LiteralPath $script:fleet -Value @'
release 7.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=1024GB
vm sql01 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm web01 vcpus=4 memory=16GB hotAdd=on
'@
}

Describe 'Get-HomenodeAssessment' {
    It 'returns one object, although there are findings' {
        $a = Get-HomenodeAssessment $script:fleet
        $a.format | Should -Be 'homenode-assessment'
        $a.vms | Should -Be 2
        $a.PSObject.TypeNames[0] | Should -Be 'Homenode.Assessment'
    }
    It 'reads a path of the current location' {
        Push-Location $TestDrive
        try { (Get-HomenodeAssessment -Source (Split-Path -Leaf $script:fleet)).judged | Should -Be 2 }
        finally { Pop-Location }
    }
    It 'throws what homenode says' {
        { Get-HomenodeAssessment nowhere.txtar } | Should -Throw '*nowhere.txtar*'
    }
    It 'takes no argument for a flag' {
        { Get-HomenodeAssessment '--details' } | Should -Throw '*--details*'
    }
    It 'has no -WhatIf, and does not mind the preference' {
        (Get-Command Get-HomenodeAssessment).Parameters.Keys | Should -Not -Contain 'WhatIf'
        $WhatIfPreference = $true
        (Get-HomenodeAssessment $script:fleet).judged | Should -Be 2
    }
}

Describe 'Get-HomenodeFinding' {
    It 'returns findings from a source and from the pipeline alike' {
        $one = Get-HomenodeFinding $script:fleet -Rule N001
        $two = Get-HomenodeAssessment $script:fleet | Get-HomenodeFinding -Rule N001
        $one.vm | Should -Be 'sql01'
        $two.message | Should -Be $one.message
    }
    It 'leaves out lesser severities and other VMs' {
        (Get-HomenodeFinding $script:fleet -MinimumSeverity high).rule | Should -Be 'N001'
        Get-HomenodeFinding $script:fleet -MinimumSeverity high -VM 'web*' | Should -BeNullOrEmpty
        (Get-HomenodeFinding $script:fleet -VM 'web*').vm | Select-Object -Unique | Should -Be 'web01'
    }
}

Describe 'The other functions' {
    It 'explains VMs from the pipeline' {
        $x = 'sql01', 'web01' | Get-HomenodeExplanation $script:fleet -Event vmotion
        $x.vm | Should -Be @('sql01', 'web01')
        $x[0].event | Should -Be 'vmotion'
        (Get-HomenodeExplanation $script:fleet sql01 -VCpuCount 8).event | Should -Be 'vcpus-changed'
    }
    It 'returns a layout for each VM' {
        (Get-HomenodeLayout $script:fleet).vm | Should -Be @('sql01', 'web01')
    }
    It 'returns rules' {
        (Get-HomenodeRule N001).id | Should -Be 'N001'
        (Get-HomenodeRule).Count | Should -BeGreaterThan 10
    }
    It 'returns reports as text' {
        Get-HomenodeReport $script:fleet -Format junit | Should -BeLike '<?xml*<testsuites*'
        Get-HomenodeReport $script:fleet -Format csv -Table vms | Should -BeLike 'VM,Cluster,*sql01,prod,*'
    }
    It 'judges changes' {
        $w = Test-HomenodeChange $script:fleet -Change 'vm=sql01 hotAdd=off coresPerSocket=16'
        $w.format | Should -Be 'homenode-what-if'
        $w.better | Should -Be 1
        { Test-HomenodeChange $script:fleet } | Should -Throw '*-Change*'
    }
    It 'compares fleets' {
        (Compare-HomenodeFleet $script:fleet $script:fleet).unchanged | Should -Be 2
    }
    It 'returns a matrix' {
        (Get-HomenodeMatrix $script:fleet -Cluster prod).clusters[0].cluster | Should -Be 'prod'
    }
    It 'reads files' {
        (Read-HomenodeFile $script:fleet).format | Should -Be 'homenode-facts'
    }
}

Describe 'The binary' {
    It 'is named by HOMENODE' {
        $before = $env:HOMENODE
        try {
            $env:HOMENODE = Join-Path $TestDrive 'nothing'
            { Get-HomenodeRule } | Should -Throw '*HOMENODE names no file*'
        }
        finally { $env:HOMENODE = $before }
    }
    It 'returns an object although one of several sources failed, with a warning' -Skip:$IsWindows {
        $fake = Join-Path $TestDrive 'homenode-partial'
        Set-Content -LiteralPath $fake -Value @'
#!/bin/sh
[ "$HOMENODE_TEST" = broken ] && printf '{"findings":[' || printf '{"judged":2,"findings":[],"layouts":[]}'
echo 'homenode: vc02: connection refused' >&2
exit 2
'@
        chmod +x $fake
        $before = $env:HOMENODE
        try {
            $env:HOMENODE = $fake
            $a = Get-HomenodeAssessment https://vc01.example.com, https://vc02.example.com -WarningVariable said -WarningAction SilentlyContinue
            $a.judged | Should -Be 2
            "$said" | Should -BeLike '*vc02: connection refused*'
            $env:HOMENODE_TEST = 'broken'
            { Get-HomenodeAssessment demo } | Should -Throw '*connection refused*'
        }
        finally {
            $env:HOMENODE = $before
            $env:HOMENODE_TEST = $null
        }
    }
    It 'gets the credential by its own environment only' -Skip:$IsWindows {
        $fake = Join-Path $TestDrive 'homenode-fake'
        Set-Content -LiteralPath $fake -Value @'
#!/bin/sh
printf '{"user":"%s","password":"%s","arguments":"%s"}' "$GOVC_USERNAME" "$GOVC_PASSWORD" "$*" | sed 's/}$/,"findings":[],"layouts":[]}/'
'@
        chmod +x $fake
        $before = $env:HOMENODE
        try {
            $env:HOMENODE = $fake
            $secret = ConvertTo-SecureString 'pa ss$word' -AsPlainText -Force
            $a = Get-HomenodeAssessment https://vc01.example.com -Credential ([pscredential]::new('reader@vsphere.local', $secret))
            $a.user | Should -Be 'reader@vsphere.local'
            $a.password | Should -Be 'pa ss$word'
            $a.arguments | Should -Not -BeLike '*pa ss*'
            $env:GOVC_PASSWORD | Should -Not -Be 'pa ss$word'
        }
        finally { $env:HOMENODE = $before }
    }
}
