package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/ask/recording"
	"example.org/homenode/capture/export/openmetrics"
	"example.org/homenode/capture/export/parquet"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/numa"
	"example.org/homenode/source/open"
)

// newCapture returns the command.
func newCapture() *cobra.Command {
	var x exports
	return flags.QuestionBeside(ask.Named(recording.Entries, "capture"), helps, flags.Beside{Register: x.register, Lend: x.lend}, reportForms...)
}

// exports write all counters of captures to files. It is an ask.Sink.
type exports struct {
	parquet     string // folder
	openmetrics string // file

	metrics *openmetrics.Writer // nil before the first tick
}

func (x *exports) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&x.parquet, "parquet", "", "also write all counters as Parquet files to this folder (docs/reference/parquet.md)")
	fl.StringVar(&x.openmetrics, "openmetrics", "", "also write all counters to this file, for backfill into Prometheus (docs/reference/openmetrics.md)")
}

// lend sets the sink of ticks if an export is requested.
func (x *exports) lend(cmd *cobra.Command, e *ask.Env) error {
	if x.parquet == "" && x.openmetrics == "" {
		return nil
	}
	e.Sink = x
	if cmd.Flags().Changed("merge") {
		return flags.Refuse(cmd, "give it to the runs whose results are merged", "parquet", "openmetrics")
	}
	return nil
}

// Serial reports whether files must be written one after the other: OpenMetrics is a single
// file.
func (x *exports) Serial() bool { return x.openmetrics != "" }

// File starts the export of one capture file.
func (x *exports) File(name string, first *numa.Tick) ask.FileSink {
	one := &exported{exports: x, name: name}
	if x.parquet == "" {
		return one
	}
	if name != open.Demo && name != open.StandardInput {
		var err error
		if name, err = filepath.Abs(name); err != nil {
			one.err = err
			return one
		}
	}
	one.lake, one.err = parquet.New(x.parquet, parquet.PartID(first, name))
	return one
}

// begin creates the OpenMetrics file.
func (x *exports) begin() (err error) {
	if x.openmetrics == "" || x.metrics != nil {
		return nil
	}
	if x.metrics, err = openmetrics.New(x.openmetrics); err != nil {
		err = fmt.Errorf("--openmetrics: %w", err)
	}
	return err
}

// Close completes the OpenMetrics file.
func (x *exports) Close() (warnings []string, err error) {
	if err := x.begin(); err != nil || x.metrics == nil {
		return nil, err
	}
	if err := x.metrics.Close(); err != nil {
		return nil, fmt.Errorf("--openmetrics: %w", err)
	}
	for _, w := range x.metrics.Warnings() {
		warnings = append(warnings, x.openmetrics+": "+w)
	}
	return warnings, nil
}

// Abort removes incomplete files.
func (x *exports) Abort() {
	if x.metrics != nil {
		x.metrics.Abort()
	}
}

// An exported is the export of one capture file. It is an ask.FileSink.
type exported struct {
	*exports
	name string
	lake *parquet.Writer // nil for none
	err  error           // from creating it
}

// Tick exports one tick.
func (x *exported) Tick(t *numa.Tick) error {
	err := x.err
	if err == nil && x.lake != nil {
		err = x.lake.Add(x.name, t)
	}
	if err != nil {
		return fmt.Errorf("--parquet: %w", err)
	}
	if err := x.begin(); err != nil || x.metrics == nil {
		return err
	}
	if err := x.metrics.Add(t); err != nil {
		return fmt.Errorf("--openmetrics: %w", err)
	}
	return nil
}

// Close completes the output of the capture file.
func (x *exported) Close() error {
	err := x.err
	if x.lake != nil {
		err = cmp.Or(err, x.lake.Close())
	}
	if err != nil {
		return fmt.Errorf("--parquet: %w", err)
	}
	x.lake = nil
	return nil
}

// Abort removes incomplete files.
func (x *exported) Abort() {
	if x.lake != nil {
		x.lake.Abort()
	}
}
