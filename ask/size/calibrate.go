package size

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	show "example.org/homenode/output/size/calibrate"
	"example.org/homenode/size/calibrate"
	"example.org/homenode/size/calibrate/coefficients"
	"example.org/homenode/size/calibrate/trial"
	"example.org/homenode/size/iocost"
	"example.org/homenode/source/benchmark"
	"example.org/homenode/source/benchmark/hostload"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/open"
)

// Calibrate asks for the CPU cost of I/O on the user's own hosts, measured by a benchmark.
type Calibrate struct {
	ask.Asked
	Files    []string `ask:"file,arg,need,local"`
	Path     string   `ask:"path" help:"path of the I/O: vsan-esa, nvme"`
	Hosts    int      `ask:"host-count" help:"hosts that shared the I/O"`
	Cores    int      `ask:"host-cores" help:"cores of a host, all sockets"`
	Core     string   `ask:"core" help:"base frequency of a core: 3.6GHz; with --host-cores the whole of a CPU use in percent"`
	Idle     string   `ask:"idle" help:"CPU that a host uses without I/O, not counted: 1GHz"`
	CPU      []string `ask:"cpu" help:"CPU of one host in a test: TEST=78GHz or TEST=68% (repeatable); 78GHz if all tests are of one kind"`
	CPUFile  string   `ask:"cpu-file" help:"table of the CPU use of the hosts in each test"`
	Guest    string   `ask:"guest-cpu" help:"vCPUs of the guest that Iometer or fio ran in: 2x2GHz"`
	Limit    string   `ask:"iops-limit" help:"limit of each virtual disk in its storage policy: 5000"`
	Network  string   `ask:"network-cost" help:"cycles per bit that a host sends and receives: 0.163,0.373 (default: the published)"`
	Hardware string   `ask:"hardware" help:"processor of the hosts: \"2 x Xeon Gold 6544Y\""`
	Save     bool     `ask:"save" help:"write the costs to the file of --coefficients"`
	Replace  bool     `ask:"replace" help:"with --save: keep none of the old costs in the file"`
	Details  bool     `ask:"details" help:"each run, too"`
	Own      string   `ask:"coefficients" help:"the file that --save writes (default: homenode-size.json)"`
}

// Answer answers the question.
func (f *Calibrate) Answer(ctx context.Context, _ *ask.Env) (*ask.Reply, error) {
	return answered(f.answer(ctx))
}

func (f *Calibrate) answer(ctx context.Context) (*answer.Answer, error) {
	switch {
	case f.Replace && !f.Save:
		return nil, errors.New("--replace: only with --save")
	case f.Save && f.Own == noCoefficients:
		return nil, errors.New("--save: --coefficients none is no file")
	}
	c := &show.Calibration{Details: f.Details}
	o, err := f.ask(c)
	if err != nil {
		return nil, err
	}
	results, notes, err := f.results(ctx)
	if err != nil {
		return nil, err
	}
	trials, more, err := trial.Gather(results, o)
	if err != nil {
		return nil, err
	}
	c.Trials, c.Notes = trials, append(notes, more...)
	c.Result = calibrate.Costs(trials, c.Options)
	c.Notes = slices.DeleteFunc(c.Notes, func(note string) bool { // the table of skipped results contains them
		return strings.Contains(note, "no test case name") && slices.ContainsFunc(c.Result.Left, func(l calibrate.Left) bool { return strings.HasPrefix(note, l.Place+": ") })
	})
	if len(c.Result.Costs) == 0 {
		missing := "no test can be used"
		if slices.ContainsFunc(c.Trials, func(t calibrate.Trial) bool {
			return t.Load == nil && t.Unusable == "" && t.IOPS.Value > 0 && t.Kind.Block > 0
		}) {
			missing += " (the CPU use of a test: --cpu-file or --cpu)"
		}
		return nil, errors.Join(append([]error{errors.New(missing)}, reasons(c)...)...)
	}
	c.Question = fmt.Sprintf("size calibrate: runs %d, kinds of I/O %d, through %s", len(trials), len(c.Result.Costs), c.Path)
	c.Comparisons = calibrate.Compare(c.Result.Costs, iocost.Published())
	if c.Saved, err = f.keep(c); err != nil {
		return nil, err
	}
	return show.Answer(c), nil
}

// results reads the results, or generates those of the demo.
func (f *Calibrate) results(ctx context.Context) ([]*benchmark.Results, []string, error) {
	if !slices.Equal(f.Files, []string{open.Demo}) {
		return open.Benchmarks(ctx, f.Files)
	}
	text, _ := demo.Benchmark()
	res, err := benchmark.Read("demo-hcibench.txt", strings.NewReader(text))
	return []*benchmark.Results{res}, nil, err
}

// reasons returns the reasons why no result is usable.
func reasons(c *show.Calibration) []error {
	var out []error
	for _, l := range c.Result.Left {
		out = append(out, fmt.Errorf("%s: %s: %s", l.Place, l.Test, l.Reason))
	}
	for _, n := range c.Notes {
		out = append(out, errors.New(n))
	}
	return out
}

