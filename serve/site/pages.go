package site

import (
	"fmt"
	"slices"
	"strings"

	"homenode/output/answer"
	"homenode/rules/finding"
)

// pages returns every page in the order of the navigation.
func pages() []*screen {
	return []*screen{
		{"/", "Fleet", true, showFleet},
		{"/findings", "Findings", true, showFindings},
		{"/cluster", "Cluster", false, showCluster},
		{"/host", "Host", false, showHost},
		{"/vm", "VM", false, showVM},
		{"/what-if", "What if", true, showWhatIf},
		{"/calculator", "Calculator", true, showCalculator},
		{"/accepted", "Accepted findings", false, showAccepted},
		{"/plans", "Plans", true, showPlans},
		{"/plan", "Plan", false, showPlan},
		{"/status", "Status", true, showStatus},
	}
}

// showFleet shows what is bad in the fleet now.
func showFleet(x *request) (*view, error) {
	if x.fleet == nil && x.site.Status != nil {
		return &view{answer: x.site.Status(), live: true}, nil
	}
	args := []string{"assess", Source}
	a, err := x.ask(args...)
	if err != nil {
		return nil, err
	}
	out := *a
	out.Drawings = nil // those of hosts stand on their pages
	return &view{answer: &out, command: args, most: 3}, nil
}

// severities are the choices of a least severity.
var severities = []choice{{"", "any"}, {"high", "high"}, {"medium", "medium and above"}, {"low", "low and above"}}

// showFindings shows the findings that a filter leaves.
func showFindings(x *request) (*view, error) {
	fields, args := x.asked(
		field{Name: "severity", Label: "Severity", Choices: severities},
		field{Name: "rule", Label: "Rule", Hint: "N001"},
		field{Name: "cluster", Label: "Cluster", Hint: "prod*"},
		field{Name: "host", Label: "Host", Hint: "esx0*"},
		field{Name: "vm", Label: "VM", Hint: "sql*"},
		field{Name: "select", Label: "Condition", Hint: "vcpus > 16 && hotAdd"},
	)
	args = append([]string{"assess", Source}, args...)
	a, err := x.ask(args...)
	v := &view{answer: a, fields: fields, command: args, most: 10}
	if valueOf(fields, "rule") != "" {
		v.most = rowsShown
	}
	return v, err
}

// showCluster shows whether every VM fits every host of a cluster.
func showCluster(x *request) (*view, error) {
	name := x.query.Get("cluster")
	args := []string{"matrix", Source, name}
	a, err := x.ask(args...)
	if err != nil {
		return nil, err
	}
	judged, err := x.ask("assess", Source, "--cluster="+name)
	if err != nil {
		return nil, err
	}
	return &view{answer: joined(a, judged), command: args, most: 3}, nil
}

// joined returns an answer with the findings of another one.
func joined(a, judged *answer.Answer) *answer.Answer {
	out := *a
	out.Findings, out.Notes = judged.Findings, append(slices.Clone(a.Notes), judged.Notes...)
	if len(out.Verdict) == 0 {
		out.Verdict = judged.Verdict
	}
	return &out
}

// showHost shows what the NUMA nodes of a host hold.
func showHost(x *request) (*view, error) {
	name := x.query.Get("host")
	if x.fleet == nil {
		return nil, errNoFleet
	}
	hosts := x.fleet.Result.Fleet.FindHosts(name)
	if len(hosts) == 0 {
		return nil, &unknownError{fmt.Sprintf("no host is named %q", name)}
	}
	args := []string{"topo", Source, name}
	a, err := x.ask(args...)
	if err != nil {
		return nil, err
	}
	judged, err := x.ask("assess", Source, "--host="+name)
	if err != nil {
		return nil, err
	}
	return &view{answer: joined(a, judged), command: args, most: 10}, nil
}

// showVM explains the topology of a VM.
func showVM(x *request) (*view, error) {
	name := x.query.Get("vm")
	if x.fleet == nil {
		return nil, errNoFleet
	}
	if len(x.fleet.Result.Fleet.FindVMs(name)) == 0 {
		return nil, &unknownError{fmt.Sprintf("no VM is named %q", name)}
	}
	fields, args := x.asked(
		field{Name: "on", Label: "On host", Choices: x.hostChoices()},
		field{Name: "event", Label: "Event", Choices: eventChoices()},
	)
	args = append([]string{"explain", Source, name}, args...)
	a, err := x.ask(args...)
	return &view{answer: a, fields: append([]field{{Name: "vm", Value: name, Label: "VM"}}, fields...), command: args, most: rowsShown}, err
}

// hostChoices are the hosts of the fleet.
func (x *request) hostChoices() []choice {
	out := []choice{{"", "its own"}}
	hosts := x.fleet.Result.Fleet.Hosts
	for i := range hosts {
		out = append(out, choice{hosts[i].ID, hosts[i].Name})
	}
	return out
}

// showWhatIf judges the fleet with changes beside today's.
func showWhatIf(x *request) (*view, error) {
	fields, args := x.asked(
		field{Name: "what-if", Label: "Change", Hint: "vm=sql* hotAdd=off coresPerSocket=16", Long: true},
		field{Name: "lose-host", Label: "Lose host", Hint: "esx01"},
		field{Name: "add-host", Label: "Add host", Hint: "2x32c/1TB cluster=prod-a"},
	)
	if len(args) == 0 {
		return &view{answer: &answer.Answer{Title: "What if", Verdict: []string{"Say what would change, and the fleet with it stands beside today's."}}, fields: fields}, nil
	}
	args = append([]string{"assess", Source}, args...)
	a, err := x.ask(args...)
	return &view{answer: a, fields: fields, command: args, most: 10}, err
}

// showCalculator answers about a VM and a host without any inventory.
func showCalculator(x *request) (*view, error) {
	fields, args := x.asked(
		field{Name: "vm", Label: "VM", Hint: "24x512GB", Default: "24x512GB"},
		field{Name: "host", Label: "Host", Hint: "2x16c/768GB", Default: "2x16c/768GB"},
		field{Name: "release", Label: "ESXi release", Hint: "8.0U3", Default: "8.0U3"},
		field{Name: "hot-add", Label: "CPU hot add", Check: true},
		field{Name: "cores-per-socket", Label: "Cores per socket", Hint: "12"},
		field{Name: "hw", Label: "Virtual hardware", Hint: "20"},
	)
	args = append([]string{"explain"}, args...)
	a, err := x.ask(args...)
	return &view{answer: a, fields: fields, command: args, most: rowsShown}, err
}

// showStatus shows how collecting goes.
func showStatus(x *request) (*view, error) {
	if x.site.Status == nil {
		verdict := "Nothing is collected: these pages are of a file."
		return &view{answer: &answer.Answer{Title: "Status", Verdict: []string{verdict}, Facts: []answer.Fact{{Name: "source", Text: strings.Join(x.fleet.Sources, " ")}}}}, nil
	}
	return &view{answer: x.site.Status(), live: true}, nil
}

// allOf returns the address of all findings of a rule and severity.
func (x *request) allOf(rule string, s finding.Severity) string {
	return "/findings?rule=" + rule + "&severity=" + strings.ToLower(s.String())
}
