package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/measure/replay"
	"example.org/homenode/numa"
	"example.org/homenode/source/story"
)

// BenchmarkReplay records and replays a day of a host with ticks every 20 s.
func BenchmarkReplay(b *testing.B) {
	const vms = 200
	var text strings.Builder
	text.WriteString("release 7.0U3\nhost esx01 nodes=2 cores=64 memory=4096GB\nrun 24h every=20s\n")
	for i := range vms {
		fmt.Fprintf(&text, "vm vm%d host=esx01 vcpus=%d memory=16GB\n", i, 1+i%8)
	}
	text.WriteString("load * cpu=5..35% noise=5% active=20%\n")
	s, err := story.Read("bench", []byte(text.String()))
	if err != nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("vms=%d", vms), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := &replay.Recorder{}
			_, err := scheduler.Run(context.Background(), s, scheduler.Options{Observe: func(_ int, k *numa.Tick, _ *scheduler.Look) { r.Add(k) }})
			if err != nil {
				b.Fatal(err)
			}
			res, err := replay.Run(context.Background(), r, replay.Options{Fleet: s.Fleet})
			if err != nil {
				b.Fatal(err)
			}
			if e := &res.Totals[replay.NHN]; e.Compared != 4320*vms || e.Missed != 0 {
				b.Fatalf("%+v", *e)
			}
		}
	})
}
