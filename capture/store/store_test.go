package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/testdeps"
)

// values returns the numbers of every series with a name, by label i and time in seconds.
func values(t *testing.T, s *store.Store, name string) map[string]map[int64]float64 {
	t.Helper()
	q, err := s.Queryable().Querier(math.MinInt64/2, math.MaxInt64/2)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	out := map[string]map[int64]float64{}
	all := q.Select(t.Context(), true, nil, labels.MustNewMatcher(labels.MatchEqual, model.MetricNameLabel, name))
	for all.Next() {
		one := map[int64]float64{}
		out[all.At().Labels().Get("i")] = one
		it := all.At().Iterator(nil)
		for it.Next() == chunkenc.ValFloat {
			ms, v := it.At()
			one[ms/1000] = v
		}
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(dir, store.Options{}); err == nil || !strings.Contains(err.Error(), "another process has it open") {
		t.Errorf("opened twice: %v", err)
	}
	a, b := s.Series("m", "i", "a", "empty", ""), s.Series("m", "i", "b")
	begin := time.Now().Add(-time.Hour).Truncate(time.Second)
	for i := range 100 {
		samples := []store.Sample{{Series: a, Number: float64(i)}}
		switch {
		case i < 50:
			samples = append(samples, store.Sample{Series: b, Number: 1})
		case i == 50:
			samples = append(samples, store.Sample{Series: b, Number: store.Stale})
		}
		if kept, err := s.Append(t.Context(), begin.Add(time.Duration(i)*20*time.Second), samples); err != nil || !kept {
			t.Fatal(kept, err)
		}
	}
	// The same again is left out, an hour earlier too, and what is of the time to come.
	for _, at := range []time.Time{begin.Add(99 * 20 * time.Second), begin.Add(-time.Hour), time.Now().Add(3 * time.Hour)} {
		if _, err := s.Append(t.Context(), at, []store.Sample{{Series: a, Number: 7}}); err != nil {
			t.Fatal(err)
		}
	}
	if st := s.State(); st.Appended != 151 || st.Left != 3 || st.Series != 2 || st.Full || st.Free <= 0 {
		t.Errorf("state %+v", st)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(dir, store.Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := values(t, s, "m")
	if len(got["a"]) != 100 || got["a"][begin.Unix()+20*99] != 99 || len(got["b"]) != 51 {
		t.Errorf("%d and %d samples after it was opened again", len(got["a"]), len(got["b"]))
	}
}

// TestDiskFull stops appending below the reserve and goes on above half more than it.
func TestDiskFull(t *testing.T) {
	free := int64(1000)
	s, err := store.Open(t.TempDir(), store.Options{Reserve: 100, Free: func(string) (int64, error) { return free, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := s.Series("m", "i", "x")
	now := time.Now()
	for i, step := range []struct {
		free int64
		kept bool
	}{{1000, true}, {100, true}, {99, false}, {120, false}, {149, false}, {150, true}, {101, true}} {
		free = step.free
		kept, err := s.Append(t.Context(), now.Add(time.Duration(i)*time.Second), []store.Sample{{Series: x, Number: 1}})
		if err != nil || kept != step.kept || s.State().Full == step.kept {
			t.Errorf("with %d free: kept %v, %v, %+v", step.free, kept, err, s.State())
		}
	}
	free = 40
	if _, err := store.Open(t.TempDir(), store.Options{Reserve: 100, Free: func(string) (int64, error) { return free, nil }}); err == nil {
		t.Error("opened on a full disk")
	}
}

// TestKill kills a process that appends, again and again: everything that it said to be kept is
// there, and no tick by half.
func TestKill(t *testing.T) {
	if dir, from := testdeps.Killed(); dir != "" {
		appendForEver(dir, from)
	}
	rounds := testdeps.KillRounds(3)
	dir := t.TempDir()
	next, acked, lost := int64(0), 0, 0
	begin := time.Now().Add(-time.Hour).Unix()
	for round := range rounds {
		testdeps.Kill(t, dir, begin+next, 40+17*round%50, func(at int64) {
			next = at - begin
			acked++
		})
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		got := values(t, s, "m")
		for i := int64(0); i <= next; i++ {
			whole := 0
			for k := range series {
				if v, ok := got[strconv.Itoa(k)][begin+i]; ok && v == float64(i+begin) {
					whole++
				}
			}
			if whole != series {
				lost++
				t.Errorf("round %d: tick %d of %d has %d of %d samples", round, i, next, whole, series)
			}
		}
		for next++; len(got["0"]) > 0; next++ { // what was under way may be there
			if _, ok := got["0"][begin+next]; !ok {
				break
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rounds: %d ticks acknowledged, %d lost", rounds, acked, lost)
}

const series = 200

// appendForEver appends a tick a second of its own time, and says which it has kept.
func appendForEver(dir string, at int64) {
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		panic(err)
	}
	samples := make([]store.Sample, series)
	for i := range samples {
		samples[i].Series = s.Series("m", "i", strconv.Itoa(i))
	}
	for ; ; at++ {
		for i := range samples {
			samples[i].Number = float64(at)
		}
		kept, err := s.Append(context.Background(), time.Unix(at, 0), samples)
		if err != nil || !kept {
			panic(errors.Join(err, errors.New("not kept")))
		}
		fmt.Println(at)
	}
}
