package record_test

import (
	"fmt"
	"testing"
	"time"

	"example.org/homenode/internal/testdeps"
	"example.org/homenode/serve/record"
	"example.org/homenode/source/esxtop/fetchstats"
)

// TestKill kills a recording again and again: every answer that was written is read. make prove does it thirty times.
func TestKill(t *testing.T) {
	if dir, from := testdeps.Killed(); dir != "" {
		recordForEver(dir, from)
	}
	rounds := testdeps.KillRounds(2)
	dir := t.TempDir()
	acked, next := map[int64]bool{}, int64(0)
	for round := range rounds {
		testdeps.Kill(t, dir, next, 20+13*round%40, func(at int64) {
			acked[at] = true
			next = at + 60
		})
		next += 60 // of the one that was under way
	}
	found := map[int64]bool{}
	for _, at := range read(t, dir, "esx_01") {
		found[int64(at.Sub(begin)/time.Second)] = true
	}
	lost := 0
	for at := range acked {
		if !found[at] {
			lost++
		}
	}
	if lost > 0 || len(acked) == 0 {
		t.Errorf("%d of %d answers lost", lost, len(acked))
	}
	t.Logf("%d rounds: %d answers acknowledged, %d lost", rounds, len(acked), lost)
}

// recordForEver records an answer a minute of its own time, and says which it has written.
func recordForEver(dir string, at int64) {
	r, err := record.Open(dir, record.Options{Every: time.Minute}, begin)
	if err != nil {
		panic(err)
	}
	s := &source{w: fetchstats.Writer{Boot: begin.Add(-time.Hour)}, r: r}
	s.columns()
	for ; ; at += 60 {
		s.answer(begin.Add(time.Duration(at) * time.Second))
		if err := r.Err(); err != nil {
			panic(err)
		}
		fmt.Println(at)
	}
}
