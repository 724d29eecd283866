package size

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/bounded"
	"homenode/numa/unit"
	"homenode/output/answer"
	show "homenode/output/size/calibrate"
	"homenode/size/calibrate"
	"homenode/size/calibrate/coefficients"
	"homenode/size/calibrate/trial"
	"homenode/size/iocost"
	"homenode/source/benchmark"
	"homenode/source/benchmark/hostload"
	"homenode/source/demo"
	"homenode/source/open"
)

// calibrateFlags are the flags of size calibrate.
type calibrateFlags struct {
	common
	coefficients                                             coefficientsFlag
	hosts                                                    hosts
	path, idle, cpuFile, guest, limit, networkCost, hardware string
	cpu                                                      []string
	save, replace, details                                   bool
}

func newCalibrate() *cobra.Command {
	var f calibrateFlags
	cmd := f.command("calibrate", cobra.MinimumNArgs(1), f.answer)
	fl := cmd.Flags()
	fl.StringVar(&f.path, "path", "", "what the I/O goes through: vsan-esa, nvme")
	f.hosts.register(cmd, 0, "hosts that shared the I/O", "base frequency of a core: 3.6GHz; with --host-cores what CPU in percent is of")
	fl.StringVar(&f.idle, "idle", "", "CPU that a host uses without I/O, not counted: 1GHz")
	fl.StringArrayVar(&f.cpu, "cpu", nil, "CPU of one host in a test: TEST=78GHz or TEST=68% (repeatable); 78GHz if all tests are of one kind")
	fl.StringVar(&f.cpuFile, "cpu-file", "", "table of what the hosts used in each test")
	fl.StringVar(&f.guest, "guest-cpu", "", "vCPUs of the guest that Iometer or fio ran in: 2x2GHz")
	fl.StringVar(&f.limit, "iops-limit", "", "limit of each virtual disk in its storage policy: 5000")
	fl.StringVar(&f.networkCost, "network-cost", "", "cycles per bit that a host sends and receives: 0.163,0.373 (default: the published)")
	fl.StringVar(&f.hardware, "hardware", "", `processor of the hosts: "2 x Xeon Gold 6544Y"`)
	fl.BoolVar(&f.save, "save", false, "write the costs to the file of --coefficients")
	fl.BoolVar(&f.replace, "replace", false, "with --save: keep nothing of what is in the file")
	fl.BoolVar(&f.details, "details", false, "each run, too")
	f.coefficients.register(cmd)
	fl.Lookup("coefficients").Usage = "the file that --save writes (default: " + coefficients.DefaultFile + ")"
	flags.Complete(cmd, "path", flags.Among([]string{string(iocost.VSANESA), string(iocost.NVMe)}))
	return cmd
}

