// Package captures compares two captures, before and after a change: of each VM and host that both
// have, N%L, remote memory, migrations, ready and co-stop, with an interval of the difference
// that knows that neighbours in time resemble each other, and a verdict.
package captures

import (
	"fmt"
	"math"
	"slices"
	"time"

	"homenode/internal/stat"
	"homenode/internal/words"
	"homenode/measure/quantity"
	"homenode/numa"
	verdict "homenode/rules/verdict/recording"
)

// A Verdict says how B differs from A.
type Verdict string

// The verdicts. Same means that no difference could be shown that matters, not that there is none.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	Mixed  Verdict = "better and worse" // in different counters
	Same   Verdict = "not told apart"
	None   Verdict = "not compared" // a side lacks the counter
)

// LeastValues is how many values over time either side needs for a verdict: with fewer
// the autocorrelation cannot be seen.
const LeastValues = 10

// quantities are the counters in the order of reports.
var quantities = [counters]quantity.Quantity{locality: quantity.LocalPercent, remote: quantity.RemoteBytes, migrations: quantity.Migrations, ready: quantity.Ready, coStop: quantity.CoStop}

// A Counter is one counter of a VM or host on both sides.
type Counter struct {
	Name           string   `json:"counter"`
	Unit           string   `json:"unit"`
	A              *float64 `json:"a,omitempty"` // mean over time; nil when it is not stated
	B              *float64 `json:"b,omitempty"`
	Difference     *float64 `json:"difference,omitempty"` // B − A
	*stat.Interval          // of the difference; nil when nothing is known of it
	Values         [2]int   `json:"values"` // over time that the means are made of
	Blocks         [2]int   `json:"block"`  // of how many values
	Verdict        Verdict  `json:"verdict"`
	Why            string   `json:"why,omitempty"` // why it is not told apart, or not compared
}

// A Subject is a VM, a host, or all VMs that both sides have.
type Subject struct {
	Name     string    `json:"name"`
	Was      string    `json:"nameInA,omitempty"` // where it is another
	Hosts    [2]string `json:"hosts"`             // where it ran
	Verdict  Verdict   `json:"verdict"`
	Counters []Counter `json:"counters"`
	UsedA    *float64  `json:"usedVCPUsInA,omitempty"` // CPU, in vCPUs: what it did, which is not judged
	UsedB    *float64  `json:"usedVCPUsInB,omitempty"`
}

// Deciding returns the first counter that distinguishes the sides; nil without one.
func (s *Subject) Deciding() *Counter {
	for i := range s.Counters {
		if c := &s.Counters[i]; c.Verdict == Better || c.Verdict == Worse {
			return c
		}
	}
	return nil
}

// A Side is one of the captures.
type Side struct {
	Files   int           `json:"files"`
	Hosts   int           `json:"hosts"`
	VMs     int           `json:"vms"`
	First   time.Time     `json:"first"`
	Last    time.Time     `json:"last"`
	Covered time.Duration `json:"covered"` // of the host that was watched longest
	Alone   string        `json:"vmsAlone,omitempty"`
}

// A Comparison is the result of Compare.
type Comparison struct {
	A          Side            `json:"a"`
	B          Side            `json:"b"`
	Confidence float64         `json:"confidence"`
	Resamples  int             `json:"resamples"`
	Seed       int             `json:"seed"`
	All        Subject         `json:"all"` // the VMs that both have, together
	Hosts      []Subject       `json:"hosts"`
	VMs        []Subject       `json:"vms"`
	Verdicts   map[Verdict]int `json:"vmsByVerdict"`
	Notes      []string        `json:"notes,omitempty"`
}

