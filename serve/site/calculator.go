package site

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/ask/size"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
)

// calculations returns the calculators that need no file, in the order of their tabs. The tab before them is the
// topology of a VM.
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

// showCalculator answers questions about VMs and hosts, without an inventory or with the server's.
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
	} else if t := ask.Named(calculations(), "size "+name); t != nil {
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

// kindOf returns the name of a calculator in addresses.
func kindOf(t *ask.Entry) string { return strings.TrimPrefix(t.Name, "size ") }

// topologyExample is the query of the example link.
var topologyExample = url.Values{"vcpus": {"24"}, "memory": {"512GB"}, "sockets": {"2"}, "cores": {"16"}, "host-memory": {"768GB"}}

// showTopology explains the topology of a VM on a host.
func (x *request) showTopology() (*view, error) {
	fields := x.asked(topologyFields()...)
	v := &view{fields: fields, most: rowsShown, title: "Topology of a VM"}
	if !slices.ContainsFunc(fields, func(f field) bool { return f.Value != f.Default }) {
		example := cloned(x.query)
		maps.Copy(example, topologyExample)
		v.answer = &answer.Answer{Title: v.title, Verdict: []string{"The topology of a VM on a host, and why."}}
		v.links = []link{{exampleLink, x.page.path + "?" + example.Encode()}}
		return v, nil
	}
	vm, err := shapedVM(fields)
	if err != nil {
		return v, err
	}
	host, err := shapedHost(fields)
	if err != nil {
		return v, err
	}
	q := fleet.ExplainEntry.Ask()
	if err := give(q, "vm", vm, "host", host, "release", valueOf(fields, "release"), "event", valueOf(fields, "event")); err != nil {
		return v, err
	}
	v.command = ask.Line(fleet.ExplainEntry.Name, q)
	v.answer, err = x.answerOf(fleet.ExplainEntry, q)
	return v, err
}

// divided are the numbers of NUMA nodes per socket.
var divided = []choice{{"", "1"}, {"snc2", "2 (SNC)"}, {"nps2", "2 (NPS)"}, {"snc3", "3 (SNC)"}, {"nps4", "4 (NPS)"}}

// topologyFields describe a VM and a host.
func topologyFields() []field {
	return []field{
		{Group: "VM", Name: "vcpus", Label: "vCPUs", Hint: "24"},
		{Name: "memory", Label: "Memory", Hint: "512GB"},
		{Name: "cores-per-socket", Label: "Cores per socket", Hint: "12, or auto"},
		{Name: "hw", Label: "Virtual hardware", Hint: "21"},
		{Name: "hot-add", Label: "CPU hot add", Check: true},
		{Name: "vnuma-hot-add", Label: "vNUMA with hot add", Check: true},
		{Group: "More of the VM", Folded: true, Name: "latency", Label: "Latency sensitivity", Choices: choices("normal", "low", "medium", "high")},
		{Name: "preferHT", Label: "numa.vcpu.preferHT", Choices: choices("not set", "TRUE", "FALSE")},
		{Name: "perNode", Label: "numa.vcpu.maxPerVirtualNode", Hint: "not set"},
		{Name: "min", Label: "numa.vcpu.min", Hint: "9"},
		{Name: "stored", Label: "Stored size of a node", Hint: "none"},
		{Name: "set", Label: "Another setting", Hint: "numa.vcpu.coresPerNode=8", Long: true},
		{Group: "Host", Name: "sockets", Label: "Sockets", Hint: "2"},
		{Name: "cores", Label: "Cores of a socket", Hint: "16"},
		{Name: "host-memory", Label: "Memory of the host", Hint: "768GB"},
		{Name: "divided", Label: "NUMA nodes of a socket", Choices: divided},
		{Name: "release", Label: "ESXi release", Choices: releaseChoices("")[1:], Default: "8.0U3"},
		{Group: "More of the host, and when", Folded: true, Name: "noht", Label: "Without hyper-threading", Check: true},
		{Name: "host-words", Label: "In words", Hint: "llcCores=8 Numa.PreferHT=1", Long: true},
		{Name: "event", Label: "Event", Choices: eventChoices()},
	}
}

// needed returns an error for the first of these fields that has no value.
func needed(fields []field, names ...string) error {
	for _, f := range fields {
		if slices.Contains(names, f.Name) && f.Value == "" {
			return ask.Wrong(f.Name, fmt.Errorf("it is missing, such as %s", f.Hint))
		}
	}
	return nil
}

// shapedHost returns the host of the question as text: its shape, then options.
func shapedHost(fields []field) (string, error) {
	if err := needed(fields, "sockets", "cores", "host-memory"); err != nil {
		return "", err
	}
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
	return host, nil
}

// shapedVM returns the VM of the question as text: its shape, then options.
func shapedVM(fields []field) (string, error) {
	if err := needed(fields, "vcpus", "memory"); err != nil {
		return "", err
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
	for _, w := range [][2]string{{"cores-per-socket", "coresPerSocket"}, {"hw", "hw"}, {"hot-add", "hotAdd"}, {"vnuma-hot-add", "vnumaHotAdd"}, {"latency", "latency"}, {"stored", "stored"}, {"preferHT", "numa.vcpu.preferHT"}} {
		if err := word(w[1], valueOf(fields, w[0])); err != nil {
			return "", err
		}
	}
	for _, s := range [][2]string{{"perNode", "numa.vcpu.maxPerVirtualNode"}, {"min", "numa.vcpu.min"}} {
		value := valueOf(fields, s[0])
		if n, err := strconv.Atoi(value); value != "" && (err != nil || n < 1 || n > numa.MaxVCPUs) {
			return "", fmt.Errorf("%s: found %q, want a number of vCPUs from 1 to %d", s[1], value, numa.MaxVCPUs)
		}
		if err := word(s[1], value); err != nil {
			return "", err
		}
	}
	for one := range strings.FieldsSeq(valueOf(fields, "set")) {
		key, value, ok := strings.Cut(one, "=")
		if !ok {
			return "", errors.New("another setting: want KEY=VALUE, such as numa.vcpu.coresPerNode=8")
		}
		if err := word(key, value); err != nil {
			return "", err
		}
	}
	return vm, nil
}
