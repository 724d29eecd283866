
$ErrorActionPreference = 'Stop'
if (-not $global:DefaultVIServer) { throw 'Connect-VIServer first' }

function Get-Setting($List, [string]$Key) {
    foreach ($option in $List) { if ($option.Key -eq $Key) { return [string]$option.Value } }
    return ''
}

# Get-Now returns what the VM or host has for the setting of a row.
function Get-Now($View, $Row) {
    if ($Row.What -eq 'hostOption') { return Get-Setting $View.Config.Option $Row.Key }
    $config = $View.Config
    $nodes = $config.NumaInfo
    switch ($Row.What) {
        'instanceUuid' { return $config.InstanceUuid }
        'hardware' { return [string][int]($config.Version -replace '^vmx-', '') }
        'coresPerSocket' { if ($config.Hardware.AutoCoresPerSocket) { return '0' } else { return [string]$config.Hardware.NumCoresPerSocket } }
        'coresPerNUMANode' { if (-not $nodes -or $nodes.AutoCoresPerNumaNode) { return '0' } else { return [string][int]$nodes.CoresPerNumaNode } }
        @read@
        'extraConfig' { return Get-Setting $config.ExtraConfig $Row.Key }
    }
    throw "no setting $($Row.What)"
}

# Test-Same compares two values: TRUE and FALSE in any case of letters.
function Test-Same([string]$A, [string]$B) { ($A -ceq $B) -or (($A -in 'TRUE', 'FALSE') -and ($A -eq $B)) }

function Test-Wanted($View, $Row) {
    $now = Get-Now $View $Row
    if ($Row.Gone) { return -not (Test-Same $now $Row.From) }
    return Test-Same $now $Row.To
}

# Get-Subject returns the VM or host: by its MoRef, or the only VM with the UUID, of the instance or of the BIOS.
function Get-Subject($Change) {
    if (-not $Change.ByUuid) { return Get-View -Id "$($Change.Kind)-$($Change.Id)" }
    $views = foreach ($property in 'Config.InstanceUuid', 'Config.Uuid') { Get-View -ViewType VirtualMachine -Filter @{ $property = "^$($Change.Id)`$" } }
    $views = @($views | Where-Object { $_ } | Sort-Object -Unique -Property { $_.MoRef.Value })
    if ($views.Count -ne 1) { throw "$($views.Count) VMs have the UUID $($Change.Id), want one" }
    return $views[0]
}

# Get-State says how a VM or host stands to the plan: done, write, runs (it has to be off first), or drift and why.
function Get-State($View, $Change) {
    $drift = foreach ($row in $Change.Rows) {
        $now = Get-Now $View $row
        if (-not ($row.Loose -or (Test-Wanted $View $row) -or (Test-Same $now $row.From))) { '{0} {1} is "{2}", not "{3}"' -f $row.What, $row.Key, $now, $row.From }
    }
    if ($drift) { return 'drift: ' + ($drift -join '; ') }
    $open = @($Change.Rows | Where-Object { -not ($_.Quiet -or (Test-Wanted $View $_)) })
    if ($open.Count -eq 0) { return 'done' }
    if ($Change.Kind -eq 'VirtualMachine') {
        if ($View.Runtime.PowerState -eq 'suspended') { return 'drift: it is suspended' }
        if ($Change.Off -and $View.Runtime.PowerState -eq 'poweredOn') { return 'runs' }
    }
    return 'write'
}