// Compare compares B with A. It is an error when they have no VM in common.
func Compare(a, b *verdict.Judged) (*Comparison, error) {
	hosts := pairHosts(a.Recordings, b.Recordings)
	inA := map[string]string{}
	for _, p := range hosts {
		inA[b.Recordings[p[1]].Host] = a.Recordings[p[0]].Host
	}
	listA, listB := vms(a, nil), vms(b, inA)
	pairs := pairVMs(listA, listB)
	if len(pairs) == 0 {
		return nil, fmt.Errorf("nothing to compare: no VM is in both captures (A has %s; B has %s)", alone(listA, nil, 0), alone(listB, nil, 1))
	}
	c := &Comparison{
		A: side(a, len(listA), alone(listA, pairs, 0)), B: side(b, len(listB), alone(listB, pairs, 1)),
		Confidence: stat.Confidence, Resamples: stat.MeanResamples, Seed: stat.Seed, Verdicts: map[Verdict]int{},
	}
	var bothA, bothB []vm
	for _, p := range pairs {
		x, y := &listA[p[0]], &listB[p[1]]
		s := judge(newSubject(x.vm), newSubject(y.vm))
		s.Name, s.Hosts = y.name, [2]string{x.hosts(), y.hosts()}
		if x.name != y.name {
			s.Was = x.name
			c.Notes = append(c.Notes, fmt.Sprintf("%s of A is taken for %s of B: the same host, group, vCPUs and memory", x.name, y.name))
		}
		c.Verdicts[s.Verdict]++
		c.VMs = append(c.VMs, s)
		bothA, bothB = append(bothA, x.vm), append(bothB, y.vm)
	}
	c.All = judge(newSubject(bothA...), newSubject(bothB...))
	c.All.Name = words.Plural(len(pairs), "VM") + " that both have"
	for _, p := range hosts {
		x, y := a.Recordings[p[0]], b.Recordings[p[1]]
		s := judge(newSubject(each(a.On(x))...), newSubject(each(b.On(y))...))
		s.Name, s.Hosts = y.Host, [2]string{x.Host, y.Host}
		if !numa.SameHost(x.Host, y.Host) {
			s.Was = x.Host
			c.Notes = append(c.Notes, fmt.Sprintf("host %s of A is taken for %s of B: each side has one host", x.Host, y.Host))
		}
		c.Hosts = append(c.Hosts, s)
	}
	order := []Verdict{Worse, Mixed, Better, Same, None}
	slices.SortStableFunc(c.VMs, func(x, y Subject) int { return slices.Index(order, x.Verdict) - slices.Index(order, y.Verdict) })
	c.doubts(a, b)
	return c, nil
}

// each returns lives as VMs of their own.
func each(lives []*verdict.VM) (out []vm) {
	for _, v := range lives {
		out = append(out, vm{v})
	}
	return out
}

func side(j *verdict.Judged, vms int, alone string) Side {
	s := Side{Hosts: len(j.Recordings), VMs: vms, First: j.First, Last: j.Last, Alone: alone}
	for _, rec := range j.Recordings {
		s.Files += len(rec.Files)
		s.Covered = max(s.Covered, rec.Covered)
	}
	return s
}

// judge compares a subject on both sides. No counter of an unchanged VM or host is distinguished with the confidence of the package stat, all
// of its counters together: with five, each interval is one of 99 %.
func judge(a, b *subject) Subject {
	var s Subject
	compared := 0
	for kind := range quantities {
		if a.has[kind] && b.has[kind] {
			compared++
		}
	}
	better, worse, known := false, false, false
	for kind := range quantities {
		c := counter(kind, a, b, (1-stat.Confidence)/float64(max(1, compared)))
		better, worse, known = better || c.Verdict == Better, worse || c.Verdict == Worse, known || c.Verdict != None
		s.Counters = append(s.Counters, c)
	}
	switch {
	case better && worse:
		s.Verdict = Mixed
	case better:
		s.Verdict = Better
	case worse:
		s.Verdict = Worse
	case known:
		s.Verdict = Same
	default:
		s.Verdict = None
	}
	if x, ok := a.used(); ok {
		s.UsedA = &x
	}
	if x, ok := b.used(); ok {
		s.UsedB = &x
	}
	return s
}

