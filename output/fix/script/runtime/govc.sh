
command -v govc >/dev/null || stop "govc is missing"

# now prints what a VM or host has, as JSON.
now() { # KIND ID
	if [ "$1" = HostSystem ]; then
		got=$(govc host.option.ls -json -host "$1:$2") || return 1
		printf '%s' "$got" | jq "$fold"' {settings: settings(.)}'
		return
	fi
	got=$(govc collect -json "$1:$2" config runtime.powerState) || return 1
	printf '%s' "$got" | jq "$fold"'
		(map({(.name): .val}) | add) as $p | $p.config as $c | $c.numaInfo as $n
		| {power: ({poweredOn: "on", poweredOff: "off"}[$p["runtime.powerState"]] // "suspended"),
			instanceUuid: ($c.instanceUuid // ""),
			hardware: ($c.version | sub("^vmx-0*"; "")),
			coresPerSocket: (if $c.hardware.autoCoresPerSocket then 0 else $c.hardware.numCoresPerSocket // 1 end | tostring),
			coresPerNUMANode: (if $n.autoCoresPerNumaNode then 0 else $n.coresPerNumaNode // 0 end | tostring),
			@read@,
			settings: settings($c.extraConfig)}'
}

fold='
	def truth: if . then "TRUE" else "FALSE" end;
	def fold: if ascii_downcase == "true" or ascii_downcase == "false" then ascii_upcase else . end;
	def settings($list): [$list[]? | {key: (.key | ascii_downcase),
		value: (.value | if type == "object" then ._value else . end | tostring | fold)}] | from_entries;'

# identify prints the MoRef of the only VM with the UUID, of the instance or of the BIOS.
identify() { # UUID
	vms=$(govc find -i -type m / -config.instanceUuid "$1" && govc find -i -type m / -config.uuid "$1") || return 1
	vms=$(printf '%s' "$vms" | sort -u)
	case $vms in
	VirtualMachine:*VirtualMachine:* | '') return 1 ;;
	esac
	printf '%s' "${vms#VirtualMachine:}"
}

shutdown() { govc vm.power -s "VirtualMachine:$1"; }
start() { govc vm.power -on "VirtualMachine:$1"; }
