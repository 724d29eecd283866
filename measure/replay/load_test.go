package replay

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"example.org/homenode/numa"
)

const s = time.Second

// TestDemand checks the recorded demand on the grid of draws.
func TestDemand(t *testing.T) {
	for _, tt := range []struct {
		name string
		of   []interval
		want []numa.DemandPoint
	}{
		{"nothing", nil, nil},
		{"on the grid", []interval{{0, 20 * s, 0.1}, {20 * s, 40 * s, 0.2}}, []numa.DemandPoint{{At: 0, Share: 0.1}, {At: 20 * s, Share: 0.2}}},
		{"alike", []interval{{0, 20 * s, 0.1}, {20 * s, 40 * s, 0.1}, {40 * s, 60 * s, 0}}, []numa.DemandPoint{{At: 0, Share: 0.1}, {At: 40 * s, Share: 0}}},
		{"within a draw", []interval{{0, 10 * s, 0.1}, {10 * s, 20 * s, 0.3}}, []numa.DemandPoint{{At: 0, Share: 0.2}}},
		{"across draws", []interval{{0, 30 * s, 0.1}, {30 * s, 60 * s, 0.3}}, []numa.DemandPoint{{At: 0, Share: 0.1}, {At: 20 * s, Share: 0.2}, {At: 40 * s, Share: 0.3}}},
		{"long", []interval{{0, 310 * s, 0.5}, {310 * s, 600 * s, 0.25}}, []numa.DemandPoint{{At: 0, Share: 0.5}, {At: 300 * s, Share: 0.375}, {At: 320 * s, Share: 0.25}}},
		{"it comes late", []interval{{50 * s, 70 * s, 0.5}}, []numa.DemandPoint{{At: 40 * s, Share: 0.5}}},
		{"a hole", []interval{{0, 20 * s, 0.5}, {100 * s, 120 * s, 0.25}}, []numa.DemandPoint{{At: 0, Share: 0.5}, {At: 100 * s, Share: 0.25}}},
		{"more than a core", []interval{{0, 20 * s, 1.5}}, []numa.DemandPoint{{At: 0, Share: 1}}},
	} {
		if got := demand(tt.of); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestDemandKeeps checks that the grid keeps what was asked for in all: intervals of any
// length, without a hole.
func TestDemandKeeps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var of []interval
		at, want := time.Duration(0), 0.0
		for range 1 + r.IntN(20) {
			to := at + time.Duration(1+r.IntN(60))*2*s
			share := float64(r.IntN(10000)) / 10000
			of = append(of, interval{at, to, share})
			want += share * (to - at).Seconds()
			at = to
		}
		points, got := demand(of), 0.0
		for i, p := range points {
			end := at
			if i+1 < len(points) {
				end = points[i+1].At
			}
			if p.At%numa.Draw != 0 {
				t.Fatalf("a point at %s", p.At)
			}
			got += p.Share * (end - p.At).Seconds()
		}
		if len(points) > 2*len(of) || math.Abs(got-want) > 1e-6 {
			t.Fatalf("%d points of %d intervals, %g core seconds, want %g: %v, %v", len(points), len(of), got, want, of, points)
		}
	}
}

