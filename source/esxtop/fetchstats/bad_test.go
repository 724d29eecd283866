package fetchstats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

func TestBad(t *testing.T) {
	one, two := answerA(0, "db"), answerA(1, "db")
	for _, tt := range []struct {
		name, in string
		ticks    int
		warnings []string
		err      string
	}{
		{"nothing", "", 0, nil, "f:1: found neither CounterInfo nor FetchStats"},
		{"no schema", one, 0, nil, "f:1: found FetchStats without CounterInfo: what the columns are differs by release; " +
			"save the answer to CounterInfo of the same host before it in the file, or beside it in the folder"},
		{"a schema without time", strings.Replace(infoA, "|Time,S64", "", 1) + one, 0, nil, "f:1: found a CounterInfo without Server.Time"},
		{"another release", infoB + one, 0, []string{"f:6: the answer is left out: line 10: found a row Server of 4 fields, CounterInfo has 2: it is cut off, or CounterInfo is of another host"}, ""},
		{"cut off", infoA + one + two[:len(two)-60], 1, []string{"f:39: the answer is left out: line 64: found a row VMem of 7 fields, CounterInfo has 9: it is cut off, or CounterInfo is of another host"}, ""},
		{"groups missing", infoA + strings.Replace(one, "|Sched|4|", "|Sched|5|", 1) + two, 1, []string{"f:12: the answer is left out: cut off: found 4 of 5 groups"}, ""},
		{"no number", infoA + strings.Replace(one, "|786432|75|", "|n/a|75|", 1) + two, 1,
			[]string{`f:12: the answer is left out: line 27: SchedGroup.LocalMemoryInKB: found "n/a", want a number of type U32`}, ""},
		{"no number of a vCPU", infoA + one + strings.Replace(two, "|5000007|", "|x|", 1), 2,
			[]string{`f:60: VCPU.UsedTimeInUsec: found "x", want a number of type U64: the row is left out`}, ""},
		{"the same twice", infoA + one + one + two, 2, nil, ""},
		{"backwards", infoA + two + one, 1, []string{"f:39: the answer of 2026-09-21T14:13:20Z is older than the one before it: left out"}, ""},
		{"the clock set back", infoA + one + strings.Replace(two, "|1790000010|", "|1789999990|", 1) + answerA(3, "db"), 2,
			[]string{"f:39: the clock of the host was set back: the answer of 2026-09-21T14:13:10Z is left out"}, ""},
		{"a script's own lines", infoA + "# 20:30\n" + one + "-- next\n" + two, 2, []string{`f:12:1: not understood: "# 20:30" (and 1 more of this kind)`}, ""},
		{"a group twice", infoA + strings.Replace(one, "|SchedGroup|9|", "|SchedGroup|7|", 1) + two, 1,
			[]string{"f:12: the answer is left out: line 38: found group 7 again, first on line 27"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ticks, warnings, err := read(t, &Series{Host: "h"}, "f", tt.in)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if len(ticks) != tt.ticks || !slices.Equal(warnings, tt.warnings) || got != tt.err {
				t.Errorf("%d ticks, %q, %s\nwant %d, %q, %s", len(ticks), warnings, got, tt.ticks, tt.warnings, tt.err)
			}
		})
	}
	stop := errors.New("stop")
	if _, err := new(Series).Read("f", strings.NewReader(infoA+one+two), func(*numa.Tick) error { return stop }); err != stop {
		t.Error(err)
	}
}

// TestBroken checks that a VM one of whose vCPUs cannot be read has no rates.
func TestBroken(t *testing.T) {
	two := strings.Replace(answerA(1, "db"), "|5000007|", "|x|", 1)
	ticks, _, _ := read(t, &Series{Host: "h"}, "f", infoA+answerA(0, "db")+two)
	if v := ticks[1].VMs[0]; v.VCPUs != 0 || v.Has&numa.HasReady != 0 || v.Moves.All != 6 {
		t.Errorf("%+v", v)
	}
}

// TestLarge checks that what 32 bits of KiB cannot count is not believed.
func TestLarge(t *testing.T) {
	big := strings.NewReplacer("|NUMANode|0|1048576|", "|NUMANode|0|1073741824|", "|VMNUMANodeMem|1|1|262144|", "|VMNUMANodeMem|1|1|4294901760|").Replace(answerA(0, "db"))
	ticks, warnings, err := read(t, &Series{Host: "h"}, "f", infoA+big)
	if err != nil || len(ticks) != 1 {
		t.Fatal(ticks, err)
	}
	v := ticks[0].VMs[0]
	if ticks[0].Has != numa.HasMinFree|numa.HasState || v.Has != numa.HasHomes|numa.HasPercent {
		t.Errorf("%b %b", ticks[0].Has, v.Has)
	}
	if !slices.Equal(warnings, []string{"f:27: VM db: local and remote memory add up to 1048576 KiB but that on the nodes to 4295688192 KiB: not used"}) {
		t.Errorf("%q", warnings)
	}
}

