package replay_test

import (
	"context"
	"math"
	"testing"
	"time"

	"example.org/homenode/measure/replay"
	"example.org/homenode/numa"
	"example.org/homenode/output/format"
	"example.org/homenode/output/truth"
)

// FuzzReplay checks that whatever ticks there are, a replay says what is missing, or runs a
// story that can be and compares every counter in numbers.
func FuzzReplay(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Add([]byte{})
	seed := make([]byte, 2000)
	for i := range seed {
		seed[i] = byte(i * i >> 3)
	}
	f.Add(seed)
	fleet := fleetOf(f, inventory+"vm c host=esx01 vcpus=4 memory=8GB\nvm d host=esx01 vcpus=2 memory=8GB\n")
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func() (b byte) {
			if len(data) > 0 {
				b, data = data[0], data[1:]
			}
			return b
		}
		r := &replay.Recorder{Cells: 1 + int(next())}
		at := time.Date(2026, 11, 3, 1, 0, 0, 0, time.UTC)
		for ticks := 0; len(data) > 0 && ticks < 300; ticks++ {
			at = at.Add(time.Duration(next()) * 500 * time.Millisecond)
			r.Add(fuzzTick(at, next))
		}
		res, err := replay.Run(context.Background(), r, replay.Options{Fleet: fleet, Unstated: unstated})
		if err != nil {
			if res != nil || err.Error() == "" {
				t.Errorf("%v and the error %v", res, err)
			}
			return
		}
		if err := res.Story.Check(); err != nil {
			t.Errorf("the story cannot be: %v", err)
		}
		for i := range res.VMs {
			for c, e := range res.VMs[i].Errors {
				for _, x := range []float64{e.Observed, e.Simulated, e.Missed, e.Persisted} {
					if !(x >= 0) || math.IsInf(x, 0) {
						t.Errorf("%s: %s: %+v", res.VMs[i].Name, replay.Counter(c), e)
					}
				}
			}
		}
		if err := format.Text(discard{}, truth.Replay([]*replay.Result{res}, true), format.Options{}); err != nil {
			t.Error(err)
		}
	})
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// fuzzTick makes a tick of bytes.
func fuzzTick(at time.Time, next func() byte) *numa.Tick {
	k := &numa.Tick{Host: "esx01", Time: at, Since: time.Duration(next()) * time.Second}
	for id := range 2 {
		k.Nodes = append(k.Nodes, numa.NodeTick{ID: id, Has: numa.HasFree | numa.HasTotal, Total: 128 * numa.GiB, Free: numa.Bytes(next()) * numa.GiB})
	}
	if next() == 0 {
		k.Nodes = k.Nodes[1:]
	}
	for range next() % 6 {
		b := next()
		has := ^numa.Counters(0) &^ (1 << (next() % 32))
		amount := func() numa.Bytes { return numa.Bytes(int8(next())) * numa.GiB / 4 }
		v := numa.VMTick{GID: int64(b % 5), Name: string('a' + rune(b%4)), VCPUs: int(b % 9), Has: has, Homes: numa.NodeSet(next() % 8),
			Local: amount(), Remote: amount(), Active: amount(), Size: amount(), Consumed: amount(), Balloon: amount() / 16, Swapped: amount() / 16,
			Moves: numa.Moves{All: int64(next() % 3)}, Used: float64(next()) / 32, Ready: float64(next()) / 32, CoStop: float64(next()) / 64}
		switch next() {
		case 0:
			v.Used, v.Ready = math.NaN(), math.Inf(1)
		case 1:
			v.OnNode = []numa.MemoryOnNode{{Node: 0, Guest: v.Local}, {Node: int(next()) - 9, Guest: v.Remote}}
		}
		k.VMs = append(k.VMs, v)
	}
	return k
}
