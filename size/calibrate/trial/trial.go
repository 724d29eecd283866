// Package trial combines benchmark results with the load of the hosts during them: results of fio,
// HCIBench and Iometer with their own CPU figures, tables of host load, and flags. The resulting
// trials are the input of package calibrate.
package trial

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/calibrate"
	"example.org/homenode/size/iocost"
	"example.org/homenode/source/benchmark"
	"example.org/homenode/source/benchmark/hostload"
)

// Options are facts missing in the files.
type Options struct {
	Path  iocost.Path
	Hosts int     // sharing the I/O; 0 unknown
	Host  unit.Hz // capacity of one host; 0 unknown
	Idle  *calibrate.Reading[unit.Hz]
	// Guest and VCPU are the capacity of the guest and of one of its vCPUs; 0 unknown.
	Guest, VCPU unit.Hz
	Limit       unit.IORate // of one virtual disk, by its storage policy; 0 for none
	// Loads are tables; the first has precedence.
	Loads [][]hostload.Row
}

// Gather returns a trial for each run of I/Os in the results, and notes on unused ones. It returns
// an error when a row of the tables fits several tests.
func Gather(results []*benchmark.Results, o *Options) (trials []calibrate.Trial, notes []string, err error) {
	var names []names3
	broken := map[int]bool{} // by trial: unusable whatever the CPU use
	for _, res := range results {
		jobs := map[string]int{}
		for _, run := range res.Runs {
			if io, ok := run.IO(); ok {
				jobs[io.Test]++
			}
		}
		for _, run := range res.Runs {
			io, ok := run.IO()
			if !ok {
				notes = append(notes, fmt.Sprintf("%s: %s makes no I/O: left out", numa.Place(res.Name, run.Line, 0), run.Label()))
				continue
			}
			g := gatherer{Options: o, run: run, io: &io, jobs: jobs[io.Test]}
			t := g.trial()
			broken[len(trials)] = t.Unusable != ""
			g.own(&t)
			trials = append(trials, t)
			names = append(names, names3{io.Test, run.Name, base(res.Name)})
		}
	}
	for _, rows := range slices.Backward(o.Loads) {
		fits, err := assign(rows, trials, names)
		if err != nil {
			return nil, nil, err
		}
		for i := range trials {
			if row := fits.row[i]; row != nil && !broken[i] {
				if o.Hosts > 0 && row.Hosts > 0 && row.Hosts != o.Hosts {
					return nil, nil, fmt.Errorf("--host-count: found %d, but %s says %d hosts", o.Hosts, row.Place(), row.Hosts)
				}
				o.apply(&trials[i], row)
			}
		}
		for i := range rows {
			if !fits.used[i] {
				notes = append(notes, fmt.Sprintf("%s: no test is called %q, nor has it as a part of its name", rows[i].Place(), rows[i].Test))
			}
		}
	}
	return trials, notes, nil
}

// base returns a file's name without its folders and .gz.
func base(name string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".gz")
}

// A gatherer converts one run to a trial.
type gatherer struct {
	*Options
	run  *benchmark.Run
	io   *benchmark.IO
	jobs int // of the test case, in the file
}

func (g *gatherer) trial() calibrate.Trial {
	io := g.io
	t := calibrate.Trial{
		Test: io.Test, Started: io.Started, Source: base(g.run.Source), Place: numa.Place(g.run.Source, g.run.Line, 0), Line: g.run.Line,
	}
	if t.Test == "" {
		t.Test = t.Source
	}
	t.Kind.Path = g.Path
	if io.IOPS != nil {
		t.IOPS = reading[unit.IORate](io.IOPS.Value)
	}
	if io.Throughput != nil {
		r := reading[unit.BitRate](io.Throughput.Value * 8)
		t.Traffic = &r
	}
	if t.Unusable = g.describe(&t.Kind); t.Unusable == "" {
		t.Unusable = g.whole()
	}
	t.Limit = g.limit(&t)
	return t
}

// shareTolerance is the allowed difference between the requested and actual share of reads, in
// percent of the I/Os: tools choose each at random.
const shareTolerance = 2

// describe sets the kind of I/O, or returns the reason why there is none.
func (g *gatherer) describe(k *iocost.Kind) string {
	io := g.io
	switch {
	case io.Mixed:
		return "it mixes I/Os of several sizes: no cost of one kind follows"
	case io.Block == nil && g.run.Tool == "HCIBench":
		return "it has no test case name, which says what its I/Os were: add its line"
	case io.Block == nil:
		return "it states no block size"
	case io.Read == nil || io.Random == nil:
		return "it does not state what share of its I/Os are reads, and random"
	case io.Read.Value > 100 || io.Random.Value > 100:
		return fmt.Sprintf("found %s %% reads and %s %% random, want at most 100 %%", plain(io.Read.Value), plain(io.Random.Value))
	case io.Reads != nil && math.Abs(io.Reads.Value-io.Read.Value) > shareTolerance:
		return fmt.Sprintf("it was to make %s %% reads, but made %.0f %%", plain(io.Read.Value), io.Reads.Value)
	case io.Block.Value != math.Trunc(io.Block.Value) || io.Block.Value < 1 || io.Block.Value > 1<<40:
		return "its block size is no whole number of bytes"
	}
	k.Block = numa.Bytes(io.Block.Value)
	k.Read, k.Random = unit.Share(io.Read.Value/100), unit.Share(io.Random.Value/100)
	return ""
}