// TestLines checks the straight lines of growing memory.
func TestLines(t *testing.T) {
	amounts := func(every time.Duration, of ...numa.Bytes) (out []amount) {
		for i, b := range of {
			out = append(out, amount{time.Duration(i) * every, b})
		}
		return out
	}
	for _, tt := range []struct {
		name string
		of   []amount
		want []piece
	}{
		{"one", amounts(20*s, 100), nil},
		{"none", amounts(20*s, 100, 100, 100), nil},
		{"a line", amounts(20*s, 100, 200, 300, 300), []piece{{0, 40 * s, 300}}},
		{"within", amounts(20*s, 100, 209, 300), []piece{{0, 40 * s, 300}}},
		{"without", amounts(20*s, 100, 211, 300), []piece{{0, 20 * s, 211}, {20 * s, 40 * s, 300}}},
		{"a step", amounts(20*s, 100, 100, 100, 500, 500), []piece{{40 * s, 60 * s, 500}}},
		{"slowly", amounts(20*s, 100, 101, 102, 103), []piece{{0, 60 * s, 103}}},
	} {
		if got := lines(tt.of, 10); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestLinesNear checks that memory along the lines is never further from what was observed
// than is allowed, and ends where it ended.
func TestLinesNear(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		of := []amount{{0, numa.Bytes(r.IntN(100))}}
		for range 1 + r.IntN(40) {
			last := of[len(of)-1]
			of = append(of, amount{last.at + time.Duration(1+r.IntN(5))*2*s, last.touched + numa.Bytes(r.IntN(4)*r.IntN(30))})
		}
		const within = 25
		now, at := float64(of[0].touched), 0
		for _, p := range lines(of, within) {
			for ; of[at].at < p.from; at++ {
				if off := math.Abs(float64(of[at].touched) - now); off > within+1e-9 {
					t.Fatalf("%g off at %s, before a line: %v", off, of[at].at, of)
				}
			}
			from := now
			for ; at < len(of) && of[at].at <= p.until; at++ {
				now = from + (float64(p.to)-from)*float64(of[at].at-p.from)/float64(p.until-p.from)
				if off := math.Abs(float64(of[at].touched) - now); off > within+1e-9 {
					t.Fatalf("%g off at %s, on a line: %v", off, of[at].at, of)
				}
			}
			at--
			now = float64(p.to)
		}
		if last := of[len(of)-1].touched; math.Abs(now-float64(last)) > within {
			t.Fatalf("ends at %g, want %d: %v", now, last, of)
		}
	}
}

// TestMerge checks what becomes of two moments that are taken together.
func TestMerge(t *testing.T) {
	all := numa.HasRun | numa.HasReady | numa.HasMoves
	early := moment{at: 20 * s, vms: []seen{{life: 0, has: all, moves: 2, wanted: 1, ready: 0.4}, {life: 1, has: all, moves: 1}, {life: 2, has: numa.HasRun, wanted: 3}, {life: 3, has: all &^ numa.HasMoves}}}
	late := moment{at: 80 * s, vms: []seen{{life: 3, has: all, moves: 4}, {life: 0, has: all, moves: 3, wanted: 2, ready: 0.8, homes: 2}, {life: 2, has: numa.HasReady, ready: 1}, {life: 4, has: all, moves: 5}}}
	late.merge(&early, 0, early.at)
	want := []seen{
		{life: 3, has: all &^ numa.HasMoves, moves: 4},
		{life: 0, has: all, moves: 5, wanted: 1.75, ready: 0.7, homes: 2}, // 20 s and 60 s
		{life: 2, has: numa.HasRun | numa.HasReady, wanted: 3, ready: 1},
		{life: 4, has: all, moves: 5},
	}
	for i, v := range late.vms {
		if math.Abs(v.ready-want[i].ready) < 1e-12 {
			v.ready = want[i].ready
		}
		if v != want[i] {
			t.Errorf("%+v\nwant %+v", v, want[i])
		}
	}
}

// TestOnNodes holds where memory is taken to be.
func TestOnNodes(t *testing.T) {
	const gib = numa.GiB
	nodes := func(of ...numa.Bytes) (out []numa.MemoryOnNode) {
		for i, b := range of {
			out = append(out, numa.MemoryOnNode{Node: i, Guest: b, Overhead: -1})
		}
		return out
	}
	p := plan{rec: &Recorder{first: &numa.Tick{}}}
	for i := range 4 {
		p.host.Nodes.Value = append(p.host.Nodes.Value, numa.Node{ID: i, Memory: numa.ReadAt(128*gib, "")})
	}
	in := map[int]numa.Bytes{0: 64 * gib, 1: 2 * gib, 2: 96 * gib, 3: -gib}
	for _, tt := range []struct {
		name   string
		v      numa.VMTick
		stated bool
		want   []numa.MemoryOnNode
	}{
		{"stated", numa.VMTick{Homes: 3, Local: 5 * gib, OnNode: nodes(4*gib+1, gib)}, true, nodes(4*gib, gib)},
		{"stated otherwise", numa.VMTick{Homes: 5, Local: 6 * gib, OnNode: nodes(4*gib, gib)}, false, nodes(3*gib, 0, 3*gib, 0)},
		{"stated of other nodes", numa.VMTick{Homes: 5, Local: 2 * gib, OnNode: []numa.MemoryOnNode{{Node: 70, Guest: 2 * gib}}}, false, nodes(gib, 0, gib, 0)},
		{"on one home", numa.VMTick{Homes: 2, Local: 9 * gib}, true, nodes(0, 9*gib, 0, 0)},
		{"on three homes", numa.VMTick{Homes: 7, Local: 2*gib + 2*numa.PageSize}, false, nodes(2*gib/3, 2*gib/3, 2*gib/3, 0)},
		{"one home has no room", numa.VMTick{Homes: 7, Local: 32 * gib}, false, nodes(15*gib, 2*gib, 15*gib, 0)},
		{"no home has room", numa.VMTick{Homes: 10, Local: 12 * gib}, false, nodes(0, 7*gib, 0, 5*gib)},
		{"remote", numa.VMTick{Homes: 2, Local: gib, Remote: 10 * gib}, false, nodes(5*gib, gib, 5*gib, 0)},
	} {
		got := p.stated(&tt.v)
		if stated := got != nil; stated != tt.stated {
			t.Errorf("%s: stated %v, want %v", tt.name, stated, tt.stated)
		}
		if got == nil {
			got = p.guessed(&tt.v, tt.v.Homes, in)
		}
		sum, near := numa.Bytes(0), len(got) == len(tt.want)
		for i := range got {
			sum += got[i].Guest
			near = near && got[i].Node == tt.want[i].Node && max(got[i].Guest-tt.want[i].Guest, tt.want[i].Guest-got[i].Guest) <= 2*numa.PageSize && got[i].Guest%numa.PageSize == 0
		}
		if !near || sum != tt.v.Local+tt.v.Remote {
			t.Errorf("%s: %v, %d bytes\nwant %v to two pages", tt.name, got, sum, tt.want)
		}
	}
}
