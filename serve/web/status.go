package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/serve/board"
	"homenode/serve/collect"
	"homenode/serve/keep"
	"homenode/serve/metrics"
	"homenode/serve/query"
)

// A VMNow is a VM at the moment.
type VMNow struct {
	VCenter  string       `json:"vcenter"`
	Cluster  string       `json:"cluster,omitempty"`
	Host     string       `json:"host"`
	VM       string       `json:"vm"`
	VMID     string       `json:"vmId,omitempty"`
	Time     time.Time    `json:"time"`
	VCPUs    int          `json:"vcpus,omitempty"`
	Homes    []int        `json:"homeNodes"`          // empty for a VM without home node
	Local    numa.Bytes   `json:"local"`              // bytes
	Remote   numa.Bytes   `json:"remote"`             // bytes
	Locality *float64     `json:"locality,omitempty"` // N%L as a share; absent without memory
	Ready    *float64     `json:"ready,omitempty"`    // of each vCPU's time
	Moves    numa.Moves   `json:"migrations"`         // since the collector saw it first here
	homes    numa.NodeSet // the same as Homes
}

// VMsNow returns every VM that is seen, the lowest locality first, those without at the end.
func VMsNow(b *board.Board) (all []VMNow) {
	b.Each(func(h *board.Host) {
		for i := range h.Tick.VMs {
			t := &h.Tick.VMs[i]
			v := VMNow{VCenter: h.VCenter, Cluster: h.Cluster, Host: h.Name, VM: t.Name, VMID: h.VMs[i].ID, Time: h.Tick.Time,
				VCPUs: t.VCPUs, Homes: slices.AppendSeq([]int{}, t.Homes.All()), homes: t.Homes, Local: t.Local, Remote: t.Remote, Moves: h.VMs[i].Totals.Moves}
			if share, ok := t.Locality(); ok {
				v.Locality = &share
			}
			if t.Has&numa.HasReady != 0 && t.VCPUs > 0 {
				ready := t.Ready / float64(t.VCPUs)
				v.Ready = &ready
			}
			all = append(all, v)
		}
	})
	slices.SortStableFunc(all, func(a, b VMNow) int {
		return cmp.Or(cmp.Compare(known(a.Locality, 2), known(b.Locality, 2)), cmp.Compare(a.VM, b.VM), cmp.Compare(a.VCenter, b.VCenter), cmp.Compare(a.Host, b.Host))
	})
	return all
}

// known returns the value, or another one when there is none.
func known(v *float64, or float64) float64 {
	if v == nil {
		return or
	}
	return *v
}

// mostShown is how many VMs the first page lists.
const mostShown = 50

