package site

import (
	"strings"

	"homenode/output/answer"
)

// A sum is a kind of question that the calculator answers without an inventory.
type sum struct {
	name, label string
	args        []string // the command
	fields      func(*request) []field
	need        string // the field without which there is nothing to ask; "" for none
}

// yes are the choices of a flag that the question words of explain have.
var yes = []choice{{"", "off"}, {"on", "on"}}

// sums are the kinds, the first is the default.
func sums() []sum {
	shape := field{Name: "vm", Label: "VM: vCPUs x memory", Hint: "24x512GB", Default: "24x512GB"}
	return []sum{
		{"topology", "Topology of a VM on a host", []string{"explain"}, func(*request) []field {
			return []field{
				shape,
				{Name: "host", Label: "Host: sockets x cores / memory", Hint: "2x16c/768GB", Default: "2x16c/768GB"},
				{Name: "release", Label: "ESXi release", Hint: "8.0U3", Default: "8.0U3"},
				{Name: "hot-add", Label: "CPU hot add", Choices: yes},
				{Name: "cores-per-socket", Label: "Cores per socket", Hint: "12, or auto"},
				{Name: "hw", Label: "Virtual hardware", Hint: "20"},
				{Name: "latency", Label: "Latency sensitivity", Choices: choices("normal", "high")},
				{Name: "set", Label: "Advanced setting", Hint: "numa.vcpu.preferHT=TRUE"},
				{Name: "host-words", Label: "More about the host", Hint: "option:Numa.PreferHT=1"},
			}
		}, "vm"},
		{"fit", "How many hosts, how many VMs fit", []string{"size", "fit"}, func(x *request) []field {
			in := []choice{{"", "none"}, {"all", "all clusters"}}
			if x.fleet != nil {
				for _, c := range x.fleet.Result.Fleet.Clusters {
					in = append(in, choice{c.Name, c.Name})
				}
			}
			return []field{
				{Name: "vm", Label: "VMs: vCPUs x memory * number, with commas", Hint: "24x192GB*40, 4x16GB*200", Default: "24x192GB*40", flag: "-", Long: true},
				{Name: "hosts", Label: "Host types, with commas", Hint: "2x32c/1TB,2x48c/1.5TB", Default: "2x32c/1TB,2x48c/1.5TB", Long: true},
				{Name: "cluster", Label: "Room in my cluster instead", Choices: in, flag: "-"},
				{Name: "release", Label: "ESXi release", Hint: "8.0U3"},
				{Name: "spare", Label: "Hosts that may fail", Hint: "1"},
				{Name: "vcpus-per-core", Label: "Most vCPUs per core", Hint: "1"},
			}
		}, "vm"},
		{"io", "What I/O costs", []string{"size", "io"}, func(*request) []field {
			return []field{
				{Name: "path", Label: "Through", Choices: []choice{{"", "vsan-esa"}, {"nvme", "nvme"}, {"network", "network"}, {"ram", "ram"}}},
				{Name: "iops", Label: "I/Os a second", Hint: "100k", Default: "100k"},
				{Name: "block", Label: "Size of an I/O", Hint: "32k", Default: "32k"},
				{Name: "throughput", Label: "Or bytes a second", Hint: "2GB/s"},
				{Name: "tx", Label: "Network sends", Hint: "10Gb/s"}, {Name: "rx", Label: "Network receives", Hint: "10Gb/s"},
				{Name: "read", Label: "Reads, percent", Hint: "70"},
				{Name: "budget", Label: "CPU that I/O may have", Hint: "20%"},
				{Name: "host-cores", Label: "Cores of a host", Hint: "32", Default: "32"},
				{Name: "core", Label: "Clock of a core", Hint: "3.6GHz", Default: "3.6GHz"},
				{Name: "host-count", Label: "Hosts", Hint: "6"},
			}
		}, ""},
		{"latency", "How long each step of a request waits", []string{"size", "latency"}, func(*request) []field {
			return []field{
				{Name: "calls", Label: "Steps of a request", Hint: "20"},
				{Name: "time-budget", Label: "What it may take", Hint: "10ms"},
				{Name: "core", Label: "Clock of a core", Hint: "3.0GHz"},
				{Name: "remote", Label: "Remote accesses, percent", Hint: "50"},
				{Name: "processor", Label: "Processor of the published memory latency", Hint: "Xeon Gold 6154"},
				{Name: "storage", Label: "Storage", Choices: choices("nvme", "vsan")},
			}
		}, ""},
		{"speed", "What vCPU speed and guarantees become", []string{"size", "speed"}, func(*request) []field {
			return []field{
				{Name: "vcpu-speed", Label: "vCPU speed of the VDC", Hint: "1GHz", Default: "1GHz"},
				{Name: "model", Label: "Allocation model", Choices: choices("flex", "pay-as-you-go", "allocation", "reservation")},
				{Name: "guarantee", Label: "CPU guarantee", Hint: "20%"},
				{Name: "vm", Label: "VMs", Hint: "8x64GB", Default: "8x64GB"},
				{Name: "host", Label: "Hosts", Hint: "2x18c/1TB@3GHz", Default: "2x18c/1TB@3GHz"},
				{Name: "vm-count", Label: "VMs on a host", Hint: "20"},
				{Name: "host-count", Label: "Hosts of the cluster", Hint: "8"},
			}
		}, "vcpu-speed"},
		{"dump", "How large core dumps are", []string{"size", "dump"}, func(*request) []field {
			return []field{
				{Name: "ram", Label: "Memory of the host", Hint: "1.5TB", Default: "1.5TB"},
				{Name: "release", Label: "ESXi release", Hint: "8.0U3", Default: "8.0U3"},
				{Name: "boot", Label: "Boot device", Hint: "32GB", Default: "32GB"},
				{Name: "logs", Label: "Space for logs", Hint: "3GB"},
			}
		}, "ram"},
		{"pages", "What page sharing saves", []string{"size", "pages"}, func(*request) []field {
			return []field{
				{Name: "memory", Label: "Memory configured of all VMs", Hint: "1.5TB", Default: "1.5TB"},
				{Name: "consumed", Label: "What they take on the hosts", Hint: "1.2TB"},
				{Name: "host-memory", Label: "Memory of a host", Hint: "1TB"},
				{Name: "vm-memory", Label: "Memory of the largest VM", Hint: "512GB"},
			}
		}, "memory"},
	}
}

