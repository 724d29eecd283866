package captures

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	verdict "example.org/homenode/rules/verdict/recording"
)

var monday = time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)

// watched is a host that was watched every 20 seconds; vms makes its VMs at each tick.
type watched struct {
	host  string
	start time.Time
	ticks int
	vms   func(i int) []numa.VMTick
}

func (w watched) judged() *verdict.Judged {
	r := capture.NewRecorder(rules.CaptureOptions(nil))
	r.Open(w.host+".csv", "test")
	for i := range w.ticks {
		r.Add(&numa.Tick{Host: w.host, Time: w.start.Add(time.Duration(i) * 20 * time.Second), Since: 20 * time.Second, VMs: w.vms(i)})
	}
	return verdict.Of(rules.Watch([]*capture.Recording{r.Recording()}, nil, rules.Options{}))
}

// noisy returns the ticks of a VM of 8 vCPUs and 64 GB whose share of remote memory and ready
// time keep nine tenths of what they were a tick ago.
func noisy(seed uint64, name string, gid int64, remote, ready float64) func(int) []numa.VMTick {
	var rng *rand.Rand
	var x, y float64
	return func(i int) []numa.VMTick {
		if i == 0 {
			rng, x, y = rand.New(rand.NewPCG(seed, 0)), 0, 0
		}
		x, y = 0.9*x+0.01*rng.NormFloat64(), 0.9*y+0.005*rng.NormFloat64()
		far := min(1, max(0, remote+x))
		return []numa.VMTick{{
			Name: name, GID: gid, VCPUs: 8, Has: numa.HasMemory | numa.HasHomes | numa.HasMoves | numa.HasReady | numa.HasCoStop | numa.HasUsed | numa.HasSize, Homes: 1, Size: 64 * numa.GiB,
			Local: numa.Bytes((1 - far) * 64 * float64(numa.GiB)), Remote: numa.Bytes(far * 64 * float64(numa.GiB)), Ready: 8 * max(0, ready+y), Used: 2,
		}}
	}
}

func compared(t *testing.T, a, b watched) *Comparison {
	t.Helper()
	c, err := Compare(a.judged(), b.judged())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func verdictsOf(s *Subject) string {
	var out []string
	for _, c := range s.Counters {
		out = append(out, fmt.Sprintf("%s: %s", c.Name, c.Verdict))
	}
	return string(s.Verdict) + "; " + strings.Join(out, ", ")
}

func TestVerdicts(t *testing.T) {
	at := func(start time.Time, ticks int, vms func(int) []numa.VMTick) watched {
		return watched{"esx01", start, ticks, vms}
	}
	const same = "not told apart; N%L: not told apart, remote memory: not told apart, migrations: not told apart, ready: not told apart, co-stop: not told apart"
	for _, tt := range []struct {
		name string
		a, b watched
		want string
	}{
		{"the same capture twice", at(monday, 400, noisy(1, "sql01", 7, 0.3, 0.05)), at(monday, 400, noisy(1, "sql01", 7, 0.3, 0.05)), same},
		{"nothing changed but chance", at(monday, 400, noisy(1, "sql01", 7, 0.3, 0.05)), at(monday.Add(48*time.Hour), 400, noisy(2, "sql01", 9, 0.3, 0.05)), same},
		{"home again", at(monday, 400, noisy(1, "sql01", 7, 0.3, 0.05)), at(monday.Add(48*time.Hour), 200, noisy(2, "sql01", 7, 0.1, 0.05)),
			"better; N%L: better, remote memory: better, migrations: not told apart, ready: not told apart, co-stop: not told apart"},
		{"local and waiting", at(monday, 400, noisy(1, "sql01", 7, 0.3, 0.02)), at(monday, 400, noisy(2, "sql01", 7, 0.1, 0.12)),
			"better and worse; N%L: better, remote memory: better, migrations: not told apart, ready: worse, co-stop: not told apart"},
		{"too short", at(monday, 400, noisy(1, "sql01", 7, 0.9, 0.05)), at(monday, 9, noisy(2, "sql01", 7, 0.1, 0.05)), same},
		{"a counter that B lacks", at(monday, 400, noisy(1, "sql01", 7, 0.3, 0.05)), at(monday, 400, func(int) []numa.VMTick {
			return []numa.VMTick{{Name: "sql01", GID: 7, VCPUs: 8, Has: numa.HasReady, Ready: 0.4}}
		}), "not told apart; N%L: not compared, remote memory: not compared, migrations: not compared, ready: not told apart, co-stop: not compared"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := compared(t, tt.a, tt.b)
			if got := verdictsOf(&c.VMs[0]); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
			if got := verdictsOf(&c.All); got != tt.want {
				t.Errorf("together: %s\nwant %s", got, tt.want)
			}
			back := compared(t, tt.b, tt.a).VMs[0]
			for i, k := range c.VMs[0].Counters {
				if r := back.Counters[i]; k.Interval != nil && *k.Difference != 0 && k.Low != -r.High {
					t.Errorf("%s: from %v, and the other way round to %v", k.Name, k.Low, r.High)
				}
			}
		})
	}
}