func (f *calibrateFlags) answer(cmd *cobra.Command, args []string) (*answer.Answer, error) {
	switch {
	case f.replace && !f.save:
		return nil, errors.New("--replace: only with --save")
	case f.save && f.coefficients.file == noCoefficients:
		return nil, errors.New("--save: --coefficients none is no file")
	}
	c := &show.Calibration{Details: f.details}
	o, err := f.ask(cmd, c, args)
	if err != nil {
		return nil, err
	}
	results, notes, err := f.results(cmd, args)
	if err != nil {
		return nil, err
	}
	trials, more, err := trial.Gather(results, o)
	if err != nil {
		return nil, err
	}
	c.Trials, c.Notes = trials, append(notes, more...)
	c.Result = calibrate.Costs(trials, c.Options)
	c.Notes = slices.DeleteFunc(c.Notes, func(note string) bool { // the table of what is left out says so
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

// results reads the results, or makes those of the demo.
func (f *calibrateFlags) results(cmd *cobra.Command, args []string) ([]*benchmark.Results, []string, error) {
	if !slices.Equal(args, []string{open.Demo}) {
		return open.Benchmarks(cmd.Context(), args)
	}
	text, _ := demo.Benchmark()
	res, err := benchmark.Read("demo-hcibench.txt", strings.NewReader(text))
	return []*benchmark.Results{res}, nil, err
}

// reasons says why nothing can be used.
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

// ask reads the flags.
func (f *calibrateFlags) ask(cmd *cobra.Command, c *show.Calibration, args []string) (*trial.Options, error) {
	c.Options = calibrate.Options{Transmit: iocost.Transmit, Receive: iocost.Receive, Hardware: strings.TrimSpace(f.hardware)}
	if slices.Equal(args, []string{open.Demo}) {
		return f.invented(cmd, c)
	}
	c.Path = iocost.Path(f.path)
	if c.Path != iocost.VSANESA && c.Path != iocost.NVMe {
		return nil, fmt.Errorf("--path: found %q, want vsan-esa or nvme: the results do not say what their I/O went through", f.path)
	}
	o := &trial.Options{Path: c.Path, Hosts: f.hosts.count}
	core, err := f.hosts.check(cmd)
	if err != nil {
		return nil, err
	}
	c.Options.Core, o.Host = core, core*unit.Hz(f.hosts.cores)
	idle := func(text string) (*calibrate.Reading[unit.Hz], error) {
		r, err := trial.ParseHz(text)
		return &r, err
	}
	guest := func(text string) (all unit.Hz, err error) {
		all, o.VCPU, err = trial.ParseGuest(text)
		return all, err
	}
	err = cmp.Or(flags.Set("idle", f.idle, &o.Idle, idle), flags.Set("guest-cpu", f.guest, &o.Guest, guest), flags.Set("iops-limit", f.limit, &o.Limit, unit.ParseIORate),
		f.network(c), f.loads(o))
	c.Assumed = f.assumed(o)
	return o, err
}

// network reads what I/O costs on the network.
func (f *calibrateFlags) network(c *show.Calibration) error {
	var costs [2]unit.CyclesPerBit
	if err := flags.Set("network-cost", f.networkCost, &costs, trial.ParseNetwork); err != nil || f.networkCost == "" {
		return err
	}
	c.Options.Transmit = unit.Exactly(costs[0], unit.Given, "--network-cost", f.hardware)
	c.Options.Receive = unit.Exactly(costs[1], unit.Given, "--network-cost", f.hardware)
	return nil
}

// loads reads --cpu and --cpu-file.
func (f *calibrateFlags) loads(o *trial.Options) error {
	var given []hostload.Row
	for _, text := range f.cpu {
		row, err := trial.ParseLoad(text)
		if err != nil {
			return fmt.Errorf("--cpu: %w", err)
		}
		given = append(given, row)
	}
	o.Loads = append(o.Loads, given)
	if f.cpuFile == "" {
		return nil
	}
	file, err := os.Open(f.cpuFile)
	if err != nil {
		return fmt.Errorf("--cpu-file: %w", err)
	}
	rows, err := hostload.Read(f.cpuFile, bounded.Reader(file, bounded.List))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("--cpu-file: %w", err)
	}
	o.Loads = append(o.Loads, rows)
	return nil
}

// invented sets what the flags would, for results that the program makes up.
func (f *calibrateFlags) invented(cmd *cobra.Command, c *show.Calibration) (*trial.Options, error) {
	if err := flags.Refuse(cmd, "demo brings its own", "path", "host-count", "host-cores", "core", "idle", "cpu", "cpu-file", "guest-cpu", "iops-limit", "hardware"); err != nil {
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

// assumed says what the flags state, and what was assumed.
func (f *calibrateFlags) assumed(o *trial.Options) []answer.Assumption {
	var out []answer.Assumption
	add := func(what, value, flag, note string) {
		origin := unit.Given
		if flag == "" {
			origin = unit.Assumed
		}
		out = append(out, answer.Assumption{What: what, Value: value, Origin: origin, Source: flag, Note: note})
	}
	if f.hosts.count > 0 {
		add("hosts that share the I/O", fmt.Sprint(f.hosts.count), "--host-count", "")
	}
	if o.Host > 0 {
		add("a host", fmt.Sprintf("%d cores × %s = %s", f.hosts.cores, o.Host/unit.Hz(f.hosts.cores), o.Host), "--host-cores, --core", "no Hyper-Threading")
	}
	if o.Guest > 0 {
		add("the guest", f.guest+" = "+o.Guest.String(), "--guest-cpu", "")
	}
	if len(f.cpu) > 0 {
		add("CPU of a host", strings.Join(f.cpu, ", "), "--cpu", "")
	}
	if f.cpuFile != "" {
		add("CPU of the hosts", "by test", "--cpu-file "+filepath.Base(f.cpuFile), "")
	}
	return out
}

// keep writes the costs, if asked to, and says what became of the file.
func (f *calibrateFlags) keep(c *show.Calibration) (string, error) {
	if !f.save {
		return "Nothing is written: --save puts the costs into " + f.coefficients.name() + ".", nil
	}
	entries, guests := coefficients.Entries(c.Result.Costs)
	if len(entries) == 0 {
		return "", errors.New("--save: there are lower bounds only, which would make every answer too low")
	}
	file, added, replaced, err := coefficients.Save(f.coefficients.name(), entries, f.replace)
	if err != nil {
		return "", fmt.Errorf("--save: %w", err)
	}
	line := fmt.Sprintf("Written to %s: %d new, %d replaced, %d kept.", f.coefficients.name(), added, replaced, len(file.Entries)-added-replaced)
	if guests > 0 {
		line += fmt.Sprintf(" Not written: %d of guests, beside those of hosts.", guests)
	}
	return line, nil
}
