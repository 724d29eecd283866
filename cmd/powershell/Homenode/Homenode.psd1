@{
    RootModule           = 'Homenode.psm1'
    ModuleVersion        = '0.1.0'
    GUID                 = '5f0c6a52-3f0b-4f5c-9d6e-6a3d3b7a2c41'
    Author               = 'The homenode authors'
    Copyright            = 'Apache-2.0, see LICENSE'
    Description          = 'What NUMA does to every VM of a vSphere fleet, as objects: a wrapper of the homenode binary. It reads and changes nothing.'
    PowerShellVersion    = '7.2'
    CompatiblePSEditions = @('Core')
    FunctionsToExport    = @(
        'Get-HomenodeAssessment'
        'Get-HomenodeFinding'
        'Get-HomenodeLayout'
        'Get-HomenodeExplanation'
        'Get-HomenodeReport'
        'Get-HomenodeRule'
        'Get-HomenodeMatrix'
        'Read-HomenodeFile'
        'Test-HomenodeChange'
        'Compare-HomenodeFleet'
        'Compare-HomenodeBenchmark'
    )
    CmdletsToExport      = @()
    VariablesToExport    = @()
    AliasesToExport      = @()
    PrivateData          = @{ PSData = @{ Tags = @('vSphere', 'VMware', 'NUMA', 'vNUMA', 'ESXi') } }
}
