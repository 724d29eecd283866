package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/capture/export/esxtop"
	"example.org/homenode/capture/export/openmetrics"
	"example.org/homenode/capture/export/parquet"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// traceFlags have the destinations for the ticks of a simulation.
type traceFlags struct {
	to []string // as typed

	trace       string // file or folder of batch files of esxtop; "" for none
	parquet     string // folder
	openmetrics string // file
}

func (f *traceFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.to, "trace", nil, "also write all ticks: esxtop:PATH (a .csv file for one host, else a folder with a batch file a host), parquet:DIR or openmetrics:FILE (repeatable)")
}

// check parses the destinations.
func (f *traceFlags) check() error {
	for _, text := range f.to {
		form, path, _ := strings.Cut(text, ":")
		to := map[string]*string{"esxtop": &f.trace, "parquet": &f.parquet, "openmetrics": &f.openmetrics}[form]
		if to == nil || path == "" {
			return fmt.Errorf("--trace: found %q, want esxtop:PATH, parquet:DIR or openmetrics:FILE", text)
		}
		if *to != "" {
			return fmt.Errorf("--trace: found %s twice", form)
		}
		*to = path
	}
	if f.trace != "" && f.trace == f.parquet {
		return errors.New("--trace: found one folder for both forms, want two")
	}
	return nil
}

// lend sets the trace of the simulation if an export is requested.
func (f *traceFlags) lend(_ *cobra.Command, e *ask.Env) error {
	if err := f.check(); err != nil || f.to == nil {
		return err
	}
	e.Trace = func(s *numa.Story) (ask.Trace, error) {
		t := &tracing{flags: f, story: s, hosts: make([]hostTrace, len(s.Fleet.Hosts))}
		return t, t.open()
	}
	return nil
}

// A tracing writes the ticks of all hosts while they are simulated.
type tracing struct {
	flags   *traceFlags
	story   *numa.Story
	folder  bool        // --trace is a folder
	hosts   []hostTrace // by index in the fleet; each is used by one worker at a time
	metrics *openmetrics.Writer
}

// A hostTrace is the trace of one host.
type hostTrace struct {
	name  string // of the complete batch file
	file  *os.File
	batch *esxtop.Writer
	lake  *parquet.Writer
}

// part is the suffix of an incomplete batch file.
const part = ".part"

func (t *tracing) open() (err error) {
	if t.flags.trace != "" {
		t.folder = len(t.hosts) > 1 || !strings.EqualFold(filepath.Ext(t.flags.trace), ".csv")
		if t.folder {
			if strings.EqualFold(filepath.Ext(t.flags.trace), ".csv") {
				return fmt.Errorf("--trace: found the file %s, want a folder: the story has %d hosts", t.flags.trace, len(t.hosts))
			}
			if err := os.MkdirAll(t.flags.trace, 0o755); err != nil {
				return fmt.Errorf("--trace: %w", err)
			}
		}
	}
	if t.flags.openmetrics != "" {
		if t.metrics, err = openmetrics.New(t.flags.openmetrics); err != nil {
			return fmt.Errorf("--trace openmetrics: %w", err)
		}
	}
	return nil
}

// simulation is the source file in Parquet of every tick. Its name distinguishes simulated from observed data.
func (t *tracing) simulation() string { return "simulation of " + t.story.Name }

// Serial reports whether hosts must be simulated one after the other. A single file for all hosts is then
// reproducible.
func (t *tracing) Serial() bool { return t.metrics != nil }

// Tick exports one tick of a host.
func (t *tracing) Tick(host int, tick *numa.Tick) (err error) {
	h := &t.hosts[host]
	if t.flags.trace != "" {
		if h.batch == nil {
			err = t.begin(h, host)
		}
		if err == nil {
			err = h.batch.Add(tick)
		}
		if err != nil {
			return fmt.Errorf("--trace esxtop: %w", err)
		}
	}
	if t.flags.parquet != "" {
		if h.lake == nil {
			h.lake, err = parquet.New(t.flags.parquet, parquet.ID("simulation", t.story.Name, tick.Host))
		}
		if err == nil {
			err = h.lake.Add(t.simulation(), tick)
		}
		if err != nil {
			return fmt.Errorf("--trace parquet: %w", err)
		}
	}
	if t.metrics != nil {
		if err := t.metrics.Add(tick); err != nil {
			return fmt.Errorf("--trace openmetrics: %w", err)
		}
	}
	return nil
}

// begin opens the batch file of a host.
func (t *tracing) begin(h *hostTrace, host int) (err error) {
	h.name = t.flags.trace
	if t.folder {
		h.name = filepath.Join(t.flags.trace, fileOf(t.story.Fleet, host)+".csv")
	}
	if h.file, err = os.Create(h.name + part); err != nil {
		return err
	}
	h.batch = esxtop.NewWriter(h.file)
	return nil
}

// fileOf returns the file name for a host: its name or, if that is invalid or ambiguous, its index in the fleet.
func fileOf(f *numa.Fleet, host int) string {
	name := f.Hosts[host].Name
	same := words.Count(f.Hosts, func(h numa.Host) bool { return strings.EqualFold(h.Name, name) })
	if same > 1 || name == "" || strings.Trim(name, ".") == "" || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`/\\:*?"<>|`, r) }) {
		return fmt.Sprintf("host-%d", host+1)
	}
	return name
}

// Close completes all files.
func (t *tracing) Close() error {
	for i := range t.hosts {
		h := &t.hosts[i]
		if h.batch != nil {
			err := cmp.Or(h.batch.Flush(), h.file.Close())
			if err == nil {
				err = os.Rename(h.name+part, h.name)
			}
			if err != nil {
				return fmt.Errorf("--trace: %w", err)
			}
			h.batch = nil
		}
		if h.lake != nil {
			if err := h.lake.Close(); err != nil {
				return fmt.Errorf("--trace parquet: %w", err)
			}
			h.lake = nil
		}
	}
	if t.metrics != nil {
		if err := t.metrics.Close(); err != nil {
			return fmt.Errorf("--trace openmetrics: %w", err)
		}
		t.metrics = nil
	}
	return nil
}

// Abort removes incomplete files.
func (t *tracing) Abort() {
	for i := range t.hosts {
		h := &t.hosts[i]
		if h.batch != nil {
			h.file.Close()
			os.Remove(h.name + part)
		}
		if h.lake != nil {
			h.lake.Abort()
		}
	}
	if t.metrics != nil {
		t.metrics.Abort()
	}
}
