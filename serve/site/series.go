package site

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/timeline"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/serve/access"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/keep"
)

// spans are the periods that a page can show, up to now.
var spans = []struct {
	name, label string
	length      time.Duration
}{
	{"1h", "last hour", time.Hour}, {"24h", "last 24 hours", 24 * time.Hour}, {"7d", "last 7 days", 7 * 24 * time.Hour}, {"30d", "last 30 days", 30 * 24 * time.Hour},
}

// spanField returns the field for the period.
func spanField() field {
	f := field{Name: "range", Label: "Over", Default: "24h"}
	for _, s := range spans {
		f.Choices = append(f.Choices, choice{s.name, s.label})
	}
	return f
}

// span returns the period in the address.
func (x *request) span() (name string, length time.Duration, err error) {
	name = cmp.Or(x.query.Get("range"), "24h")
	for _, s := range spans {
		if s.name == name {
			return name, s.length, nil
		}
	}
	return "", 0, fmt.Errorf("range: found %q, want one of 1h, 24h, 7d, 30d", name)
}

// limits returns the limits for counting history: infrequent polling must not appear as gaps.
func (l *Live) limits() capture.Options {
	o := l.Board.Limits()
	o.Gap = max(o.Gap, 3*l.Every)
	return o
}

// pastOfVM returns the history of a VM; nil without any.
func (l *Live) pastOfVM(ctx context.Context, vcenter, id string, length time.Duration, now time.Time) (*keep.Past, error) {
	if l == nil || l.Keeper == nil {
		return nil, nil
	}
	return l.Keeper.PastVM(ctx, vcenter, id, now.Add(-length), now, l.limits())
}

// marks returns findings as a chart of the history shows them.
func marks(p *keep.Past, found []board.Alarm) (all []finding.Finding) {
	for _, one := range found {
		f := one.Finding
		f.From, f.To = one.Begin, one.End
		if f.To.IsZero() {
			f.To = p.Recording.Last
		}
		f.Host, f.GID, f.Nth = p.Recording.Host, -1, 0
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b finding.Finding) int { return a.From.Compare(b.From) })
	return all
}

// pastVM charts the history of a VM, with its findings in that period. N%L of interleaved memory is left out.
func pastVM(p *keep.Past, found []board.Alarm, span string, interleaved bool) answer.Drawing {
	o := timeline.Options{Findings: marks(p, found), Events: func(*capture.Recording, *capture.VM) []capture.Event { return p.Events },
		Blind: func(*capture.VM) bool { return interleaved }}
	about := fmt.Sprintf("Over the %s, %s, with its events", labelOf(span), spanText(p.Recording))
	return answer.Drawing{ID: "over-time", About: about, Wide: true, Picture: func() *picture.Picture { return timeline.VM(p.Recording, p.VM, o) }}
}

// pastHost charts the history of a host; false without any.
func (l *Live) pastHost(ctx context.Context, vcenter, host, span string, length time.Duration, now time.Time) (d answer.Drawing, ok bool, err error) {
	if l == nil || l.Keeper == nil {
		return d, false, nil
	}
	p, err := l.Keeper.PastHost(ctx, vcenter, host, now.Add(-length), now, l.limits())
	if err != nil || p == nil {
		return d, false, err
	}
	open, ended := l.Board.AlarmsOf(func(one *board.Alarm) bool {
		return one.Live && one.VCenter == vcenter && !one.Begin.Before(p.Recording.First) && numa.SameHost(one.Finding.Host, host) && one.Finding.VM == ""
	})
	o := timeline.Options{Migrations: append([]capture.Count{}, p.Moved...), MostVMs: 8, Findings: marks(p, slices.Concat(open, ended))}
	about := fmt.Sprintf("Over the %s, %s", labelOf(span), spanText(p.Recording))
	return answer.Drawing{ID: "over-time", About: about, Wide: true, Picture: func() *picture.Picture { return timeline.Host(p.Recording, o) }}, true, nil
}

func labelOf(span string) string {
	for _, s := range spans {
		if s.name == span {
			return s.label
		}
	}
	return span
}

func spanText(rec *capture.Recording) string {
	return rec.First.UTC().Format("2 Jan 15:04") + " to " + rec.Last.UTC().Format("2 Jan 15:04") + " UTC"
}

// trendDays is the period of the fleet's locality chart.
const trendDays = 7

// trend charts the locality of all VMs by hour; false before two hours have ended.
func (l *Live) trend(ctx context.Context, now time.Time) (d answer.Drawing, ok bool, err error) {
	if l.Keeper == nil {
		return d, false, nil
	}
	hours, err := l.Keeper.Trend(ctx, now, trendDays)
	if err != nil || len(hours) < 2 {
		return d, false, err
	}
	mean, least := chart.Series{Name: "mean of the VMs"}, chart.Series{Name: "lowest VM"}
	for i := range hours {
		h := &hours[i]
		if i > 0 && h.End.Sub(hours[i-1].End) > 2*time.Hour { // nothing was stored: interrupt the line
			continue
		}
		mean.Points = append(mean.Points, chart.Point{X: picture.Seconds(h.End), Y: h.Mean})
		least.Points = append(least.Points, chart.Point{X: picture.Seconds(h.End), Y: h.Least})
	}
	limit := l.Board.LowLocality()
	return drawingOf("trend", fmt.Sprintf("%s to %s UTC, each point at the end of its hour", hours[0].End.UTC().Format("2 Jan 15:04"), hours[len(hours)-1].End.UTC().Format("2 Jan 15:04")), chart.Chart{ID: "fleet-trend", Title: "Locality (N%L) of all VMs, hour by hour",
		Figure: &chart.Lines{X: clockAxis, Y: picture.Axis{Text: percent}, Series: []chart.Series{mean, least},
			Marks: []chart.Mark{{Name: rule.NL(limit), Value: limit, Horizontal: true}}}}), true, nil
}

