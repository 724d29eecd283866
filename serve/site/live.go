package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/serve/board"
	"homenode/serve/collect"
	"homenode/serve/keep"
)

// Live is what pages show of the present and the past, beside fleets.
type Live struct {
	Board *board.Board
	// Status returns how collecting goes, one for each vCenter.
	Status func() []collect.Status
	// Keeper has the past; nil where nothing is kept.
	Keeper *keep.Keeper
	// Closely asks a host by its ID more often for a while; nil where nothing is collected.
	Closely func(ctx context.Context, vcenter, host string) (every time.Duration, until time.Time, err error)
	// Every is the time between two answers of a host.
	Every time.Duration
	// Apart is the least time between two events of a stream; 0 for 10 s.
	Apart time.Duration
	// Ended is closed when the server ends: it ends the streams of events.
	Ended <-chan struct{}

	streams atomic.Int32
	losses  losses
	counted counted
}

// moment writes a time of day, with its date when it is not today's.
func moment(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.Truncate(24 * time.Hour).Equal(now.Truncate(24 * time.Hour)) {
		return t.Format("15:04:05") + " UTC"
	}
	return t.Format("2 Jan 15:04") + " UTC"
}

// mostVMs and mostEnded are how many VMs of low locality, and how many findings that ended, the page of the fleet lists.
const (
	mostVMs   = 20
	mostEnded = 10
)

// alarms returns the findings of what is seen that hold, the worst first. An empty vCenter stands for all.
func (l *Live) alarms(vcenter string) []board.Alarm {
	open, _ := l.Board.Alarms()
	return slices.DeleteFunc(open, func(a board.Alarm) bool { return !a.Live || vcenter != "" && a.VCenter != vcenter })
}

// now says what is bad now and since when, and what cannot be seen and why. An empty vCenter stands for all.
func (l *Live) now(vcenter string, at time.Time) *answer.Answer {
	a := &answer.Answer{Command: "serve", Title: "The fleet now", Drawings: []answer.Drawing{l.nodesNow(vcenter)}}
	open, ended := l.Board.AlarmsOf(func(one *board.Alarm) bool { return one.Live && (vcenter == "" || one.VCenter == vcenter) })
	vms := l.Board.VMsOf(func(h *board.Host, _ string) bool { return vcenter == "" || h.VCenter == vcenter })
	unseen, hosts := l.unseen(vcenter, at)
	limit := l.Board.LowLocality()
	low, judged := 0, 0
	for i := range vms {
		if share := vms[i].Locality; share != nil {
			judged++
			if *share < limit {
				low++
			}
		}
	}
	seen := hosts - len(unseen.Rows)
	switch {
	case hosts == 0:
		a.Verdict = append(a.Verdict, "No host is seen yet.")
	case seen == 0:
		a.Verdict = append(a.Verdict, fmt.Sprintf("None of %s is seen: nothing is known of the present.", words.Plural(hosts, "host")))
	case len(open) > 0:
		f := &open[0].Finding
		text := fmt.Sprintf("%s since %s: %s", subject(f), beginning(&open[0], at), lower(f.Title))
		if n := len(open) - 1; n > 0 {
			text += "; " + words.Plural(n, "more finding") + " below"
		}
		a.Verdict = append(a.Verdict, text+".")
	default:
		a.Verdict = append(a.Verdict, "Nothing that is seen now is bad.")
	}
	switch {
	case seen == 0:
	case len(vms) == 0:
		a.Verdict = append(a.Verdict, "No VM is seen.")
	case judged == 0:
		a.Verdict = append(a.Verdict, fmt.Sprintf("Nothing is known of the locality of %s.", words.Plural(len(vms), "VM")))
	case low == 0:
		a.Verdict = append(a.Verdict, fmt.Sprintf("All of %s whose locality is known have at least %s of their memory local now.", words.Plural(judged, "VM"), rule.NL(limit)))
	default:
		a.Verdict = append(a.Verdict, fmt.Sprintf("Less than %s of the memory of %d of %s whose locality is known is local now; %s on %s has the least: %s.",
			rule.NL(limit), low, words.Plural(judged, "VM"), vms[0].VM, vms[0].Host, rule.NL(*vms[0].Locality)))
	}
	if n := len(unseen.Rows); n > 0 && seen > 0 {
		a.Verdict = append(a.Verdict, fmt.Sprintf("%d of %s cannot be seen.", n, words.Plural(hosts, "host")))
	}
	for _, t := range []answer.Table{alarmTable(open, ended, at), unseen, lowTable(vms, limit)} {
		if len(t.Rows) > 0 {
			a.Tables = append(a.Tables, t)
		}
	}
	return a
}

