package site

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
)

// A kind is a question of the calculator: a command that needs no file.
type kind struct {
	name, label string
	lead        string // what it answers, above the fields of a page without an answer
	fields      func(*request) []field
	// command makes the command line of what was asked; flags are those that fields come to by themselves.
	command func(x *request, fields []field, flags []string) ([]string, error)
}

// kinds are the questions in the order of their tabs.
var kinds = []kind{
	{"topology", "Topology of a VM", "What a VM gets on a host.", topologyFields, topologyCommand},
	{"fit", "VMs that fit hosts", "How many hosts VMs need, or how many VMs fit.", fitFields, fitCommand},
	{"io", "CPU of I/O", "What the I/O of a workload costs.", ioFields, ioCommand},
	{"latency", "Latency", "How long each step of a request waits.", latencyFields, plainly("size", "latency")},
	{"speed", "vCPU speed", "What the vCPU speed of an organization VDC becomes.", speedFields, speedCommand},
	{"dump", "Core dump", "How large the core dump file is, and what it leaves of a boot device.", dumpFields, dumpCommand},
	{"pages", "Page sharing", "What page sharing saves.", pagesFields, plainly("size", "pages")},
}

// plainly returns what makes a command line of the flags alone.
func plainly(words ...string) func(*request, []field, []string) ([]string, error) {
	return func(_ *request, _ []field, flags []string) ([]string, error) { return commandOf(words, flags), nil }
}

// showCalculator answers about VMs and hosts without any inventory, or with the one that is held.
func showCalculator(x *request) (*view, error) {
	name := cmp.Or(x.query.Get("kind"), kinds[0].name)
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil, &unknownError{"the calculator has no such question"}
	}
	k := &kinds[i]
	names := field{Name: "kind", Label: "Question", Value: k.name, Hidden: true}
	for i := range kinds {
		names.Choices = append(names.Choices, choice{kinds[i].name, kinds[i].label})
	}
	x.asks = append(x.asks, names)
	fields, flags := x.asked(k.fields(x)...)
	v := &view{fields: append([]field{names}, fields...), most: rowsShown, tabs: tabsOf(k.name)}
	if len(fields) > 0 && fields[0].Group != "" { // the hidden one has no group of its own
		v.fields[0].Group, v.fields[1].Group = fields[0].Group, ""
	}
	args, err := k.command(x, fields, flags)
	if err != nil {
		return v, err
	}
	v.command = args
	v.answer, err = x.ask(args...)
	if err == nil {
		v.title = k.label
	}
	return v, err
}

// tabsOf are the kinds, of which one is shown.
func tabsOf(shown string) (out []tab) {
	for i := range kinds {
		out = append(out, tab{kinds[i].label, "/calculator?" + url.Values{"kind": {kinds[i].name}}.Encode(), kinds[i].name == shown})
	}
	return out
}

// divided are the NUMA nodes of a socket.
var divided = []choice{{"", "1"}, {"snc2", "2 (SNC)"}, {"nps2", "2 (NPS)"}, {"snc3", "3 (SNC)"}, {"nps4", "4 (NPS)"}}

