# Objects from the JSON of the homenode binary, which does all the work: this module
# finds it, hands it arguments one by one, never through a shell, and turns its exit
# codes into PowerShell's ways: 0 and 1 (findings) are results, all others errors
# unless there is a whole object: then one of several sources failed, a warning.
#
# The binary only reads, so no function has -WhatIf or -Confirm: there is nothing to
# preview, and nothing here reacts to $WhatIfPreference.

Set-StrictMode -Version 3.0

# Find-HomenodeBinary returns the file to run: $env:HOMENODE, or homenode in PATH.
function Find-HomenodeBinary {
    if ($env:HOMENODE) {
        if (-not (Test-Path -LiteralPath $env:HOMENODE -PathType Leaf)) {
            throw [System.IO.FileNotFoundException]::new("HOMENODE names no file: $env:HOMENODE")
        }
        return (Convert-Path -LiteralPath $env:HOMENODE)
    }
    $found = Get-Command -Name 'homenode' -CommandType Application -ErrorAction Ignore | Select-Object -First 1
    if (-not $found) {
        throw [System.IO.FileNotFoundException]::new('homenode is not in PATH: put it there, or its path into $env:HOMENODE')
    }
    return $found.Source
}

# Invoke-HomenodeBinary runs homenode and returns what it wrote. A credential goes
# into the environment of this one process: arguments are seen by other users.
function Invoke-HomenodeBinary {
    param(
        [Parameter(Mandatory)] [string] $Command,
        [string[]] $Arguments = @(),
        [pscredential] $Credential
    )
    $start = [System.Diagnostics.ProcessStartInfo]::new()
    $start.FileName = Find-HomenodeBinary
    $start.WorkingDirectory = (Get-Location -PSProvider FileSystem).ProviderPath
    $start.UseShellExecute = $false
    $start.CreateNoWindow = $true
    $start.RedirectStandardInput = $true # nobody could answer a prompt
    $start.RedirectStandardOutput = $true
    $start.RedirectStandardError = $true
    $start.StandardOutputEncoding = [System.Text.UTF8Encoding]::new($false)
    $start.StandardErrorEncoding = [System.Text.UTF8Encoding]::new($false)
    $start.ArgumentList.Add($Command)
    foreach ($argument in $Arguments) {
        $start.ArgumentList.Add($argument)
    }
    if ($Credential) {
        $start.Environment['GOVC_USERNAME'] = $Credential.UserName
        $start.Environment['GOVC_PASSWORD'] = $Credential.GetNetworkCredential().Password
    }
    $process = [System.Diagnostics.Process]::new()
    $process.StartInfo = $start
    $ended = $true
    try {
        [void] $process.Start()
        $ended = $false
        $process.StandardInput.Close()
        $output = $process.StandardOutput.ReadToEndAsync() # both at once: a full pipe would block it
        $errors = $process.StandardError.ReadToEndAsync()
        while (-not $process.WaitForExit(200)) { } # in steps, so that Ctrl-C is heard
        $process.WaitForExit()
        $ended = $true
        $text = $output.GetAwaiter().GetResult()
        $message = $errors.GetAwaiter().GetResult().Trim()
        if ($process.ExitCode -notin 0, 1) {
            if (-not $message) {
                $message = "homenode ended with exit code $($process.ExitCode)"
            }
            if (-not (Test-HomenodeJson -Text $text)) {
                throw [System.InvalidOperationException]::new($message)
            }
        }
        if ($message) {
            Write-Warning -Message $message
        }
        return $text
    }
    finally {
        if (-not $ended) {
            $process.Kill()
        }
        $process.Dispose()
    }
}

# Test-HomenodeJson reports whether the text is one whole JSON value.
function Test-HomenodeJson {
    param([AllowEmptyString()] [AllowNull()] [string] $Text)
    if ([string]::IsNullOrWhiteSpace($Text)) {
        return $false
    }
    try {
        $null = ConvertFrom-Json -InputObject $Text -Depth 100 -ErrorAction Stop
        return $true
    }
    catch {
        return $false
    }
}

