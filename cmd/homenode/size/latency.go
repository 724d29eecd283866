package size

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/cost"
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/size"
	show "homenode/output/size/latency"
	"homenode/size/latency"
	"homenode/source/benchmark"
	"homenode/source/open"
)

// latencyFlags are the flags of size latency.
type latencyFlags struct {
	common
	core, cpu, storage, remote, calls, budget string
	packages                                  int
	details                                   bool
}

func newLatency() *cobra.Command {
	var f latencyFlags
	f.checks = func() (*answer.Answer, error) { return size.Published("size latency", latency.Checks()), nil }
	cmd := f.command("latency", cobra.ArbitraryArgs, f.answer)
	fl := cmd.Flags()
	fl.StringVar(&f.core, "core", "", "clock of a core, for cycles and caches: 3.0GHz (default 2.5GHz, that of the published figures)")
	fl.StringVar(&f.cpu, "processor", "", `processor whose published memory latency is taken: "Xeon Gold 6154" (default: the median of all hosts)`)
	fl.IntVar(&f.packages, "packages", 0, "packages of your host: tells nodes of the same package from others in a matrix of several nodes")
	fl.StringVar(&f.storage, "storage", "", "what your storage files measured: nvme or vsan (default: vsan for HCIBench, else nvme)")
	fl.StringVar(&f.calls, "calls", "", "how often a request takes a step")
	fl.StringVar(&f.budget, "time-budget", "", "what a request may take: 10ms")
	fl.StringVar(&f.remote, "remote", "50", "share of memory accesses that are remote, in percent, for what that costs")
	fl.BoolVar(&f.details, "details", false, "every step, what is known of each figure, and each of your measurements")
	flags.Complete(cmd, "storage", flags.Among([]string{"nvme", "vsan"}))
	return cmd
}

func (f *latencyFlags) answer(cmd *cobra.Command, args []string) (*answer.Answer, error) {
	a := &latency.Ask{}
	o := &show.Options{Given: flags.Given(cmd, "core"), CPU: f.cpu, Details: f.details}
	place, err := f.place(cmd)
	if err := cmp.Or(f.question(a, o), err); err != nil {
		return nil, err
	}
	if a.Samples, err = readLatencies(cmd.Context(), args, place, o); err != nil {
		return nil, err
	}
	r, err := latency.Study(a)
	if err != nil {
		return nil, err
	}
	return show.Answer(r, *o), nil
}

// question reads the flags that are not about files.
func (f *latencyFlags) question(a *latency.Ask, o *show.Options) error {
	machine := func(name string) (*cost.Machine, error) {
		if !processor(name) {
			return nil, fmt.Errorf("found %q, want a Xeon, EPYC or Opteron with its number such as \"Xeon Gold 6154\": measured are Xeon E5 v4, Xeon Scalable (Skylake) and EPYC, others take the nearest", name)
		}
		m := cost.For(&numa.Host{CPUModel: numa.ReadAt(name, "--processor")})
		o.Why = m.Why
		return &m, nil
	}
	calls := func(text string) (float64, error) {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 0 {
			err = fmt.Errorf("found %s, want a whole number of 1 to 4 billion such as 20", text)
		}
		return float64(n), err
	}
	budget := func(text string) (unit.Seconds, error) {
		d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		if err != nil || d <= 0 {
			err = fmt.Errorf("found %s, want a time such as 10ms, 500us, 2s or 1m", text)
		}
		return unit.Seconds(d.Seconds()), err
	}
	return cmp.Or(flags.Set("core", f.core, &a.Core, unit.ParseHz), flags.Set("processor", f.cpu, &a.Machine, machine), flags.Set("calls", f.calls, &a.Calls, calls),
		flags.Set("time-budget", f.budget, &a.Budget, budget), flags.Set("remote", f.remote, &a.Remote, unit.ParsePercent))
}

// processor reports whether a name is of a family that package cost places.
func processor(name string) bool {
	for _, family := range []string{"xeon", "epyc", "opteron"} {
		if strings.Contains(strings.ToLower(name), family) {
			return true
		}
	}
	return false
}

// place reads the flags that say what files do not.
func (f *latencyFlags) place(cmd *cobra.Command) (latency.Options, error) {
	o := latency.Options{Packages: f.packages}
	switch f.storage {
	case "nvme":
		o.Storage = latency.NVMeRead
	case "vsan":
		o.Storage = latency.VSANRead
	default:
		if f.storage != "" {
			return o, fmt.Errorf("--storage: found %q, want nvme or vsan", f.storage)
		}
	}
	return o, count(cmd, "packages", f.packages, 64)
}

// readLatencies reads the files; each must hold a latency that has its place.
func readLatencies(ctx context.Context, names []string, place latency.Options, o *show.Options) ([]latency.Sample, error) {
	var samples []latency.Sample
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%s is named twice: its latencies would count twice", name)
		}
		results, err := open.Benchmark(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, w := range results.AllWarnings() {
			o.Notes = append(o.Notes, numa.Place(name, w.Line, w.Col)+": "+w.Text)
		}
		found, notes, err := latency.Place(latency.Measurements(name, results), place)
		if err != nil {
			return nil, err
		}
		if untrusted := slices.IndexFunc(results.Runs, func(r *benchmark.Run) bool { return r.Untrusted }); untrusted >= 0 {
			if !slices.ContainsFunc(results.Runs, func(r *benchmark.Run) bool { return !r.Untrusted }) {
				return nil, fmt.Errorf("%s: the run does not trust its own figures: run homenode measure again when the machine is calm", numa.Place(name, results.Runs[untrusted].Line, 0))
			}
			o.Notes = append(o.Notes, name+": runs that do not trust their own figures do not count.")
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: found no latency of memory or storage, want those of homenode measure, the idle latencies of Intel MLC, multichase -v of 256 MiB or more, fio, HCIBench or Iometer", name)
		}
		samples = append(samples, found...)
		for _, n := range notes {
			if !slices.Contains(o.Notes, n) {
				o.Notes = append(o.Notes, n)
			}
		}
		o.Files = append(o.Files, show.File{Name: name, Latencies: len(found)})
	}
	return samples, nil
}
