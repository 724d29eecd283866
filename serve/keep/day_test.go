package keep_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.org/homenode/capture/store"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/keep"
	"example.org/homenode/source/scenario"
)

// TestDay lets a day pass on a fake clock: hosts whose VMs come, go and move, judged every minute and kept. Memory and goroutines
// stay as they were after four hours, when the store has written its first block. The collector's day is in serve/collect:
// it waits for a network, and no fake clock goes on meanwhile.
func TestDay(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		f, err := scenario.Read("test", []byte("release 8.0U2\ncluster c\nhost esx[1-4] cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm vm[10-25] host=esx1 vcpus=4 memory=16GB\n"))
		if err != nil {
			t.Fatal(err)
		}
		b, k := board.New(rules.Options{}, 3*time.Minute), keep.New(nil)
		b.Keep = k.Take
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if err := k.Run(ctx, dir, store.Options{}); err != nil {
				t.Error(err)
			}
		})
		every := func(d time.Duration, do func(minute int)) {
			all.Go(func() {
				for ctx.Err() == nil {
					do(int(time.Since(begin) / time.Minute))
					select {
					case <-ctx.Done():
					case <-time.After(d):
					}
				}
			})
		}
		every(10*time.Minute, func(int) { c := *f; b.Fleet("vc", &c) })
		for h := range f.Hosts {
			host := &f.Hosts[h]
			every(time.Minute, func(minute int) {
				x := numa.Tick{Host: host.Name, Time: time.Now(), Since: time.Minute, Has: numa.HasFree, Free: 100 * numa.GiB,
					Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasTotal, Total: 256 * numa.GiB}, {ID: 1, Has: numa.HasTotal, Total: 256 * numa.GiB}}}
				for v := range 16 {
					if moves := v + minute/60; moves%4 != h { // each goes on once an hour
						continue
					}
					name := f.VMs[v].Name
					if v < 4 {
						name = fmt.Sprintf("%s-of-%d", name, minute/30) // lives for half an hour
					}
					far := numa.Bytes(0)
					if (minute+10*v)/40%4 == 0 {
						far = 12 * numa.GiB
					}
					x.VMs = append(x.VMs, numa.VMTick{GID: int64(1000*(minute/30) + v), Name: name, VCPUs: 4, Homes: numa.SetOf(v % 2), Local: 16*numa.GiB - far, Remote: far, Used: 0.5,
						Has: numa.HasHomes | numa.HasMemory | numa.HasMoves | numa.HasUsed})
				}
				b.Tick("vc", host.ID, &x)
			})
		}
		begun, ended := 0, 0
		every(time.Minute, func(int) {
			now, over := b.Judge(time.Now())
			begun, ended = begun+len(now), ended+len(over)
		})
		measure := func(at time.Duration) (heap uint64, goroutines int) {
			time.Sleep(time.Until(begin.Add(at + 30*time.Second)))
			synctest.Wait()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc, runtime.NumGoroutine()
		}
		heap, goroutines := measure(4 * time.Hour)
		heapAfter, goroutinesAfter := measure(24 * time.Hour)
		if heapAfter > heap+heap/2+8<<20 || goroutinesAfter > goroutines {
			t.Errorf("heap %d kB, then %d kB; goroutines %d, then %d", heap>>10, heapAfter>>10, goroutines, goroutinesAfter)
		}
		open, _ := b.Alarms()
		if s := k.State(); s.Lost > 0 || ended < 50 || len(open) > 50 {
			t.Errorf("%+v; %d findings began or got worse, %d ended, %d hold", s, begun, ended, len(open))
		}
		// Who lost locality over the day: the 12 VMs that are in the inventory, each on all four hosts in turn.
		now := time.Now()
		lost, err := k.Lost(t.Context(), now.Add(-24*time.Hour), now, b.LowLocality())
		if err != nil || len(lost) != 12 || lost[0].ID == "" || lost[0].Least != 0.25 || lost[0].Hours < 6 || lost[0].Missing < lost[11].Missing {
			t.Fatalf("lost locality: %v, %d VMs: %+v", err, len(lost), lost)
		}
		recordings, err := k.Recordings(t.Context(), "vc", []string{lost[3].ID, lost[0].ID}, now.Add(-24*time.Hour), now, b.Limits())
		if err != nil || len(recordings) != 4 || len(recordings[0].VMs) < 12 || len(recordings[0].Nodes) != 2 {
			t.Fatalf("%v, %d recordings, %d VMs", err, len(recordings), len(recordings[0].VMs))
		}
		low := map[string]bool{}
		for _, f := range b.Over("vc", recordings, now) {
			if f.Rule == "M001" && !f.From.Before(now.Add(-24*time.Hour)) && f.To.Sub(f.From) > 20*time.Minute {
				id, _ := keep.Of([]string{lost[3].ID, lost[0].ID}, f.GID)
				low[fmt.Sprint(f.VM, id)] = true
			}
		}
		if want := map[string]bool{lost[3].VM + lost[3].ID: true, lost[0].VM + lost[0].ID: true}; !maps.Equal(low, want) {
			t.Errorf("M001 of %v, want %v", low, want)
		}
		cancel()
		all.Wait()
		t.Logf("heap %d kB, then %d kB; goroutines %d, then %d; %d findings began or got worse, %d ended, %d hold", heap>>10, heapAfter>>10, goroutines, goroutinesAfter, begun, ended, len(open))
	})
}
