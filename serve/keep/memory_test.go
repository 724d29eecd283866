package keep_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture/store"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/keep"
	"example.org/homenode/source/scenario"
)

// memory writes steps in one line: when they begin, and for each state its GB and VMs.
func memory(steps []keep.Memory, begin time.Time) string {
	var out []string
	for i, s := range steps {
		text := fmt.Sprint(s.From.Sub(begin)) + ":"
		for _, one := range s.States {
			if one.VMs == 0 {
				text += " ?"
			} else {
				text += fmt.Sprintf(" %.3g/%d", float64(one.Bytes)/float64(numa.GiB), one.VMs)
			}
		}
		if i > 0 && steps[i-1].To.Equal(s.From) && strings.HasSuffix(out[len(out)-1], text[strings.Index(text, ":"):]) {
			continue
		}
		if i > 0 && !steps[i-1].To.Equal(s.From) {
			text = "gap until " + text
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// TestMemory adds up the memory of VMs: what is unknown is no zero, a stretch without ticks is a gap, and a VM that moves counts once.
func TestMemory(t *testing.T) {
	f, err := scenario.Read("test", []byte("release 8.0U2\ncluster c\ncluster d\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nhost esx2 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nhost esx3 cluster=d packages=2 nodes=2 cores=16 memory=512GB\n"+
		"vm db host=esx1 vcpus=4 memory=16GB\nvm other host=esx2 vcpus=4 memory=16GB\nvm lone host=esx3 vcpus=4 memory=16GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := board.New(rules.Options{}, time.Hour)
	k := kept(t, b)
	b.Fleet("vc", f)
	begin := time.Now().Add(-2 * time.Hour).Truncate(2 * time.Minute).UTC()
	const known = numa.HasGranted | numa.HasShared | numa.HasBalloon | numa.HasSwapped
	for minute := range 120 {
		if minute >= 60 && minute < 90 { // nothing is collected
			continue
		}
		for h := range 3 {
			x := numa.Tick{Host: f.Hosts[h].Name, Time: begin.Add(time.Duration(minute) * time.Minute), Since: time.Minute}
			if at := minute / 30 % 2; at == h { // db moves
				x.VMs = append(x.VMs, numa.VMTick{GID: 1, Name: "db", Has: known | numa.HasCompressed, Granted: 10 * numa.GiB, Shared: 2 * numa.GiB, Balloon: numa.GiB, Compressed: numa.GiB / 2, Swapped: 3 * numa.GiB})
			}
			if h == 1 {
				x.VMs = append(x.VMs, numa.VMTick{GID: 2, Name: "other", Has: known, Granted: 6 * numa.GiB, Shared: 7 * numa.GiB}) // counters of two instants
			}
			if h == 2 {
				x.VMs = append(x.VMs, numa.VMTick{GID: 3, Name: "lone", Has: numa.HasGranted, Granted: 5 * numa.GiB})
			}
			b.Past("vc", f.Hosts[h].ID, &x)
		}
	}
	ask := func(shown func(string) bool, labels ...string) string {
		steps, err := k.Memory(t.Context(), begin, begin.Add(2*time.Hour), 3*time.Minute, shown, labels...)
		if err != nil {
			t.Fatal(err)
		}
		return memory(steps, begin)
	}
	id := f.VMs[0].ID
	const db = " 8/1 2/1 1/1 0.5/1 3/1"
	one := "0s:" + db + "; gap until 1h30m0s:" + db
	for end := time.Now().Add(10 * time.Second); ask(nil, "vcenter", "vc", "vm_id", id) != one; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("db: %s", ask(nil, "vcenter", "vc", "vm_id", id))
		}
	}
	const both = " 8/2 9/2 1/2 0.5/1 3/2"
	for what, x := range map[string]struct{ got, want string }{
		"all":             {ask(nil), "0s:" + both + "; gap until 1h30m0s:" + both},
		"the cluster":     {ask(nil, "vcenter", "vc", "cluster", "c"), "0s:" + both + "; gap until 1h30m0s:" + both},
		"a host":          {ask(nil, "vcenter", "vc", "host", "esx2"), "0s: 0/1 7/1 0/1 ? 0/1; 30m0s:" + both + "; gap until 1h30m0s:" + both},
		"a filter":        {ask(func(x string) bool { return x == id }), one},
		"nothing shared":  {ask(nil, "cluster", "d"), ""},
		"another vCenter": {ask(nil, "vcenter", "other"), ""},
	} {
		if x.got != x.want {
			t.Errorf("%s:\n%s, want\n%s", what, x.got, x.want)
		}
	}
	// Before two hours are kept, a week shows samples.
	steps, err := k.Memory(t.Context(), begin.Add(-6*24*time.Hour), begin.Add(2*time.Hour), 3*time.Minute, nil, "vm_id", id)
	if got := memory(steps, begin); err != nil || got != one {
		t.Errorf("a week: %s, %v", got, err)
	}
}

// TestMemoryOfHours makes the states of an hour of its samples.
func TestMemoryOfHours(t *testing.T) {
	dir := t.TempDir()
	var stores [2]*store.Store
	for i, sub := range []string{"", "hours"} {
		s, err := store.Open(filepath.Join(dir, sub), store.Options{Retain: 1000 * time.Hour, Reserve: 1})
		if err != nil {
			t.Fatal(err)
		}
		stores[i] = s
	}
	now := time.Now().Truncate(time.Hour).Add(20 * time.Minute)
	begin := now.Add(-3*time.Hour - 20*time.Minute)
	for minute := range 180 {
		l := []string{"vcenter", "vc", "host", []string{"esx1", "esx2"}[minute/90], "vm", "a", "vm_id", "vm-1"} // it moves within the second hour
		x := []store.Sample{{Series: stores[0].Series("homenode_vm_memory_private_bytes", l...), Number: 8e9}, {Series: stores[0].Series("homenode_vm_memory_swapped_bytes", l...), Number: float64(minute/60) * 1e9}}
		if _, err := stores[0].Append(t.Context(), begin.Add(time.Duration(minute)*time.Minute), x); err != nil {
			t.Fatal(err)
		}
	}
	if err := keep.NewHours(stores[0], stores[1]).Update(t.Context(), now, 10*time.Hour); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := stores[1].Each(t.Context(), begin, now, func(r *store.Range) error {
		for r.Next() {
			ms, x := r.At()
			got = append(got, fmt.Sprintf("%s %s %v %.3g", strings.TrimPrefix(r.Label("__name__"), "homenode_vm_hour_"), r.Label("host"), time.UnixMilli(ms).Sub(begin), x))
		}
		return r.Err()
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"private_bytes_mean esx1 1h0m0s 8e+09", "private_bytes_mean esx1 2h0m0s 8e+09", "private_bytes_mean esx2 2h0m0s 8e+09", "private_bytes_mean esx2 3h0m0s 8e+09",
		"swapped_bytes_mean esx1 1h0m0s 0", "swapped_bytes_mean esx1 2h0m0s 1e+09", "swapped_bytes_mean esx2 2h0m0s 1e+09", "swapped_bytes_mean esx2 3h0m0s 2e+09"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// Over a week they are added up; the VM counts once in the hour in which two hosts had it.
	steps, err := keptIn(t, board.New(rules.Options{}, time.Hour), dir).Memory(t.Context(), now.Add(-7*24*time.Hour), now, 3*time.Minute, nil)
	if err != nil || len(steps) < 2 || len(steps) > 3 {
		t.Fatalf("%+v, %v", steps, err)
	}
	for _, s := range steps {
		if s.To.Sub(s.From) != 2*time.Hour && !s.To.Equal(now) || s.States[0].Bytes != 8e9 || s.States[0].VMs != 1 || s.States[1].VMs != 0 || s.States[4].Bytes > 2e9 {
			t.Errorf("%+v", s)
		}
	}
}
