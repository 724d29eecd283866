package report

import (
	"fmt"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/confront"
	"homenode/rules/rule"
)

// seenCounts returns "4 VMs, 6 observations: 5 agree with the prediction, 1 differs",
// or nothing when nothing was observed.
func seenCounts(r *rules.Result) string {
	vms, all, agree, differ := 0, 0, 0, 0
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			if len(v.Seen) > 0 {
				vms++
			}
			for i := range v.Seen {
				all++
				switch s := &v.Seen[i]; {
				case s.Agrees():
					agree++
				case s.Comparable():
					differ++
				}
			}
		}
	}
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf("%s, %s: %s with the prediction, %s", rule.Plural(vms, "VM"), rule.Plural(all, "observation"), verb(agree, "agrees", "agree"), verb(differ, "differs", "differ"))
	if rest := all - agree - differ; rest > 0 {
		text += fmt.Sprintf(", %d cannot be compared", rest)
	}
	return text
}

// seenVerdict says in one word how an observation compares.
func seenVerdict(s *confront.Result) string {
	switch {
	case s.Agrees():
		return "agrees"
	case s.Comparable():
		return "differs"
	}
	return "not compared"
}

// seenFields returns what was observed, and what was predicted where that differs.
func seenFields(s *confront.Result) string {
	var parts []string
	for _, f := range s.Fields {
		text := f.Name + " " + f.Observed
		if !f.Agrees {
			text += ", predicted " + f.Predicted
		}
		parts = append(parts, text)
	}
	if memory := seenMemory(s); memory != "" {
		parts = append(parts, memory)
	}
	return strings.Join(parts, "; ")
}

// seenMemory returns where the memory was, "96 GB local, 32 GB remote (N%L 75)". The
// percent is truncated, as esxtop prints it.
func seenMemory(s *confront.Result) string {
	share, ok := s.Observation.Locality()
	if !ok {
		return ""
	}
	text := fmt.Sprintf("memory %s local, %s remote (N%%L %d)", s.Observation.Local.Value, s.Observation.Remote.Value, int(share*100))
	if s.Comparable() && s.Layout.Memory.Placement == vnuma.Interleaved {
		text += ", which counts no access: memory is interleaved (C-17)"
	}
	return text
}

// seen prints the life of the VM as it was observed.
func (p *printer) seen(e *Explanation) {
	if len(e.VM.Seen) == 0 {
		return
	}
	p.printf("\n  observed\n")
	t := texttab.Table{Indent: "      "}
	for i := range e.VM.Seen {
		s := &e.VM.Seen[i]
		o := s.Observation
		t.Row(string(o.By), minute(o), string(o.Start), seenVerdict(s), seenFields(s))
		if p.colour && s.Comparable() && !s.Agrees() {
			t.Paint(3, severityCode[2])
		}
	}
	p.table(&t)
	for i := range e.VM.Seen {
		s := &e.VM.Seen[i]
		p.printf("      %s\n", p.paint(faint, fmt.Sprintf("%s: %s, %s", s.Observation.By, s.Observation.At, forWhat(s))))
		for _, o := range s.Other {
			p.printf("        it ran with %s = %s; the inventory has %s\n", o.Name, o.Observed, o.Inventory)
		}
		for _, text := range s.Reasons {
			p.printf("        reason: %s\n", text)
		}
		for _, text := range s.Open {
			p.printf("        %s\n", p.paint(faint, "note: "+text))
		}
	}
}

// forWhat says which prediction an observation was compared with.
func forWhat(s *confront.Result) string {
	if s.Host == "" {
		return "beside no prediction"
	}
	return fmt.Sprintf("beside the prediction for %s, %s", s.Host, s.Event)
}

// minute returns the minute of an observation in UTC, for logs of several hosts are
// written in several zones; what is not RFC 3339 stays.
func minute(o *numa.Observation) string {
	t, ok := o.Instant()
	if !ok {
		return o.Time
	}
	return t.UTC().Format("2006-01-02 15:04")
}

type seenJSON struct {
	By      string      `json:"by"`
	At      string      `json:"at"`
	Time    string      `json:"time,omitempty"`
	Start   string      `json:"start,omitempty"`
	Host    string      `json:"predictedFor,omitempty"`
	Event   string      `json:"event,omitempty"`
	Verdict string      `json:"verdict"` // agrees, differs or not compared
	Fields  []fieldJSON `json:"fields"`
	// Resident memory relative to the home nodes, as NLMEM and NRMEM of esxtop.
	Local   *numa.Bytes   `json:"localBytes,omitempty"`
	Remote  *numa.Bytes   `json:"remoteBytes,omitempty"`
	Reasons []string      `json:"reasons,omitempty"`
	Other   []settingJSON `json:"otherSettings,omitempty"`
	Open    []string      `json:"open,omitempty"`
}

type fieldJSON struct {
	Name      string `json:"name"`
	Observed  string `json:"observed"`
	Predicted string `json:"predicted"`
	Agrees    bool   `json:"agrees"`
	At        string `json:"at,omitempty"`
}

type settingJSON struct {
	Name      string `json:"name"`
	Observed  string `json:"observed"`
	Inventory string `json:"inventory"`
}

func seenOf(v *rule.VM) []seenJSON {
	out := make([]seenJSON, len(v.Seen))
	for i := range v.Seen {
		s := &v.Seen[i]
		o := s.Observation
		j := seenJSON{By: string(o.By), At: o.At, Time: o.Time, Start: string(o.Start), Host: s.Host,
			Verdict: seenVerdict(s), Fields: []fieldJSON{}, Reasons: s.Reasons, Open: s.Open}
		if _, ok := o.Locality(); ok {
			j.Local, j.Remote = &o.Local.Value, &o.Remote.Value
		}
		if s.Host != "" {
			j.Event = s.Event.String()
		}
		for _, f := range s.Fields {
			j.Fields = append(j.Fields, fieldJSON{f.Name, f.Observed, f.Predicted, f.Agrees, f.At})
		}
		for _, o := range s.Other {
			j.Other = append(j.Other, settingJSON(o))
		}
		out[i] = j
	}
	return out
}