// counter compares one counter, with an interval that misses the difference with probability alpha.
func counter(kind int, a, b *subject, alpha float64) Counter {
	k := &quantities[kind]
	c := Counter{Name: k.Title, Unit: k.Unit, Verdict: None}
	x, okA := a.mean(kind)
	y, okB := b.mean(kind)
	if okA {
		c.A = &x
	}
	if okB {
		c.B = &y
	}
	switch {
	case !okA && !okB:
		c.Why = "neither side states it"
		return c
	case !okA || !okB:
		c.Why = map[bool]string{true: "B", false: "A"}[okA] + " does not state it"
		return c
	}
	difference := y - x
	c.Difference, c.Verdict = &difference, Same
	left, right := a.values(kind), b.values(kind)
	c.Values = [2]int{len(left), len(right)}
	if few := min(len(left), len(right)); few < LeastValues {
		c.Why = fmt.Sprintf("too short: a side has %s over time, and it takes %d", words.Plural(few, "value"), LeastValues)
		return c
	}
	between, blocks := stat.Means(left, right, alpha)
	// The means are over time, those of the resamples over ticks: the interval goes with the former.
	m, _ := stat.Mean(left)
	n, _ := stat.Mean(right)
	between = stat.Interval{Low: between.Low + difference - (n - m), High: between.High + difference - (n - m)}
	c.Interval, c.Blocks = &between, blocks
	least := k.Least
	if kind == remote {
		least = leastRemote * max(a.memory(), b.memory())
	}
	switch {
	case between.HasZero():
		c.Why = "the interval holds 0"
	case math.Abs(difference) < least:
		c.Why = "it differs by less than matters"
	case difference > 0 == k.Higher:
		c.Verdict = Better
	default:
		c.Verdict = Worse
	}
	return c
}

// leastRemote is the difference of remote memory that matters, as a share of all memory. It is assumed.
const leastRemote = 0.01

// doubts adds what a reader has to know of the captures themselves.
func (c *Comparison) doubts(a, b *verdict.Judged) {
	for _, one := range []struct {
		name string
		s    *Side
		j    *verdict.Judged
	}{{"A", &c.A, a}, {"B", &c.B, b}} {
		if one.s.Alone != "" {
			c.note("only %s has %s: not compared, though the host has it in its sums", one.name, one.s.Alone)
		}
		for _, rec := range one.j.Recordings {
			if gap := rec.Last.Sub(rec.First) - rec.Covered; gap > 0 {
				c.note("%s: %s of %s on %s are without ticks, which are skipped", one.name, words.Duration(gap), words.Duration(rec.Last.Sub(rec.First)), rec.Host)
			}
		}
	}
	if x, y := c.A.Covered, c.B.Covered; x > 0 && y > 0 && max(x, y) >= 2*min(x, y) {
		c.note("A covers %s and B %s: what happens once a day or a week may be in one of them alone", words.Duration(x), words.Duration(y))
	}
	if hour(&c.A) != hour(&c.B) && max(c.A.Last.Sub(c.A.First), c.B.Last.Sub(c.B.First)) < 24*time.Hour {
		c.note("A begins at %s and B at %s UTC: other hours can have another load", hour(&c.A), hour(&c.B))
	}
	if x, y := c.All.UsedA, c.All.UsedB; x != nil && y != nil && math.Abs(*y-*x) > loadDiffers*max(*x, *y) {
		c.note("the VMs used %.1f vCPUs in A and %.1f in B: part of what differs may come of the load, not of a change", *x, *y)
	}
	for i := range c.VMs {
		if s := &c.VMs[i]; !numa.SameHost(s.Hosts[0], s.Hosts[1]) {
			c.note("%s ran on %s in A and on %s in B", s.Name, s.Hosts[0], s.Hosts[1])
		}
	}
}

// loadDiffers is the share by which the CPU used differs before a note says so.
const loadDiffers = 0.1

func hour(s *Side) string { return s.First.UTC().Truncate(time.Hour).Format("15:04") }

func (c *Comparison) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}
