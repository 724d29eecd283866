package story

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
)

// dump writes a story as a person reads it, the fleet left out.
func dump(s *numa.Story) string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s every %s from %s seed %d\n", words.Short(s.Length), words.Short(s.Every), s.Start.Format(time.RFC3339), s.Seed)
	for _, u := range s.Used {
		fmt.Fprintf(&b, "used %s node %d: %s\n", u.Host, u.Node, u.Memory)
	}
	for _, l := range s.Loads {
		fmt.Fprintf(&b, "load %s: %s\n", l.VM, loadText(&l.Load))
	}
	fmt.Fprintf(&b, "load of others: %s (%s)\n", loadText(&s.Unstated.Value), s.Unstated.Origin.Kind)
	for _, t := range s.Talks {
		fmt.Fprintf(&b, "talk %s %s: %g/s\n", t.A, t.B, t.Rate)
	}
	for _, v := range s.Seen {
		fmt.Fprintf(&b, "seen %s on %s: homes %s local %s remote %s on nodes %v\n", v.VM, v.Host, v.Homes, v.Local, v.Remote, v.OnNode)
	}
	for i := range s.Events {
		e := &s.Events[i]
		fmt.Fprintf(&b, "%s line %d %s", words.Short(e.At), e.Line, e.Kind)
		for _, part := range []string{e.VM, e.Host} {
			if part != "" {
				fmt.Fprintf(&b, " %s", part)
			}
		}
		switch {
		case e.Load != nil:
			fmt.Fprintf(&b, ": %s", loadText(e.Load))
		case e.Config != nil:
			c := e.Config
			fmt.Fprintf(&b, ": %d vCPUs (%s), %d a socket, %s, %v", c.VCPUs.Value, c.VCPUs.Origin, c.CoresPerSocket.Value, c.Memory.Value, c.Settings.Value)
		case e.Options != nil:
			fmt.Fprintf(&b, ": %v", e.Options)
		case e.Talk != nil:
			fmt.Fprintf(&b, ": %s %s %g/s", e.Talk.A, e.Talk.B, e.Talk.Rate)
		}
		fmt.Fprintf(&b, " [%s]", e.Text)
		if e.Note != "" {
			fmt.Fprintf(&b, " # %s", e.Note)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func loadText(l *numa.Load) string {
	s := fmt.Sprintf("cpu %g..%g", l.CPU.Low, l.CPU.High)
	if l.CPU.Low < l.CPU.High {
		s += " peak " + words.Short(l.CPU.Peak)
	}
	s += fmt.Sprintf(" noise %g, memory %s over %s active %g", l.CPU.Noise, l.Memory, words.Short(l.Over), l.Active)
	if l.Memory < 0 {
		s = strings.Replace(s, l.Memory.String(), "all", 1)
	}
	s += fmt.Sprintf(", zero %g common %g of %q asks large %g, %q", l.Zero, l.Common, l.Image, l.AsksLarge, l.Workload)
	return s
}

// TestRead reads the stories of testdata: every word, and the published experiments that
// stories are to tell.
func TestRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("found %d stories, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := testdeps.Input(t, file, Read)
			golden.Section(t, []byte(dump(s)), file, "story")
			b := golden.Read(t, file)
			if !Is(b) {
				t.Error("it is not taken for a story")
			}
			again(t, s)
		})
	}
}

// again adds nothing to a story, which then is as it was.
func again(t *testing.T, s *numa.Story) {
	t.Helper()
	same := *s
	if err := Add(&same, "# nothing\n", "--at"); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&same, s) {
		t.Errorf("nothing is added, and the story is\n%s\nwant\n%s", dump(&same), dump(s))
	}
}

const fleet = `release 8.0
cluster prod
host esx[01-02] nodes=2 cores=8 memory=256GB
vm db01 host=esx01 vcpus=8 memory=64GB
vm db02 host=esx01 vcpus=8 memory=64GB power=off
`