# ConvertFrom-HomenodeJson returns the object with a type name, for formatting, and with the
# fields of its result as its own.
function ConvertFrom-HomenodeJson {
    param(
        [Parameter(Mandatory)] [string] $Json,
        [Parameter(Mandatory)] [string] $TypeName
    )
    foreach ($object in ($Json | ConvertFrom-Json -Depth 100)) {
        $object.PSObject.TypeNames.Insert(0, $TypeName)
        if ($object.PSObject.Properties['result'] -and $object.result -is [psobject]) {
            foreach ($property in $object.result.PSObject.Properties) {
                $object | Add-Member -NotePropertyName $property.Name -NotePropertyValue $property.Value -ErrorAction Ignore
            }
        }
        $object
    }
}

# Resolve-HomenodeSource turns what exists in a PowerShell drive into its path and
# leaves everything else, such as the URL of a vCenter, as it is.
function Resolve-HomenodeSource {
    param([Parameter(Mandatory)] [string[]] $Source)
    foreach ($one in $Source) {
        if ($one -notmatch '^(https?://|@)' -and $one -notin 'demo', 'vcenter' -and (Test-Path -LiteralPath $one)) {
            Convert-Path -LiteralPath $one
        }
        else {
            $one
        }
    }
}

# Get-HomenodeSourceArgument turns the parameters that all functions with a -Source
# share into arguments.
function Get-HomenodeSourceArgument {
    param([Parameter(Mandatory)] [System.Collections.IDictionary] $Bound)
    foreach ($value in $Bound['NodesPerSocket']) { '--nodes-per-socket', $value }
    foreach ($value in $Bound['Evidence']) { '--evidence', $value }
    foreach ($value in $Bound['Choose']) { '--choose', $value }
    if ($Bound['AssumeHost']) { '--assume-host', $Bound['AssumeHost'] }
    if ($Bound['Config']) { '--config', $Bound['Config'] }
    if ($Bound['CredentialFile']) { '--credentials', $Bound['CredentialFile'] }
    if ($Bound['Insecure']) { '--insecure' }
}

