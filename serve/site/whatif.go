package site

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
)

// asIsOnOff are the choices of a setting that can stay or be switched on or off.
var asIsOnOff = []choice{{"", "as it is"}, {"on", "on"}, {"off", "off"}}

// whatIfFields returns the fields for possible changes.
func (x *request) whatIfFields() []field {
	return []field{
		{Group: "A VM, or VMs of a pattern", Name: "vm", Label: "VM", Hint: x.example("VM") + ", or " + patternOf(x.example("VM"))},
		{Name: "vcpus", Label: "vCPUs", Hint: "as it is"},
		{Name: "coresPerSocket", Label: "Cores per socket", Hint: "16, or auto"},
		{Name: "memory", Label: "Memory", Hint: "384GB"},
		{Name: "hotAdd", Label: "CPU hot add", Choices: asIsOnOff},
		{Name: "hw", Label: "Virtual hardware", Hint: "21"},
		{Name: "host", Label: "On host or cluster", Choices: x.moveChoices()},
		{Name: "preferHT", Label: "numa.vcpu.preferHT", Choices: []choice{{"", "as it is"}, {"TRUE", "TRUE"}, {"FALSE", "FALSE"}}},
		{Group: "Hosts", Name: "hosts", Label: "Which hosts", Hint: "all, or " + patternOf(x.example("host"))},
		{Name: "release", Label: "ESXi release", Choices: releaseChoices("as it is")},
		{Name: "nodesPerSocket", Label: "NUMA nodes per socket (SNC, NPS)", Choices: choices("as it is", "1", "2", "3", "4")},
		{Name: "lose-host", Label: "Lose a host", Choices: x.hostsOr("none")},
		{Name: "add-host", Label: "Add hosts", Hint: x.example("host") + " count=2, or 2x32c/1TB cluster=" + x.example("cluster"), Long: true},
		{Group: "Anything else, in words", Folded: true, Name: "what-if", Label: "Change", Hint: "vm=" + patternOf(x.example("VM")) + " hotAdd=off coresPerSocket=16", Long: true},
	}
}

// example returns the name of a VM, host or cluster of the fleet as an example: its largest VM, its first host.
func (x *request) example(kind string) string {
	if x.fleet != nil && x.fleet.Result != nil {
		switch f := x.fleet.Result.Fleet; {
		case kind == "VM" && len(f.VMs) > 0:
			largest := &f.VMs[0]
			for i := range f.VMs {
				if f.VMs[i].VCPUs.Value > largest.VCPUs.Value {
					largest = &f.VMs[i]
				}
			}
			return largest.Name
		case kind == "host" && len(f.Hosts) > 0:
			return f.Hosts[0].Name
		case kind == "cluster" && len(f.Clusters) > 0:
			return f.Clusters[0].Name
		}
	}
	return map[string]string{"VM": "sql01", "host": "esx01", "cluster": "prod-a"}[kind]
}

// patternOf returns a pattern for names like this: "esx0*" for "esx01.example.com".
func patternOf(name string) string {
	name, _, _ = strings.Cut(name, ".")
	if short := strings.TrimRight(name, "0123456789"); short != "" {
		name = short
	}
	return name + "*"
}

// releaseChoices returns the modelled releases, newest first.
func releaseChoices(none string) []choice {
	out := []choice{{"", none}}
	for _, r := range numa.Offered() {
		if r.String() != none {
			out = append(out, choice{strings.ReplaceAll(r.String(), " ", ""), r.String()})
		}
	}
	return out
}

// moveChoices returns the hosts and clusters that VMs can move to.
func (x *request) moveChoices() []choice {
	out := x.hostsOr("where it is")
	if x.fleet != nil {
		for _, c := range x.fleet.Result.Fleet.Clusters {
			out = append(out, choice{c.Name, "cluster " + c.Name})
		}
	}
	return out
}

// hostsOr returns the hosts after the label of none.
func (x *request) hostsOr(none string) []choice {
	if x.fleet == nil {
		return []choice{{"", none}}
	}
	out := x.hostChoices()
	out[0].Label = none
	return out
}

// wordOf returns a word of a change.
func wordOf(key, value string) (string, error) {
	switch {
	case strings.ContainsAny(value, "\"\r\n"):
		return "", fmt.Errorf("%s: found %q, want no quote and no line break", key, value)
	case strings.ContainsAny(value, " \t#"):
		value = `"` + value + `"`
	}
	return key + "=" + value, nil
}

// wordsOf returns the change for the fields; "" for none. The first key is the subject: alone it changes nothing.
func wordsOf(fields []field, keys ...[2]string) (string, error) {
	var out []string
	for _, k := range keys {
		value := valueOf(fields, k[0])
		if value == "" {
			continue
		}
		word, err := wordOf(k[1], value)
		if err != nil {
			return "", err
		}
		out = append(out, word)
	}
	whom := valueOf(fields, keys[0][0])
	if len(out) == 0 || len(out) == 1 && whom != "" {
		return "", nil
	}
	return strings.Join(out, " "), nil
}

