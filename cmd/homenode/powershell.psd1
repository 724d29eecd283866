@{
    RootModule           = 'Homenode.psm1'
    ModuleVersion        = '0.1.0'
    GUID                 = '5f0c6a52-3f0b-4f5c-9d6e-6a3d3b7a2c41'
    Author               = 'The homenode authors'
    Copyright            = 'Apache-2.0, see LICENSE'
    Description          = 'What NUMA does to every VM of a vSphere fleet, as objects: functions for the commands of the homenode binary.'
    PowerShellVersion    = '5.1'
    CompatiblePSEditions = @('Desktop', 'Core')
    FunctionsToExport    = @(
{FUNCTIONS}
    )
    CmdletsToExport      = @()
    VariablesToExport    = @()
    AliasesToExport      = @()
    PrivateData          = @{ PSData = @{ Tags = @('vSphere', 'VMware', 'NUMA', 'vNUMA', 'ESXi') } }
}
