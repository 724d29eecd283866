
$script:status = 0
if ($left) {
    $left | ForEach-Object { Write-Warning "left as it is: $_" }
    $script:status = 2
}
try {
    $drift = foreach ($change in $changes) {
        $state = Get-State (Get-Subject $change) $change
        if ($state -like 'drift*') { "$($change.Id): $state" }
    }
    if ($drift) { throw "nothing was changed. $($drift -join '. ')" }
    foreach ($change in $changes) { Invoke-Change $change }
} catch {
    Write-Host $_ -ForegroundColor Red
    exit 1
}
exit $script:status
