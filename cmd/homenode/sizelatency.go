package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/esxi/cost"
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/size"
	show "homenode/output/size/latency"
	"homenode/size/latency"
	"homenode/source/benchmark"
)

// sizeLatencyFlags are the flags of size latency.
type sizeLatencyFlags struct {
	sizeFlags
	core, cpu, storage, remote string
	packages                   int
	calls, budget              string
	published, details         bool
}

func newSizeLatency() *cobra.Command {
	var f sizeLatencyFlags
	cmd := &cobra.Command{
		Use:   "latency [FILE...]",
		Short: "The latency ladder from cache to remote call, with your own measurements beside the published ones",
		Long: `size latency says how long each step of a request waits, from the L1 cache over local and remote memory, network and
storage to a remote call. From FILEs it takes your own latencies: the matrix of Intel Memory Latency Checker (its
diagonal is local, the rest remote memory), multichase -v, fio (JSON), HCIBench and Iometer, also gzipped.

--calls and --budget say what a request may do: how many steps of each kind fit, one after the other.`,
		Example: `  homenode size latency
  homenode size latency mlc.txt
  homenode size latency --calls 20 --budget 10ms mlc.txt fio.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := f.ask(cmd, args)
			if err != nil {
				return err
			}
			return f.write(cmd, a)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.core, "core", "", "clock of a core, for cycles and caches: 3.0GHz (default 2.5GHz, that of the published figures)")
	fl.StringVar(&f.cpu, "cpu", "", `processor whose published memory latency is taken: "Xeon Gold 6154" (default: the median of all hosts)`)
	fl.IntVar(&f.packages, "packages", 0, "packages of your host: tells nodes of the same package from others in a matrix of several nodes")
	fl.StringVar(&f.storage, "storage", "", "what your storage files measured: nvme or vsan (default: vsan for HCIBench, else nvme)")
	fl.StringVar(&f.calls, "calls", "", "how often a request takes a step")
	fl.StringVar(&f.budget, "budget", "", "what a request may take: 10ms")
	fl.StringVar(&f.remote, "remote", "50", "share of memory accesses that are remote, in percent, for what that costs")
	fl.BoolVar(&f.published, "published", false, "the published figures beside what they come to")
	fl.BoolVar(&f.details, "details", false, "every step, what is known of each figure, and each of your measurements")
	f.register(cmd)
	completeFlag(cmd, "storage", among([]string{"nvme", "vsan"}))
	return cmd
}

// answer returns what is to be printed.
func (f *sizeLatencyFlags) ask(cmd *cobra.Command, args []string) (*answer.Answer, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	changed := cmd.Flags().Changed
	if f.published {
		for _, name := range []string{"core", "cpu", "packages", "storage", "calls", "budget", "remote", "details"} {
			if changed(name) {
				return nil, fmt.Errorf("--published: found --%s too, want it alone", name)
			}
		}
		if len(args) > 0 {
			return nil, errors.New("--published: found files too, want it alone")
		}
		return size.Published("size latency", latency.Checks()), nil
	}
	ask, o, err := f.question(changed)
	if err != nil {
		return nil, err
	}
	place, err := f.place(changed)
	if err != nil {
		return nil, err
	}
	if ask.Samples, err = readLatencies(args, place, o); err != nil {
		return nil, err
	}
	r, err := latency.Study(ask)
	if err != nil {
		return nil, err
	}
	return show.Answer(r, *o), nil
}

// question reads the flags that are not about files.
func (f *sizeLatencyFlags) question(changed func(string) bool) (*latency.Ask, *show.Options, error) {
	a := &latency.Ask{}
	o := &show.Options{Given: map[string]bool{"core": changed("core")}, CPU: f.cpu, Details: f.details}
	var err error
	if changed("core") {
		if a.Core, err = unit.ParseHz(f.core); err != nil {
			return nil, nil, fmt.Errorf("--core: %w", err)
		}
	}
	if changed("cpu") {
		if strings.TrimSpace(f.cpu) == "" {
			return nil, nil, errors.New(`--cpu: found none, want a processor such as "Xeon Gold 6154"`)
		}
		if !processor(f.cpu) {
			return nil, nil, fmt.Errorf("--cpu: found %q, want a Xeon, EPYC or Opteron with its number such as \"Xeon Gold 6154\": measured are Xeon E5 v4, Xeon Scalable (Skylake) and EPYC, others take the nearest", f.cpu)
		}
		m := cost.For(&numa.Host{CPUModel: numa.ReadAt(f.cpu, "--cpu")})
		a.Machine, o.Why = &m, m.Why
	}
	if changed("calls") {
		n, err := strconv.ParseUint(f.calls, 10, 32)
		if err != nil || n == 0 {
			return nil, nil, fmt.Errorf("--calls: found %s, want a whole number of 1 to 4 billion such as 20", f.calls)
		}
		a.Calls = float64(n)
	}
	if changed("budget") {
		budget, err := time.ParseDuration(strings.ReplaceAll(f.budget, " ", ""))
		if err != nil || budget <= 0 {
			return nil, nil, fmt.Errorf("--budget: found %s, want a time such as 10ms, 500us, 2s or 1m", f.budget)
		}
		a.Budget = unit.Seconds(budget.Seconds())
	}
	if a.Remote, err = unit.ParsePercent(f.remote); err != nil {
		return nil, nil, fmt.Errorf("--remote: %w", err)
	}
	return a, o, nil
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
func (f *sizeLatencyFlags) place(changed func(string) bool) (latency.Options, error) {
	o := latency.Options{Packages: f.packages}
	if changed("packages") && f.packages < 1 {
		return o, fmt.Errorf("--packages: found %d, want 1 or more", f.packages)
	}
	switch f.storage {
	case "nvme":
		o.Storage = latency.NVMeRead
	case "vsan":
		o.Storage = latency.VSANRead
	default:
		if changed("storage") {
			return o, fmt.Errorf("--storage: found %q, want nvme or vsan", f.storage)
		}
	}
	return o, nil
}

// readLatencies reads the files; each must hold a latency that has its place.
func readLatencies(names []string, place latency.Options, o *show.Options) ([]latency.Sample, error) {
	var samples []latency.Sample
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%s is named twice: its latencies would count twice", name)
		}
		results, err := readBenchmark(name)
		if err != nil {
			return nil, err
		}
		for _, w := range results.AllWarnings() {
			o.Notes = append(o.Notes, numa.Place(name, w.Line, w.Col)+": "+w.Text)
		}
		found, notes, err := latency.Place(measurements(name, results), place)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: found no latency of memory or storage, want the idle latencies of Intel MLC, multichase -v of 256 MiB or more, fio, HCIBench or Iometer", name)
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

// measurements returns what the runs of a file measured.
func measurements(name string, results *benchmark.Results) []latency.Measurement {
	var out []latency.Measurement
	for _, run := range results.Runs {
		chased := 0.0
		for _, s := range run.Settings {
			if s.Name == "total_memory" {
				first, _, _ := strings.Cut(fmt.Sprint(s.Value), " ")
				if v, err := strconv.ParseFloat(first, 64); err == nil {
					chased = v
				}
			}
		}
		for _, m := range run.Metrics {
			out = append(out, latency.Measurement{Tool: run.Tool, Case: run.Name, Metric: m.Name, Unit: m.Unit, Value: m.Value,
				Where: numa.Place(name, m.Line, 0), Chased: chased})
		}
	}
	return out
}
