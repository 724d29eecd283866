package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"homenode/capture/export/esxtop"
	"homenode/capture/export/openmetrics"
	"homenode/capture/export/parquet"
	"homenode/cmd/homenode/flags"
	"homenode/numa"
	"homenode/rules/simulate"
)

// traceFlags say where the ticks of a simulation are written to.
type traceFlags struct {
	to []string // as typed

	trace       string // file or folder of batch files of esxtop; "" for none
	parquet     string // folder
	openmetrics string // file
}

func (f *traceFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.to, "trace", nil, "also write all ticks: esxtop:PATH (a .csv file for one host, else a folder with a batch file a host), parquet:DIR or openmetrics:FILE (repeatable)")
}

// Check reads where the ticks go.
func (f *traceFlags) Check() error {
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

// run simulates the story and writes what was asked for besides.
func (f *traceFlags) run(ctx context.Context, s *numa.Story, o simulate.Options, stderr io.Writer) (*simulate.Result, error) {
	if flags.IsTerminal(stderr) && !o.Silent {
		o.Tick = counted(s, stderr)
		defer fmt.Fprint(stderr, "\r\x1b[K")
	}
	if f.trace == "" && f.parquet == "" && f.openmetrics == "" {
		return simulate.Run(ctx, s, o)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t := &tracing{flags: f, story: s, hosts: make([]hostTrace, len(s.Fleet.Hosts)), stop: stop}
	defer t.abort() // nothing after close
	if err := t.open(); err != nil {
		return nil, err
	}
	if t.metrics != nil {
		o.Workers = 1 // one file of all hosts: the same bytes every time
	}
	count := o.Tick
	o.Tick = func(host int, tick *numa.Tick) {
		t.tick(host, tick)
		if count != nil {
			count(host, tick)
		}
	}
	r, err := simulate.Run(ctx, s, o)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return r, t.close()
}

// counted returns what counts the ticks of all hosts and shows on one line of a terminal
// how far they are.
func counted(s *numa.Story, w io.Writer) func(int, *numa.Tick) {
	all := int64(len(s.Fleet.Hosts)) * int64(s.Length/s.Every+1)
	var done atomic.Int64 // hosts are simulated in parallel
	return func(int, *numa.Tick) {
		n := done.Add(1)
		if percent := n * 100 / all; percent > (n-1)*100/all {
			fmt.Fprintf(w, "\r\x1b[Ksimulated %d %%", percent)
		}
	}
}

// A tracing writes the ticks of all hosts while they are simulated.
type tracing struct {
	flags   *traceFlags
	story   *numa.Story
	folder  bool        // --trace is one
	hosts   []hostTrace // by index in the fleet; each is used by one worker at a time
	metrics *openmetrics.Writer
	stop    context.CancelCauseFunc
}

// A hostTrace is what is written of one host.
type hostTrace struct {
	name  string // of the batch file when it is whole
	file  *os.File
	batch *esxtop.Writer
	lake  *parquet.Writer
}

// part is what the name of a batch file ends with until it is whole.
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

// simulation is the file that Parquet names as the source of every tick: what was
// simulated must not pass for what was seen.
func (t *tracing) simulation() string { return "simulation of " + t.story.Name }

// tick takes one tick of a host; the first error ends the run.
func (t *tracing) tick(host int, tick *numa.Tick) {
	h := &t.hosts[host]
	if t.flags.trace != "" {
		err := error(nil)
		if h.batch == nil {
			err = t.begin(h, host)
		}
		if err == nil {
			err = h.batch.Add(tick)
		}
		t.fail("esxtop", err)
	}
	if t.flags.parquet != "" {
		err := error(nil)
		if h.lake == nil {
			h.lake, err = parquet.New(t.flags.parquet, parquet.ID("simulation", t.story.Name, tick.Host))
		}
		if err == nil {
			err = h.lake.Add(t.simulation(), tick)
		}
		t.fail("parquet", err)
	}
	if t.metrics != nil {
		t.fail("openmetrics", t.metrics.Add(tick))
	}
}

func (t *tracing) fail(form string, err error) {
	if err != nil {
		t.stop(fmt.Errorf("--trace %s: %w", form, err))
	}
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

// fileOf names the file of a host: by its name, and where that cannot be one, or others
// have it too, by its place in the fleet.
func fileOf(f *numa.Fleet, host int) string {
	name := f.Hosts[host].Name
	same := 0
	for i := range f.Hosts {
		if strings.EqualFold(f.Hosts[i].Name, name) {
			same++
		}
	}
	if same > 1 || name == "" || strings.Trim(name, ".") == "" || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`/\\:*?"<>|`, r) }) {
		return fmt.Sprintf("host-%d", host+1)
	}
	return name
}

// close ends all files.
func (t *tracing) close() error {
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

// abort removes what is not written to its end.
func (t *tracing) abort() {
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
