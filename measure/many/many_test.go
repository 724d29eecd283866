package many

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"homenode/source/machine"
	"homenode/source/measured"
)

// result returns a result of a guest, an hour after midnight for each of hours; 0 states no time.
func result(name string, hours int, h *measured.Hidden) *measured.Document {
	r := &measured.Result{Name: name, Machine: &machine.Machine{}, Hidden: h, Trust: measured.Trust{OK: true}}
	if hours > 0 {
		r.Started = time.Date(2026, 11, 24, hours, 0, 0, 0, time.UTC)
	}
	return &measured.Document{Result: r, Source: fmt.Sprintf("%s-%d.json", name, hours), Line: 1}
}

func answer(a measured.Answer, shares ...measured.Share) *measured.Hidden {
	return &measured.Hidden{Answer: a, Shares: shares}
}

func share(of string, remote float64, from ...int) measured.Share {
	return measured.Share{Of: of, Remote: remote, From: from}
}

// TestOrder checks that the worst guest is first, whatever the order of the files.
func TestOrder(t *testing.T) {
	busy := result("busy", 1, answer(measured.SeveralNodes, share("all", 0.9)))
	busy.Trust.OK = false
	docs := []*measured.Document{
		result("near", 1, answer(measured.OneKind)), busy, result("unlooked", 1, nil), result("B-far", 1, answer(measured.FarPages, share("fresh", 0.4))),
		result("afar", 1, answer(measured.FarPages, share("fresh", 0.4))), result("wide", 1, answer(measured.SeveralNodes, share("all", 0.5))),
		result("few", 1, answer(measured.NotKnown)), result("z-wide", 1, answer(measured.SeveralNodes)),
	}
	const want = "wide afar B-far z-wide few unlooked busy near"
	for range docs {
		docs = append(docs[1:], docs[0])
		var got []string
		for _, g := range Of(docs, nil).Guests {
			got = append(got, g.Name)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("got %s, want %s", s, want)
		}
	}
}

// TestNewest checks which result of a guest counts.
func TestNewest(t *testing.T) {
	old, mid, last := result("db", 1, nil), result("DB", 2, nil), result("db", 3, nil)
	for _, tt := range []struct {
		docs        []*measured.Document
		want, older string
	}{
		{[]*measured.Document{old, mid, last}, "db-3.json:1", "[db-1.json:1 DB-2.json:1]"},
		{[]*measured.Document{last, old, mid}, "db-3.json:1", "[db-1.json:1 DB-2.json:1]"},
		{[]*measured.Document{result("db", 0, nil), last}, "db-0.json:1", "[db-3.json:1]"},
		{[]*measured.Document{old, old}, "db-1.json:1", "[]"},
	} {
		r := Of(tt.docs, nil)
		older := []string{}
		for _, o := range r.Guests[0].Older {
			older = append(older, o.At)
		}
		if got := fmt.Sprint(older); len(r.Guests) != 1 || r.Guests[0].At != tt.want || got != tt.older {
			t.Errorf("got %d guests, %s, older %s, want %s, %s", len(r.Guests), r.Guests[0].At, got, tt.want, tt.older)
		}
	}
	unnamed := []*measured.Document{result("", 1, nil), result("", 2, nil)}
	if r := Of(unnamed, nil); len(r.Guests) != 2 || r.Guests[0].Name != "-1" {
		t.Errorf("two files without a name are %d guests, want 2", len(r.Guests))
	}
}

// TestShare checks which share stands for a guest.
func TestShare(t *testing.T) {
	for _, tt := range []struct {
		h    *measured.Hidden
		want string
	}{
		{answer(measured.SeveralNodes, share("fresh", 0.9), share("all", 0.5), share("all", 0.95, 3)), "all 0.5"},
		{answer(measured.FarPages, share("fresh", 0.2), share("page cache", 0.6), share("fresh", 0.9, 0)), "page cache 0.6"},
		{answer(measured.SeveralNodes, share("fresh", 0.2, 0), share("fresh", 0.3, 4)), "fresh 0.3"},
		{answer(measured.OneKind, share("all", 0.5)), "none"},
		{answer(measured.SeveralNodes), "none"},
	} {
		got := "none"
		if s := shareOf(tt.h); s != nil {
			got = fmt.Sprintf("%s %v", s.Of, s.Remote)
		}
		if got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.h, got, tt.want)
		}
	}
}

// TestLatency checks whose latencies stand for a guest.
func TestLatency(t *testing.T) {
	cell := func(ns float64) measured.Cell { return measured.Cell{Stats: &measured.Stats{Median: ns}} }
	matrix := &measured.Matrix{Unit: "ns", From: []int{0, 1}, To: []int{0, 1}, Cells: [][]measured.Cell{{cell(100), cell(150)}, {{}, cell(110)}}}
	for _, tt := range []struct {
		name   string
		change func(*measured.Result)
		want   string
	}{
		{"nothing", func(*measured.Result) {}, "[] [] false"},
		{"RAM", func(r *measured.Result) {
			r.Levels = []measured.Level{{Name: "L3", Latency: 20}, {Name: "RAM", Latency: 130}, {Name: "RAM", Latency: 125}}
		}, "[125 130] [] false"},
		{"matrix", func(r *measured.Result) { r.Latency = matrix }, "[100 110] [150 150] false"},
		{"from inside", func(r *measured.Result) {
			r.Latency, r.Hidden = matrix, &measured.Hidden{Answer: measured.FarPages, Modes: &measured.Modes{Near: 90, Far: 140}}
		}, "[90 90] [140 140] true"},
		{"one kind", func(r *measured.Result) {
			r.Latency, r.Hidden = matrix, &measured.Hidden{Answer: measured.OneKind, Modes: &measured.Modes{Near: 90, Far: 140}}
		}, "[100 110] [150 150] false"},
	} {
		d := result("db", 1, nil)
		tt.change(d.Result)
		g := Of([]*measured.Document{d}, nil).Guests[0]
		text := func(r *Range) string {
			if r == nil {
				return "[]"
			}
			return fmt.Sprint([]float64{r.Low, r.High})
		}
		if got := fmt.Sprintf("%s %s %v", text(g.Local), text(g.Far), g.FromInside); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
