package size

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/esxi/cost"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/latency"
	"example.org/homenode/source/benchmark"
	"example.org/homenode/source/open"
)

// Latency asks for the waiting time of each step of a request.
type Latency struct {
	ask.Asked
	Published
	Files    []string `ask:"file,arg,local"`
	Core     string   `ask:"core" label:"Clock of a core" example:"3.0GHz" help:"clock of a core, for cycles and caches: 3.0GHz (default 2.5GHz, that of the published figures)"`
	CPU      string   `ask:"processor" label:"Processor" example:"Xeon Gold 6154" help:"processor whose published memory latency is taken: \"Xeon Gold 6154\" (default: the median of all hosts)"`
	Packages int      `ask:"packages" help:"packages of your host: tells nodes of the same package from others in a matrix of several nodes"`
	Storage  string   `ask:"storage" help:"what your storage files measured: nvme or vsan (default: vsan for HCIBench, else nvme)"`
	Calls    string   `ask:"calls" label:"Times that a request takes a step" example:"20" help:"how often a request takes a step"`
	Budget   string   `ask:"time-budget" label:"Time of a request" example:"10ms" help:"what a request may take: 10ms"`
	Remote   string   `ask:"remote" default:"50" label:"Remote accesses, percent" help:"share of memory accesses that are remote, in percent, for what that costs"`
	Details  bool     `ask:"details" help:"every step, what is known of each figure, and each of your measurements"`
}

// Answer answers the question.
func (f *Latency) Answer(ctx context.Context, _ *ask.Env) (*ask.Reply, error) {
	return f.or(f, "size latency", latency.Checks, func() (*answer.Answer, error) { return f.answer(ctx) })
}

func (f *Latency) answer(ctx context.Context) (*answer.Answer, error) {
	a := &latency.Ask{Processor: f.CPU, Files: f.Files, Details: f.Details}
	place, err := f.place()
	if err := cmp.Or(f.question(a), err); err != nil {
		return nil, err
	}
	var notes []string
	if a.Samples, notes, err = readLatencies(ctx, f.Files, place); err != nil {
		return nil, err
	}
	r, err := latency.Study(a)
	if err != nil {
		return nil, err
	}
	out := size.Answer("size latency", r)
	const few = 3
	if len(notes) > few+1 && !f.Details {
		notes = append(notes[:few:few], fmt.Sprintf("%d more about your files: --details", len(notes)-few))
	}
	out.Note(notes...)
	return out, nil
}

// question parses the fields that are not about files.
func (f *Latency) question(a *latency.Ask) error {
	machine := func(name string) (*cost.Machine, error) {
		if !processor(name) {
			return nil, fmt.Errorf("found %q, want a Xeon, EPYC or Opteron with its number such as \"Xeon Gold 6154\": measured are Xeon E5 v4, Xeon Scalable (Skylake) and EPYC, others take the nearest", name)
		}
		m := cost.For(&numa.Host{CPUModel: numa.ReadAt(name, "--processor")})
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
	return cmp.Or(ask.Set("core", f.Core, &a.Core, unit.ParseHz), ask.Set("processor", f.CPU, &a.Machine, machine), ask.Set("calls", f.Calls, &a.Calls, calls),
		ask.Set("time-budget", f.Budget, &a.Budget, budget), ask.Set("remote", f.Remote, &a.Remote, unit.ParsePercent))
}

// processor reports whether a name belongs to a processor family of package cost.
func processor(name string) bool {
	return slices.ContainsFunc([]string{"xeon", "epyc", "opteron"}, func(family string) bool { return strings.Contains(strings.ToLower(name), family) })
}

// place parses the flags about facts that the files lack.
func (f *Latency) place() (latency.Options, error) {
	o := latency.Options{Packages: f.Packages}
	switch f.Storage {
	case "nvme":
		o.Storage = latency.NVMeRead
	case "vsan":
		o.Storage = latency.VSANRead
	default:
		if f.Storage != "" {
			return o, fmt.Errorf("--storage: found %q, want nvme or vsan", f.Storage)
		}
	}
	return o, count(&f.Asked, "packages", f.Packages, 64)
}

// readLatencies reads the files. Each must contain a latency with a known place.
func readLatencies(ctx context.Context, names []string, place latency.Options) (samples []latency.Sample, notes []string, err error) {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, nil, fmt.Errorf("%s is named twice: its latencies would count twice", name)
		}
		results, err := open.Benchmark(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		for _, w := range results.AllWarnings() {
			notes = append(notes, numa.Place(name, w.Line, w.Col)+": "+w.Text)
		}
		found, more, err := latency.Place(latency.Measurements(name, results), place)
		if err != nil {
			return nil, nil, err
		}
		if untrusted := slices.IndexFunc(results.Runs, func(r *benchmark.Run) bool { return r.Untrusted }); untrusted >= 0 {
			if !slices.ContainsFunc(results.Runs, func(r *benchmark.Run) bool { return !r.Untrusted }) {
				return nil, nil, fmt.Errorf("%s: the run does not trust its own figures: run homenode measure again when the machine is calm", numa.Place(name, results.Runs[untrusted].Line, 0))
			}
			notes = append(notes, name+": runs that do not trust their own figures do not count.")
		}
		if len(found) == 0 {
			return nil, nil, fmt.Errorf("%s: found no latency of memory or storage, want those of homenode measure, the idle latencies of Intel MLC, multichase -v of 256 MiB or more, fio, HCIBench or Iometer", name)
		}
		samples = append(samples, found...)
		for _, n := range more {
			notes = words.Once(notes, n)
		}
	}
	return samples, notes, nil
}