// lower begins a title as it stands within a sentence.
func lower(title string) string {
	if len(title) > 1 && title[1] >= 'a' && title[1] <= 'z' {
		return strings.ToLower(title[:1]) + title[1:]
	}
	return title
}

// subject names what a finding is about.
func subject(f *finding.Finding) string {
	switch {
	case f.VM != "" && f.Host != "":
		return f.VM + " on " + f.Host
	case f.VM != "":
		return f.VM
	}
	return cmp.Or(f.Host, f.Cluster)
}

// tones are those of severities.
var tones = [...]answer.Tone{finding.Info: answer.Faint, finding.Low: answer.Low, finding.Medium: answer.Medium, finding.High: answer.High}

// alarmTable lists the findings of the last hour, those that hold first.
func alarmTable(open, ended []board.Alarm, at time.Time) answer.Table {
	t := answer.Table{Name: "now", Title: "Bad now, and what was in the last hour", Columns: answer.Columns("Severity", "Rule", "Subject", "Since", "What", "What to do")}
	for i := range open {
		t.Rows = append(t.Rows, alarmCells(&open[i], at))
	}
	for i := range ended[:min(len(ended), mostEnded)] {
		cells := alarmCells(&ended[i], at)
		cells[0] = answer.Cell{Text: "ended", Tone: answer.Faint}
		cells[3].Text = moment(ended[i].Begin, at) + " to " + moment(ended[i].End, at)
		cells[5].Text = ""
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// beginning says since when a finding holds.
func beginning(one *board.Alarm, at time.Time) string {
	if one.Before {
		return moment(one.Begin, at) + " or before"
	}
	return moment(one.Begin, at)
}

// alarmCells is a finding of what was seen.
func alarmCells(one *board.Alarm, at time.Time) []answer.Cell {
	f := &one.Finding
	o := answer.Object{}
	switch {
	case f.VMID != "":
		o = answer.Object{Kind: "vm", ID: f.VMID}
	case f.VM == "" && f.Host != "":
		o = answer.Object{Kind: "host", ID: cmp.Or(f.HostID, f.Host)}
	}
	return []answer.Cell{{Text: f.Severity.String(), Tone: tones[f.Severity]}, {Text: f.Rule, To: answer.Object{Kind: "rule", ID: f.Rule}}, {Text: subject(f), To: o},
		{Text: beginning(one, at), Sort: strconv.FormatInt(one.Begin.Unix(), 10)}, {Text: f.Message}, {Text: f.Advice}}
}

// unseen lists the hosts that cannot be seen and why; hosts is how many there are.
func (l *Live) unseen(vcenter string, at time.Time) (t answer.Table, hosts int) {
	t = answer.Table{Name: "unseen", Title: "Cannot be seen", Columns: answer.Columns("Host", "Cluster", "vCenter", "Since", "Last seen", "Why")}
	for _, s := range l.Status() {
		if vcenter != "" && s.Name != vcenter {
			continue
		}
		for i := range s.Hosts {
			h := &s.Hosts[i]
			hosts++
			if h.Failing == "" && !h.Last.IsZero() {
				continue
			}
			since, last := "–", "never"
			if !h.Since.IsZero() {
				since = moment(h.Since, at)
			}
			if !h.Last.IsZero() {
				last = moment(h.Last, at)
			}
			t.Rows = append(t.Rows, []answer.Cell{{Text: h.Name, To: answer.Object{Kind: "host", ID: h.ID}}, {Text: h.Cluster, To: answer.Cluster(h.Cluster)}, {Text: s.Name}, {Text: since}, {Text: last},
				{Text: cmp.Or(h.Failing, s.Error, "it was not asked yet"), Tone: answer.Bad}})
		}
	}
	return t, hosts
}

// vmCells is a VM at the moment.
func vmCells(v *board.VMNow, limit float64) []answer.Cell {
	o := answer.Object{}
	if v.VMID != "" {
		o = answer.Object{Kind: "vm", ID: v.VMID}
	}
	locality, ready := answer.Cell{Text: "–"}, answer.Cell{Text: "–"}
	if v.Locality != nil {
		locality = answer.Cell{Text: rule.NL(*v.Locality), Sort: strconv.FormatFloat(*v.Locality, 'g', -1, 64)}
		if *v.Locality < limit {
			locality.Tone = answer.Bad
		}
	}
	if v.Ready != nil {
		ready = answer.Cell{Text: fmt.Sprintf("%.1f %%", 100**v.Ready), Sort: strconv.FormatFloat(*v.Ready, 'g', -1, 64)}
	}
	size := func(b numa.Bytes) answer.Cell {
		return answer.Cell{Text: b.String(), Sort: strconv.FormatInt(int64(b), 10)}
	}
	return []answer.Cell{{Text: v.VM, To: o}, {Text: v.Host, To: answer.Object{Kind: "host", ID: cmp.Or(v.HostID, v.Host)}}, {Text: v.HomeSet.String()}, locality, size(v.Local), size(v.Remote), {Text: strconv.FormatInt(v.Moves.All, 10)}, ready}
}

// vmColumns are those of vmCells.
var vmColumns = answer.Columns("VM", "Host", "Home nodes", ">N%L", ">Local", ">Remote", ">Migrations", ">Ready a vCPU")

// lowTable lists the VMs with the lowest locality.
func lowTable(vms []board.VMNow, limit float64) answer.Table {
	t := answer.Table{Name: "lowest", Title: "Lowest locality now", Columns: vmColumns}
	for i := range vms {
		if i == mostVMs || vms[i].Locality == nil {
			break
		}
		t.Rows = append(t.Rows, vmCells(&vms[i], limit))
	}
	if n := len(vms) - len(t.Rows); n > 0 {
		t.Cut = fmt.Sprintf("%s more: no locality is known of them, or it is no lower", words.Plural(n, "VM"))
	}
	return t
}

// vmNow is what is seen of a VM at the moment, and a sentence when its locality is low; false when nothing is seen.
func (l *Live) vmNow(vcenter, id string, at time.Time) (t answer.Table, said string, ok bool) {
	t = answer.Table{Name: "seen", Title: "Seen now", Columns: vmColumns}
	for _, v := range l.Board.VMsOf(func(h *board.Host, vm string) bool { return h.VCenter == vcenter && vm == id }) {
		t.Title = "Seen at " + moment(v.Time, at)
		t.Rows = append(t.Rows, vmCells(&v, l.Board.LowLocality()))
		if v.Locality != nil && *v.Locality < l.Board.LowLocality() {
			said = fmt.Sprintf("Only %s of the memory of %s is local now: %v is on other nodes than its home node.", rule.NL(*v.Locality), v.VM, v.Remote)
			if v.HomeSet.Len() > 1 {
				said = strings.Replace(said, "home node.", "home nodes.", 1)
			}
		}
	}
	return t, said, len(t.Rows) > 0
}

// hostNow is what is seen of the nodes of a host at the moment, and of its VMs; nil when nothing is.
func (l *Live) hostNow(vcenter, id string, at time.Time) (tables []answer.Table) {
	limits := l.Board.Limits()
	l.Board.Each(func(h *board.Host) {
		if h.VCenter != vcenter || h.ID != id {
			return
		}
		t := answer.Table{Name: "seen", Title: "Nodes, seen at " + moment(h.Tick.Time, at), Columns: answer.Columns("Node", ">Cores in use", ">Memory", ">Free", ">VMs at home", ">N%L")}
		for _, n := range h.NodesNow() {
			row := []answer.Cell{{Text: strconv.Itoa(n.Node)}, {Text: "–"}, {Text: n.Total.String()}, {Text: "–"}, {Text: strconv.Itoa(n.VMs)}, {Text: "–"}}
			if n.Busy != nil {
				row[1].Text = percent(*n.Busy)
				if *n.Busy > limits.BusyNode {
					row[1].Tone = answer.Bad
				}
			}
			if n.Free != nil {
				row[3].Text = n.Free.String()
			}
			if n.Locality != nil {
				row[5].Text = rule.NL(*n.Locality)
				if *n.Locality < limits.Locality {
					row[5].Tone = answer.Bad
				}
			}
			t.Rows = append(t.Rows, row)
		}
		tables = append(tables, t)
	})
	if tables == nil {
		return nil
	}
	vms := answer.Table{Name: "vms", Title: "VMs, seen now", Columns: vmColumns}
	for _, v := range l.Board.VMsOf(func(h *board.Host, _ string) bool { return h.VCenter == vcenter && h.ID == id }) {
		vms.Rows = append(vms.Rows, vmCells(&v, limits.Locality))
	}
	return append(tables, vms)
}

// seenOf says how a host is collected from; false when it is not.
func (l *Live) seenOf(vcenter, id string) (h collect.HostStatus, every time.Duration, ok bool) {
	for _, s := range l.Status() {
		if s.Name != vcenter {
			continue
		}
		if i := slices.IndexFunc(s.Hosts, func(h collect.HostStatus) bool { return h.ID == id }); i >= 0 {
			return s.Hosts[i], s.Every.Duration, true
		}
	}
	return h, 0, false
}

// closely lets the collector ask a host more often for an hour, and shows its page.
func (s *Site) closely(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, func(*request) (string, error) {
		if s.Live == nil || s.Live.Closely == nil {
			return "/status", &unknownError{"nothing is collected here"}
		}
		vcenter, host := r.PostForm.Get("fleet"), r.PostForm.Get("host")
		_, _, err := s.Live.Closely(r.Context(), vcenter, host)
		if errors.Is(err, collect.ErrUnknownHost) {
			err = &unknownError{err.Error()}
		}
		return hostLink(host) + "&" + url.Values{"fleet": {vcenter}}.Encode(), err
	})
}

// Streams of events: how many at most, and the least time between two events of one.
const (
	mostStreams = 500
	eventsApart = 10 * time.Second
	eventsJoin  = 200 * time.Millisecond // what changes at once is one event
	aliveEvery  = 30 * time.Second       // a comment, so that what stands between keeps the connection and a client that is gone is noticed
	writeWithin = 10 * time.Second
)

// events tells whoever listens that something has changed, as server-sent events with the generation of the board.
func (s *Site) events(w http.ResponseWriter, r *http.Request) {
	l := s.Live
	if l == nil {
		http.Error(w, "nothing changes here", http.StatusNotFound)
		return
	}
	if l.streams.Add(1) > mostStreams {
		l.streams.Add(-1)
		w.Header().Set("Retry-After", "60")
		http.Error(w, fmt.Sprintf("%d pages listen already", mostStreams), http.StatusServiceUnavailable)
		return
	}
	defer l.streams.Add(-1)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // of nginx
	out := http.NewResponseController(w)
	send := func(text string) error {
		// The server's own deadline is for whole answers: here each event has one.
		if err := out.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
			return err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return out.Flush()
	}
	_, next := l.Board.Generation()
	err := send("retry: 5000\n\n")
	var last time.Time
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for err == nil {
		select {
		case <-next:
			if !wait(r.Context(), l.Ended, max(eventsJoin, cmp.Or(l.Apart, eventsApart)-time.Since(last))) {
				return
			}
			last = time.Now()
			var generation uint64
			generation, next = l.Board.Generation()
			err = send(fmt.Sprintf("event: changed\nid: %d\ndata: %d\n\n", generation, generation))
		case <-alive.C:
			err = send(":\n\n")
		case <-r.Context().Done():
			return
		case <-l.Ended:
			return
		}
	}
}

// wait reports whether the time went by before one of both ended.
func wait(ctx context.Context, ended <-chan struct{}, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
	case <-ended:
	}
	return false
}