// whole describes the missing part of a truncated result.
func (g *gatherer) whole() string {
	switch io := g.io; {
	case io.IOPS == nil && g.zero("IOPS"):
		return "" // the sum is complete
	case io.IOPS == nil:
		return "it states no IOPS: it is not whole"
	case io.Throughput == nil && g.run.Tool == "HCIBench":
		return "it states no throughput: it is not whole"
	}
	return ""
}

// zero reports whether the run states that a figure is 0.
func (g *gatherer) zero(name string) bool {
	for _, f := range g.run.Facts {
		if f.Name == name && f.Value == 0.0 {
			return true
		}
	}
	return false
}

// limit returns the I/Os a second allowed for all disks together, 0 when no limit is known. It is
// not published whether the rate in the name of a test case is per VM or per disk: the one that was
// reached counts.
func (g *gatherer) limit(t *calibrate.Trial) unit.IORate {
	vms, disks := 1.0, 1.0
	if g.io.VMs != nil {
		vms = g.io.VMs.Value
	}
	if g.io.Disks != nil {
		disks = g.io.Disks.Value
	}
	if g.Limit > 0 {
		if g.Path == iocost.VSANESA && t.Kind.Block > 0 {
			return iocost.Limit(int(vms*disks), g.Limit, t.Kind.Block)
		}
		return g.Limit * unit.IORate(vms*disks)
	}
	if g.io.Limit == nil {
		return 0
	}
	ofVMs := unit.IORate(g.io.Limit.Value * vms)
	if math.Abs(float64(t.IOPS.Value/ofVMs)-1) < 0.02 {
		return ofVMs
	}
	return ofVMs * unit.IORate(disks)
}

// own sets the CPU use stated in the trial's own file.
func (g *gatherer) own(t *calibrate.Trial) {
	cpu := g.io.CPU
	if cpu == nil || t.Unusable != "" {
		return
	}
	l := calibrate.Load{Hosts: 1, Source: t.Source}
	whole, flag := g.Guest, "--guest-cpu"
	switch g.io.CPUOf {
	case benchmark.OfHosts:
		l.Scope, l.Hosts, l.Idle = calibrate.Host, g.Hosts, g.Idle
		whole, flag = g.Host, "--host-cores and --core"
		if g.jobs > 1 {
			t.Unusable = fmt.Sprintf("the CPU use in the file is that of all %d jobs together", g.jobs)
			return
		}
	case benchmark.OfGuest:
		l.Scope = calibrate.Guest
	case benchmark.OfThreads:
		l.Scope, whole = calibrate.Process, g.VCPU
	}
	switch {
	case whole <= 0:
		t.Unusable = fmt.Sprintf("its CPU use is %s %% of what is not known: %s", plain(cpu.Value), flag)
		return
	case cpu.Value > 100 && g.io.CPUOf != benchmark.OfThreads:
		t.Unusable = fmt.Sprintf("found a CPU use of %s %%, want at most 100 %%", plain(cpu.Value))
		return
	}
	used := reading[unit.Hz](cpu.Value)
	l.CPU = calibrate.Reading[unit.Hz]{Value: used.Value / 100 * whole, Half: used.Half / 100 * whole}
	if l.Capacity = whole; l.Scope == calibrate.Process {
		l.Capacity = g.Guest
	}
	t.Load = &l
}

// apply sets the trial's load from a row, replacing the CPU use of its own file.
func (o *Options) apply(t *calibrate.Trial, row *hostload.Row) {
	l := calibrate.Load{Scope: calibrate.Host, Hosts: o.Hosts, Idle: o.Idle, Capacity: o.Host, Source: row.Place()}
	if row.Hosts > 0 {
		l.Hosts = row.Hosts
	}
	t.Load, t.Unusable = nil, ""
	if (row.CPU.Percent || row.Idle != nil && row.Idle.Percent) && o.Host <= 0 {
		t.Unusable = row.Place() + ": its CPU use is in percent of what is not known: --host-cores and --core"
		return
	}
	l.CPU = o.hz(&row.CPU)
	if row.Idle != nil {
		idle := o.hz(row.Idle)
		l.Idle = &idle
	}
	if row.Transmitted != nil {
		l.Transmit, l.Receive = bits(row.Transmitted), bits(row.Received)
	}
	t.Load = &l
}

func (o *Options) hz(a *hostload.Amount) calibrate.Reading[unit.Hz] {
	factor := unit.Hz(1)
	if a.Percent {
		factor = o.Host
	}
	return calibrate.Reading[unit.Hz]{Value: unit.Hz(a.Value) * factor, Half: unit.Hz(a.Half) * factor}
}

func bits(a *hostload.Amount) *calibrate.Reading[unit.BitRate] {
	return &calibrate.Reading[unit.BitRate]{Value: unit.BitRate(a.Value), Half: unit.BitRate(a.Half)}
}

// reading returns a number with the precision of its shortest form. A parser of numbers drops
// trailing zeros, so the printed number may have been more precise.
func reading[T ~float64](v float64) calibrate.Reading[T] {
	half := 0.5
	if _, rest, ok := strings.Cut(plain(v), "."); ok {
		half *= math.Pow(10, -float64(len(rest)))
	}
	return calibrate.Reading[T]{Value: T(v), Half: T(half)}
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
