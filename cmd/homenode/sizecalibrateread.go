package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	show "homenode/output/size/calibrate"
	"homenode/size/calibrate"
	"homenode/size/calibrate/coefficients"
	"homenode/size/calibrate/trial"
	"homenode/size/iocost"
	"homenode/source/benchmark"
	"homenode/source/demo"
	"homenode/source/hostload"
)

// demoName is the FILE that stands for the demo.
const demoName = "demo"

// demo sets what the flags would, for results that the program makes up.
func (f *calibrateFlags) demo(cmd *cobra.Command, c *show.Calibration) (*trial.Options, error) {
	for _, name := range []string{"path", "hosts", "host-cores", "core", "idle", "cpu", "cpu-file", "guest-cpu", "iops-limit", "hardware"} {
		if cmd.Flags().Changed(name) {
			return nil, fmt.Errorf("--%s: demo brings its own", name)
		}
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
	return o, f.askNetwork(o, c)
}

// assumed says what the flags state, and what nobody did.
func (f *calibrateFlags) assumed(o *trial.Options) []answer.Assumption {
	var out []answer.Assumption
	add := func(what, value, flag, note string) {
		origin := unit.Given
		if flag == "" {
			origin = unit.Assumed
		}
		out = append(out, answer.Assumption{What: what, Value: value, Origin: origin, Source: flag, Note: note})
	}
	if f.hosts > 0 {
		add("hosts that share the I/O", fmt.Sprint(f.hosts), "--hosts", "")
	}
	if o.Host > 0 {
		add("a host", fmt.Sprintf("%d cores × %s = %s", f.cores, o.Host/unit.Hz(f.cores), o.Host), "--host-cores, --core", "no Hyper-Threading")
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

// askLoads reads --cpu and --cpu-file.
func (f *calibrateFlags) askLoads(o *trial.Options, _ *show.Calibration) error {
	var given []hostload.Row
	for _, text := range f.cpu {
		row := hostload.Row{File: "--cpu " + text}
		amount := text
		if i := strings.LastIndexByte(text, '='); i >= 0 {
			row.Test, amount = text[:i], text[i+1:]
		}
		if percent, ok := strings.CutSuffix(strings.TrimSpace(amount), "%"); ok {
			v, half, ok := hostload.Printed(strings.TrimSpace(percent))
			if !ok || v == 0 || v > 100 {
				return fmt.Errorf("--cpu: found %q, want TEST=78GHz or TEST=68%%, at most 100 %%", text)
			}
			row.CPU = hostload.Amount{Value: v / 100, Half: half / 100, Percent: true}
		} else {
			r, err := printedHz(amount)
			if err != nil {
				return fmt.Errorf("--cpu: found %q, want TEST=78GHz or TEST=68%%", text)
			}
			row.CPU = hostload.Amount{Value: float64(r.Value), Half: float64(r.Half)}
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
	rows, err := hostload.Read(f.cpuFile, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("--cpu-file: %w", err)
	}
	o.Loads = append(o.Loads, rows)
	return nil
}

// readBenchmarks reads files, and all results in folders. Notes are what the readers were
// not sure of.
func readBenchmarks(args []string) (results []*benchmark.Results, notes []string, err error) {
	if len(args) == 1 && args[0] == demoName {
		text, _ := demo.Benchmark()
		res, err := benchmark.Read("demo-hcibench.txt", strings.NewReader(text))
		return []*benchmark.Results{res}, nil, err
	}
	var paths []string
	folder := map[string]bool{} // files of folders, which may be of another kind
	for _, arg := range args {
		err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() || path == arg && err == nil && !d.IsDir() {
				paths = append(paths, path)
				folder[path] = path != arg
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	seen := map[string]bool{}
	for _, path := range paths {
		if clean := filepath.Clean(path); seen[clean] {
			return nil, nil, fmt.Errorf("%s is named twice: its runs would count twice", path)
		}
		seen[filepath.Clean(path)] = true
	}
	for _, path := range paths {
		res, err := readBenchmark(path)
		var syntax *numa.SyntaxError
		switch {
		case folder[path] && errors.As(err, &syntax):
			notes = append(notes, err.Error())
		case err != nil:
			return nil, nil, err
		default:
			results = append(results, res)
			for _, w := range res.AllWarnings() {
				notes = append(notes, numa.Place(path, w.Line, w.Col)+": "+w.Text)
			}
		}
	}
	return results, notes, nil
}

// keep writes the costs, if asked to, and says what became of the file.
func (f *calibrateFlags) keep(c *show.Calibration) (string, error) {
	if !f.save {
		return "Nothing is written: --save puts the costs into " + f.coefficients.name() + ".", nil
	}
	// The whole cost is better than the guest's part of it, and a curve is of one of them.
	hosts := slices.ContainsFunc(c.Result.Costs, func(cost calibrate.Cost) bool { return cost.Scope == calibrate.Host })
	var entries []coefficients.Entry
	guests := 0
	for i := range c.Result.Costs {
		cost := &c.Result.Costs[i]
		switch {
		case cost.AtLeast():
		case hosts && cost.Scope != calibrate.Host:
			guests++
		default:
			point := cost.Point
			point.Scope = iocost.Scope(cost.Scope)
			entries = append(entries, coefficients.Entry{Point: point, Method: cost.Method, Sources: cost.Sources, Measured: cost.Started})
		}
	}
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
