// Package ticks is the single entry point for all recordings of NUMA over time: it detects the
// format of a file by its contents and returns its ticks, host by host.
//
//	esxtop batch CSV        source/esxtop              any length, several hosts
//	CounterInfo, FetchStats source/esxtop/fetchstats   one file, or one for each answer
//	sched-stats, screens    source/hostcmd             outputs again and again, with dates
//
// All of them can be compressed with gzip or zstd, be in a folder or in an archive. A replay of
// vm-support, which only ESXi itself can read, is reported with instructions for converting it.
package ticks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/esxtop"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/hostcmd"
	"example.org/homenode/source/text"
)

// The formats.
const (
	Batch    = "esxtop batch CSV"
	Answers  = fetchstats.FetchStats
	Columns  = fetchstats.CounterInfo // with or without answers after it
	Commands = "output of host commands"
	Packed   = "archive" // of a Source: its contents are detected when it is read
)

// Want lists the supported formats, for messages.
const Want = "an esxtop batch file (esxtop -b), CounterInfo and FetchStats of the vSphere API, " +
	"or repeated outputs of sched-stats, memstats or the esxtop memory screen with dates"

// Options are facts missing in files. The zero value is useful.
type Options struct {
	// Host names the host and overrides the files; for files of one host.
	Host string
	// Machine maps PCPUs to nodes, which FetchStats does not; nil leaves the load of nodes unknown
	// there, unless MachineOf finds it by the name of the host.
	Machine   *numa.Host
	MachineOf func(host string) *numa.Host
	// Start and Interval time outputs without a time of their own: the first at Start, each further
	// one an Interval later. They are used only for such files. With an Interval the outputs count
	// as refreshes of one screen, so that its NMIG counts.
	Start    time.Time
	Interval time.Duration
	// From and To bound the time range of warnings about single values; zero is no bound. Ticks
	// outside are still read.
	From, To time.Time
	// Files is the file system for Walk; nil for all files of this machine. See ListIn.
	Files fs.FS
	// Workers is the number of goroutines that read and parse one batch file; 0 means none.
	Workers int
}

// A File describes one unit of input: a file, or several that belong together.
type File struct {
	Name     string
	Format   string
	Hosts    []string // in the order of appearance
	Named    string   // the host's name in the file, if Options.Host differs; empty for a name such as localhost
	Ticks    int
	First    time.Time // of the ticks
	Last     time.Time
	Parts    int      // number of files; 0 for one
	Left     int      // omitted rows: damaged, or out of the order of time
	Cut      bool     // reading failed before its end, or it ends within a row
	Warnings []string // file:line:column: text; the first of each kind
}

// A Visit receives the results, file by file. Open and Done may be nil.
type Visit struct {
	Open func(name, format string) error // before the ticks of a file
	// Tick receives one tick, which is valid until it returns.
	Tick func(*numa.Tick) error
	// Done is called after the last tick; err is the error that ended reading the file. An error
	// returned by Done ends all reading.
	Done func(f *File, err error) error
}

// ErrUnknown is wrapped by the error for a file of an unsupported format.
var ErrUnknown = errors.New("unknown format")

// unbounded allows batch files to unpack to any size: they are not stored.
var unbounded = archive.Options{MaxBytes: math.MaxInt64, MaxRatio: math.MaxInt64, MaxVisits: math.MaxInt}

// Read reads one stream, which can be compressed with gzip or zstd, and calls visit for each tick.
// Pass a file on disk unwrapped: it is then read at several places at once. The File is also valid
// when there is an error, which is that of visit, of ctx, of r, a *numa.SyntaxError, or wraps ErrUnknown.
func Read(ctx context.Context, name string, r io.Reader, opt Options, visit func(*numa.Tick) error) (*File, error) {
	j := &job{ctx: ctx, opt: opt, v: Visit{Tick: visit}, file: File{Name: name}}
	err := j.end(j.stream(name, archive.Heed(ctx, r), fileStamp(name, r)))
	if ctx.Err() != nil && j.stop == nil {
		err = ctx.Err()
	}
	return &j.file, err
}