// showWhatIf assesses the fleet with and without changes.
func showWhatIf(x *request) (*view, error) {
	fields := x.asked(x.whatIfFields()...)
	v := &view{fields: fields, most: 10}
	if x.fleet == nil {
		return v, ask.ErrNoFleet
	}
	vm, err := wordsOf(fields, [2]string{"vm", "vm"}, [2]string{"vcpus", "vcpus"}, [2]string{"coresPerSocket", "coresPerSocket"}, [2]string{"memory", "memory"},
		[2]string{"hotAdd", "hotAdd"}, [2]string{"hw", "hw"}, [2]string{"host", "host"}, [2]string{"preferHT", "numa.vcpu.preferHT"})
	if err != nil {
		return v, err
	}
	for i := range fields {
		if fields[i].Name == "hosts" && strings.EqualFold(fields[i].Value, "all") {
			fields[i].Value = "*"
		}
	}
	hosts, err := wordsOf(fields, [2]string{"hosts", "host"}, [2]string{"release", "release"}, [2]string{"nodesPerSocket", "nodesPerSocket"})
	if err != nil {
		return v, err
	}
	if vm != "" && valueOf(fields, "vm") == "" {
		return v, errors.New("which VM? Enter its name, or * for all")
	}
	q := assessing()
	err = give(q, "what-if", vm, "what-if", hosts, "what-if", prefixed("lose-host=", valueOf(fields, "lose-host")),
		"what-if", prefixed("add-host=", valueOf(fields, "add-host")), "what-if", valueOf(fields, "what-if"))
	if err != nil {
		return v, err
	}
	if q.WhatIfs == nil {
		v.answer = &answer.Answer{Title: "What if", Verdict: []string{"Change something and compare the fleet before and after as you type.", "Nothing is written anywhere."}}
		if name := valueOf(fields, "vm"); name != "" {
			if !strings.ContainsAny(name, "*?[,/") && len(x.fleet.Result.Fleet.FindVMs(name)) == 0 {
				return v, &unknownError{fmt.Sprintf("no VM is named %q", name)}
			}
			v.answer.Verdict = []string{"Change something of " + name + " and compare it before and after.", "Nothing is written anywhere."}
		} else {
			v.links = x.exampleChanges()
		}
		return v, nil
	}
	v.command = ask.Line(fleet.AssessEntry.Name, q)
	v.answer, err = x.site.recent.answer(x, fleet.AssessEntry, q)
	return v, err
}

// exampleChanges returns links to changes of the fleet that need no input.
func (x *request) exampleChanges() []link {
	newest := releaseChoices("")[1]
	change := func(text string, q url.Values) link { return link{text, x.page.path + "?" + q.Encode()} }
	out := []link{
		change("CPU hot add off for all VMs", url.Values{"vm": {"*"}, "hotAdd": {"off"}}),
		change("ESXi "+newest.Label+" on all hosts", url.Values{"hosts": {"all"}, "release": {newest.Value}}),
	}
	if host, inCluster := x.typicalHost(); inCluster {
		out = append(out, change(texttab.Line(host.Name)+" fails", url.Values{"lose-host": {host.ID}}))
	}
	return out
}

// prefixed returns a value after its key; "" for none.
func prefixed(key, value string) string {
	if value == "" {
		return ""
	}
	return key + value
}

// today returns the fields of a what-if with the current values of a VM.
func (x *request) today(v *numa.VM) url.Values {
	q := url.Values{"vm": {x.nameOf(v)}}
	set := func(name, value string, known bool) {
		if known {
			q.Set(name, value)
		}
	}
	set("vcpus", strconv.Itoa(v.VCPUs.Value), v.VCPUs.Known())
	set("memory", strconv.FormatInt(int64(v.Memory.Value/numa.MiB), 10)+"MB", v.Memory.Known() && v.Memory.Value%numa.MiB == 0)
	if v.Memory.Value%numa.GiB == 0 {
		set("memory", strconv.FormatInt(int64(v.Memory.Value/numa.GiB), 10)+"GB", v.Memory.Known())
	}
	set("hotAdd", map[bool]string{true: "on", false: "off"}[v.CPUHotAdd.Value], v.CPUHotAdd.Known())
	set("hw", strconv.Itoa(v.Hardware.Value), v.Hardware.Known())
	if v.AutoCoresPerSocket.Or(false) {
		q.Set("coresPerSocket", "auto")
	} else {
		set("coresPerSocket", strconv.Itoa(v.CoresPerSocket.Value), v.CoresPerSocket.Known())
	}
	return q
}