// StatusAnswer is the first page: what is bad now, who is seen and who cannot be.
func (s *Server) StatusAnswer() *answer.Answer {
	b, status := s.Board, s.Status()
	vms := VMsNow(b)
	limit := b.LowLocality()
	open, ended := b.Alarms()
	a := &answer.Answer{Command: "serve", Title: "homenode now"}
	low, judged := 0, 0
	for i := range vms {
		if vms[i].Locality != nil {
			judged++
		}
		if known(vms[i].Locality, 1) < limit {
			low++
		}
	}
	hosts, seen := 0, 0
	for i := range status {
		for _, h := range status[i].Hosts {
			hosts++
			if h.Reason == "" && !h.Last.IsZero() {
				seen++
			}
		}
	}
	high, live := 0, 0
	for i := range open {
		if open[i].Live {
			live++
		}
		if open[i].Live && open[i].Finding.Severity >= finding.High {
			high++
		}
	}
	switch {
	case hosts == 0:
		a.Verdict = append(a.Verdict, "No host is seen yet.")
	case seen == 0:
		a.Verdict = append(a.Verdict, fmt.Sprintf("None of %s is seen: nothing is known of locality.", plural(hosts, "host")))
	case len(vms) == 0:
		a.Verdict = append(a.Verdict, "No VM is seen.")
	case judged == 0:
		a.Verdict = append(a.Verdict, fmt.Sprintf("Nothing is known of the locality of %s.", plural(len(vms), "VM")))
	case low == 0:
		a.Verdict = append(a.Verdict, fmt.Sprintf("All of %s whose locality is known have at least %s of their memory local now.", plural(judged, "VM"), rule.NL(limit)))
	default:
		a.Verdict = append(a.Verdict, fmt.Sprintf("Less than %s of the memory of %d of %s whose locality is known is local now.", rule.NL(limit), low, plural(judged, "VM")))
	}
	if hosts > seen && seen > 0 {
		a.Verdict = append(a.Verdict, fmt.Sprintf("%d of %s cannot be seen: the table of hosts says why.", hosts-seen, plural(hosts, "host")))
	}
	if high > 0 {
		a.Verdict = append(a.Verdict, fmt.Sprintf("Of severity high in the last hour: %s.", plural(high, "finding")))
	}
	for i := range status {
		v := &status[i]
		text := fmt.Sprintf("%s, each every %v", plural(len(v.Hosts), "host"), v.Every.Round(time.Second))
		switch {
		case v.Error != "":
			text = v.Error
		case !v.Up:
			text = "no session yet"
		case v.Updates != "":
			text += "; what is moved, switched on or off or disconnected is only known with the inventory, every 10 minutes: " + v.Updates
		}
		a.Facts = append(a.Facts, answer.Fact{Name: v.Name, Text: text})
		if v.Advice != "" {
			a.NotesFrom("source", numa.Note{At: v.Name, Text: v.Advice})
		}
	}
	if n := len(open) - live; n > 0 {
		a.Facts = append(a.Facts, answer.Fact{Name: "about settings", Text: plural(n, "finding") + ": /api/homenode/v1/findings, and homenode assess of /api/homenode/v1/inventory"})
	}
	a.Facts = append(a.Facts, answer.Fact{Name: "running since", Text: s.Started.UTC().Format(time.DateTime) + " UTC"})
	if kept := s.keeping(); kept != nil {
		a.Facts = append(a.Facts, answer.Fact{Name: "store", Text: keptText(kept)})
	}
	for _, r := range s.sending() {
		text := "nothing sent yet"
		if !r.Until.IsZero() {
			text = fmt.Sprintf("has everything up to %s UTC, %s samples", r.Until.UTC().Format(time.DateTime), words.Thousands(int(r.Sent)))
		}
		if r.Failed > 0 {
			text += fmt.Sprintf(", refused %s", words.Thousands(int(r.Failed)))
		}
		a.Facts = append(a.Facts, answer.Fact{Name: "samples to " + r.To, Text: join(text, r.Error)})
	}
	for _, n := range s.notified() {
		text := plural(n.Sent, "message") + " sent"
		if n.Waiting > 0 {
			text += fmt.Sprintf(", %d wait", n.Waiting)
		}
		if n.Lost > 0 {
			text += fmt.Sprintf(", %d lost", n.Lost)
		}
		a.Facts = append(a.Facts, answer.Fact{Name: "findings to " + n.To, Text: join(text, n.Error)})
	}
	a.Tables = []answer.Table{alarmTable(open, ended), vmTable(vms, limit), hostTable(status)}
	return a
}

// join adds why something does not go.
func join(text, why string) string {
	if why == "" {
		return text
	}
	return text + ": " + why
}

// keptText says how the store goes.
func keptText(k *keep.State) string {
	switch {
	case k.Error != "":
		return k.Error
	case !k.Open:
		return fmt.Sprintf("being opened; %s wait", plural(k.Waiting, "tick"))
	case k.Full:
		return fmt.Sprintf("disk full: %v free; nothing is kept until there is more", numa.Bytes(k.Free))
	}
	return fmt.Sprintf("%d series, %v in blocks, %v free on the disk", k.Series, numa.Bytes(k.Bytes), numa.Bytes(k.Free))
}