// topologyFields describe a VM and a host.
func topologyFields(*request) []field {
	return []field{
		{Group: "VM", Name: "vcpus", Label: "vCPUs", Hint: "24", Default: "24", flag: "-"},
		{Name: "memory", Label: "Memory", Hint: "512GB", Default: "512GB", flag: "-"},
		{Name: "cores-per-socket", Label: "Cores per socket", Hint: "12, or auto", flag: "-"},
		{Name: "hw", Label: "Virtual hardware", Hint: "21", flag: "-"},
		{Name: "hot-add", Label: "CPU hot add", Check: true, flag: "-"},
		{Name: "vnuma-hot-add", Label: "vNUMA with hot add", Check: true, flag: "-"},
		{Group: "More of the VM", Folded: true, Name: "latency", Label: "Latency sensitivity", Choices: choices("normal", "low", "medium", "high"), flag: "-"},
		{Name: "preferHT", Label: "numa.vcpu.preferHT", Choices: choices("not set", "TRUE", "FALSE"), flag: "-"},
		{Name: "perNode", Label: "numa.vcpu.maxPerVirtualNode", Hint: "not set", flag: "-"},
		{Name: "min", Label: "numa.vcpu.min", Hint: "9", flag: "-"},
		{Name: "stored", Label: "Stored size of a node", Hint: "none", flag: "-"},
		{Name: "set", Label: "Another setting", Hint: "numa.vcpu.coresPerNode=8", flag: "-", Long: true},
		{Group: "Host", Name: "sockets", Label: "Sockets", Hint: "2", Default: "2", flag: "-"},
		{Name: "cores", Label: "Cores of a socket", Hint: "16", Default: "16", flag: "-"},
		{Name: "host-memory", Label: "Memory of the host", Hint: "768GB", Default: "768GB", flag: "-"},
		{Name: "divided", Label: "NUMA nodes of a socket", Choices: divided, flag: "-"},
		{Name: "release", Label: "ESXi release", Choices: releaseChoices("")[1:], Default: "8.0U3"},
		{Group: "More of the host, and when", Folded: true, Name: "noht", Label: "Without hyper-threading", Check: true, flag: "-"},
		{Name: "host-words", Label: "In words", Hint: "llcCores=8 option:Numa.PreferHT=1", Long: true, flag: "-"},
		{Name: "event", Label: "Event", Choices: eventChoices()},
	}
}

func topologyCommand(_ *request, fields []field, flags []string) ([]string, error) {
	host := valueOf(fields, "sockets") + "x" + valueOf(fields, "cores") + "c/" + valueOf(fields, "host-memory")
	if d := valueOf(fields, "divided"); d != "" {
		host += "/" + d
	}
	if valueOf(fields, "noht") != "" {
		host += "/noht"
	}
	if words := valueOf(fields, "host-words"); words != "" {
		host += " " + words
	}
	vm := valueOf(fields, "vcpus") + "x" + valueOf(fields, "memory")
	word := func(key, value string) error {
		if strings.ContainsAny(value, " \t") {
			return fmt.Errorf("%s: found %q, want one word", key, value)
		}
		if value != "" {
			vm += " " + key + "=" + value
		}
		return nil
	}
	for _, w := range [][2]string{{"cores-per-socket", "coresPerSocket"}, {"hw", "hw"}, {"hot-add", "hotAdd"}, {"vnuma-hot-add", "vnumaHotAdd"}, {"latency", "latency"}, {"stored", "stored"}, {"preferHT", "set:numa.vcpu.preferHT"}} {
		if err := word(w[1], valueOf(fields, w[0])); err != nil {
			return nil, err
		}
	}
	for _, s := range [][2]string{{"perNode", "numa.vcpu.maxPerVirtualNode"}, {"min", "numa.vcpu.min"}} {
		value := valueOf(fields, s[0])
		if n, err := strconv.Atoi(value); value != "" && (err != nil || n < 1 || n > numa.MaxVCPUs) {
			return nil, fmt.Errorf("%s: found %q, want a number of vCPUs from 1 to %d", s[1], value, numa.MaxVCPUs)
		}
		if err := word("set:"+s[1], value); err != nil {
			return nil, err
		}
	}
	for one := range strings.FieldsSeq(valueOf(fields, "set")) {
		key, value, ok := strings.Cut(one, "=")
		if !ok {
			return nil, errors.New("another setting: want KEY=VALUE, such as numa.vcpu.coresPerNode=8")
		}
		if err := word("set:"+key, value); err != nil {
			return nil, err
		}
	}
	flags = append([]string{"--vm=" + vm, "--host=" + host}, flags...)
	return commandOf([]string{"explain"}, flags), nil
}

