//go:build linux

package main

import (
	"context"
	"os/exec"
	"testing"

	"homenode/measure/guest/chase"
	"homenode/measure/guest/pages"
)

func startTestPeer(t *testing.T) *peer {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	c, err := startPeer(context.Background(), "cc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// The program in C makes the cycle of measure/guest/chase of the same seed, and walks around it.
func TestSamePattern(t *testing.T) {
	c := startTestPeer(t)
	m, err := pages.Take(context.Background(), pages.Ask{Bytes: 4 << 20, Node: pages.Anywhere})
	if err != nil {
		t.Skip(err)
	}
	defer m.Close()
	if err := c.take(len(m.Bytes), false); err != nil {
		t.Fatal(err)
	}
	hashes := map[uint64]int{}
	for _, size := range []int{128, 192, 4096, 6144, 1 << 20, 3 << 20, 4 << 20} {
		for seed := range uint64(3) {
			if _, err := chase.Link(context.Background(), m.Bytes[:size], lineBytes, seed); err != nil {
				t.Fatal(err)
			}
			if _, err := c.do("link %d %d %d", size, lineBytes, seed); err != nil {
				t.Fatal(err)
			}
			if err := samePattern(c, m.Bytes[:size]); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			hashes[order(m.Bytes[:size])]++
		}
	}
	if len(hashes) < 6*3-2 { // two lines have one cycle, three have two
		t.Errorf("%d different cycles", len(hashes))
	}
	// A pattern of another seed is found out.
	if _, err := chase.Link(context.Background(), m.Bytes[:4096], lineBytes, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := c.do("link %d %d %d", 4096, lineBytes, 99); err != nil {
		t.Fatal(err)
	}
	if err := samePattern(c, m.Bytes[:4096]); err == nil {
		t.Error("no error of another pattern")
	}
	if ns, err := c.do("walk 1000 3"); err != nil || len(ns) != 3 || min(ns[0], ns[1], ns[2]) <= 0 {
		t.Errorf("walk: %v, %v", ns, err)
	}
}

func TestPeerRefuses(t *testing.T) {
	c := startTestPeer(t)
	for _, command := range []string{"walk 100 1", "order", "link 4096 64 1", "swap 0 0 1 1", "pin 100000", "nothing"} {
		if got, err := c.line("%s", command); err == nil {
			t.Errorf("%s: %s", command, got)
		}
	}
}

func TestBelowQuartile(t *testing.T) {
	for _, tt := range []struct {
		samples []float64
		want    float64
	}{
		{[]float64{5}, 5},
		{[]float64{5, 5, 5}, 5},
		{[]float64{9000, 3, 1, 2, 4}, 2}, // 4 is the 75th percentile
	} {
		if got := belowQuartile(tt.samples); got != tt.want {
			t.Errorf("of %v: %v, want %v", tt.samples, got, tt.want)
		}
	}
}

func TestEdges(t *testing.T) {
	of := func(own, other float64) *pairs { return &pairs{[]float64{own}, []float64{other}} }
	for _, tt := range []struct {
		a, b *pairs
		want bool
	}{
		{of(10, 10), of(10.9, 10.9), false},
		{of(10, 10), of(11.1, 11.1), true},
		{of(11.1, 11.1), of(10, 10), true},
		{of(10, 10), of(12, 10), false}, // one contender alone
	} {
		if got := steep(tt.a, tt.b); got != tt.want {
			t.Errorf("from %v to %v: %v", tt.a, tt.b, got)
		}
	}
}

func TestRatios(t *testing.T) {
	var p pairs
	p.add(1, 2)
	p.add(3, 3)
	p.add(4, 2)
	if least, middle, most := p.ratios(); least != 0.5 || middle != 1 || most != 2 {
		t.Errorf("%v, %v, %v", least, middle, most)
	}
}