// clockAxis is a time axis.
var clockAxis = picture.Axis{Label: "UTC", Time: true}

// A columns is the history of a VM for the script of its page: a value for each time step, null if unknown.
type columns struct {
	VM       string       `json:"vm"`
	Hosts    []string     `json:"hosts"`
	From     int64        `json:"from"` // seconds since 1970
	To       int64        `json:"to"`
	Limit    float64      `json:"limit"` // of the locality, as a share
	Time     []int64      `json:"time"`
	Locality []*float64   `json:"locality"` // as shares
	Least    []*float64   `json:"least"`
	Local    []*float64   `json:"local"` // bytes
	Remote   []*float64   `json:"remote"`
	Ready    []*float64   `json:"ready"` // share of time per vCPU
	Moves    []*float64   `json:"migrations"`
	Nodes    []int        `json:"nodes"` // all former and current home nodes
	Homes    [][]*float64 `json:"homes"` // for each of them: its number while it was a home node
	Events   []happened   `json:"events"`
}

type happened struct {
	Time int64  `json:"time"`
	Text string `json:"text"`
	Note string `json:"note,omitempty"`
}

// columnsOf returns the steps of a Past. A period without observations is one step of nulls.
func columnsOf(p *keep.Past, from, to time.Time) *columns {
	t := &p.VM.Timeline
	c := &columns{VM: p.VM.Name, Hosts: p.Hosts, From: from.Unix(), To: to.Unix(), Limit: p.Recording.Options.Locality, Nodes: []int{}, Homes: [][]*float64{}, Events: []happened{}}
	var all numa.NodeSet
	for _, b := range t.All() {
		all |= b.Homes
	}
	for n := range all.All() {
		c.Nodes = append(c.Nodes, n)
		c.Homes = append(c.Homes, nil)
	}
	number := func(ok bool, v float64) *float64 {
		if !ok {
			return nil
		}
		return &v
	}
	add := func(at time.Time, b *capture.VMBucket) {
		mean, least, local := b.Locality()
		here, away, memory := b.Amounts()
		ready, _, _, waiting := b.Waiting()
		c.Time = append(c.Time, at.Unix())
		c.Locality, c.Least = append(c.Locality, number(local, mean)), append(c.Least, number(local, least))
		c.Local, c.Remote = append(c.Local, number(memory, float64(here))), append(c.Remote, number(memory, float64(away)))
		c.Ready = append(c.Ready, number(waiting, ready))
		c.Moves = append(c.Moves, number(b.Ticks > 0 && b.Moves > 0, float64(b.Moves)))
		for i, n := range c.Nodes {
			c.Homes[i] = append(c.Homes[i], number(b.Ticks > 0 && b.Homes.Has(n), float64(n)))
		}
	}
	last := time.Time{}
	for i, b := range t.All() {
		if b.Ticks == 0 {
			continue
		}
		at := t.Time(i)
		if !last.IsZero() && at.Sub(last) > p.Recording.Options.Gap+t.Width {
			add(last.Add(t.Width), &capture.VMBucket{})
		}
		add(at, b)
		last = at
	}
	if end := t.Last(); end != nil && p.Recording.Last.After(last) { // the final state, up to the last tick
		still := *end
		still.Moves = 0
		add(p.Recording.Last, &still)
	}
	for _, e := range p.Events {
		c.Events = append(c.Events, happened{e.Time.Unix(), e.Text, e.Note})
	}
	return c
}

// series answers with the history of a VM as JSON, for the script of its page.
func (s *Site) series(w http.ResponseWriter, r *http.Request) {
	x, err := s.request(&screen{path: "/vm", title: "VM"}, r)
	var c *columns
	if err == nil {
		c, err = x.columns()
	}
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		retry(w.Header(), statusOf(err))
		access.Fail(w, err, statusOf(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(c) // the client is gone
}

func (x *request) columns() (*columns, error) {
	vm, err := x.vm()
	if err != nil {
		return nil, err
	}
	_, length, err := x.span()
	if err != nil {
		return nil, err
	}
	end, err := asking.Take(x.Context())
	if err != nil {
		return nil, err
	}
	defer end()
	now := time.Now()
	p, err := x.site.Live.pastOfVM(x.Context(), x.fleet.Name, vm.ID, length, now)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, &unknownError{"nothing is kept of " + vm.Name}
	}
	c := columnsOf(p, now.Add(-length), now)
	if x.interleaved()(vm.ID) {
		clear(c.Locality)
		clear(c.Least)
		clear(c.Remote)
	}
	return c, nil
}

// vm returns the one VM in the address.
func (x *request) vm() (*numa.VM, error) {
	name := x.query.Get("vm")
	if x.fleet == nil {
		return nil, ask.ErrNoFleet
	}
	switch found := x.fleet.Result.Fleet.FindVMs(name); {
	case len(found) == 0:
		return nil, &unknownError{fmt.Sprintf("no VM is named %q", name)}
	case len(found) > 1:
		return nil, fmt.Errorf("%s have the name %q: name one by its ID", words.Plural(len(found), "VM"), strings.TrimSpace(name))
	default:
		return found[0], nil
	}
}