// where is the field that says of which hosts a question is: planned ones, or those of a cluster of the fleet.
func (x *request) where(planned string) field {
	f := field{Group: "Of which hosts", Name: "where", Label: "Hosts", Choices: []choice{{"", planned}}, flag: "-"}
	if x.fleet == nil {
		return f
	}
	clusters := x.fleet.Result.Fleet.Clusters
	for i := range clusters {
		f.Choices = append(f.Choices, choice{"cluster:" + clusters[i].Name, "my fleet: " + clusters[i].Name})
	}
	if len(clusters) != 1 {
		f.Choices = append(f.Choices, choice{"cluster:all", "my fleet: all hosts"})
	}
	return f
}

// clusterOf returns the cluster that a field of where says; ok is false for planned hosts.
func clusterOf(fields []field) (name string, ok bool) {
	return strings.CutPrefix(valueOf(fields, "where"), "cluster:")
}

// fitFields describe VMs and the hosts that they are to fit.
func fitFields(x *request) []field {
	return []field{
		{Group: "VMs", Name: "count", Label: "How many VMs", Hint: "empty: as many as fit", Default: "40", flag: "-"},
		{Name: "vcpus", Label: "vCPUs of each", Hint: "24", Default: "24", flag: "-"},
		{Name: "memory", Label: "Memory of each", Hint: "192GB", Default: "192GB", flag: "-"},
		{Name: "more", Label: "And these", Hint: "8x32GB*100, 4x16GB*200", Long: true, flag: "-"},
		x.where("planned, described here"),
		{Name: "hosts", Label: "Planned hosts: sockets x cores / memory", Hint: "2x32c/1TB, 2x48c/1.5TB, 2x64c/2TB/nps2", Default: "2x32c/1TB, 2x48c/1.5TB, 2x64c/2TB", Long: true, flag: "-"},
		{Name: "release", Label: "ESXi release", Choices: releaseChoices("8.0 U3")},
		{Group: "Room that is kept", Folded: true, Name: "spare", Label: "Hosts that may fail", Hint: "1"},
		{Name: "host-count", Label: "Hosts, when VMs have no number", Hint: "10"},
		{Name: "vcpus-per-core", Label: "Most vCPUs per core", Hint: "1"},
		{Name: "reserve", Label: "Reserve, times the soft one", Hint: "1"},
		{Name: "overhead", Label: "Overhead of a VM", Hint: "VMware's table, or 1GB, 1%"},
		{Group: "Prices", Folded: true, Name: "host-price", Label: "Of a host", Hint: "18000"},
		{Name: "core-price", Label: "Of a core", Hint: "350"},
		{Name: "gb-price", Label: "Of a GB", Hint: "8"},
	}
}

func fitCommand(x *request, fields []field, flags []string) ([]string, error) {
	var vms []string
	shape, count := valueOf(fields, "vcpus")+"x"+valueOf(fields, "memory"), valueOf(fields, "count")
	if shape != "x" {
		if count != "" {
			shape += "*" + count
		}
		vms = append(vms, "--vm="+shape)
	}
	for one := range strings.SplitSeq(valueOf(fields, "more"), ",") {
		if one = strings.TrimSpace(one); one != "" {
			vms = append(vms, "--vm="+one)
		}
	}
	cluster, mine := clusterOf(fields)
	hosts := valueOf(fields, "hosts")
	if mine && (!x.query.Has("hosts") || count == "") { // the example is of planned hosts; room that is left is of those that are there
		hosts = ""
	}
	if hosts != "" {
		vms = append(vms, "--hosts="+hosts)
	}
	words := []string{"size", "fit"}
	if !mine {
		return commandOf(words, append(vms, flags...)), nil
	}
	return commandOf(words, append(append(vms, "--cluster="+cluster), flags...), Source), nil
}