// A job reads one File.
type job struct {
	ctx  context.Context
	opt  Options
	v    Visit
	file File
	name string // for a host that is named nowhere

	cut error // of the first part that was unread or incomplete, among others that were read

	known bool // all answers are of that host
	in    reach

	fetch  *fetchstats.Series // of a File of several files
	rounds *rounds
	more   bool  // the next file is of the same moment
	opened bool  // v.Open was called
	stop   error // of v
}

// open announces the File to v, once.
func (j *job) open(format string) error {
	if j.opened {
		return nil
	}
	j.opened, j.file.Format = true, format
	if j.v.Open != nil {
		j.stop = j.v.Open(j.file.Name, format)
	}
	return j.stop
}

// end completes work that is delayed until the end of a File.
func (j *job) end(err error) error {
	if err == nil && j.rounds != nil {
		err = j.rounds.end()
	}
	err = cmp.Or(err, j.cut)
	if err == nil && j.file.Ticks == 0 && len(j.file.Warnings) == 0 && j.fetch != nil {
		err = fmt.Errorf("%s: found CounterInfo alone: FetchStats is missing, which holds the values; it may stand behind it or in a file beside it", j.file.Name)
	}
	j.file.Cut = err != nil
	return err
}

// stream reads one file of any format.
func (j *job) stream(name string, r io.Reader, at stamp) error {
	plain, err := archive.Unpack(name, r, j.in.bounds())
	if err != nil {
		return err
	}
	defer plain.Close()
	head, all, err := archive.Peek(plain, text.HeadSize)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	format := Detect(head)
	if j.name == "" {
		j.name = hostName(name)
	}
	if format == "" {
		return unknown(name, head)
	}
	if err := j.open(format); err != nil {
		return err
	}
	switch format {
	case Batch:
		return j.batch(name, all)
	case Answers, Columns:
		return j.answers(name, all)
	default:
		if j.rounds == nil {
			j.rounds = newRounds(j)
		}
		return j.rounds.read(name, all, at, hostcmd.HasDates(text.Decoded(head)), j.more)
	}
}

// unknown returns the error for a file of no supported format.
func unknown(name string, head []byte) error {
	what := "found no text"
	if line := firstLine(head); line != "" {
		what = fmt.Sprintf("found %q", text.Short(line))
	}
	return fmt.Errorf("%s: %w: %s, want %s", name, ErrUnknown, what, Want)
}

func firstLine(head []byte) string {
	for line := range strings.Lines(string(text.Decoded(head))) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// Detect detects the format from the start of a file of up to 64 KiB, unpacked but in the encoding
// of the file; empty for an unsupported one.
func Detect(head []byte) (format string) {
	if isBatch(head) && !bytes.Contains(head, []byte(`\Processor(`)) { // so Windows Performance Monitor begins: esxtop has Physical Cpu
		return Batch
	}
	lines := text.Decoded(head)
	format, ok := fetchstats.Detect(lines)
	switch {
	case ok && fetchstats.HasAnswer(lines):
		return Answers
	case ok:
		return format
	case hostcmd.Finds(lines, counted...):
		return Commands
	}
	return ""
}

// isBatch reports whether a line begins as the header of a batch file, in any encoding.
func isBatch(head []byte) bool {
	const magic = "(PDH-CSV"
	head = bytes.ReplaceAll(head, []byte{0}, nil)
	for from := 0; ; {
		i := bytes.Index(head[from:], []byte(magic))
		if i < 0 {
			return false
		}
		i += from
		before := bytes.TrimSuffix(head[:i], []byte(`"`))
		before = bytes.TrimSuffix(before, []byte("\xef\xbb\xbf"))
		if len(before) <= 2 || before[len(before)-1] == '\n' || before[len(before)-1] == '\r' {
			return true // at the start, possibly after a byte order mark, or at the start of a line
		}
		from = i + len(magic)
	}
}

// tick counts a tick and passes it on.
func (j *job) tick(t *numa.Tick) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	if len(t.VMs) > numa.MaxHostVMs {
		return &numa.SyntaxError{File: j.file.Name, Line: t.Line, Msg: fmt.Sprintf("found %d VMs of one moment, want at most %d", len(t.VMs), numa.MaxHostVMs)}
	}
	if j.opt.Host != "" {
		t.Host = j.opt.Host
	}
	f := &j.file
	if len(f.Hosts) == 0 || f.Hosts[len(f.Hosts)-1] != t.Host {
		f.host(t.Host)
	}
	if f.Ticks++; f.Ticks == 1 || t.Time.Before(f.First) {
		f.First = t.Time
	}
	if f.Ticks == 1 || t.Time.After(f.Last) {
		f.Last = t.Time
	}
	j.stop = j.v.Tick(t)
	return j.stop
}

