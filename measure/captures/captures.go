// Package captures compares two captures, before and after a change. For each VM and host in both it compares N%L, remote memory, migrations,
// ready and co-stop. Each difference has a verdict and an interval that accounts for autocorrelation.
package captures

import (
	"fmt"
	"math"
	"slices"
	"time"

	"example.org/homenode/internal/stat"
	"example.org/homenode/internal/words"
	"example.org/homenode/measure/quantity"
	"example.org/homenode/numa"
	verdict "example.org/homenode/rules/verdict/recording"
)

// A Verdict states how B differs from A.
type Verdict string

// The verdicts. Same means that no difference that matters could be shown, not that there is none.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	Mixed  Verdict = "better and worse" // in different counters
	Same   Verdict = "not told apart"
	None   Verdict = "not compared" // a side lacks the counter
)

// LeastValues is the minimum number of values over time on either side for a verdict: with fewer the autocorrelation is unknown.
const LeastValues = 10

// quantities are the counters in the order of reports.
var quantities = [counters]quantity.Quantity{locality: quantity.LocalPercent, remote: quantity.RemoteBytes, migrations: quantity.Migrations, ready: quantity.Ready, coStop: quantity.CoStop}

// A Counter is one counter of a VM or host on both sides.
type Counter struct {
	Name           string   `json:"counter"`
	Unit           string   `json:"unit"`
	A              *float64 `json:"a,omitempty"` // mean over time; nil if not stated
	B              *float64 `json:"b,omitempty"`
	Difference     *float64 `json:"difference,omitempty"` // B − A
	*stat.Interval          // of the difference; nil if it is unknown
	Values         [2]int   `json:"values"` // number of values over time in the means
	Blocks         [2]int   `json:"block"`  // number of values in a block
	Verdict        Verdict  `json:"verdict"`
	Why            string   `json:"why,omitempty"` // why there is no distinction or no comparison
}

// A Subject is a VM, a host, or all VMs of both sides.
type Subject struct {
	Name     string    `json:"name"`
	Was      string    `json:"nameInA,omitempty"` // name in A if it differs
	Hosts    [2]string `json:"hosts"`             // its hosts
	Verdict  Verdict   `json:"verdict"`
	Counters []Counter `json:"counters"`
	UsedA    *float64  `json:"usedVCPUsInA,omitempty"` // CPU in vCPUs: the workload, which is not assessed
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
	Covered time.Duration `json:"covered"` // of the host with the longest coverage
	Alone   string        `json:"vmsAlone,omitempty"`
}

// A Comparison is the result of Compare.
type Comparison struct {
	A          Side            `json:"a"`
	B          Side            `json:"b"`
	Confidence float64         `json:"confidence"`
	Resamples  int             `json:"resamples"`
	Seed       int             `json:"seed"`
	All        Subject         `json:"all"` // the VMs of both sides, together
	Hosts      []Subject       `json:"hosts"`
	VMs        []Subject       `json:"vms"`
	Verdicts   map[Verdict]int `json:"vmsByVerdict"`
	Notes      []string        `json:"notes,omitempty"`
}

// Compare compares B with A. Captures without a common VM are an error.
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

// each returns lives as separate VMs.
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

// judge compares a subject on both sides. With the confidence of package stat, no counter of an unchanged VM or host is distinguished; this
// holds for all its counters together. With five counters, each interval is therefore a 99 % interval.
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
	// The means are over time, those of the resamples over ticks: the interval is shifted to the former.
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

// leastRemote is the difference of remote memory that matters, as a share of all memory. It is an assumption.
const leastRemote = 0.01

// doubts adds notes about limitations of the captures.
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

// loadDiffers is the relative difference of the CPU use above which a note is added.
const loadDiffers = 0.1

func hour(s *Side) string { return s.First.UTC().Truncate(time.Hour).Format("15:04") }

func (c *Comparison) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}
