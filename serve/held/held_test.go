package held

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
)

// TestOnceForAll lets 50 readers come at once: the fleet is judged once.
func TestOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var judged atomic.Int32
		gate := make(chan struct{})
		l := Live{
			Inventory: func(vcenter string) (*numa.Fleet, []string) {
				if vcenter != "" {
					judged.Add(1)
					<-gate
				}
				return &numa.Fleet{}, []string{"a"}
			},
			Options: func() rules.Options { return rules.Options{} }, Sources: func(string) []string { return nil }, Address: func(string) string { return "" },
		}
		var readers sync.WaitGroup
		read := func(out *[]*Fleet) { readers.Go(func() { *out = l.Fleets() }) }
		var before [50][]*Fleet
		for i := range before {
			read(&before[i])
		}
		synctest.Wait()
		if n := judged.Load(); n != 1 {
			t.Errorf("judged %d times", n)
		}
		close(gate)
		readers.Wait()
		for i := range before {
			if len(before[i]) != 1 || before[i][0] != before[0][0] {
				t.Fatalf("reader %d got %v", i, before[i])
			}
		}
		if n := judged.Load(); n != 1 || l.Fleets()[0] != before[0][0] {
			t.Errorf("judged %d times", n)
		}
	})
}