// ask parses the fields.
func (f *Calibrate) ask(c *show.Calibration) (*trial.Options, error) {
	c.Options = calibrate.Options{Transmit: iocost.Transmit, Receive: iocost.Receive, Hardware: strings.TrimSpace(f.Hardware)}
	if slices.Equal(f.Files, []string{open.Demo}) {
		return f.invented(c)
	}
	c.Path = iocost.Path(f.Path)
	if c.Path != iocost.VSANESA && c.Path != iocost.NVMe {
		return nil, fmt.Errorf("--path: found %q, want vsan-esa or nvme: the results do not say what their I/O went through", f.Path)
	}
	o := &trial.Options{Path: c.Path, Hosts: f.Hosts}
	core, err := checkHosts(&f.Asked, f.Hosts, f.Cores, f.Core)
	if err != nil {
		return nil, err
	}
	c.Options.Core, o.Host = core, core*unit.Hz(f.Cores)
	idle := func(text string) (*calibrate.Reading[unit.Hz], error) {
		r, err := trial.ParseHz(text)
		return &r, err
	}
	guest := func(text string) (all unit.Hz, err error) {
		all, o.VCPU, err = trial.ParseGuest(text)
		return all, err
	}
	err = cmp.Or(ask.Set("idle", f.Idle, &o.Idle, idle), ask.Set("guest-cpu", f.Guest, &o.Guest, guest), ask.Set("iops-limit", f.Limit, &o.Limit, unit.ParseIORate),
		f.network(c), f.loads(o))
	c.Assumed = f.assumed(o)
	return o, err
}

// network parses the CPU cost of network I/O.
func (f *Calibrate) network(c *show.Calibration) error {
	var costs [2]unit.CyclesPerBit
	if err := ask.Set("network-cost", f.Network, &costs, trial.ParseNetwork); err != nil || f.Network == "" {
		return err
	}
	c.Options.Transmit = unit.Exactly(costs[0], unit.Given, "--network-cost", f.Hardware)
	c.Options.Receive = unit.Exactly(costs[1], unit.Given, "--network-cost", f.Hardware)
	return nil
}

// loads parses --cpu and --cpu-file.
func (f *Calibrate) loads(o *trial.Options) error {
	var given []hostload.Row
	for _, text := range f.CPU {
		row, err := trial.ParseLoad(text)
		if err != nil {
			return fmt.Errorf("--cpu: %w", err)
		}
		given = append(given, row)
	}
	o.Loads = append(o.Loads, given)
	if f.CPUFile == "" {
		return nil
	}
	text, err := bounded.File(f.CPUFile, bounded.List)
	if err != nil {
		return fmt.Errorf("--cpu-file: %w", err)
	}
	rows, err := hostload.Read(f.CPUFile, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("--cpu-file: %w", err)
	}
	o.Loads = append(o.Loads, rows)
	return nil
}

// invented returns the options for the generated results of the demo.
func (f *Calibrate) invented(c *show.Calibration) (*trial.Options, error) {
	if err := f.Refuse("demo brings its own", "path", "host-count", "host-cores", "core", "idle", "cpu", "cpu-file", "guest-cpu", "iops-limit", "hardware"); err != nil {
		return nil, err
	}
	_, table := demo.Benchmark()
	rows, err := hostload.Read("demo-cpu.csv", strings.NewReader(table))
	if err != nil {
		return nil, err
	}
	c.Path, c.Options.Core, c.Options.Hardware = iocost.VSANESA, demo.BenchmarkCore, "invented (demo)"
	o := &trial.Options{Path: c.Path, Hosts: demo.BenchmarkHosts, Host: demo.BenchmarkCores * demo.BenchmarkCore, Loads: [][]hostload.Row{rows}}
	c.Assumed = []answer.Assumption{
		{What: "results", Value: "invented", Origin: unit.Assumed, Source: "demo: no such cluster was measured"},
		{What: "hosts", Value: fmt.Sprintf("%d of %d cores × %s", demo.BenchmarkHosts, demo.BenchmarkCores, unit.Hz(demo.BenchmarkCore)), Origin: unit.Given, Source: "demo"},
	}
	return o, f.network(c)
}

// assumed lists the values that were given by flags or assumed.
func (f *Calibrate) assumed(o *trial.Options) []answer.Assumption {
	var out []answer.Assumption
	add := func(what, value, flag, note string) {
		origin := unit.Given
		if flag == "" {
			origin = unit.Assumed
		}
		out = append(out, answer.Assumption{What: what, Value: value, Origin: origin, Source: flag, Note: note})
	}
	if f.Hosts > 0 {
		add("hosts that share the I/O", fmt.Sprint(f.Hosts), "--host-count", "")
	}
	if o.Host > 0 {
		add("a host", fmt.Sprintf("%d cores × %s = %s", f.Cores, o.Host/unit.Hz(f.Cores), o.Host), "--host-cores, --core", "no Hyper-Threading")
	}
	if o.Guest > 0 {
		add("the guest", f.Guest+" = "+o.Guest.String(), "--guest-cpu", "")
	}
	if len(f.CPU) > 0 {
		add("CPU of a host", strings.Join(f.CPU, ", "), "--cpu", "")
	}
	if f.CPUFile != "" {
		add("CPU of the hosts", "by test", "--cpu-file "+filepath.Base(f.CPUFile), "")
	}
	return out
}

// keep writes the costs with --save, and returns a sentence about the file.
func (f *Calibrate) keep(c *show.Calibration) (string, error) {
	if !f.Save {
		return "Nothing is written: --save puts the costs into " + nameOf(f.Own) + ".", nil
	}
	entries, guests := coefficients.Entries(c.Result.Costs)
	if len(entries) == 0 {
		return "", errors.New("--save: there are lower bounds only, which would make every answer too low")
	}
	file, added, replaced, err := coefficients.Save(nameOf(f.Own), entries, f.Replace)
	if err != nil {
		return "", fmt.Errorf("--save: %w", err)
	}
	line := fmt.Sprintf("Written to %s: %d new, %d replaced, %d kept.", nameOf(f.Own), added, replaced, len(file.Entries)-added-replaced)
	if guests > 0 {
		line += fmt.Sprintf(" Not written: %d of guests, beside those of hosts.", guests)
	}
	return line, nil
}
