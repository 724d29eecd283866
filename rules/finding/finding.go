// Package finding holds what a judgement says: a finding, its severity and the
// evidence behind each of its numbers.
package finding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/internal/words"

	"homenode/numa"
)

// A Severity says how much a finding matters. Severities compare with < and >.
type Severity uint8

// The severities: Info tells, Low is untidy, Medium costs or will cost, High
// costs now or breaks.
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

// ParseSeverity reads what String writes.
func ParseSeverity(name string) (Severity, error) {
	for i, n := range names {
		if strings.EqualFold(n, name) {
			return Severity(i), nil
		}
	}
	return 0, fmt.Errorf("found %q, want one of %s", name, strings.Join(names[:], ", "))
}

// A Finding is one judgement of one rule about one VM or host.
type Finding struct {
	Rule     string     `json:"rule"` // ID, such as N001
	Title    string     `json:"title"`
	Severity Severity   `json:"severity"`
	Cluster  string     `json:"cluster,omitempty"` // name
	Host     string     `json:"host,omitempty"`    // name
	HostID   string     `json:"hostId,omitempty"`
	VM       string     `json:"vm,omitempty"` // name; empty for a finding about a host
	VMID     string     `json:"vmId,omitempty"`
	On       []string   `json:"on,omitempty"`     // names of the hosts where it holds, when these are not all of the cluster
	About    []string   `json:"hosts,omitempty"`  // names of all hosts that a finding about hosts speaks of, when they are several
	AboutIDs []string   `json:"-"`                // their IDs, in the same order
	Costs    []string   `json:"-"`                // IDs of the VMs that lose by what a finding about hosts says
	Topic    string     `json:"-"`                // tells findings of one rule about one subject apart: a setting, a KB article
	GID      int64      `json:"gid,omitempty"`    // scheduler group of a VM that was watched: tells VMs of one name apart; 0 for other findings, -1 unknown
	Nth      int        `json:"nth,omitempty"`    // of the watched VMs of one name and GID, from 0
	Moves    bool       `json:"-"`                // hangs on which VMs run on the host: DRS takes it to another one
	Concerns []string   `json:"-"`                // IDs of the VMs that bring about a finding about hosts, where it names them
	Split    []string   `json:"-"`                // IDs of VMs that a setting of the host makes wide: it is their cure
	Far      bool       `json:"-"`                // what it costs is memory on another node, which the layout measures
	Message  string     `json:"message"`          // one sentence with the deciding numbers
	Bad      string     `json:"-"`                // how bad an event was, in few words; empty where the title tells it
	Because  []string   `json:"-"`                // the parts of the message that tell where an event came from
	Advice   string     `json:"advice,omitempty"` // the ways to cure it, in words
	Notice   string     `json:"notice,omitempty"` // what the guest will notice of it
	Ways     []numa.Way `json:"ways,omitempty"`   // the same as data, the best first; each cures it alone
	When     string     `json:"-"`                // begins the advice: the condition under which it holds
	Besides  string     `json:"-"`                // ends the advice: a sentence, or more
	// Causes are the possible causes of a symptom that the facts leave: several, while nothing decides.
	Causes []Cause `json:"causes,omitempty"`
	// From and To are when it held, the worst stretch when there are several; zero for
	// findings about settings.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Evidence holds each number of the message with its origin.
	Evidence []Evidence `json:"evidence,omitempty"`
	// Assumes lists what was taken for granted; a finding that rests on nothing
	// but facts has none.
	Assumes []string `json:"assumes,omitempty"`
}

// A Cause is one possible cause of a symptom.
type Cause struct {
	Key    string `json:"-"`
	Text   string `json:"cause"`
	Told   string `json:"toldBy"` // the fact that tells it from the other causes, and where it is read
	Do     string `json:"do"`
	Source string `json:"source"`
}

// Untidy begins the advice of what costs nothing.
const Untidy = "Nothing has to change; better: "

// Needed reports whether something has to change: less than a medium finding may say itself that nothing has to.
func (f *Finding) Needed() bool {
	return f.Severity >= Medium || f.Severity > Info && !strings.Contains(strings.ToLower(f.Advice), strings.ToLower(Untidy))
}

// Planned reports whether the plan of the VM cures the finding.
func (f *Finding) Planned() bool {
	return slices.ContainsFunc(f.Ways, func(w numa.Way) bool { return w.Plan })
}

// Cure returns the edits that a plan of changes takes for the finding beside the plan of its VM; nil for none.
func (f *Finding) Cure() []numa.Edit {
	for i := range f.Ways {
		if f.Ways[i].Auto {
			return f.Ways[i].Edits
		}
	}
	return nil
}

// Began adds to the message of an event where it came from.
func (f *Finding) Began(why string) {
	f.Message += "; " + why
	f.Because = append(f.Because, why)
}

// FirstAdvice returns the first sentence of the advice; of several possible causes how to recognise the first.
func (f *Finding) FirstAdvice() string {
	first, rest, _ := strings.Cut(f.Advice, ". ")
	if first == FindOut {
		rest, _, _ = strings.Cut(rest, ". ")
		rest, _, _ = strings.Cut(rest, "; ")
		first = rest
	}
	return strings.TrimSuffix(first, ".")
}

// FindOut begins the advice about a symptom with several possible causes.
const FindOut = "Find out which it is"

// Origin returns Assumed for a finding that rests on an assumption, else Derived:
// a judgement is never Read.
func (f *Finding) Origin() numa.OriginKind {
	if len(f.Assumes) > 0 {
		return numa.Assumed
	}
	return numa.Derived
}

// Subject returns what the finding is about: cluster/vm, or cluster/host.
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

// Elsewhere reports whether the finding holds on other hosts than that of its VM alone.
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

// EvidenceTexts returns "vCPUs = 32 (read: config.hardware.numCPU)" for each evidence.
func (f *Finding) EvidenceTexts() []string {
	return words.Texts(f.Evidence, func(e Evidence) string { return fmt.Sprintf("%s = %s (%s)", e.Name, e.Value, e.Origin) })
}
