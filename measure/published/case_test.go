package published

import (
	"reflect"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", `: no line "id" in a section "-- case --"`},
		{"no section", "id a\n", `: no line "id" in a section "-- case --"`},
		{"no id", "-- case --\nkind observed\n", `: no line "id" in a section "-- case --"`},
		{"id twice", "-- case --\nid a\n-- case --\nid a\n", `: case a stands there twice`},
		{"section", "words\n-- case --\nid a\n-- findings --\nN001\n", `:5: found section "findings", want case or observed`},
		{"observed before a case", "-- observed --\nwide=true\n", `:2: found section "observed", want case or observed`},
		{"word", "words\n-- case --\nid a\nhosts 2\n", `:4: found "hosts", want id, source, gave, kind, release, hardware, event, host, from or vm`},
		{"no value", "-- case --\nid a\nhost sockets\n", `:3: found "sockets", want key=value`},
		{"no key", "-- case --\nid a\nvm =2\n", `:3: found "=2", want key=value`},
		{"blank in a key", "-- case --\nid a\nvm cores per socket=2\n", `:3: found "cores per socket=2", want key=value`},
		{"no JSON", "-- case --\nid a\nfrom sockets=two\n", `:3: sockets: found "two", want a JSON value`},
		{"null", "-- case --\nid a\nfrom sockets=null\n", `:3: sockets: found "null", want a JSON value`},
		{"observed", "-- case --\nid a\n-- observed --\nvpd_count=2\nwide=yes\n", `:5: wide: found "yes", want a JSON value`},
		{"not UTF-8", "-- case --\nid a\nvm \xff=1\n", `:3: found bytes that are not UTF-8`},
		{"CRLF", "words\r\n-- case --\r\nid a\r\n-- observed --\r\nwide=yes\r\n", `:5: wide: found "yes", want a JSON value`},
		{"byte order mark", "\ufeff-- case --\nid a\nwhat\n", `:3: found "what", want id, source, gave, kind, release, hardware, event, host, from or vm`},

		{"a number in words", "-- case --\nhost sockets=\"two\"", `:2: sockets: found string, want a whole number`},
		{"half a vCPU", "-- case --\nvm vcpus=12.5", `:2: vcpus: found 12.5, want a whole number`},
		{"a key of nothing", "-- case --\nvm disks=2", `:2: found "disks", which no case has here`},
		{"negative", "-- case --\nhost sockets=-2", `:2: sockets: found -2, want a number from 1 to 64`},
		{"many nodes", "-- case --\nhost sockets=64 numa_nodes_per_socket=64", `:2: sockets with their NUMA nodes: found 4096, want a number from 1 to 64`},
		{"many vCPUs", "-- case --\nvm vcpus=9999999999", `:2: vcpus: found 9999999999, want a number from 1 to 4096`},
		{"negative memory", "-- case --\nvm mem_gb=-1", `:2: mem_gb: found -1, want an amount of memory`},
		{"absurd memory", "-- case --\nhost mem_gb=1e30", `:2: mem_gb: found 1e+30, want an amount of memory`},
		{"cores that do not divide", "-- case --\nhost sockets=2 cores_per_socket=11 numa_nodes_per_socket=2", `:2: cores_per_socket or total_cores: want a multiple of the 4 NUMA nodes`},
		{"nodes that contradict", "-- case --\nhost sockets=2 numa_nodes=3 numa_nodes_per_socket=1", `:2: numa_nodes: found 3, want 2 sockets × 1`},
		{"no setting of ESXi", "-- case --\nvm extra.vpd_layouts=\"4 x 6\"", `:2: setting "vpd_layouts" is no setting of ESXi`},
		{"an event", "-- case --\nevent maintenance", `:2: found event "maintenance", want one of power-cycle, first-power-on, reboot, vmotion, resume, vcpus-changed`},
		{"hardware", "-- case --\nhardware vmx-19", `:2: found hardware "vmx-19", want a version such as 19`},
		{"a release before 3.5", "-- case --\nrelease 3.0", `:2: release "3.0" is not described`},
		{"a release in words", "-- case --\nrelease 6.7 era", `:2: found release "6.7 era", want one such as 6.5 or 7.0U3, a list of them, or a span: 6.0..7.0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cases, err := Read("cases", []byte(tt.in))
			if err == nil || cases != nil {
				t.Fatalf("Read returned cases: %v, %v", cases, err)
			}
			if got, want := err.Error(), "cases"+tt.want; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	const text = "Words.\n-- case --\nid a\nsource http://x y\nkind stated\nrelease 3.5,6.0..6.7,6.7U2,8.0..\nhardware 14\nevent vmotion\n\n" +
		"host sockets=2  cpu_model=\"Xeon E5\"\nhost cores_per_socket=10\nfrom sockets=4\nvm vcpus=8 extra.numa.vcpu.min=\"4\"\n" +
		"-- observed --\nvcpus_per_node=[4, 4]\nwide=true\n-- case --\nid b\n"
	want := []Case{{ID: "a", Source: "http://x y", Kind: "stated", Hardware: 14, Event: vnuma.VMotionIn,
		Releases: []numa.Release{numa.ESX35, numa.ESXi60, numa.ESXi65, numa.ESXi67, numa.ESXi67U2, numa.ESXi80, numa.ESXi90},
		Host:     Host{Sockets: 2, CPUModel: "Xeon E5", CoresPerSocket: 10}, From: &Host{Sockets: 4},
		VM:       VM{VCPUs: 8, Extra: map[string]string{"numa.vcpu.min": "4"}},
		Observed: map[string]any{"vcpus_per_node": []any{4.0, 4.0}, "wide": true},
	}, {ID: "b", Releases: numa.Modelled[3:], Observed: map[string]any{}}}
	for name, in := range map[string]string{"LF": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "byte order mark": "\ufeff" + text} {
		if got, err := Read("a.txtar", []byte(in)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
