package routes

import (
	"fmt"
	"strconv"
	"time"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/keep"
	"example.org/homenode/serve/metrics"
	"example.org/homenode/serve/query"
)

// StatusAnswer reports the status of collecting: reporting hosts, failing hosts with reasons, and
// where the data goes.
func (s *Server) StatusAnswer() *answer.Answer {
	status := s.Status()
	open, _ := s.Board.Alarms()
	a := &answer.Answer{Command: "serve", Title: "Status"}
	a.Verdict = []string{seenVerdict(status)}
	settings := 0
	for i := range open {
		if !open[i].Live {
			settings++
		}
	}
	for i := range status {
		v := &status[i]
		text := fmt.Sprintf("%s, each every %v", words.Plural(len(v.Hosts), "host"), v.Every.Round(time.Second))
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
	if settings > 0 {
		a.Facts = append(a.Facts, answer.Fact{Name: "about settings", Text: words.Plural(settings, "finding") + ": /api/homenode/v1/findings, and homenode assess of /api/homenode/v1/inventory"})
	}
	a.Facts = append(a.Facts, answer.Fact{Name: "running since", Text: s.Started.UTC().Format(time.DateTime) + " UTC"})
	if kept := s.keeping(); kept != nil {
		a.Facts = append(a.Facts, answer.Fact{Name: "store", Text: keptText(kept)})
		addLosses(a, kept.Losses)
	}
	s.addSending(a)
	a.Tables = []answer.Table{hostTable(status)}
	return a
}

// seenVerdict states how many hosts report.
func seenVerdict(status []collect.Status) string {
	hosts, seen := 0, 0
	for i := range status {
		for _, h := range status[i].Hosts {
			hosts++
			if h.Reason == "" && !h.Last.IsZero() {
				seen++
			}
		}
	}
	switch {
	case hosts == 0:
		return "Waiting for the list of hosts."
	case seen == hosts:
		return fmt.Sprintf("%d of %s reporting.", seen, words.Plural(hosts, "host"))
	}
	return fmt.Sprintf("%d of %s reporting: the table of hosts says why the others do not.", seen, words.Plural(hosts, "host"))
}

// addSending adds the state of remote write and of notifications.
func (s *Server) addSending(a *answer.Answer) {
	for _, r := range s.sending() {
		text := "nothing sent yet"
		if !r.Until.IsZero() {
			text = fmt.Sprintf("has everything up to %s UTC, %s samples", r.Until.UTC().Format(time.DateTime), words.Thousands(int(r.Sent)))
		}
		if !r.Begin.IsZero() {
			text += fmt.Sprintf(", as a new target from %s UTC on: no marks say what it has", r.Begin.UTC().Format(time.DateTime))
		}
		if r.Failed > 0 {
			text += fmt.Sprintf(", refused %s", words.Thousands(int(r.Failed)))
		}
		a.Facts = append(a.Facts, answer.Fact{Name: "samples to " + r.To, Text: join(text, r.Error)})
	}
	for _, n := range s.notified() {
		text := words.Plural(n.Sent, "message") + " sent"
		if n.Waiting > 0 {
			text += fmt.Sprintf(", %d wait", n.Waiting)
		}
		if n.Lost > 0 {
			text += fmt.Sprintf(", %d lost", n.Lost)
		}
		a.Facts = append(a.Facts, answer.Fact{Name: "findings to " + n.To, Text: join(text, n.Error)})
	}
}

// join appends a reason, if there is one.
func join(text, why string) string {
	if why == "" {
		return text
	}
	return text + ": " + why
}

// keptText describes the status of the store.
func keptText(k *keep.State) string {
	switch {
	case k.Error != "":
		return k.Error
	case !k.Open:
		return fmt.Sprintf("being opened; %s wait", words.Plural(k.Waiting, "tick"))
	case k.Full:
		return fmt.Sprintf("disk full: %v free; nothing is kept until there is more", numa.Bytes(k.Free))
	}
	text := fmt.Sprintf("%d series, %v in blocks, %v free on the disk", k.Series, numa.Bytes(k.Bytes), numa.Bytes(k.Free))
	if k.Damaged > 0 {
		text += fmt.Sprintf("; %s could not be read", words.Verb(int(k.Damaged), "series of a block", "series of blocks"))
	}
	return join(text, k.Upkeep)
}

// mostLosses limits the number of damaged or missing files in the answer.
const mostLosses = 50

// addLosses adds the damaged or missing files of the store, and the lost data.
func addLosses(a *answer.Answer, all []store.Loss) {
	if len(all) == 0 {
		return
	}
	a.Verdict = append(a.Verdict, fmt.Sprintf("%s damaged or missing in the folder of the store.", words.Verb(len(all), "file is", "files are")))
	for i, x := range all {
		if i == mostLosses {
			a.Facts = append(a.Facts, answer.Fact{Name: "lost", Text: words.Plural(len(all)-i, "more file")})
			return
		}
		a.Facts = append(a.Facts, answer.Fact{Name: "lost", Text: x.String()})
	}
}

// Alerts returns the open findings as alerts of the query API.
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

// Metadata returns type and help of the metrics of hosts, nodes, VMs and hours.
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

func texts(cells ...string) (row []answer.Cell) {
	for _, c := range cells {
		row = append(row, answer.Cell{Text: c})
	}
	return row
}

func hostTable(status []collect.Status) answer.Table {
	t := answer.Table{Name: "hosts", Title: "Hosts", Columns: answer.Columns("vCenter", "Cluster", "Host", "Last seen", "Asked", ">Took", ">Size", ">Failed", "Why not")}
	for i := range status {
		for _, h := range status[i].Hosts {
			last := "–"
			if !h.Last.IsZero() {
				last = h.Last.UTC().Format(time.TimeOnly) + " UTC"
			}
			asked, took, size, failed := "–", "–", "–", "–"
			if !h.Asked.IsZero() { // a reader asks no host
				if asked = "every " + words.Duration(status[i].Every.Duration); !h.Closely.IsZero() {
					asked = "closely until " + h.Closely.UTC().Format(time.TimeOnly) + " UTC"
				}
				took, size, failed = h.Took.Round(time.Millisecond).String(), numa.Bytes(h.Size).String(), strconv.Itoa(h.Failed)
			}
			row := texts(status[i].Name, h.Cluster, h.Name, last, asked, took, size, failed, h.Failing)
			row[2].To = answer.Object{Kind: "host", ID: h.ID}
			if !h.Last.IsZero() {
				row[3].Sort = strconv.FormatInt(h.Last.UnixMilli(), 10)
			}
			row[5].Sort, row[6].Sort = strconv.FormatInt(h.Took.Microseconds(), 10), strconv.Itoa(h.Size)
			if h.Failing != "" {
				row[8].Tone = answer.Bad
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
