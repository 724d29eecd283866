package replay_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"example.org/homenode/measure/replay"
	"example.org/homenode/numa"
	"example.org/homenode/source/ticks"
)

// TestSamples checks what is said of published files of esxtop: none of them shows VMs and
// nodes over time, so none can be replayed.
func TestSamples(t *testing.T) {
	shape := fleetOf(t, "host assumed nodes=2 cores=4 memory=64GB release=6.7\n").Hosts[0]
	for file, want := range map[string]string{
		"aumezawa_log-analysis_2numa_nodes_trimmed.csv": "test0001: found no tick that shows VMs, from which a replay begins: want esxtop -b -a, or the fields of NUMA of its memory screen",
		"rach-sharp_esxtopd_small.csv":                  "localhost.home: found no tick that shows NUMA nodes, from which a replay begins: want esxtop -b -a, or the fields of NUMA of its memory screen",
	} {
		t.Run(file, func(t *testing.T) {
			f, err := os.Open(filepath.Join("../../../shared/samples/esxtop", file))
			if os.IsNotExist(err) {
				t.Skip("the published samples are not here")
			}
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r := &replay.Recorder{}
			_, err = ticks.Read(context.Background(), file, f, ticks.Options{}, func(k *numa.Tick) error {
				r.Add(k)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if res, err := replay.Run(context.Background(), r, replay.Options{Assume: &shape}); err == nil || err.Error() != want {
				t.Errorf("Run = %v, %v\nwant %s", res, err, want)
			}
		})
	}
}