# Write-Change makes all edits of a VM in one task. The change version lets vCenter refuse it when somebody was faster.
function Write-Change($View, $Change) {
    $open = @($Change.Rows | Where-Object { $_.Write -and -not (Test-Wanted $View $_) })
    if ($Change.Kind -eq 'HostSystem') {
        $manager = Get-View -Id $View.ConfigManager.AdvancedOption
        foreach ($row in $open) {
            $option = $manager.QueryOptions($row.Key)[0]
            $option.Value = [Convert]::ChangeType($row.Set, $option.Value.GetType(), [Globalization.CultureInfo]::InvariantCulture)
            $manager.UpdateOptions(@($option))
        }
        return
    }
    $hardware = @($open | Where-Object { $_.What -eq 'hardware' })
    if ($hardware.Count -gt 0) {
        $version = 'vmx-{0:d2}' -f [int]$hardware[0].Set
        $task = $View.UpgradeVM_Task($version)
        $null = Get-Task -Id $task | Wait-Task
        $View.UpdateViewData('Config')
    }
    $spec = New-Object VMware.Vim.VirtualMachineConfigSpec
    $spec.ChangeVersion = $View.Config.ChangeVersion
    foreach ($row in $open) {
        switch ($row.What) {
            'vcpus' { $spec.NumCPUs = [int]$row.Set }
            'memory' { $spec.MemoryMB = [long]$row.Set }
            'coresPerSocket' { $spec.NumCoresPerSocket = [int]$row.Set }
            'cpuHotAdd' { $spec.CpuHotAddEnabled = $row.Set -eq 'true' }
            'memoryHotAdd' { $spec.MemoryHotAddEnabled = $row.Set -eq 'true' }
            { $_ -in 'coresPerNUMANode', 'vnumaHotAdd' } { if (-not $spec.VirtualNuma) { $spec.VirtualNuma = New-Object VMware.Vim.VirtualMachineVirtualNuma } }
            'coresPerNUMANode' { $spec.VirtualNuma.CoresPerNumaNode = [int]('0' + $row.Set) }
            'vnumaHotAdd' { $spec.VirtualNuma.ExposeVnumaOnCpuHotadd = $row.Set -eq 'true' }
            'cpuAffinity' {
                $spec.CpuAffinity = New-Object VMware.Vim.VirtualMachineAffinityInfo
                $spec.CpuAffinity.AffinitySet = [int[]]@($row.Set -split ',' | Where-Object { $_ })
            }
            'latencySensitivity' { $spec.LatencySensitivity = New-Object VMware.Vim.LatencySensitivity -Property @{ Level = $row.Set } }
            'memoryReservation' { $spec.MemoryAllocation = New-Object VMware.Vim.ResourceAllocationInfo -Property @{ Reservation = [long]$row.Set } }
            'reserveAll' { $spec.MemoryReservationLockedToMax = $row.Set -eq 'true' }
            'cpuReservation' { $spec.CpuAllocation = New-Object VMware.Vim.ResourceAllocationInfo -Property @{ Reservation = [long]$row.Set } }
            'extraConfig' { $spec.ExtraConfig += @(New-Object VMware.Vim.OptionValue -Property @{ Key = $row.Key; Value = $row.Set }) }
        }
    }
    $task = $View.ReconfigVM_Task($spec)
    $null = Get-Task -Id $task | Wait-Task
}

function Invoke-Change($Change) {
    $id = $Change.Id
    $view = Get-Subject $Change
    $state = Get-State $view $Change
    if ($state -eq 'done') { Write-Host "${id}: it is so already"; return }
    if ($state -like 'drift*') { throw "${id}: $state. It was not changed" }
    $vm = $null
    if ($state -eq 'runs') {
        if (-not $power) {
            Write-Warning "${id}: it runs and has to be off; it was not changed"
            $script:status = 2
            return
        }
        $vm = Get-VM -Id "VirtualMachine-$($view.MoRef.Value)"
        $null = Stop-VMGuest -VM $vm -Confirm:$false
        for ($tries = 300; (Get-Subject $Change).Runtime.PowerState -ne 'poweredOff'; $tries--) {
            if ($tries -eq 0) { throw "${id}: it was told to shut down and still runs after 10 minutes; it was not changed" }
            Start-Sleep -Seconds 2
        }
        $view = Get-Subject $Change
    }
    try {
        Write-Change $view $Change
        $state = Get-State (Get-Subject $Change) $Change
        if ($state -ne 'done') { throw "${id}: it does not keep what was written: $state" }
    } finally {
        if ($vm) { $null = Start-VM -VM $vm -Confirm:$false }
    }
    Write-Host "${id}: changed"
}
