package snapshot

import (
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// head is the start of a snapshot that is well-formed as far as it goes; what is
// put behind it starts on line 3. Texts such as "invalid character" are those of the
// JSON library.
const head = `{"format": "homenode-snapshot", "version": 1,
"source": "a", "clusters": [],
`

// hosts and vms put one object on line 4.
func hosts(object string) string {
	return head + "\"hosts\": [\n" + object + "\n], \"vms\": [], \"end\": true}"
}
func vms(object string) string {
	return head + "\"hosts\": [], \"vms\": [\n" + object + "\n], \"end\": true}"
}

// definition is that of a VM of KVM, without its end.
const definition = `{"id": "v", "name": "a", "stated": {"sockets": 1, "dies": 1, "cores": 1, "threads": 1, "vcpus": 1, "bytes": 1, "cells": [{"cpus": [0], "bytes": 1}], "at": "a.xml:1:1", "cpus": [null], "bound": [{"nodes": null}]`

func TestSyntax(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		// The file.
		{"empty", "", `1:1: found the end of the file: it is cut short`},
		{"blank", " \n\t", `2:2: found the end of the file: it is cut short`},
		{"a list", "[]", `1:1: found [, want an object`},
		{"a word", "hello", `1:1: invalid character 'h' at start of value`},
		{"UTF-16", "\xff\xfe{\x00", `1:1: invalid character '\xff' at start of value`},
		{"a NUL", "\x00", `1:1: invalid character '\x00' at start of value`},
		{"no field", "{}", `1:2: found no "format": the file is cut short`},
		{"no key", "{1: 2}", `1:2: object member name must be a string`},
		{"no colon", `{"format" 1}`, `1:11: format: invalid character '1' after object name (expecting ':')`},
		{"comma at the end", `{"format": "homenode-snapshot",}`, `1:31: invalid character ',' at start of value`},
		{"no comma", `{"format": "homenode-snapshot" "version": 1}`, `1:32: invalid character '"' after object value (expecting ',' or '}')`},
		{"no end", head + `"hosts": [], "vms": []}`, `3:23: found no "end": the file is cut short`},
		{"no hosts", head + `"vms": [], "end": true}`, `3:23: found no "hosts": the file is cut short`},
		{"end of false", head + `"hosts": [], "vms": [], "end": false}`, `3:32: found "end" of false, want true`},
		{"end of one", head + `"hosts": [], "vms": [], "end": 1}`, `3:32: end: found number, want true or false`},
		{"end of an object", head + `"hosts": [], "vms": [], "end": {}}`, `3:32: end: found {, want true or false`},
		{"after end", head + `"hosts": [], "vms": [], "end": true, "notes": []}`, `3:38: notes: found after "end"`},
		{"after the last brace", vms("") + "\n{}", `6:1: invalid character '{' after top-level value`},
		{"a NUL after the last brace", vms("") + "\n\x00", `6:1: invalid character '\x00' after top-level value`},
		// Format and version.
		{"other format", `{"format": "rvtools"}`, `1:12: found format "rvtools", want "homenode-snapshot"`},
		{"format in capitals", `{"format": "Homenode-Snapshot"}`, `1:12: found format "Homenode-Snapshot", want "homenode-snapshot"`},
		{"format of null", `{"format": null}`, `1:12: format: found null, want a string`},
		{"newer", `{"format": "homenode-snapshot", "version": 2}`, `1:44: found version 2, this program reads up to 1: use a newer homenode`},
		{"older", `{"format": "homenode-snapshot", "version": 0}`, `1:44: found version 0, the oldest is 1`},
		{"negative", `{"format": "homenode-snapshot", "version": -1}`, `1:44: found version -1, the oldest is 1`},
		{"version in quotes", `{"format": "homenode-snapshot", "version": "1"}`, `1:44: version: found string, want a whole number`},
		{"no version", `{"format": "homenode-snapshot", "hosts": []}`, `1:33: hosts: found before format and version: this is no homenode-snapshot`},
		{"no format", `{"version": 1, "hosts": []}`, `1:16: hosts: found before format and version: this is no homenode-snapshot`},
		{"another program's file", `{"items": []}`, `1:2: items: found before format and version: this is no homenode-snapshot`},
		// Keys.
		{"unknown key of the file", head + `"datastores": []}`, `3:1: found "datastores", which no snapshot has here`},
		{"key of the file twice", head + `"source": "b"}`, `3:1: found "source" twice`},
		{"list twice", head + `"hosts": [], "hosts": []}`, `3:14: found "hosts" twice`},
		{"unknown key", vms(`{"id": "v", "name": "db01", "cpus": 4}`), `4:29: vms[0]: found "cpus", which no snapshot has here`},
		{"key in capitals", vms(`{"ID": "v", "name": "db01"}`), `4:2: vms[0]: found "ID", which no snapshot has here`},
		{"key twice", vms(`{"id": "v", "name": "db01", "id": "w"}`), `4:29: vms[0]: found "id" twice`},
		{"long key", vms(`{"` + strings.Repeat("x", 10<<20) + `": 1}`), `4:2: vms[0]: found "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", which no snapshot has here`},
		{"no name", vms(`{"id": "v"},{"id": "w"}`), `4:11: vms[0]: found no "name"`},
		{"no id in the second", vms(`{"id": "v", "name": "a"}, {"name": "b"}`), `4:39: vms[1]: found no "id"`},
		{"not an object", vms(`"db01"`), `4:1: vms[0]: found string, want an object`},
		{"null", vms(`null`), `4:1: vms[0]: found no "id"`},
		{"list of a list", vms(strings.Repeat("[", 10<<20)), `4:1: vms[0]: found [, want an object`},
		{"not a list", head + `"hosts": {}}`, `3:10: hosts: found {, want a list`},
		{"comma at the end of a list", vms(`{"id": "v", "name": "a"},`), `4:25: vms: invalid character ',' at start of value`},
		{"two commas in a list", vms("{\"id\": \"v\", \"name\": \"a\"},,\n1"), `4:26: vms[1]: invalid character ',' at start of value`},
		// The definition of a VM of KVM.
		{"no cells", vms(strings.Replace(definition, `[{"cpus": [0], "bytes": 1}]`, "[]", 1) + "}}"), `4:1: VM "a": 1 socket of 1 core with 1 vCPUs in 0 cells`},
		{"memory of no cell", vms(strings.Replace(definition, `[{"nodes": null}]`, "[]", 1) + "}}"), `4:1: VM "a": 1 cells, the memory of 0, the distances of 0`},
		{"CPUs of no vCPU", vms(definition + `, "pins": [{"vcpu": 1, "at": "a.xml:2:1"}]}}`), `4:1: VM "a": CPUs of vCPU 1, of 1`},
		{"a cell of what cannot be", vms(strings.Replace(definition, `"cpus": [0]`, `"cpus": [-1]`, 1) + "}}"), `4:1: VM "a": vCPU -1 in cell 0`},
		{"definition of null", vms(`{"id": "v", "name": "a", "stated": null}`), `4:36: vms[0].stated: found no "sockets"`},
		{"hypervisor", head + `"hypervisor": "Xen"}`, `3:15: found hypervisor "Xen", want "KVM", or no field for ESXi`},
		// Facts.
		{"bare value", vms(`{"id": "v", "name": "a", "vcpus": 4}`), `4:35: vms[0].vcpus: found number, want an object with value and origin, or no field when it is unknown`},
		{"fact of null", vms(`{"id": "v", "name": "a", "vcpus": null}`), `4:35: vms[0].vcpus: found null, want an object with value and origin, or no field when it is unknown`},
		{"no origin", vms(`{"id": "v", "name": "a", "vcpus": {"value": 4}}`), `4:46: vms[0].vcpus: found 0 origins, want one of read, derived or assumed`},
		{"two origins", vms(`{"id": "v", "name": "a", "vcpus": {"value": 4, "read": "x", "assumed": "y"}}`), `4:75: vms[0].vcpus: found 2 origins, want one of read, derived or assumed`},
		{"origin twice", vms(`{"id": "v", "name": "a", "vcpus": {"value": 4, "read": "x", "read": "x"}}`), `4:61: vms[0].vcpus: found "read" twice`},
		{"no value", vms(`{"id": "v", "name": "a", "vcpus": {"read": "x"}}`), `4:47: vms[0].vcpus: found no "value"`},
		{"value twice", vms(`{"id": "v", "name": "a", "vcpus": {"value": 4, "value": 4, "read": "x"}}`), `4:48: vms[0].vcpus: found "value" twice`},
		{"unknown key of a fact", vms(`{"id": "v", "name": "a", "vcpus": {"value": 4, "unit": "x"}}`), `4:48: vms[0].vcpus: found "unit", which no snapshot has here`},
		{"origin of null", vms(`{"id": "v", "name": "a", "vcpus": {"value": 4, "read": null}}`), `4:56: vms[0].vcpus.read: found null, want a string`},
		// Values.
		{"text for a number", vms(`{"id": "v", "name": "a", "vcpus": {"value": "4", "read": "x"}}`), `4:45: vms[0].vcpus.value: found string, want a whole number`},
		{"half", vms(`{"id": "v", "name": "a", "vcpus": {"value": 4.5, "read": "x"}}`), `4:45: vms[0].vcpus.value: found 4.5, want a whole number`},
		{"exponent", vms(`{"id": "v", "name": "a", "vcpus": {"value": 1e2, "read": "x"}}`), `4:45: vms[0].vcpus.value: found 1e2, want a whole number`},
		{"plus", vms(`{"id": "v", "name": "a", "vcpus": {"value": +4, "read": "x"}}`), `4:45: vms[0].vcpus.value: invalid character '+' at start of value`},
		{"leading zero", vms(`{"id": "v", "name": "a", "vcpus": {"value": 04, "read": "x"}}`), `4:46: vms[0].vcpus: invalid character '4' after object value (expecting ',' or '}')`},
		{"too large for any number", vms(`{"id": "v", "name": "a", "vcpus": {"value": 99999999999999999999, "read": "x"}}`), `4:45: vms[0].vcpus.value: found 99999999999999999999, want a whole number`},
		{"truth for a number", vms(`{"id": "v", "name": "a", "vcpus": {"value": true, "read": "x"}}`), `4:45: vms[0].vcpus.value: found true, want a whole number`},
		{"number for a truth", vms(`{"id": "v", "name": "a", "cpuHotAdd": {"value": 1, "read": "x"}}`), `4:49: vms[0].cpuHotAdd.value: found number, want true or false`},
		{"text for a truth", vms(`{"id": "v", "name": "a", "cpuHotAdd": {"value": "true", "read": "x"}}`), `4:49: vms[0].cpuHotAdd.value: found string, want true or false`},
		{"number for a text", vms(`{"id": "v", "name": "a", "guestOS": {"value": 1, "read": "x"}}`), `4:47: vms[0].guestOS.value: found number, want a string`},
		{"power state", vms(`{"id": "v", "name": "a", "power": {"value": "poweredOn", "read": "x"}}`), `4:69: vms[0].power: found "poweredOn", want on, off or suspended`},
		{"power state of a number", vms(`{"id": "v", "name": "a", "power": {"value": 1, "read": "x"}}`), `4:45: vms[0].power.value: found number, want a string`},
		{"release", hosts(`{"id": "h", "name": "a", "release": {"value": "seven", "read": "x"}}`), `4:47: hosts[0].release.value: found "seven", want a release such as 7.0 U3`},
		{"long release", hosts(`{"id": "h", "name": "a", "release": {"value": "` + strings.Repeat("x", 10<<20) + `", "read": "x"}}`),
			`4:47: hosts[0].release.value: found "` + strings.Repeat("x", 193)},
		{"unknown release", hosts(`{"id": "h", "name": "a", "release": {"value": "0.0", "read": "x"}}`), `4:65: hosts[0].release: found 0.0, want a release such as 7.0 U3`},
		{"release of a number", hosts(`{"id": "h", "name": "a", "release": {"value": 7.0, "read": "x"}}`), `4:47: hosts[0].release.value: JSON value must be string type`},
		{"list of a number", vms(`{"id": "v", "name": "a", "cpuAffinity": {"value": 3, "read": "x"}}`), `4:51: vms[0].cpuAffinity.value: found number, want a list`},
		{"list of nil", vms(`{"id": "v", "name": "a", "cpuAffinity": {"value": nil, "read": "x"}}`), `4:52: vms[0].cpuAffinity.value: invalid character 'i' in literal null (expecting 'u')`},
		{"text in a list", vms(`{"id": "v", "name": "a", "cpuAffinity": {"value": [0, 1, "2"], "read": "x"}}`), `4:58: vms[0].cpuAffinity.value[2]: found string, want a whole number`},
		{"deep nesting", hosts(`{"id": "h", "name": "a", "distance": {"value": ` + strings.Repeat("[", 10<<20) + `}}`), `4:10044: hosts[0].distance.value[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0: exceeded max depth`},
		{"fact inside a fact", hosts(`{"id": "h", "name": "a", "nodes": {"value": [{"id": 0, "package": 0, "cores": 4, "threads": 4, "memory": {"value": "x"}}], "read": "x"}}`),
			`4:116: hosts[0].nodes.value[0].memory.value: found string, want a whole number`},
		{"node without cores", hosts(`{"id": "h", "name": "a", "nodes": {"value": [{"id": 0, "package": 0, "threads": 4}], "read": "x"}}`), `4:82: hosts[0].nodes.value[0]: found no "cores"`},
		{"id of null", vms(`{"id": null, "name": "a"}`), `4:8: vms[0].id: found null, want a string`},
		{"folder of null", vms(`{"id": "v", "name": "a", "folder": null}`), `4:36: vms[0].folder: found null, want a string`},
		{"tag of null", vms(`{"id": "v", "name": "a", "tags": ["x", null]}`), `4:40: vms[0].tags[1]: found null, want a string`},
		{"value of null", vms(`{"id": "v", "name": "a", "vcpus": {"value": null, "read": "x"}}`), `4:45: vms[0].vcpus.value: found null, want a whole number`},
		{"release of null", hosts(`{"id": "h", "name": "a", "release": {"value": null, "read": "x"}}`), `4:47: hosts[0].release.value: found null, want a release such as 7.0 U3`},
		{"number of null in a list", vms(`{"id": "v", "name": "a", "cpuAffinity": {"value": [0, null], "read": "x"}}`), `4:55: vms[0].cpuAffinity.value[1]: found null, want a whole number`},
		// Strings.
		{"no UTF-8", vms("{\"id\": \"v\xff\"}"), `4:10: vms[0].id: invalid UTF-8`},
		{"half of a pair", vms(`{"id": "v\ud83d"}`), `4:10: vms[0].id: invalid surrogate pair "\\ud83d\"}\n], " in string`},
		{"newline in a string", vms("{\"id\": \"v\n\"}"), `4:10: vms[0].id: invalid character '\n' in string (expecting non-control character)`},
		{"NUL in a string", vms("{\"id\": \"v\x00\"}"), `4:10: vms[0].id: invalid character '\x00' in string (expecting non-control character)`},
		{"newline after a backslash", vms("{\"id\": \"v\\\n\"}"), `4:10: vms[0].id: invalid escape sequence "\\\n" in string`},
		{"unknown escape", vms(`{"id": "v\x41"}`), "4:10: vms[0].id: invalid escape sequence `\\x` in string"},
		{"short escape", vms(`{"id": "v\u12"}`), "4:10: vms[0].id: invalid escape sequence `\\u12\"}` in string"},
		{"string that never ends", head + `"hosts": [], "vms": [{"id": "v`, `3:31: vms[0].id: found the end of the file: it is cut short`},
		{"backslash at the end", head + `"hosts": [], "vms": [{"id": "v\`, `3:32: vms[0].id: found the end of the file: it is cut short`},
	} {
		t.Run(tt.name, func(t *testing.T) { expect(t, tt.in, tt.want) })
	}
}

func expect(t *testing.T, in, want string) {
	t.Helper()
	f, err := Read("fleet.json", strings.NewReader(in))
	if f != nil || err == nil {
		t.Fatalf("Read returned a fleet: %v, %v; want %s", f, err, want)
	}
	if got, want := err.Error(), "fleet.json:"+want; got != want {
		t.Errorf("Read:\n got %s\nwant %s", got, want)
	}
}

// TestFaults are files of good form that no fleet can be. The third line of the
// file is the cluster's.
func TestFaults(t *testing.T) {
	const (
		host = `{"id": "h1", "name": "esx01", "cluster": "c1"}`
		vm   = `{"id": "v1", "name": "db01", "host": "h1"}`
	)
	file := func(cluster, host, vm string) string {
		return "{\"format\": \"homenode-snapshot\", \"version\": 1, \"source\": \"a\", \"clusters\": [\n{\"id\": \"c1\", \"name\": \"prod\"},\n" +
			cluster + "],\n\"hosts\": [\n" + host + "],\n\"vms\": [\n" + vm + "],\n\"end\": true}"
	}
	const cluster = `{"id": "c2", "name": "test"}`
	fact := func(key, value string) string { return `, "` + key + `": {"value": ` + value + `, "read": "x"}}` }
	hostWith := func(key, value string) string {
		return file(cluster, `{"id": "h1", "name": "esx01"`+fact(key, value), "")
	}
	vmWith := func(key, value string) string {
		return file(cluster, host, vm+",\n"+`{"id": "v2", "name": "db02"`+fact(key, value))
	}
	node := func(text string) string { return hostWith("nodes", "["+text+"]") }
	for _, tt := range []struct{ name, in, want string }{
		{"cluster twice", file(`{"id": "c1", "name": "test"}`, host, vm), `3:1: cluster "test": id "c1" is used twice`},
		{"cluster without id", file(`{"id": "", "name": "test"}`, host, vm), `3:1: cluster "test": no id`},
		{"host twice", file(cluster, host+", "+host, vm), `5:49: host "esx01": id "h1" is used twice`},
		{"VM twice", file(cluster, host, vm+", "+vm), `7:45: VM "db01": id "v1" is used twice`},
		{"host of no cluster", file(cluster, `{"id": "h1", "name": "esx01", "cluster": "c9"}`, vm), `5:1: host "esx01": cluster "c9" is not in the fleet`},
		{"VM of no cluster", file(cluster, host, vm+",\n"+`{"id": "v2", "name": "db02", "cluster": "c9"}`), `8:1: VM "db02": cluster "c9" is not in the fleet`},
		{"VM of no host", file(cluster, host, vm+",\n"+`{"id": "v2", "name": "db02", "host": "h9"}, {"id": "v3", "name": "db03", "host": "h8"}`), `8:1: VM "db02": host "h9" is not in the fleet`},
		{"negative memory", hostWith("memory", "-1"), `5:1: host "esx01": memory of -1 bytes`},
		{"no cores", hostWith("cores", "0"), `5:1: host "esx01": 0 cores`},
		{"negative packages", hostWith("packages", "-2"), `5:1: host "esx01": -2 packages`},
		{"as many threads as there are numbers", hostWith("threads", "2147483647"), `5:1: host "esx01": 2147483647 threads`},
		{"fewer threads than cores", node(`{"id": 0, "package": 0, "cores": 4, "threads": 2}`), `5:1: host "esx01": NUMA node 0 with 4 cores and 2 threads`},
		{"node out of order", node(`{"id": 0, "package": 0, "cores": 4, "threads": 4}, {"id": 0, "package": 1, "cores": 4, "threads": 4}`), `5:1: host "esx01": NUMA node 0 does not come after node 0`},
		{"no vCPUs", vmWith("vcpus", "0"), `8:1: VM "db02": 0 vCPUs`},
		{"negative vCPUs", vmWith("vcpus", "-4"), `8:1: VM "db02": -4 vCPUs`},
		{"absurd memory", vmWith("memory", "99999999999999999"), `8:1: VM "db02": memory of 99999999999999999 bytes`},
		{"negative cores per socket", vmWith("coresPerSocket", "-1"), `8:1: VM "db02": -1 cores per socket`},
	} {
		t.Run(tt.name, func(t *testing.T) { expect(t, tt.in, tt.want) })
	}
	var nodes []string
	for range numa.MaxNodes + 1 {
		nodes = append(nodes, `{"id": `+string(rune('0'+len(nodes)%10))+`, "package": 0, "cores": 1, "threads": 1}`)
	}
	expect(t, node(strings.Join(nodes, ",")), `5:1: host "esx01": 65 NUMA nodes, more than 64`)
}