// ioFields describe a workload.
func ioFields(x *request) []field {
	return []field{
		{Group: "Workload of all hosts", Name: "path", Label: "Through", Choices: []choice{{"vsan-esa", "vSAN ESA"}, {"nvme", "local NVMe"}, {"network", "the network"}, {"ram", "RAM"}}, Default: "vsan-esa", flag: "-"},
		{Name: "iops", Label: "I/Os a second", Hint: "100k", Default: "100k", flag: "-"},
		{Name: "throughput", Label: "Instead: bytes a second", Hint: "2GB/s", flag: "-"},
		{Name: "block", Label: "Size of an I/O", Hint: "32k", Default: "32k", flag: "-"},
		{Name: "read", Label: "Reads, percent", Hint: "70", flag: "-"},
		{Name: "random", Label: "Random, percent", Hint: "100", flag: "-"},
		{Group: "More of the workload", Folded: true, Name: "tx", Label: "Network: sent", Hint: "10Gb/s", flag: "-"},
		{Name: "rx", Label: "Network: received", Hint: "10Gb/s", flag: "-"},
		{Name: "policy", Label: "vSAN policy", Choices: choices("raid-5", "raid-6", "raid-1", "raid-0"), flag: "-"},
		{Name: "rdma", Label: "vSAN over RDMA", Check: true},
		{Name: "workload", Label: "One more workload", Hint: "network tx=10Gb/s rx=10Gb/s", Long: true},
		x.where("planned, described here"),
		{Name: "host-count", Label: "Number of hosts", Hint: "6", Default: "6"},
		{Name: "host-cores", Label: "Cores of a host, all sockets", Hint: "32", Default: "32"},
		{Name: "core", Label: "Clock of a core", Hint: "3.6GHz", Default: "3.6GHz"},
		{Name: "ipc", Label: "Work per cycle, times the measured", Hint: "1"},
		{Group: "Limits", Folded: true, Name: "budget", Label: "CPU that I/O may have", Hint: "20%"},
		{Name: "vdisks", Label: "Virtual disks with a limit", Hint: "100"},
		{Name: "iops-limit", Label: "IOPS limit of each", Hint: "5000"},
		{Name: "rules-of-thumb", Label: "By the published rules of thumb", Check: true},
	}
}

func ioCommand(x *request, fields []field, flags []string) ([]string, error) {
	path := valueOf(fields, "path")
	words := map[string][]string{"network": {"tx", "rx"}, "ram": {"throughput"}, "nvme": {"throughput", "iops", "block", "read", "random"}, "vsan-esa": {"throughput", "iops", "block", "read", "random", "policy"}}[path]
	workload := path
	for _, word := range words {
		value := valueOf(fields, word)
		if value == "" || word == "iops" && valueOf(fields, "throughput") != "" { // it stands instead
			continue
		}
		if strings.ContainsAny(value, " \t") {
			return nil, fmt.Errorf("%s: found %q, want one word", word, value)
		}
		workload += " " + word + "=" + value
	}
	drop := map[string]bool{"rdma": path != "vsan-esa"}
	cluster, mine := clusterOf(fields)
	if mine {
		drop["host-count"], drop["host-cores"] = true, true
		if x.query.Get("core") == "" {
			drop["core"] = true
		}
	}
	flags = slices.DeleteFunc(flags, func(f string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		return drop[name]
	})
	flags = append([]string{"--workload=" + workload}, append(flags, "--coefficients=none")...) // coefficients of a file are not a page's
	if !mine {
		return commandOf([]string{"size", "io"}, flags), nil
	}
	if cluster == "all" {
		return nil, errors.New("the hosts of one cluster share a workload: choose a cluster")
	}
	return commandOf([]string{"size", "io"}, append(flags, "--cluster="+cluster), Source), nil
}

// latencyFields say what a request does.
func latencyFields(*request) []field {
	return []field{
		{Name: "core", Label: "Clock of a core", Hint: "2.5GHz"},
		{Name: "processor", Label: "Processor", Hint: "Xeon Gold 6154"},
		{Name: "remote", Label: "Remote accesses, percent", Hint: "50"},
		{Name: "calls", Label: "Steps of a request", Hint: "20"},
		{Name: "time-budget", Label: "Time that it may take", Hint: "10ms"},
		{Name: "details", Label: "All that is known of each figure", Check: true},
	}
}