func read(t testing.TB, text string) *numa.Story {
	t.Helper()
	s, err := Read("story.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOf checks what is assumed of a fleet without a story.
func TestOf(t *testing.T) {
	f, err := scenario.Read("fleet.txt", []byte(fleet))
	if err != nil {
		t.Fatal(err)
	}
	s := Of(f, Defaults{})
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	const want = "run 24h every 20s from 2026-01-05T00:00:00Z seed 0\n" +
		"load of others: cpu 0.05..0.25 peak 14h noise 0.03, memory all over 0s active 0.25, zero 0 common 0 of \"\" asks large 0, \"\" (assumed)\n"
	if got := dump(s); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if want := "the load of the VM is not stated: an office day of 5 to 25 % of each vCPU, most at 14:00 UTC; all memory touched, a quarter of it active, no pages alike"; s.Unstated.Origin.Where != want {
		t.Errorf("assumed for: %s\nwant %s", s.Unstated.Origin.Where, want)
	}
	if want := "Monday"; s.Start.Weekday().String() != want {
		t.Errorf("it starts on a %s, want %s", s.Start.Weekday(), want)
	}
	flat := numa.ReadAt(numa.Load{Memory: numa.GiB}, "--load")
	s = Of(f, Defaults{Start: time.Date(2026, 1, 5, 9, 0, 0, 0, time.FixedZone("CET", 3600)), Length: time.Hour, Every: time.Minute, Seed: 7, Unstated: flat})
	const other = "run 1h every 1m from 2026-01-05T08:00:00Z seed 7\n" +
		"load of others: cpu 0..0 noise 0, memory 1 GB over 0s active 0, zero 0 common 0 of \"\" asks large 0, \"\" (read)\n"
	if got := dump(s); got != other {
		t.Errorf("%s\nwant\n%s", got, other)
	}
}

// TestAdd adds lines to a story that has its own.
func TestAdd(t *testing.T) {
	s := read(t, fleet+`used esx01 node=0 memory=4GB
load db01 cpu=20% memory=32GB over=10m
talk db01 db02 rate=600
run 2h seed=3
at 20m load db01 active=50% # warm
at 20m power-on db02
at 30m load db* cpu=80%
at 1h resize db02 vcpus=12
`)
	for _, lines := range []string{
		"load db01 cpu=10% memory=40GB",
		"at 10m power-on db02 host=esx02\nat 15m power-off db02 # too early",
		"used esx01 node=0 memory=6GB\nused esx02 node=1 memory=1GB",
		"talk db02 db01 rate=900",
		"at 25m load db01 zero=5%\nat 40m resize db02 memory=128GB",
		"at 50m reboot db01\nat 52m reboot db01",
		"run seed=9 every=1m\nplaced db01 homes=1 local=30GB remote=2GB",
	} {
		if err := Add(s, lines, "--at"); err != nil {
			t.Fatal(err)
		}
	}
	want := `run 2h every 1m from 2026-01-05T00:00:00Z seed 9
used esx01 node 0: 6 GB
used esx02 node 1: 1 GB
load db01: cpu 0.1..0.1 noise 0, memory 40 GB over 0s active 0.25, zero 0 common 0 of "" asks large 0, ""
load of others: cpu 0.05..0.25 peak 14h noise 0.03, memory all over 0s active 0.25, zero 0 common 0 of "" asks large 0, "" (assumed)
talk db02 db01: 900/s
seen db01 on esx01: homes 1 local 30 GB remote 2 GB on nodes []
10m line 0 power-on db02 esx02 [power-on db02 host=esx02]
15m line 0 power-off db02 [power-off db02] # too early
20m line 10 load db01: cpu 0.1..0.1 noise 0, memory 40 GB over 0s active 0.5, zero 0 common 0 of "" asks large 0, "" [load db01 active=50%] # warm
20m line 11 power-on db02 [power-on db02]
25m line 0 load db01: cpu 0.1..0.1 noise 0, memory 40 GB over 0s active 0.5, zero 0.05 common 0 of "" asks large 0, "" [load db01 zero=5%]
30m line 12 load db01: cpu 0.8..0.8 noise 0, memory 40 GB over 0s active 0.5, zero 0.05 common 0 of "" asks large 0, "" [load db* cpu=80%]
30m line 12 load db02: cpu 0.8..0.8 noise 0, memory all over 0s active 0.25, zero 0 common 0 of "" asks large 0, "" [load db* cpu=80%]
40m line 0 resize db02: 8 vCPUs (read: vcpus), 1 a socket, 128 GB, [] [resize db02 memory=128GB]
50m line 0 reboot db01 [reboot db01]
52m line 0 reboot db01 [reboot db01]
1h line 13 resize db02: 12 vCPUs (read: at 1h resize db02 vcpus=12), 1 a socket, 128 GB, [] [resize db02 vcpus=12]
`
	if got := dump(s); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	again(t, s)
}

// TestAddShorter makes a run shorter: what came after its end is gone.
func TestAddShorter(t *testing.T) {
	s := read(t, fleet+"run 1h\nat 10m power-on db02\nat 20m power-off db02\nat 20m2s power-on db02\n")
	if err := Add(s, "run 20m", "--at"); err != nil {
		t.Fatal(err)
	}
	if got := len(s.Events); got != 2 || s.Events[1].Kind != numa.PowerOff {
		t.Errorf("events are\n%s", dump(s))
	}
	s.Events = []numa.Event{{At: 5 * time.Minute, Kind: numa.PowerOn, VM: "db02"}, {At: 15 * time.Minute, Kind: numa.PowerOff, VM: "db02"}}
	if err := Add(s, "run 10m\nat 6m power-off db02", "--at"); err != nil {
		t.Fatal(err)
	}
	if got := len(s.Events); got != 2 || s.Events[1].At != 6*time.Minute {
		t.Errorf("events are\n%s", dump(s))
	}
}

// TestAddFixed adds to a story whose events come from elsewhere: they have no line, and
// are taken as they are.
func TestAddFixed(t *testing.T) {
	s := read(t, fleet+"run 1h\n")
	s.Events = []numa.Event{{At: time.Minute, Kind: numa.PowerOn, VM: "db02"}, {At: 3 * time.Minute, Kind: numa.Fail, Host: "esx01"}}
	if err := Add(s, "at 2m power-off db02\nat 4m vmotion db01 host=esx02\n", "--at"); err != nil {
		t.Fatal(err)
	}
	if err := Add(s, "at 3m power-on db02", "--at"); err == nil || err.Error() != "--at:1:16: found power-on of db02 on esx01, which has failed" {
		t.Errorf("%v", err)
	}
	want := `run 1h every 20s from 2026-01-05T00:00:00Z seed 0
load of others: cpu 0.05..0.25 peak 14h noise 0.03, memory all over 0s active 0.25, zero 0 common 0 of "" asks large 0, "" (assumed)
1m line 0 power-on db02 []
2m line 0 power-off db02 [power-off db02]
3m line 0 fail esx01 []
4m line 0 vmotion db01 esx02 [vmotion db01 host=esx02]
`
	if got := dump(s); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestNames finds VMs and hosts of a fleet in which names are not unique.
func TestNames(t *testing.T) {
	config := numa.Config{Memory: numa.ReadAt(8*numa.GiB, "memory"), VCPUs: numa.ReadAt(2, "vcpus")}
	f := &numa.Fleet{
		Source:   "vcenter",
		Clusters: []numa.Cluster{{ID: "c1", Name: "prod"}, {ID: "c2", Name: "test"}},
		Hosts:    []numa.Host{{ID: "h1", Name: "esx01.example.com", Cluster: "c1"}, {ID: "h2", Name: "esx02.example.com", Cluster: "c2"}},
		VMs: []numa.VM{
			{ID: "vm-1", Name: "web01", Host: "h1", Cluster: "c1", Config: config}, {ID: "vm-2", Name: "web01", Host: "h2", Cluster: "c2", Config: config},
			{ID: "vm-3", Name: "SQL Server 01", Host: "h2", Cluster: "c2", Config: config}, {ID: "vm-4", Name: "db[1-2]", Host: "h2", Cluster: "c2", Config: config},
			{ID: "vm-5", Name: "web01", Host: "h1", Cluster: "c1", Config: config},
			{ID: "vm-6", Name: "WEB9", Host: "h2", Cluster: "c2", Config: config},
		},
	}
	for _, tt := range []struct{ name, want string }{
		{"vm-2", "vm-2"}, {"esx02/web01", "vm-2"}, {"esx02.example.com/web01", "vm-2"}, {"test/web01", "vm-2"}, {"TEST/WEB01", "vm-2"},
		{"web*", "vm-1 vm-2 vm-5"}, {"WEB0?", "vm-1 vm-2 vm-5"}, {"esx01/*", "vm-1 vm-5"}, {"prod/*,vm-2", "vm-1 vm-2 vm-5"}, {"SQL?Server?01", "vm-3"},
		{"db[1-2]", "vm-4"}, {"sql*", "vm-3"}, {"*", "vm-1 vm-2 vm-3 vm-4 vm-5 vm-6"}, {"WEB*", "vm-6"}, {"vm-*", "--at:1:12: found no VM \"vm-*\"; known: SQL Server 01, WEB9, db[1-2], web01"},
		{"web01", "--at:1:12: found web01, which 3 VMs are called; say which: vm-1, esx02.example.com/web01, vm-5"},
		{"prod/web01", "--at:1:12: found prod/web01, which 2 VMs are called; say which: vm-1, vm-5"},
		{"vm-1,web02", "--at:1:17: found no VM \"web02\"; alike: web01, WEB9"},
		{"web[", "--at:1:12: found pattern \"web[\": syntax error in pattern"},
		{"web[01-02]", "--at:1:12: found web01, which 3 VMs are called; say which: vm-1, esx02.example.com/web01, vm-5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Of(f, Defaults{})
			err := Add(s, "at 1m load "+tt.name+" cpu=50%", "--at")
			got := fmt.Sprint(err)
			if err == nil {
				var ids []string
				for _, e := range s.Events {
					ids = append(ids, e.VM)
				}
				got = strings.Join(ids, " ")
			}
			if got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
	s := Of(f, Defaults{})
	if err := Add(s, "at 1m vmotion vm-1 host=ESX02\nat 2m fail *\nat 3m repair esx02.example.com", "--at"); err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for _, e := range s.Events {
		hosts = append(hosts, e.Host)
	}
	if got, want := strings.Join(hosts, " "), "h2 h1 h2 h2"; got != want {
		t.Errorf("hosts %s, want %s", got, want)
	}
}

func TestIs(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"story", fleet + "run 3h", true},
		{"story with an event only", fleet + "  at 1m power-off db01", true},
		{"story in an archive", "Words.\n-- in --\n" + fleet + "load * cpu=10%\n", true},
		{"scenario", fleet, false},
		{"scenario in an archive, and words", "run 3h\n-- in --\n" + fleet, false},
		{"incident", "start 2026-11-02T01:00:00Z\nhost esx01 free=3GB\nvm db01 vcpus=4\n10m vm db01 off\n20m end\n", false},
		{"lines without a fleet", "run 3h\nload * cpu=10%\n", false},
		{"no section", "-- out --\n" + fleet + "run 3h\n", false},
		{"comments", fleet + "# at 1m power-off db01\n", false},
		{"binary", "host a\nrun 3h\n\x00", false},
		{"empty", "", false},
	} {
		if got := Is([]byte(tt.text)); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
