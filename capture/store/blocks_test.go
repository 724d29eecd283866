package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"example.org/homenode/capture/store"
)

// TestBlocks appends a week at one a minute and reads it from blocks of every size and from memory, before and after it was opened again.
func TestBlocks(t *testing.T) {
	dir := t.TempDir()
	open := func() *store.Store {
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	const series, minutes = 30, 7 * 24 * 60
	begin := time.Now().Add(-minutes * time.Minute).Truncate(time.Minute)
	samples := make([]store.Sample, series)
	for i := range samples {
		samples[i].Series = s.Series("m", "i", fmt.Sprint(i), "host", fmt.Sprint(i%3))
	}
	for m := range minutes {
		for i := range samples {
			samples[i].Number = float64(i*m%97) / 7
		}
		if m%1000 == 999 {
			samples[0].Number = store.Stale
		}
		if kept, err := s.Append(t.Context(), begin.Add(time.Duration(m)*time.Minute), samples); err != nil || !kept {
			t.Fatal(kept, err)
		}
	}
	check := func(s *store.Store, what string) {
		got := values(t, s, "m")
		for i := range series {
			one := got[fmt.Sprint(i)]
			if len(one) != minutes {
				t.Errorf("%s: %d samples of series %d, want %d", what, len(one), i, minutes)
			}
			for m := range minutes {
				want := float64(i*m%97) / 7
				if x := one[begin.Unix()+int64(m)*60]; x != want && (i > 0 || m%1000 != 999) {
					t.Fatalf("%s: series %d, minute %d: %v, want %v", what, i, m, x, want)
				}
			}
		}
		n, last := 0, int64(0)
		from, to := begin.Add(1000*time.Minute), begin.Add((minutes-1)*time.Minute) // blocks and memory
		err := s.EachOf(t.Context(), from, to, func(r *store.Range) error {
			for last = 0; r.Next(); n++ {
				at, _ := r.At()
				if at <= last || at < from.UnixMilli() || at > to.UnixMilli() {
					t.Fatalf("%s: %d after %d", what, at, last)
				}
				last = at
			}
			return r.Err()
		}, []string{"other", "m"}, "host", "1")
		if err != nil || n != 10*(minutes-1000) {
			t.Errorf("%s: %d samples of host 1, %v", what, n, err)
		}
	}
	check(s, "while it is open")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	if st := s.State(); len(st.Losses) > 0 || st.Upkeep != "" || st.Damaged > 0 {
		t.Errorf("%+v", st)
	}
	check(s, "opened again")
	q, err := s.Queryable().Querier(begin.UnixMilli(), time.Now().UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	all := q.Select(t.Context(), true, nil, labels.MustNewMatcher(labels.MatchEqual, model.MetricNameLabel, "m"))
	defer func() { // the store is closed below while this question is being answered
		n := 0
		for all.Next() {
			for it := all.At().Iterator(nil); it.Next() == chunkenc.ValFloat; n++ {
			}
		}
		if st := s.State(); n != series*minutes || all.Err() != nil || st.Damaged > 0 || len(st.Losses) > 0 {
			t.Errorf("%d samples, %v, %+v", n, all.Err(), st)
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