// showCalculator answers a sum.
func showCalculator(x *request) (*view, error) {
	all := sums()
	kind := field{Name: "kind", Label: "What", flag: "-", Quick: true}
	one := &all[0]
	for i := range all {
		kind.Choices = append(kind.Choices, choice{all[i].name, all[i].label})
		if all[i].name == x.query.Get("kind") {
			one = &all[i]
		}
	}
	kind.Default = one.name
	fields, flags := x.asked(append([]field{kind}, one.fields(x)...)...)
	v := &view{fields: fields, most: rowsShown, title: one.label}
	if one.need != "" && valueOf(fields, one.need) == "" {
		v.answer = &answer.Answer{Title: one.label, Verdict: []string{"Say what is asked."}}
		return v, nil
	}
	args := one.args
	if one.name == "fit" {
		for _, shape := range strings.FieldsFunc(valueOf(fields, "vm"), func(r rune) bool { return r == ',' || r == ' ' }) {
			flags = append(flags, "--vm="+shape)
		}
		if in := valueOf(fields, "cluster"); in != "" {
			args = append(args[:len(args):len(args)], Source)
			flags = append(flags, "--cluster="+in)
			flags = without(flags, "--hosts=")
		}
	}
	v.command = append(args[:len(args):len(args)], flags...)
	var err error
	v.answer, err = x.ask(v.command...)
	return v, err
}

// without returns the flags but those that begin so.
func without(flags []string, begin string) (out []string) {
	for _, f := range flags {
		if !strings.HasPrefix(f, begin) {
			out = append(out, f)
		}
	}
	return out
}
