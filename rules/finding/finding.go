// Package finding contains the results of an assessment: a finding, its severity and the evidence for each of
// its numbers.
package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/words"

	"example.org/homenode/numa"
)

// A Severity is the importance of a finding. Severities compare with < and >.
type Severity uint8

// The severities: Info is information, Low is untidy, Medium costs performance or will, High costs performance
// now or is broken.
const (
	Info Severity = iota
	Low
	Medium
	High
)

var names = [...]string{"info", "low", "medium", "high"}

// String returns the severity in lower case.
func (s Severity) String() string { return names[s] }

// MarshalText writes the severity as String does.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseSeverity parses the output of String.
func ParseSeverity(name string) (Severity, error) {
	for i, n := range names {
		if strings.EqualFold(n, name) {
			return Severity(i), nil
		}
	}
	return 0, fmt.Errorf("found %q, want one of %s", name, strings.Join(names[:], ", "))
}

// A Finding is the result of one rule about one VM or host.
type Finding struct {
	Rule     string     `json:"rule"` // ID, such as N001
	Title    string     `json:"title"`
	Severity Severity   `json:"severity"`
	Cluster  string     `json:"cluster,omitempty"` // name
	Host     string     `json:"host,omitempty"`    // name
	HostID   string     `json:"hostId,omitempty"`
	VM       string     `json:"vm,omitempty"` // name; empty for a finding about a host
	VMID     string     `json:"vmId,omitempty"`
	On       []string   `json:"on,omitempty"`     // names of the hosts to which it applies, if not all of the cluster
	About    []string   `json:"hosts,omitempty"`  // names of all hosts that it is about, if there are several
	Then     Severity   `json:"-"`                // once the VM powers on, if that is higher
	AboutIDs []string   `json:"-"`                // their IDs, in the same order
	Costs    []string   `json:"-"`                // IDs of the VMs that a finding about hosts affects
	Remote   numa.Bytes `json:"-"`                // memory of the VM that is remote in the layout of the finding; for a host, memory of VMs that does not fit it
	VCPUs    int        `json:"-"`                // of the VM
	Off      bool       `json:"-"`                // the VM does not run
	Topic    string     `json:"-"`                // distinguishes findings of one rule about one subject: a setting, a KB article
	GID      int64      `json:"gid,omitempty"`    // scheduler group of a watched VM, to distinguish VMs of one name; 0 for other findings, -1 if unknown
	Nth      int        `json:"nth,omitempty"`    // index among the watched VMs of one name and GID, from 0
	Concerns []string   `json:"-"`                // IDs of the VMs that cause a finding about hosts, if it names them
	Split    []string   `json:"-"`                // IDs of VMs that are wide because of a setting of the host, so a change of it fixes them
	Far      bool       `json:"-"`                // the cost is remote memory, which is part of the layout
	Wide     bool       `json:"-"`                // the cost is more clients than the VMs would have, which are part of the layout
	Message  string     `json:"message"`          // one sentence with the decisive numbers
	Bad      string     `json:"-"`                // magnitude of an event, in a few words; empty if the title contains it
	Because  []string   `json:"-"`                // the parts of the message about the cause of an event
	Advice   string     `json:"advice,omitempty"` // the ways to fix it, as text
	Notice   string     `json:"notice,omitempty"` // the effect that the guest will notice
	Ways     []numa.Way `json:"ways,omitempty"`   // the same as data, the best first; each fixes it alone
	When     string     `json:"-"`                // begins the advice: the condition under which it applies
	Besides  string     `json:"-"`                // ends the advice: a sentence, or more
	// Causes are the possible causes of a symptom according to the facts: several, if the facts do not decide.
	Causes []Cause `json:"causes,omitempty"`
	// From and To are the time of the finding, the worst period if there are several; zero for findings about
	// settings.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Evidence contains each number of the message with its origin.
	Evidence []Evidence `json:"evidence,omitempty"`
	// Assumes lists the assumptions; empty for a finding that is based only on facts.
	Assumes []string `json:"assumes,omitempty"`
}

