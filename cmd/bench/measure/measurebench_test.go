//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"os/exec"
	"strconv"
	"testing"

	"example.org/homenode/measure/guest/chase"
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

// The program in C follows the pointers that this one wrote, in the same memory.
func TestShared(t *testing.T) {
	c := startTestPeer(t)
	for _, huge := range []bool{false, true} {
		m, err := share(c, 4<<20, huge)
		if err != nil {
			t.Log(err)
			continue
		}
		if _, err := chase.Link(context.Background(), m.bytes[:3<<20], lineBytes, 1, nil); err != nil {
			t.Fatal(err)
		}
		want := uint64(5 * lineBytes)
		if _, err := c.do("begin %d", want); err != nil {
			t.Fatal(err)
		}
		ns, err := c.do("walk 1600 3")
		if err != nil || len(ns) != 3 || min(ns[0], ns[1], ns[2]) <= 0 {
			t.Errorf("walk: %v, %v", ns, err)
		}
		for range 3 * 1600 {
			want = binary.NativeEndian.Uint64(m.bytes[want:]) - sharedAt
		}
		if got, err := c.line("where"); err != nil || got != strconv.FormatUint(want, 10) {
			t.Errorf("the program in C is at %s, want %d: %v", got, want, err)
		}
		if err := m.close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPeerRefuses(t *testing.T) {
	c := startTestPeer(t)
	for _, command := range []string{"walk 100 1", "where", "begin 64", "swap 0 1 0 1 1", "share /nowhere 0x1000 4096 0", "pin 100000", "nothing"} {
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
