package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"homenode/numa/unit"
	show "homenode/output/size/calibrate"
	"homenode/size/calibrate"
	"homenode/size/calibrate/coefficients"
	"homenode/size/calibrate/trial"
	"homenode/size/iocost"
	"homenode/source/hostload"
)

// calibrateFlags are the flags of size calibrate.
type calibrateFlags struct {
	size         sizeFlags
	coefficients coefficientsFlag
	path         string
	hosts        int
	cores        int
	core, idle   string
	cpu          []string
	cpuFile      string
	guest        string
	limit        string
	network      string
	hardware     string
	save         bool
	replace      bool
	details      bool
}

func newSizeCalibrate() *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate FILE...",
		Short: "Makes your own costs of I/O from benchmark results and the CPU that the hosts used meanwhile",
		Long: `calibrate reads results of HCIBench, fio (JSON) and Iometer (results.csv), as files or folders, also gzipped, and
the CPU that the hosts used during each test, and says what one I/O of each kind costs on your hardware: with a 95 %
interval from repetitions, what of it is network, a line over the sizes, and how it stands to the published figures.
demo in place of FILE shows it with invented results.

The CPU of a test is, in this order: --cpu, a line of --cpu-file, what the result states (HCIBench: CPU USAGE of the
hosts; Iometer: of the guest; fio: of its threads, which gives a lower bound). --cpu-file is a table of
test,hosts,cpu GHz,idle GHz,tx Gb/s,rx Gb/s; all but test and cpu may be missing. cpu, idle, tx and rx are those of one
host, the mean over the hosts. A test is its name, its file, or a part of its name.

Nothing is written unless --save is given. Then the costs go to ` + coefficients.DefaultFile + ` of the working directory, or to
--coefficients FILE, kind by kind beside those that are there; size commands about I/O take them from there.`,
		Example: `  homenode size calibrate demo
  homenode size calibrate --path vsan-esa --hosts 6 --idle 1GHz --cpu-file cpu.csv results/
  homenode size calibrate --path nvme --guest-cpu 2x2GHz --save results.csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.path, "path", "", "what the I/O goes through: vsan-esa, nvme")
	fl.IntVar(&f.hosts, "hosts", 0, "hosts that shared the I/O")
	fl.IntVar(&f.cores, "host-cores", 0, "cores of one host: with --core what CPU in percent is of")
	fl.StringVar(&f.core, "core", "", "base frequency of a core: 3.6GHz")
	fl.StringVar(&f.idle, "idle", "", "CPU that a host uses without I/O, not counted: 1GHz")
	fl.StringArrayVar(&f.cpu, "cpu", nil, "CPU of one host in a test: TEST=78GHz or TEST=68% (repeatable); 78GHz if all tests are of one kind")
	fl.StringVar(&f.cpuFile, "cpu-file", "", "table of what the hosts used in each test")
	fl.StringVar(&f.guest, "guest-cpu", "", "vCPUs of the guest that Iometer or fio ran in: 2x2GHz")
	fl.StringVar(&f.limit, "iops-limit", "", "limit of each virtual disk in its storage policy: 5000")
	fl.StringVar(&f.network, "network-cost", "", "cycles per bit that a host sends and receives: 0.163,0.373 (default: the published)")
	fl.StringVar(&f.hardware, "hardware", "", `processor of the hosts: "2 x Xeon Gold 6544Y"`)
	fl.BoolVar(&f.save, "save", false, "write the costs to the file of --coefficients")
	fl.BoolVar(&f.replace, "replace", false, "with --save: keep nothing of what is in the file")
	fl.BoolVar(&f.details, "details", false, "each run, too")
	f.coefficients.register(cmd)
	fl.Lookup("coefficients").Usage = "the file that --save writes (default: " + coefficients.DefaultFile + ")"
	f.size.register(cmd)
	completeFlag(cmd, "path", among([]string{string(iocost.VSANESA), string(iocost.NVMe)}))
	return cmd
}

func (f *calibrateFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.size.check(); err != nil {
		return err
	}
	switch {
	case f.replace && !f.save:
		return errors.New("--replace: only with --save")
	case f.save && f.coefficients.file == noCoefficients:
		return errors.New("--save: --coefficients none is no file")
	}
	c := &show.Calibration{Details: f.details}
	o, err := f.ask(cmd, c, args)
	if err != nil {
		return err
	}
	results, notes, err := readBenchmarks(args)
	if err != nil {
		return err
	}
	trials, more, err := trial.Gather(results, o)
	if err != nil {
		return err
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
		return errors.Join(append([]error{errors.New(missing)}, reasons(c)...)...)
	}
	c.Question = fmt.Sprintf("size calibrate: runs %d, kinds of I/O %d, through %s", len(trials), len(c.Result.Costs), c.Path)
	c.Comparisons = calibrate.Compare(c.Result.Costs, iocost.Published())
	if c.Saved, err = f.keep(c); err != nil {
		return err
	}
	return f.size.write(cmd, show.Answer(c))
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
	if slices.Equal(args, []string{demoName}) {
		return f.demo(cmd, c)
	}
	c.Path = iocost.Path(f.path)
	if c.Path != iocost.VSANESA && c.Path != iocost.NVMe {
		return nil, fmt.Errorf("--path: found %q, want vsan-esa or nvme: the results do not say what their I/O went through", f.path)
	}
	o := &trial.Options{Path: c.Path, Hosts: f.hosts}
	if f.hosts < 0 || f.hosts == 0 && cmd.Flags().Changed("hosts") {
		return nil, fmt.Errorf("--hosts: found %d, want 1 or more", f.hosts)
	}
	if f.cores < 0 || f.cores == 0 && cmd.Flags().Changed("host-cores") {
		return nil, fmt.Errorf("--host-cores: found %d, want 1 or more", f.cores)
	}
	var err error
	if f.core != "" {
		if c.Options.Core, err = unit.ParseHz(f.core); err != nil {
			return nil, fmt.Errorf("--core: %w", err)
		}
	}
	o.Host = c.Options.Core * unit.Hz(f.cores)
	if f.idle != "" {
		idle, err := printedHz(f.idle)
		if err != nil {
			return nil, fmt.Errorf("--idle: %w", err)
		}
		o.Idle = &idle
	}
	for _, ask := range []func(*trial.Options, *show.Calibration) error{f.askGuest, f.askLimit, f.askNetwork, f.askLoads} {
		if err := ask(o, c); err != nil {
			return nil, err
		}
	}
	c.Assumed = f.assumed(o)
	return o, nil
}

func (f *calibrateFlags) askGuest(o *trial.Options, _ *show.Calibration) error {
	if f.guest == "" {
		return nil
	}
	count, each, ok := strings.Cut(f.guest, "x")
	n, err := strconv.Atoi(strings.TrimSpace(count))
	vcpu, err2 := unit.ParseHz(each)
	if !ok || err != nil || err2 != nil || n < 1 || n > 960 {
		return fmt.Errorf("--guest-cpu: found %q, want vCPUs x their frequency such as 2x2GHz", f.guest)
	}
	o.VCPU, o.Guest = vcpu, unit.Hz(n)*vcpu
	return nil
}

func (f *calibrateFlags) askLimit(o *trial.Options, _ *show.Calibration) (err error) {
	if f.limit == "" {
		return nil
	}
	if o.Limit, err = unit.ParseIORate(f.limit); err != nil {
		return fmt.Errorf("--iops-limit: %w", err)
	}
	return nil
}

func (f *calibrateFlags) askNetwork(_ *trial.Options, c *show.Calibration) error {
	if f.network == "" {
		return nil
	}
	tx, rx, _ := strings.Cut(f.network, ",")
	for _, given := range []struct {
		text   string
		figure *unit.Figure[unit.CyclesPerBit]
	}{{tx, &c.Options.Transmit}, {rx, &c.Options.Receive}} {
		v, _, ok := hostload.Printed(strings.TrimSpace(given.text))
		if !ok || v == 0 {
			return fmt.Errorf("--network-cost: found %q, want cycles per bit sent and received such as 0.163,0.373", f.network)
		}
		*given.figure = unit.Exactly(unit.CyclesPerBit(v), unit.Given, "--network-cost", f.hardware)
	}
	return nil
}

// printedHz reads a frequency with what its digits leave open.
func printedHz(s string) (calibrate.Reading[unit.Hz], error) {
	v, err := unit.ParseHz(s)
	if err != nil {
		return calibrate.Reading[unit.Hz]{}, err
	}
	digits := strings.TrimRight(strings.TrimSpace(s), "GgMmHhZz \t")
	_, half, ok := hostload.Printed(digits)
	if !ok {
		half = 0
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil {
		return calibrate.Reading[unit.Hz]{}, err
	}
	return calibrate.Reading[unit.Hz]{Value: v, Half: unit.Hz(half) * v / unit.Hz(n)}, nil
}