// TestAlarms compares captures between which nothing changed: one VM in 20 may be distinguished.
func TestAlarms(t *testing.T) {
	const pairs = 100
	alarms := 0
	for i := range uint64(pairs) {
		c := compared(t, watched{"esx01", monday, 300, noisy(2*i, "sql01", 7, 0.3, 0.05)}, watched{"esx01", monday, 300, noisy(2*i+1, "sql01", 7, 0.3, 0.05)})
		if c.VMs[0].Verdict != Same {
			alarms++
		}
	}
	if most := 11; alarms > most { // 5 expected, and three standard errors more
		t.Errorf("%d of %d unchanged VMs are distinguished, want %d at most", alarms, pairs, most)
	}
}

func TestPairs(t *testing.T) {
	both := func(list ...func(int) []numa.VMTick) func(int) []numa.VMTick {
		return func(i int) (out []numa.VMTick) {
			for _, one := range list {
				out = append(out, one(i)...)
			}
			return out
		}
	}
	a := watched{"esx01.example.com", monday, 60, both(noisy(1, "sql01", 7, 0.3, 0), noisy(2, "old", 8, 0.3, 0), noisy(3, "gone", 11, 0.3, 0))}
	b := watched{"ESX01", monday.Add(24 * time.Hour), 200, both(noisy(1, "sql01", 8, 0.3, 0), noisy(2, "new", 11, 0.3, 0))}
	c := compared(t, a, b)
	var got []string
	for _, s := range c.VMs {
		got = append(got, s.Was+">"+s.Name)
	}
	slices.Sort(got)
	if want := []string{">sql01"}; !slices.Equal(got, want) {
		t.Errorf("pairs %q, want %q: no VM kept its group, so they were numbered anew", got, want)
	}
	b.vms = both(noisy(1, "sql01", 7, 0.3, 0), noisy(2, "new", 11, 0.3, 0))
	c = compared(t, a, b)
	got = nil
	for _, s := range c.VMs {
		got = append(got, s.Was+">"+s.Name)
	}
	slices.Sort(got)
	if want := []string{">sql01", "gone>new"}; !slices.Equal(got, want) {
		t.Errorf("pairs %q, want %q", got, want)
	}
	want := []string{
		"gone of A is taken for new of B: the same host, group, vCPUs and memory",
		"only A has 1 VM: old: not compared, though the host has it in its sums",
		"A covers 19 min 40 s and B 1 h 6 min: what happens once a day or a week may be in one of them alone",
	}
	if !slices.Equal(c.Notes, want) {
		t.Errorf("notes %q, want %q", c.Notes, want)
	}
	if len(c.Hosts) != 1 || c.Hosts[0].Was != "" {
		t.Errorf("hosts %+v", c.Hosts)
	}
}

func TestNotes(t *testing.T) {
	early, late := noisy(1, "sql01", 7, 0.3, 0), noisy(2, "sql01", 7, 0.3, 0)
	a := watched{"esx01", monday, 60, early}
	b := watched{"esx02", monday.Add(26 * time.Hour), 600, func(i int) []numa.VMTick {
		vms := late(i)
		vms[0].Used = 6
		return vms
	}}
	want := []string{
		"host esx01 of A is taken for esx02 of B: each side has one host",
		"A covers 19 min 40 s and B 3 h 20 min: what happens once a day or a week may be in one of them alone",
		"A begins at 10:00 and B at 12:00 UTC: other hours can have another load",
		"the VMs used 2.0 vCPUs in A and 6.0 in B: part of what differs may come of the load, not of a change",
		"sql01 ran on esx01 in A and on esx02 in B",
	}
	if got := compared(t, a, b).Notes; !slices.Equal(got, want) {
		t.Errorf("notes:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	a.vms = noisy(1, "web", 3, 0.3, 0)
	if _, err := Compare(a.judged(), b.judged()); err == nil || err.Error() != "nothing to compare: no VM is in both captures (A has 1 VM: web; B has 1 VM: sql01)" {
		t.Errorf("error %v", err)
	}
}
