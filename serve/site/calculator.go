package site

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"homenode/ask"
	"homenode/ask/size"
	"homenode/numa"
)

// calculations are the questions that need no file, in the order of their tabs; the first is about the topology of a VM.
func calculations() (out []*ask.Entry) {
	for _, t := range size.Entries {
		if t.Example != "" {
			out = append(out, t)
		}
	}
	return out
}

// topology is the name of the first tab.
const topology = "topology"

// showCalculator answers about VMs and hosts without any inventory, or with the one that is held.
func showCalculator(x *request) (*view, error) {
	name := cmp.Or(x.query.Get("kind"), topology)
	kind := field{Name: "kind", Label: "Question", Value: name, Hidden: true, Choices: []choice{{topology, "Topology of a VM"}}}
	for _, t := range calculations() {
		kind.Choices = append(kind.Choices, choice{kindOf(t), t.Title})
	}
	x.asks = append(x.asks, kind)
	v, err := &view{}, error(nil)
	if name == topology {
		v, err = x.showTopology()
	} else if t := entryOf(calculations(), "size "+name); t != nil {
		v, err = x.showQuestion(t)
	} else {
		return nil, &unknownError{"the calculator has no such question"}
	}
	for _, c := range kind.Choices {
		v.tabs = append(v.tabs, tab{c.Label, "/calculator?" + url.Values{"kind": {c.Value}}.Encode(), c.Value == name})
	}
	if len(v.fields) > 0 { // the hidden one has no group of its own
		kind.Group, v.fields[0].Group = v.fields[0].Group, ""
	}
	v.fields = append([]field{kind}, v.fields...)
	return v, err
}

// kindOf returns the name of a question in the address of the calculator.
func kindOf(t *ask.Entry) string { return strings.TrimPrefix(t.Name, "size ") }

// showTopology explains what a VM gets on a host.
func (x *request) showTopology() (*view, error) {
	fields, flags := x.asked(topologyFields(x)...)
	v := &view{fields: fields, most: rowsShown, title: "Topology of a VM"}
	args, err := topologyCommand(x, fields, flags)
	if err != nil {
		return v, err
	}
	v.command = args
	v.answer, err = x.ask(args...)
	return v, err
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