func (f *File) host(name string) {
	for _, h := range f.Hosts {
		if h == name {
			return
		}
	}
	f.Hosts = append(f.Hosts, strings.Clone(name))
}

// batch reads a batch file.
func (j *job) batch(name string, r io.Reader) error {
	ticks, err := esxtop.NewTicks(name, r, esxtop.Options{Workers: j.opt.Workers, From: j.opt.From, To: j.opt.To})
	if err != nil {
		return err
	}
	defer ticks.Close()
	one := ""
	for ticks.Scan() && err == nil {
		t := ticks.Tick()
		if j.opt.Host != "" {
			if one == "" {
				one = strings.Clone(t.Host)
				j.renamed(name, t.Line, one)
			}
			if t.Host != one {
				err = &numa.SyntaxError{File: name, Line: t.Line, Msg: fmt.Sprintf("found hosts %s and %s, which cannot both be called %s", one, t.Host, j.opt.Host)}
				break
			}
		}
		err = j.tick(t)
	}
	for _, w := range ticks.Warnings() {
		j.file.Warnings = append(j.file.Warnings, w.Error())
	}
	j.file.Left += ticks.Left()
	return cmp.Or(err, ticks.Err(), ticks.Cut())
}

// renamed adds a warning that a file names another host than Options.Host.
func (j *job) renamed(file string, line int, host string) {
	if j.file.Named != "" || j.opt.Host == "" || numa.NamesNobody(host) || numa.SameHost(host, j.opt.Host) {
		return
	}
	j.file.Named = host
	j.addWarning(fmt.Sprintf("%s: found host %s: it is called %s, as --host-name says", numa.Place(file, line, 1), host, j.opt.Host))
}

// answers reads CounterInfo and FetchStats.
func (j *job) answers(name string, r io.Reader) error {
	j.newFetch(name)
	warnings, err := j.fetch.Read(name, r, func(t *numa.Tick) error {
		host := t.Host
		if j.opt.Host != "" && host != j.opt.Host {
			return &numa.SyntaxError{File: name, Line: t.Line, Msg: fmt.Sprintf("found answers of a second host, which cannot be called %s too", j.opt.Host)}
		}
		return j.tick(t)
	})
	for _, w := range warnings {
		j.warn(name, w)
	}
	return err
}

// maxWarnings bounds the warnings of one File, which can be thousands of files.
const maxWarnings = 100

func (j *job) warn(name string, w fact.Warning) {
	j.addWarning(numa.Place(name, w.Line, w.Col) + ": " + w.Text)
}

func (j *job) addWarning(text string) {
	switch n := len(j.file.Warnings); {
	case n < maxWarnings:
		j.file.Warnings = append(j.file.Warnings, text)
	case n == maxWarnings:
		j.file.Warnings = append(j.file.Warnings, j.file.Name+": there are more warnings")
	}
}