func TestWrongMachine(t *testing.T) {
	for _, threads := range []int{1, 3} {
		machine := &numa.Host{Nodes: numa.ReadAt([]numa.Node{{ID: 0, Cores: 1, Threads: threads}, {ID: 1, Cores: 1, Threads: threads}}, "")}
		ticks, warnings, err := read(t, &Series{Host: "h", Machine: machine}, "f", infoA+answerA(0, "db")+answerA(1, "db"))
		if err != nil || len(ticks) != 2 || ticks[1].Nodes[0].Has != numa.HasTotal|numa.HasFree ||
			!slices.Equal(warnings, []string{"f:39: the machine that is given has not the 4 PCPUs of the answer: the load of the nodes stays unknown"}) {
			t.Errorf("%v %q %v", ticks, warnings, err)
		}
	}
}

// TestFiles reads CounterInfo and answers from files of their own.
func TestFiles(t *testing.T) {
	s := &Series{Host: "h"}
	if ticks, warnings, err := read(t, s, "counterinfo", infoA); ticks != nil || warnings != nil || err != nil {
		t.Fatal(ticks, warnings, err)
	}
	at, why, ok, err := s.Start("one", strings.NewReader(answerA(1, "db")))
	if !ok || len(why) > 0 || err != nil || !at.Equal(time.Unix(1_790_000_010, 0)) {
		t.Errorf("%v, %v, %v", at, ok, err)
	}
	for i := range 2 {
		ticks, _, err := read(t, s, "one", answerA(i, "db"))
		if err != nil || len(ticks) != 1 || ticks[0].Since != time.Duration(i)*10*time.Second {
			t.Errorf("%v, %v", ticks, err)
		}
	}
}

func TestDetect(t *testing.T) {
	for in, want := range map[string]string{infoA: CounterInfo, answerB(0): FetchStats, "# x\n" + answerA(0, "a"): FetchStats, "|a|b|\n": "", "": "", "|Server|x,1|\n": ""} {
		if got, ok := Detect([]byte(in)); ok != (want != "") || ok && got != want {
			t.Errorf("%.30q: %q, %v", in, got, ok)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(infoA + answerA(0, "a|b") + answerA(1, "a|b"))
	f.Add(infoB + answerB(0) + infoA + answerA(0, "x"))
	f.Fuzz(func(t *testing.T, in string) {
		s := &Series{Host: "h"}
		last := map[string]time.Time{}
		_, err := s.Read("f", strings.NewReader(in), func(tick *numa.Tick) error {
			if before, ok := last[tick.Host]; ok && !tick.Time.After(before) {
				t.Fatalf("%s: %v after %v", tick.Host, tick.Time, before)
			}
			last[tick.Host] = tick.Time
			for _, v := range tick.VMs {
				if v.Ready < 0 || v.Used < 0 || v.Moves.All < 0 || v.Local < 0 || v.Percent > 100 {
					t.Fatalf("%+v", v)
				}
			}
			return nil
		})
		if err != nil && err.Error() == "" {
			t.Fatal("an error without a text")
		}
	})
}

// TestGroupOfAnotherVM checks that the counters of a VM are not taken from those of another
// one that had its scheduler group before.
func TestGroupOfAnotherVM(t *testing.T) {
	s := &Series{Host: "esx01"}
	second := strings.ReplaceAll(answerA(1, "web"), "vm.100", "vm.300")
	second = strings.ReplaceAll(second, "|42|6|3|", "|50|6|3|")
	ticks, warnings, err := read(t, s, "a", infoA+answerA(0, "db")+second)
	if err != nil || warnings != nil || len(ticks) != 2 {
		t.Fatalf("%d ticks, %q, %v", len(ticks), warnings, err)
	}
	// It began with 0: not 10, 1 and 3 beside the 40, 5 and 0 of the VM before.
	if got, want := ticks[1].VMs[0].Moves, (numa.Moves{All: 59, Balance: 50, LocalitySwap: 6, LoadSwap: 3}); got != want {
		t.Errorf("the migrations are %+v, want %+v", got, want)
	}
}

// TestEndlessSchema checks that a CounterInfo that does not end is no CounterInfo.
func TestEndlessSchema(t *testing.T) {
	var b strings.Builder
	b.WriteString(infoA)
	for i := range 5000 {
		fmt.Fprintf(&b, "|T%d|a,U32|\n", i)
	}
	_, _, err := read(t, &Series{Host: "h"}, "a", b.String())
	if want := "a:1: found a CounterInfo of more than 1000 types"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// TestManySchemas checks that the last ones are kept.
func TestManySchemas(t *testing.T) {
	s := &Series{Host: "h"}
	for i := range 100 {
		if _, _, err := read(t, s, "a", infoA+fmt.Sprintf("|T%d|a,U32|\n", i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.schemas) != maxSchemas || s.schemas[maxSchemas-1].types["T99"] == nil {
		t.Errorf("%d schemas are kept, want the last %d", len(s.schemas), maxSchemas)
	}
}