// speedFields describe VMs of an organization VDC.
func speedFields(x *request) []field {
	out := []field{
		{Name: "where", Label: "Question", Choices: []choice{{"", "an organization VDC, described here"}}, flag: "-"},
		{Name: "vcpu-speed", Label: "vCPU speed", Hint: "1GHz", Default: "1GHz"},
		{Name: "model", Label: "Allocation model", Choices: []choice{{"flex", "Flex"}, {"pay-as-you-go", "Pay-As-You-Go"}, {"allocation", "Allocation pool (elastic)"}, {"reservation", "Reservation pool"}}, Default: "flex"},
		{Name: "guarantee", Label: "CPU guarantee", Hint: "20%"},
		{Name: "vm", Label: "VM: vCPUs x memory", Hint: "8x64GB", Default: "8x64GB"},
		{Name: "vm-count", Label: "VMs on a host", Hint: "as many as have a core for each vCPU"},
		{Name: "host", Label: "Host: sockets x cores / memory @ clock", Hint: "2x18c/1TB@3GHz", Default: "2x18c/1TB@3GHz", Long: true},
		{Name: "host-count", Label: "Hosts", Hint: "1"},
		{Name: "kernel", Label: "CPU that VMs cannot reserve", Hint: "10%"},
		{Name: "release", Label: "ESXi release", Choices: releaseChoices("8.0 U3")},
		{Name: "details", Label: "All columns", Check: true},
	}
	if x.fleet != nil {
		out[0].Choices = append(out[0].Choices, choice{"fleet", "the CPU limits of my fleet"})
	}
	return out
}

func speedCommand(_ *request, fields []field, flags []string) ([]string, error) {
	if valueOf(fields, "where") == "" {
		return commandOf([]string{"size", "speed"}, flags), nil
	}
	flags = slices.DeleteFunc(flags, func(f string) bool { return f != "--details" })
	return commandOf([]string{"size", "speed"}, flags, Source), nil
}

// dumpFields describe a host and its boot device.
func dumpFields(x *request) []field {
	out := []field{
		{Name: "where", Label: "Hosts", Choices: []choice{{"", "one, described here"}}, flag: "-"},
		{Name: "ram", Label: "Memory of the host", Hint: "1.5TB", Default: "1.5TB"},
		{Name: "boot", Label: "Boot device", Hint: "32GB", Default: "32GB"},
		{Name: "release", Label: "ESXi release", Choices: slices.DeleteFunc(releaseChoices("7.0 or later"), func(c choice) bool { return c.Value != "" && c.Value < "7" })},
		{Name: "logs", Label: "Space for logs", Hint: "3GB"},
		{Name: "keep-free", Label: "Kept free, percent", Hint: "20"},
		{Name: "media", Label: "systemMediaSize", Choices: choices("default", "min", "small", "max")},
	}
	if x.fleet != nil {
		out[0].Choices = append(out[0].Choices, choice{"fleet", "those of my fleet"})
	}
	return out
}

func dumpCommand(_ *request, fields []field, flags []string) ([]string, error) {
	if valueOf(fields, "where") == "" {
		return commandOf([]string{"size", "dump"}, flags), nil
	}
	flags = slices.DeleteFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--ram=") })
	return commandOf([]string{"size", "dump"}, flags, Source), nil
}

// pagesFields say how much memory VMs have.
func pagesFields(*request) []field {
	return []field{
		{Name: "memory", Label: "Memory of all VMs, configured", Hint: "1.5TB", Default: "1.5TB"},
		{Name: "consumed", Label: "Of it taken on the hosts", Hint: "1.2TB"},
		{Name: "gain", Label: "Freed by sharing", Hint: "20%"},
		{Name: "large", Label: "In large pages that guests ask for", Hint: "2.6%"},
		{Name: "host-memory", Label: "Memory of a host", Hint: "512GB"},
		{Name: "vm-memory", Label: "Memory of the largest VM", Hint: "128GB"},
		{Name: "release", Label: "ESXi release", Choices: releaseChoices("8.0 U3")},
	}
}
