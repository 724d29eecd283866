package site

import (
	"fmt"
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/output/answer"
)

// yesOrNo are the choices of a setting that is on or off.
var yesOrNo = []choice{{"", "as it is"}, {"on", "on"}, {"off", "off"}}

// showWhatIf judges the fleet with changes beside today's.
func showWhatIf(x *request) (*view, error) {
	if x.fleet == nil {
		return nil, errNoFleet
	}
	hosts := x.hostChoices()
	hosts[0].Label = "none"
	fields, _ := x.asked(
		field{Name: "vm", Label: "VM", Hint: "sql*", flag: "-"},
		field{Name: "vcpus", Label: "vCPUs", Hint: "24", flag: "-"},
		field{Name: "cores-per-socket", Label: "Cores per socket", Hint: "12, or auto", flag: "-"},
		field{Name: "hot-add", Label: "CPU hot add", Choices: yesOrNo, flag: "-"},
		field{Name: "memory", Label: "Memory", Hint: "384GB", flag: "-"},
		field{Name: "to", Label: "On host", Choices: x.hostChoices(), flag: "-"},
		field{Name: "hw", Label: "Virtual hardware", Hint: "21", flag: "-"},
		field{Name: "release", Label: "ESXi release of all hosts", Hint: "8.0U3", flag: "-"},
		field{Name: "nodes-per-socket", Label: "NUMA nodes per socket (SNC, NPS)", Hint: "2", flag: "-"},
		field{Name: "lose", Label: "Lose host", Choices: hosts, flag: "-"},
		field{Name: "add-host", Label: "Add host", Hint: "2x32c/1TB cluster=prod-a"},
		field{Name: "what-if", Label: "Other changes", Hint: "vm=web* numa.vcpu.preferHT=TRUE", Long: true},
	)
	v := &view{fields: fields, most: 10}
	changes, err := changesOf(fields, x.fleet.Result.Fleet)
	if err != nil {
		v.answer = &answer.Answer{Title: "What if"}
		return v, err
	}
	if len(changes) == 0 {
		v.answer = &answer.Answer{Title: "What if", Verdict: []string{"Say what would change, and what comes of it stands here as you type."}}
		return v, nil
	}
	v.command = append([]string{"assess", Source}, changes...)
	v.answer, err = x.ask(v.command...)
	return v, err
}

// changesOf returns the flags that the fields come to.
func changesOf(fields []field, f *numa.Fleet) (flags []string, err error) {
	value := func(name string) string { return valueOf(fields, name) }
	var words []string
	for _, w := range [][2]string{{"vcpus", "vcpus"}, {"cores-per-socket", "coresPerSocket"}, {"hot-add", "hotAdd"}, {"memory", "memory"}, {"hw", "hw"}} {
		if v := value(w[0]); v != "" {
			words = append(words, w[1]+"="+word(v))
		}
	}
	if to := value("to"); to != "" {
		words = append(words, "host="+word(hostName(f, to)))
	}
	vm := value("vm")
	switch {
	case vm != "" && len(words) > 0:
		flags = append(flags, "--what-if="+strings.Join(append([]string{"vm=" + word(vm)}, words...), " "))
	case len(words) > 0:
		return nil, fmt.Errorf("%s: say of which VM", strings.Join(words, " "))
	}
	if v := value("release"); v != "" {
		flags = append(flags, "--what-if=release="+word(v))
	}
	if v := value("nodes-per-socket"); v != "" {
		flags = append(flags, "--what-if=host=* nodesPerSocket="+word(v))
	}
	if v := value("lose"); v != "" {
		flags = append(flags, "--lose-host="+hostName(f, v))
	}
	if v := value("add-host"); v != "" {
		flags = append(flags, "--add-host="+v)
	}
	if v := value("what-if"); v != "" {
		flags = append(flags, "--what-if="+v)
	}
	return flags, nil
}

// hostName returns the name of a host by its ID.
func hostName(f *numa.Fleet, id string) string {
	for i := range f.Hosts {
		if f.Hosts[i].ID == id {
			return f.Hosts[i].Name
		}
	}
	return id
}

// word writes a value as a word of a change: what has blanks or quotes is quoted.
func word(v string) string {
	if strings.ContainsAny(v, " \t\"=") {
		return strconv.Quote(v)
	}
	return v
}