function Get-HomenodeAssessment {
    <#
    .SYNOPSIS
    Judges a fleet and returns the whole assessment as one object.
    .DESCRIPTION
    Runs homenode assess. The object is that of its JSON (docs/reference/json.md): clusters, findings, layouts, notes.
    Findings are a result, not an error. The function reads and changes nothing, so it has no -WhatIf.
    .PARAMETER Source
    A vCenter or ESXi host (https://...), an RVTools export, a snapshot, a scenario, or demo. Several are judged as
    one fleet.
    .PARAMETER Credential
    For vCenters. It is handed to homenode by the environment of that one process, never as an argument.
    .PARAMETER CredentialFile
    A file of lines "host user password" for several vCenters.
    .PARAMETER NodesPerSocket
    NUMA nodes per package for sources that know none, such as 'esx*=1', 'esx07=2'.
    .PARAMETER Evidence
    Files with what was seen of VMs, such as vmware.log.
    .PARAMETER AssumeHost
    The host to take where no source states one, such as 'nodes=2 cores=18 memory=1024GB release=7.0U3'.
    .PARAMETER Choose
    Take the other side where sources disagree, such as F-18.
    .PARAMETER Config
    The file with thresholds, severities and accepted findings.
    .PARAMETER Insecure
    Accept any certificate.
    .EXAMPLE
    (Get-HomenodeAssessment demo).clusters | Format-Table name, hosts, vms, wide, guestBlind
    .EXAMPLE
    $a = Get-HomenodeAssessment https://vc01.example.com -Credential (Get-Credential)
    #>
    [CmdletBinding()]
    [OutputType('Homenode.Assessment')]
    param(
        [Parameter(Mandatory, Position = 0)] [string[]] $Source,
        [pscredential] [System.Management.Automation.Credential()] $Credential = [pscredential]::Empty,
        [string] $CredentialFile,
        [string[]] $NodesPerSocket,
        [string[]] $Evidence,
        [string] $AssumeHost,
        [string[]] $Choose,
        [string] $Config,
        [switch] $Insecure
    )
    $arguments = @('--format', 'json') + @(Get-HomenodeSourceArgument -Bound $PSBoundParameters) + @('--') + @(Resolve-HomenodeSource -Source $Source)
    $json = Invoke-HomenodeBinary -Command 'assess' -Arguments $arguments -Credential (Select-HomenodeCredential -Credential $Credential)
    $assessment = ConvertFrom-HomenodeJson -Json $json -TypeName 'Homenode.Assessment'
    foreach ($finding in $assessment.findings) { $finding.PSObject.TypeNames.Insert(0, 'Homenode.Finding') }
    foreach ($layout in $assessment.layouts) { $layout.PSObject.TypeNames.Insert(0, 'Homenode.Layout') }
    $assessment
}

# Select-HomenodeCredential returns nothing for no credential.
function Select-HomenodeCredential {
    param([pscredential] $Credential)
    if ($Credential -and $Credential -ne [pscredential]::Empty) {
        $Credential
    }
}

function Get-HomenodeFinding {
    <#
    .SYNOPSIS
    Returns the findings about a fleet, an object each, highest severity first.
    .DESCRIPTION
    Takes a source, or an assessment from the pipeline. The function reads and changes nothing, so it has no -WhatIf.
    .PARAMETER Source
    As for Get-HomenodeAssessment.
    .PARAMETER Assessment
    What Get-HomenodeAssessment returned: it is not read again.
    .PARAMETER Credential
    As for Get-HomenodeAssessment.
    .PARAMETER MinimumSeverity
    Findings of this severity and above; all when it is left out.
    .PARAMETER Rule
    IDs of rules, with wildcards.
    .PARAMETER VM
    Names of VMs, with wildcards.
    .EXAMPLE
    Get-HomenodeFinding fleet.json -MinimumSeverity medium | Format-Table severity, rule, vm, message
    .EXAMPLE
    Get-HomenodeAssessment https://vc01.example.com -Credential $c | Get-HomenodeFinding -Rule N001 | Export-Csv n001.csv
    #>
    [CmdletBinding(DefaultParameterSetName = 'Source')]
    [OutputType('Homenode.Finding')]
    param(
        [Parameter(Mandatory, Position = 0, ParameterSetName = 'Source')] [string[]] $Source,
        [Parameter(Mandatory, ValueFromPipeline, ParameterSetName = 'Assessment')] [PSTypeName('Homenode.Assessment')] $Assessment,
        [Parameter(ParameterSetName = 'Source')] [pscredential] [System.Management.Automation.Credential()] $Credential = [pscredential]::Empty,
        [ValidateSet('info', 'low', 'medium', 'high')] [string] $MinimumSeverity = 'info',
        [string[]] $Rule = @('*'),
        [string[]] $VM = @('*')
    )
    process {
        if ($PSCmdlet.ParameterSetName -eq 'Source') {
            $Assessment = Get-HomenodeAssessment -Source $Source -Credential $Credential
        }
        $severities = 'info', 'low', 'medium', 'high'
        $least = $severities.IndexOf($MinimumSeverity.ToLowerInvariant())
        foreach ($finding in $Assessment.findings) {
            $name = if ($finding.PSObject.Properties['vm']) { $finding.vm } else { '' }
            $wanted = $severities.IndexOf([string] $finding.severity) -ge $least
            $wanted = $wanted -and @($Rule | Where-Object { $finding.rule -like $_ }).Count -gt 0
            if ($wanted -and @($VM | Where-Object { $name -like $_ }).Count -gt 0) {
                $finding
            }
        }
    }
}

function Get-HomenodeLayout {
    <#
    .SYNOPSIS
    Returns the predicted NUMA layouts of the VMs, an object for each VM.
    .DESCRIPTION
    Takes a source, or an assessment from the pipeline. The function reads and changes nothing, so it has no -WhatIf.
    .PARAMETER Source
    As for Get-HomenodeAssessment.
    .PARAMETER Assessment
    What Get-HomenodeAssessment returned: it is not read again.
    .PARAMETER Credential
    As for Get-HomenodeAssessment.
    .EXAMPLE
    Get-HomenodeLayout demo | Where-Object { $_.on[0].layout.ppds.Count -gt 1 } | Select-Object cluster, vm
    #>
    [CmdletBinding(DefaultParameterSetName = 'Source')]
    [OutputType('Homenode.Layout')]
    param(
        [Parameter(Mandatory, Position = 0, ParameterSetName = 'Source')] [string[]] $Source,
        [Parameter(Mandatory, ValueFromPipeline, ParameterSetName = 'Assessment')] [PSTypeName('Homenode.Assessment')] $Assessment,
        [Parameter(ParameterSetName = 'Source')] [pscredential] [System.Management.Automation.Credential()] $Credential = [pscredential]::Empty
    )
    process {
        if ($PSCmdlet.ParameterSetName -eq 'Source') {
            $Assessment = Get-HomenodeAssessment -Source $Source -Credential $Credential
        }
        $Assessment.layouts
    }
}

function Get-HomenodeExplanation {
    <#
    .SYNOPSIS
    Explains the topology of one VM: every decision, the fact behind it and the rule.
    .DESCRIPTION
    Runs homenode explain. The function reads and changes nothing, so it has no -WhatIf.
    .PARAMETER Source
    As for Get-HomenodeAssessment.
    .PARAMETER VM
    A name, cluster/name or ID; also from the pipeline.
    .PARAMETER VMHost
    On this host instead of the one it is on.
    .PARAMETER Event
    What happens to the VM.
    .PARAMETER From
    The host of its last power-on, for vmotion and resume.
    .PARAMETER VCpuCount
    With this number of vCPUs instead of its own.
    .PARAMETER Credential
    As for Get-HomenodeAssessment.
    .EXAMPLE
    (Get-HomenodeExplanation demo sql01).trace | Format-Table rules, because, result
    .EXAMPLE
    'sql01', 'erp01' | Get-HomenodeExplanation fleet.json -Event vmotion -VMHost esx13
    #>
    [CmdletBinding()]
    [OutputType('Homenode.Explanation')]
    param(
        [Parameter(Mandatory, Position = 0)] [string[]] $Source,
        [Parameter(Mandatory, Position = 1, ValueFromPipeline)] [string] $VM,
        [string] $VMHost,
        [ValidateSet('power-cycle', 'first-power-on', 'reboot', 'vmotion', 'resume', 'vcpus-changed')] [string] $Event,
        [string] $From,
        [ValidateRange(1, 4096)] [int] $VCpuCount,
        [pscredential] [System.Management.Automation.Credential()] $Credential = [pscredential]::Empty,
        [string] $CredentialFile,
        [string[]] $NodesPerSocket,
        [string[]] $Evidence,
        [string] $AssumeHost,
        [string[]] $Choose,
        [string] $Config,
        [switch] $Insecure
    )
    process {
        $arguments = @('--format', 'json') + @(Get-HomenodeSourceArgument -Bound $PSBoundParameters)
        if ($VMHost) { $arguments += '--on', $VMHost }
        if ($Event) { $arguments += '--event', $Event }
        if ($From) { $arguments += '--from-host', $From }
        if ($VCpuCount) { $arguments += '--vcpus', "$VCpuCount" }
        $arguments += @('--') + @(Resolve-HomenodeSource -Source $Source) + @($VM)
        $json = Invoke-HomenodeBinary -Command 'explain' -Arguments $arguments -Credential (Select-HomenodeCredential -Credential $Credential)
        ConvertFrom-HomenodeJson -Json $json -TypeName 'Homenode.Explanation'
    }
}

function Get-HomenodeReport {
    <#
    .SYNOPSIS
    Returns a report about a fleet as text, for a file or another tool.
    .DESCRIPTION
    Runs homenode assess. The function writes no file: pipe its output. It reads and changes nothing, so it has no
    -WhatIf.
    .PARAMETER Source
    As for Get-HomenodeAssessment.
    .PARAMETER Format
    csv, html, junit, markdown or sarif. For a workbook run homenode itself: homenode assess SOURCE --format xlsx -o FILE.
    .PARAMETER Table
    For csv: which table.
    .PARAMETER MinimumFailure
    For junit and markdown: the severity from which a finding is a failure.
    .PARAMETER Credential
    As for Get-HomenodeAssessment.
    .EXAMPLE
    Get-HomenodeReport fleet.json -Format html | Set-Content report.html
    #>
    [CmdletBinding()]
    [OutputType([string])]
    param(
        [Parameter(Mandatory, Position = 0)] [string[]] $Source,
        [Parameter(Mandatory)] [ValidateSet('csv', 'html', 'junit', 'markdown', 'sarif')] [string] $Format,
        [ValidateSet('findings', 'vms', 'hosts', 'clusters', 'observations', 'suppressed', 'rules', 'notes', 'about')] [string] $Table,
        [ValidateSet('info', 'low', 'medium', 'high')] [string] $MinimumFailure,
        [pscredential] [System.Management.Automation.Credential()] $Credential = [pscredential]::Empty,
        [string] $CredentialFile,
        [string[]] $NodesPerSocket,
        [string[]] $Evidence,
        [string] $AssumeHost,
        [string[]] $Choose,
        [string] $Config,
        [switch] $Insecure
    )
    $arguments = @('--format', $Format.ToLowerInvariant()) + @(Get-HomenodeSourceArgument -Bound $PSBoundParameters)
    if ($Table) { $arguments += '--table', $Table.ToLowerInvariant() }
    if ($MinimumFailure) { $arguments += '--fail-on', $MinimumFailure }
    $arguments += @('--') + @(Resolve-HomenodeSource -Source $Source)
    Invoke-HomenodeBinary -Command 'assess' -Arguments $arguments -Credential (Select-HomenodeCredential -Credential $Credential)
}

function Get-HomenodeRule {
    <#
    .SYNOPSIS
    Returns the rules: what, why, how to fix, when it is wrong, sources.
    .DESCRIPTION
    Runs homenode rules. The function reads and changes nothing, so it has no -WhatIf.
    .PARAMETER Id
    The ID or short name of one rule; all rules when it is left out.
    .EXAMPLE
    Get-HomenodeRule N001 | Format-List title, why, fix
    #>
    [CmdletBinding()]
    [OutputType('Homenode.Rule')]
    param([Parameter(Position = 0)] [string] $Id)
    $arguments = @('--format', 'json', '--')
    if ($Id) { $arguments += $Id }
    $json = Invoke-HomenodeBinary -Command 'rules' -Arguments $arguments
    ConvertFrom-HomenodeJson -Json $json -TypeName 'Homenode.Rule'
}

function Test-HomenodeChange {
    <#
    .SYNOPSIS
    Judges a fleet with changes beside today's: which VMs are better off, worse, or cannot run.
    .DESCRIPTION
    Runs homenode assess with --what-if. The changes exist in the model only: the function reads and changes nothing, so
    it has no -WhatIf.
    .PARAMETER Source
    As for Get-HomenodeAssessment.
    .PARAMETER Change
    Changes such as 'vm=sql* hotAdd=off', 'host=esx* nodesPerSocket=2' or 'release=8.0U3 hw=21' (docs/checks.md). They
    come first.
    .PARAMETER LoseHost
    Hosts that are lost, their VMs powered on where it suits them worst.
    .PARAMETER AddHost
    Further hosts: 'like=esx01 count=2' or '2x32c/1TB'.
    .PARAMETER Credential
    As for Get-HomenodeAssessment.
    .EXAMPLE
    (Test-HomenodeChange fleet.json -Change 'vm=sql* hotAdd=off').vms | Format-Table vm, verdict, why
    .EXAMPLE
    (Test-HomenodeChange fleet.json -LoseHost esx03).capacity
    #>
    [CmdletBinding()]
    [OutputType('Homenode.WhatIf')]
    param(
        [Parameter(Mandatory, Position = 0)] [string[]] $Source,
        [Parameter(Position = 1)] [string[]] $Change,
        [string[]] $LoseHost,
        [string[]] $AddHost,
        [pscredential] [System.Management.Automation.Credential()] $Credential = [pscredential]::Empty,
        [string] $CredentialFile,
        [string[]] $NodesPerSocket,
        [string] $AssumeHost,
        [string[]] $Choose,
        [string] $Config,
        [switch] $Insecure
    )
    if (-not ($Change -or $LoseHost -or $AddHost)) {
        throw [System.ArgumentException]::new('want -Change, -LoseHost or -AddHost')
    }
    $arguments = @('--format', 'json') + @(Get-HomenodeSourceArgument -Bound $PSBoundParameters)
    foreach ($value in $Change) { $arguments += '--what-if', $value }
    foreach ($value in $LoseHost) { $arguments += '--what-if', "lose-host=$value" }
    foreach ($value in $AddHost) { $arguments += '--what-if', "add-host=$value" }
    $arguments += @('--') + @(Resolve-HomenodeSource -Source $Source)
    $json = Invoke-HomenodeBinary -Command 'assess' -Arguments $arguments -Credential (Select-HomenodeCredential -Credential $Credential)
    ConvertFrom-HomenodeJson -Json $json -TypeName 'Homenode.WhatIf'
}

function Compare-HomenodeFleet {
    <#
    .SYNOPSIS
    Compares two fleets: VMs with another topology, new and gone findings, other settings.
    .DESCRIPTION
    Runs homenode compare. The function reads and changes nothing, so it has no -WhatIf.
    .PARAMETER Reference
    The fleet before: a source as for Get-HomenodeAssessment.
    .PARAMETER Difference
    The fleet after.
    .PARAMETER Credential
    As for Get-HomenodeAssessment.
    .EXAMPLE
    (Compare-HomenodeFleet monday.json friday.json).vms | Format-Table vm, verdict, why
    #>
    [CmdletBinding()]
    [OutputType('Homenode.Drift')]
    param(
        [Parameter(Mandatory, Position = 0)] [string] $Reference,
        [Parameter(Mandatory, Position = 1)] [string] $Difference,
        [pscredential] [System.Management.Automation.Credential()] $Credential = [pscredential]::Empty,
        [string] $CredentialFile,
        [string[]] $NodesPerSocket,
        [string] $AssumeHost,
        [string[]] $Choose,
        [string] $Config,
        [switch] $Insecure
    )
    $arguments = @('--format', 'json') + @(Get-HomenodeSourceArgument -Bound $PSBoundParameters)
    $arguments += @('--') + @(Resolve-HomenodeSource -Source $Reference, $Difference)
    $json = Invoke-HomenodeBinary -Command 'compare' -Arguments $arguments -Credential (Select-HomenodeCredential -Credential $Credential)
    ConvertFrom-HomenodeJson -Json $json -TypeName 'Homenode.Drift'
}

function Get-HomenodeMatrix {
    <#
    .SYNOPSIS
    Returns what becomes of every VM of a cluster on every kind of its hosts.
    .DESCRIPTION
    Runs homenode explain --cluster. The function reads and changes nothing, so it has no -WhatIf.
    .PARAMETER Source
    As for Get-HomenodeAssessment; one source.
    .PARAMETER Cluster
    A cluster, or a standalone host.
    .PARAMETER Event
    How the VM comes to the host.
    .PARAMETER Credential
    As for Get-HomenodeAssessment.
    .EXAMPLE
    (Get-HomenodeMatrix fleet.json -Cluster prod-a -Event vmotion).clusters
    #>
    [CmdletBinding()]
    [OutputType('Homenode.Matrix')]
    param(
        [Parameter(Mandatory, Position = 0)] [string] $Source,
        [Parameter(Mandatory, Position = 1)] [string] $Cluster,
        [string] $Event,
        [pscredential] [System.Management.Automation.Credential()] $Credential = [pscredential]::Empty,
        [string] $CredentialFile,
        [string[]] $NodesPerSocket,
        [string] $AssumeHost,
        [string[]] $Choose,
        [switch] $Insecure
    )
    $arguments = @('--format', 'json', '--cluster', $Cluster) + @(Get-HomenodeSourceArgument -Bound $PSBoundParameters)
    if ($Event) { $arguments += '--event', $Event }
    $arguments += @('--') + @(Resolve-HomenodeSource -Source $Source)
    $json = Invoke-HomenodeBinary -Command 'explain' -Arguments $arguments -Credential (Select-HomenodeCredential -Credential $Credential)
    ConvertFrom-HomenodeJson -Json $json -TypeName 'Homenode.Matrix'
}

function Read-HomenodeFile {
    <#
    .SYNOPSIS
    Returns what homenode understands of a file: each fact with its place.
    .DESCRIPTION
    Runs homenode explain FILE. The function reads and changes nothing, so it has no -WhatIf.
    .PARAMETER Path
    A file or folder, such as vmware.log, a support bundle, or the output of lscpu.
    .EXAMPLE
    (Read-HomenodeFile vmware.log).files
    #>
    [CmdletBinding()]
    [OutputType('Homenode.Facts')]
    param([Parameter(Mandatory, Position = 0)] [string] $Path)
    $arguments = @('--format', 'json', '--') + @(Convert-Path -LiteralPath $Path -ErrorAction Stop)
    $json = Invoke-HomenodeBinary -Command 'explain' -Arguments $arguments
    ConvertFrom-HomenodeJson -Json $json -TypeName 'Homenode.Facts'
}

function Compare-HomenodeBenchmark {
    <#
    .SYNOPSIS
    Compares two sets of benchmark runs metric by metric.
    .DESCRIPTION
    Runs homenode compare. The function reads and changes nothing, so it has no -WhatIf.
    .PARAMETER Reference
    Files or folders with the runs before.
    .PARAMETER Difference
    Files or folders with the runs after.
    .EXAMPLE
    (Compare-HomenodeBenchmark -Reference before -Difference after).metrics | Format-Table metric, verdict
    #>
    [CmdletBinding()]
    [OutputType('Homenode.Comparison')]
    param(
        [Parameter(Mandatory, Position = 0)] [string[]] $Reference,
        [Parameter(Mandatory, Position = 1)] [string[]] $Difference
    )
    # Full paths: none of them can be taken for a flag.
    $arguments = @('--format', 'json') + @(Convert-Path -LiteralPath $Reference -ErrorAction Stop) + @('--') + @(Convert-Path -LiteralPath $Difference -ErrorAction Stop)
    $json = Invoke-HomenodeBinary -Command 'compare' -Arguments $arguments
    ConvertFrom-HomenodeJson -Json $json -TypeName 'Homenode.Comparison'
}

# What a prompt shows of an object that was not formatted otherwise.
foreach ($view in @(
        @{ TypeName = 'Homenode.Assessment'; DefaultDisplayPropertySet = 'source', 'collected', 'hosts', 'vms', 'judged', 'findingsBySeverity' }
        @{ TypeName = 'Homenode.Finding'; DefaultDisplayPropertySet = 'severity', 'rule', 'cluster', 'vm', 'message' }
        @{ TypeName = 'Homenode.Explanation'; DefaultDisplayPropertySet = 'vm', 'host', 'release', 'event', 'layout' }
        @{ TypeName = 'Homenode.Rule'; DefaultDisplayPropertySet = 'id', 'severity', 'title' }
    )) {
    Update-TypeData @view -Force -WhatIf:$false -Confirm:$false # a type of this session, no change
}
