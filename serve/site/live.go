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

	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/rule"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/keep"
)

// Live has the present and the history of the fleets on pages.
type Live struct {
	Board *board.Board
	// Status returns the collection status of each vCenter.
	Status func() []collect.Status
	// Keeper has the history; nil without a store.
	Keeper *keep.Keeper
	// Closely polls a host, by its ID, more often for a while; nil if nothing is collected.
	Closely func(ctx context.Context, vcenter, host string) (every time.Duration, until time.Time, err error)
	// Every is the polling interval of a host.
	Every time.Duration
	// Apart is the minimum time between two events of a stream; 0 means 10 s.
	Apart time.Duration
	// Ended is closed when the server stops; it ends the event streams.
	Ended <-chan struct{}

	streams atomic.Int32
	losses  losses
}

// moment formats a time of day, with the date unless it is today.
func moment(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.Truncate(24 * time.Hour).Equal(now.Truncate(24 * time.Hour)) {
		return t.Format("15:04:05") + " UTC"
	}
	return t.Format("2 Jan 15:04") + " UTC"
}

// alarms returns the open findings in live data, worst first. An empty vCenter selects all.
func (l *Live) alarms(vcenter string) []board.Alarm {
	open, _ := l.Board.Alarms()
	return slices.DeleteFunc(open, func(a board.Alarm) bool { return !a.Live || vcenter != "" && a.VCenter != vcenter })
}

// settle ends an open alarm about a period that is over: it is found for as long as the last hour has the period.
func (l *Live) settle(a *board.Alarm, now time.Time) {
	if to := a.Finding.To; a.End.IsZero() && !to.IsZero() && now.Sub(to) > l.limits().Gap {
		a.End = to
	}
}

// unseen lists the hosts that cannot be seen, with reasons. hosts is the number of all hosts, waiting the number of those
// without any data yet.
func (l *Live) unseen(vcenter string, at time.Time) (t answer.Table, hosts, waiting int) {
	t = answer.Table{Name: "unseen", Title: "Cannot be seen", Columns: answer.Columns("Host", "Cluster", "vCenter", "Since", "Last seen", "Why")}
	for _, s := range l.Status() {
		if vcenter != "" && s.Name != vcenter {
			continue
		}
		for i := range s.Hosts {
			h := &s.Hosts[i]
			hosts++
			switch why := cmp.Or(h.Failing, s.Error); {
			case why == "" && h.Last.IsZero():
				waiting++
				continue
			case h.Failing == "" && !h.Last.IsZero():
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
				{Text: cmp.Or(h.Failing, s.Error), Tone: answer.Bad}})
		}
	}
	return t, hosts, waiting
}

// unmeasurable explains the dash that replaces N%L and remote memory of the VMs for which interleaved returns true.
const unmeasurable = "N%L and remote memory –: the memory is interleaved over the home nodes, and N%L counts all of them as local (M006)."

// interleaved reports whether the memory of the VM is interleaved by its settings, so that its N%L is meaningless.
func (x *request) interleaved() func(vmID string) bool {
	judged := x.fleet.Result.ByID()
	return func(id string) bool {
		v := judged[id]
		return v != nil && len(v.On) > 0 && !v.On[0].Layout.Memory.Measurable()
	}
}

// addVM adds the current state of a VM to a table with the vmColumns.
func addVM(t *answer.Table, v *board.VMNow, limit float64, interleaved func(vmID string) bool) {
	size := func(b numa.Bytes) answer.Cell {
		return answer.Cell{Text: b.String(), Sort: strconv.FormatInt(int64(b), 10)}
	}
	locality, remote, ready := answer.Cell{Text: "–"}, answer.Cell{Text: "–"}, answer.Cell{Text: "–"}
	if interleaved(v.VMID) {
		if t.Foot == nil {
			t.Foot = []string{unmeasurable}
		}
	} else if remote = size(v.Remote); v.Locality != nil {
		locality = answer.Cell{Text: rule.NL(*v.Locality), Sort: strconv.FormatFloat(*v.Locality, 'g', -1, 64)}
		if *v.Locality < limit {
			locality.Tone = answer.Bad
		}
	}
	if v.Ready != nil {
		ready = answer.Cell{Text: fmt.Sprintf("%.1f %%", 100**v.Ready), Sort: strconv.FormatFloat(*v.Ready, 'g', -1, 64)}
	}
	t.Rows = append(t.Rows, []answer.Cell{{Text: v.VM, To: vmObject(v)}, {Text: v.Host, To: answer.Object{Kind: "host", ID: cmp.Or(v.HostID, v.Host)}}, {Text: v.HomeSet.String()}, locality, size(v.Local), remote, {Text: strconv.FormatInt(v.Moves.All, 10)}, ready})
}

// vmColumns are the columns of addVM. Migrations are counted since the server first saw the VM on its host.
var vmColumns = answer.Columns("VM", "Host", "Home nodes", ">N%L", ">Local", ">Remote", ">Migrations since first seen", ">Ready a vCPU")

// vmNow returns the current observation of a VM, and a sentence if its locality is low; false without an observation.
func (l *Live) vmNow(vcenter, id string, at time.Time, interleaved func(vmID string) bool) (t answer.Table, said string, ok bool) {
	t = answer.Table{Name: "seen", Title: "Seen now", Columns: vmColumns}
	for _, v := range l.Board.VMsOf(func(h *board.Host, vm string) bool { return h.VCenter == vcenter && vm == id }) {
		t.Title = "Seen at " + moment(v.Time, at)
		addVM(&t, &v, l.Board.LowLocality(), interleaved)
		if v.Locality != nil && *v.Locality < l.Board.LowLocality() && !interleaved(v.VMID) {
			said = fmt.Sprintf("Only %s of the memory of %s is local now: %v is on other nodes than its home node.", rule.NL(*v.Locality), v.VM, v.Remote)
			if v.HomeSet.Len() > 1 {
				said = strings.Replace(said, "home node.", "home nodes.", 1)
			}
		}
	}
	return t, said, len(t.Rows) > 0
}

// hostNow returns the current observations of a host's nodes and VMs; nil without any.
func (l *Live) hostNow(vcenter, id string, at time.Time, interleaved func(vmID string) bool) (tables []answer.Table) {
	limits := l.Board.Limits()
	l.Board.Each(func(h *board.Host) {
		if h.VCenter != vcenter || h.ID != id {
			return
		}
		t := answer.Table{Name: "seen", Title: "Nodes, seen at " + moment(h.Tick.Time, at), Columns: answer.Columns("Node", ">Cores in use", ">Memory", ">Free now", ">VMs at home", ">N%L")}
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
		addVM(&vms, &v, limits.Locality, interleaved)
	}
	return append(tables, vms)
}

// seenOf returns the collection status of a host; false if it is not collected from.
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

// closely makes the collector poll a host more often for an hour, and shows its page.
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

// Event streams: their maximum number, and the minimum time between two events of one.
const (
	mostStreams = 500
	eventsApart = 10 * time.Second
	eventsJoin  = 200 * time.Millisecond // simultaneous changes are one event
	aliveEvery  = 30 * time.Second       // interval of comments that keep proxies from closing the connection and detect lost clients
	writeWithin = 10 * time.Second
)

// events sends a server-sent event, with the generation of the board, after each change.
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
	h.Set("X-Accel-Buffering", "no") // for nginx
	out := http.NewResponseController(w)
	send := func(text string) error {
		// The server's own deadline is for whole responses: here each event has one.
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

// wait reports whether the time elapsed before ctx or ended.
func wait(ctx context.Context, ended <-chan struct{}, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
	case <-ended:
	}
	return false
}
