package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"example.org/homenode/capture/export/esxtop"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/internal/golden"
	"example.org/homenode/measure/replay"
	"example.org/homenode/numa"
	"example.org/homenode/output/format"
	"example.org/homenode/output/truth"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/story"
	"example.org/homenode/source/ticks"
)

// unstated is the load that stories assume.
var unstated = story.Of(&numa.Fleet{}, story.Defaults{}).Unstated

// recorded runs a story and records its ticks as they are.
func recorded(t testing.TB, s *numa.Story, cells int) []*replay.Recorder {
	t.Helper()
	all := make([]*replay.Recorder, len(s.Fleet.Hosts))
	for i := range all {
		all[i] = &replay.Recorder{Cells: cells}
	}
	_, err := scheduler.Run(context.Background(), s, scheduler.Options{Observe: func(h int, k *numa.Tick, _ *scheduler.Look) { all[h].Add(k) }})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// throughFiles runs a story, writes the ticks of each host as esxtop does, and records
// what is read of that.
func throughFiles(t *testing.T, s *numa.Story) []*replay.Recorder {
	t.Helper()
	files, writers := make([]bytes.Buffer, len(s.Fleet.Hosts)), make([]*esxtop.Writer, len(s.Fleet.Hosts))
	for i := range files {
		writers[i] = esxtop.NewWriter(&files[i])
	}
	_, err := scheduler.Run(context.Background(), s, scheduler.Options{Observe: func(h int, k *numa.Tick, _ *scheduler.Look) {
		if err := writers[h].Add(k); err != nil {
			t.Fatal(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	var all []*replay.Recorder
	for i := range files {
		if err := writers[i].Flush(); err != nil {
			t.Fatal(err)
		}
		r := &replay.Recorder{}
		_, err := ticks.Read(context.Background(), s.Fleet.Hosts[i].Name+".csv", &files[i], ticks.Options{}, func(k *numa.Tick) error {
			r.Add(k)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// text replays and returns the tables.
func text(t *testing.T, all []*replay.Recorder, fleet *numa.Fleet) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := format.Text(&b, truth.Replay(results(t, all, fleet), true), format.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func results(t testing.TB, all []*replay.Recorder, fleet *numa.Fleet) (out []*replay.Result) {
	t.Helper()
	for _, r := range all {
		res, err := replay.Run(context.Background(), r, replay.Options{Fleet: fleet, Unstated: unstated})
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Story.Check(); err != nil {
			t.Errorf("%s: the story cannot be: %v", res.Host, err)
		}
		out = append(out, res)
	}
	return out
}

// day is a story of three hosts.
func day(t *testing.T) *numa.Story {
	t.Helper()
	text, err := os.ReadFile("testdata/day.txtar")
	if err != nil {
		t.Fatal(err)
	}
	s, err := story.Read("day.txtar", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRoundTrip checks what comes of a story when it is written as esxtop does, read and
// replayed: a day with vMotion, HA, a hot add, early spill and balancing. Without the
// talks of VMs, of which no capture tells, the errors that are left are of bytes: esxtop
// writes hundredths of a MB.
func TestRoundTrip(t *testing.T) {
	for _, talks := range []bool{true, false} {
		s := day(t)
		if !talks {
			s.Events = slices.DeleteFunc(s.Events, func(e numa.Event) bool { return e.Kind == numa.TalkChange })
		}
		golden.Equal(t, text(t, throughFiles(t, s), s.Fleet), fmt.Sprintf("testdata/roundtrip-talks=%v.txt", talks))
	}
}

// TestCoarse checks how much of that day comes back when it is recorded more finely or
// more coarsely than the model draws demand: means of minutes hide the peaks that the
// balancer acts on.
func TestCoarse(t *testing.T) {
	var b bytes.Buffer
	for _, every := range []time.Duration{4 * time.Second, 20 * time.Second, time.Minute, 5 * time.Minute} {
		s := day(t)
		s.Every = every
		for _, r := range results(t, recorded(t, s, 0), s.Fleet) {
			e := &r.Totals
			differ, _ := e[replay.NHN].Mean()
			points, _ := e[replay.Locality].Mean()
			stay, _ := e[replay.Locality].Persistence()
			fmt.Fprintf(&b, "%-4s %s: %4d moments, %.2f %% of home nodes differ, N%%L off by %.2f points (persistence %.2f), %g migrations of %g\n",
				every, r.Host, r.Moments, differ*100, points, stay, e[replay.NMIG].Simulated, e[replay.NMIG].Observed)
		}
	}
	golden.Equal(t, b.Bytes(), "testdata/coarse.txt")
}

// TestDemoCapture replays the capture of the demo, which is invented: nothing in it
// follows from a model, and memory moves on its nodes that is of none of its VMs.
func TestDemoCapture(t *testing.T) {
	golden.Equal(t, text(t, demoCapture(t), given.Demo(t)), "testdata/demo.txt")
}

func demoCapture(t testing.TB) (all []*replay.Recorder) {
	t.Helper()
	in, err := demo.Capture()
	if err != nil {
		t.Fatal(err)
	}
	err = in.Ticks(func(k *numa.Tick) error {
		if len(all) == 0 || all[len(all)-1].Host() != k.Host {
			all = append(all, &replay.Recorder{})
		}
		all[len(all)-1].Add(k)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSame checks that the same capture gives the same bytes.
func TestSame(t *testing.T) {
	var all [2]bytes.Buffer
	for i := range all {
		if err := format.JSON(&all[i], truth.Replay(results(t, demoCapture(t), given.Demo(t)), false), format.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(all[0].Bytes(), all[1].Bytes()) {
		t.Error("two replays of a capture differ")
	}
}

// fleetOf reads a fleet.
func fleetOf(t testing.TB, text string) *numa.Fleet {
	t.Helper()
	return given.Fleet(t, "fleet.txt", []byte(text))
}
