
command -v curl >/dev/null || stop "curl is missing"
: "${VSPHERE_SERVER:?name the vCenter}" "${VSPHERE_USER:?name the account}" "${VSPHERE_PASSWORD:?give its password}"

# Accounts and sessions go to curl over its standard input: arguments can be seen by others.
curl_api() { # CONFIGURATION METHOD PATH [BODY]
	printf '%s\n' "$1" | curl --silent --show-error --fail --config - --request "$2" ${4:+--header 'Content-Type: application/json' --data "$4"} "https://$VSPHERE_SERVER/api/$3"
}
call() { curl_api "header = \"vmware-api-session-id: $session\"" "$@"; }

session=$(curl_api "user = \"$(printf '%s' "$VSPHERE_USER:$VSPHERE_PASSWORD" | sed 's/[\\"]/\\&/g')\"" POST session) || stop "no session with $VSPHERE_SERVER"
session=$(printf '%s' "$session" | jq -r .)
trap 'call DELETE session >/dev/null' EXIT

# now prints what a VM has, as JSON.
now() { # KIND ID
	got=$(call GET "vcenter/vm/$2") || return 1
	printf '%s' "$got" | jq '
		def truth: if . then "TRUE" else "FALSE" end;
		{power: ({POWERED_ON: "on", POWERED_OFF: "off"}[.power_state] // "suspended"),
			instanceUuid: (.identity.instance_uuid // ""),
			hardware: (.hardware.version | sub("^VMX_0*"; "")),
			vcpus: (.cpu.count | tostring), memory: (.memory.size_MiB | tostring), coresPerSocket: (.cpu.cores_per_socket | tostring),
			cpuHotAdd: (.cpu.hot_add_enabled | truth), memoryHotAdd: (.memory.hot_add_enabled | truth)}'
}

shutdown() { call POST "vcenter/vm/$1/guest/power?action=shutdown"; }
start() { call POST "vcenter/vm/$1/power?action=start"; }