// A Cause is one possible cause of a symptom.
type Cause struct {
	Key    string `json:"-"`
	Text   string `json:"cause"`
	Told   string `json:"toldBy"` // the fact that distinguishes it from the other causes, with its source
	Do     string `json:"do"`
	Source string `json:"source"`
}

// Untidy begins the advice for a finding without a cost.
const Untidy = "Nothing has to change; better: "

// Needed reports whether a change is necessary: a finding below medium may state that it is not.
func (f *Finding) Needed() bool {
	return f.Severity >= Medium || f.Severity > Info && !strings.Contains(strings.ToLower(f.Advice), strings.ToLower(Untidy))
}

// Full returns the severity that the finding has once its VM powers on.
func (f *Finding) Full() Severity { return max(f.Severity, f.Then) }

// Planned reports whether the plan of the VM fixes the finding.
func (f *Finding) Planned() bool {
	return slices.ContainsFunc(f.Ways, func(w numa.Way) bool { return w.Plan })
}

// Cure returns the edits for the finding in a plan of changes, in addition to the plan of its VM; nil for none.
func (f *Finding) Cure() []numa.Edit {
	for i := range f.Ways {
		if f.Ways[i].Auto {
			return f.Ways[i].Edits
		}
	}
	return nil
}

// Began adds the cause to the message of an event.
func (f *Finding) Began(why string) {
	f.Message += "; " + why
	f.Because = append(f.Because, why)
}

// FirstAdvice returns the first sentence of the advice; for several possible causes, which they are: the cure of one is no advice.
func (f *Finding) FirstAdvice() string {
	first, _, _ := strings.Cut(f.Advice, ". ")
	if first == FindOut && len(f.Causes) > 0 {
		first += ": " + words.Or(words.Texts(f.Causes, func(c Cause) string { return c.Text }))
	}
	return strings.TrimSuffix(first, ".")
}

// FindOut begins the advice about a symptom with several possible causes.
const FindOut = "Find out which it is"

// Origin returns Assumed for a finding that is based on an assumption, otherwise Derived: an assessment is never
// Read.
func (f *Finding) Origin() numa.OriginKind {
	if len(f.Assumes) > 0 {
		return numa.Assumed
	}
	return numa.Derived
}

// Subject returns the subject of the finding: cluster/vm, or cluster/host.
func (f *Finding) Subject() string {
	name := f.VM
	if name == "" {
		name = f.Host
	}
	if f.Cluster == "" {
		return name
	}
	return f.Cluster + "/" + name
}

// Larger compares cases of one fault: a positive number if the VM of f runs and that of o does not, if f has more remote memory, or as much and more vCPUs.
func (f *Finding) Larger(o *Finding) int {
	switch {
	case !f.Off && o.Off:
		return 1
	case f.Off && !o.Off:
		return -1
	}
	return cmp.Or(cmp.Compare(f.Remote, o.Remote), cmp.Compare(f.VCPUs, o.VCPUs))
}

// Same reports whether both are findings of one rule about one fault.
func (f *Finding) Same(o Finding) bool { return f.Rule == o.Rule && f.Topic == o.Topic }

// Elsewhere reports whether the finding also applies to other hosts than that of its VM.
func (f *Finding) Elsewhere() bool {
	return f.Host != "" && len(f.On) > 0 && !slices.Contains(f.On, f.Host)
}

// Evidence is one number behind a finding.
type Evidence struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // "read: config.hardware.numCPU"
	At     string `json:"at,omitempty"`
}

// Of returns a fact as evidence.
func Of[T any](name string, f numa.Fact[T], at string) Evidence {
	value := "unknown"
	if f.Known() {
		value = fmt.Sprint(f.Value)
	}
	return Evidence{name, value, f.Origin.String(), at}
}

// EvidenceTexts returns a text such as "vCPUs = 32 (read: config.hardware.numCPU)" for each evidence.
func (f *Finding) EvidenceTexts() []string {
	return words.Texts(f.Evidence, func(e Evidence) string { return fmt.Sprintf("%s = %s (%s)", e.Name, e.Value, e.Origin) })
}