// Alerts returns the findings that hold as the query API shows alerts.
func Alerts(b *board.Board) []query.Alert {
	open, _ := b.Alarms()
	out := []query.Alert{}
	for i := range open {
		f := &open[i].Finding
		out = append(out, query.Alert{Labels: map[string]string{"alertname": f.Rule, "severity": f.Severity.String(), "vcenter": open[i].VCenter, "cluster": f.Cluster, "host": f.Host, "vm": f.VM, "vm_id": f.VMID, "topic": f.Topic},
			Annotations: map[string]string{"summary": f.Title, "description": f.Message, "advice": f.Advice}, State: "firing", ActiveAt: open[i].Begin, Value: "1e+00"})
	}
	return out
}

// Metadata returns type and help of the metrics of hosts, nodes and VMs, and of what is kept of hours.
func Metadata() map[string][]query.Metadata {
	all := map[string][]query.Metadata{}
	for i := range metrics.Families {
		f := &metrics.Families[i]
		all[f.Name] = []query.Metadata{{Type: f.Kind, Help: f.Help, Unit: f.Unit}}
	}
	for _, f := range keep.HourFamilies {
		all[f[0]] = []query.Metadata{{Type: "gauge", Help: f[1]}}
	}
	return all
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

func texts(cells ...string) (row []answer.Cell) {
	for _, c := range cells {
		row = append(row, answer.Cell{Text: c})
	}
	return row
}

func percent(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100**v)
}

func vmTable(vms []VMNow, limit float64) answer.Table {
	t := answer.Table{Title: "VMs, the lowest locality first", Columns: answer.Columns("VM", "Host", "Home nodes", ">N%L", ">Local", ">Remote", ">Migrations", ">Ready")}
	for i := range vms {
		if i == mostShown {
			t.Cut = fmt.Sprintf("%d more: /api/homenode/v1/vms has all", len(vms)-i)
			break
		}
		v := &vms[i]
		row := texts(v.VM, v.Host, v.homes.String(), percent(v.Locality), v.Local.String(), v.Remote.String(), strconv.FormatInt(v.Moves.All, 10), percent(v.Ready))
		if known(v.Locality, 1) < limit {
			row[3].Tone = answer.Bad
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func hostTable(status []collect.Status) answer.Table {
	t := answer.Table{Title: "Hosts", Columns: answer.Columns("vCenter", "Cluster", "Host", "Last seen", ">Took", ">Size", ">Failed", "Why not")}
	for i := range status {
		for _, h := range status[i].Hosts {
			last := "–"
			if !h.Last.IsZero() {
				last = h.Last.UTC().Format(time.TimeOnly) + " UTC"
			}
			took, size, failed := "–", "–", "–"
			if !h.Asked.IsZero() { // a reader asks no host
				took, size, failed = h.Took.Round(time.Millisecond).String(), numa.Bytes(h.Size).String(), strconv.Itoa(h.Failed)
			}
			row := texts(status[i].Name, h.Cluster, h.Name, last, took, size, failed, h.Failing)
			if h.Failing != "" {
				row[7].Tone = answer.Bad
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func alarmTable(open, ended []board.Alarm) answer.Table {
	t := answer.Table{Title: "Findings of the last hour", Columns: answer.Columns("Severity", "Rule", "Subject", "Since", "What", "What to do")}
	for i := range open {
		if f := &open[i].Finding; open[i].Live {
			t.Rows = append(t.Rows, texts(f.Severity.String(), f.Rule, subject(f), open[i].Begin.UTC().Format(time.TimeOnly)+" UTC", f.Message, f.Advice))
		}
	}
	n := 0
	for i := range ended {
		if f := &ended[i].Finding; ended[i].Live && n < 10 {
			n++
			t.Rows = append(t.Rows, texts("ended", f.Rule, subject(f), ended[i].Begin.UTC().Format(time.TimeOnly)+" to "+ended[i].End.UTC().Format(time.TimeOnly)+" UTC", f.Message, ""))
		}
	}
	return t
}

// subject names what a finding is about.
func subject(f *finding.Finding) string {
	return strings.Trim(f.Host+"/"+f.VM, "/")
}
