//go:build linux

package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/cmd/bench/contest"
)

//go:embed question.py
var questionPython []byte

// A group is a set of contenders that do the same work, shown in one table.
type group int

const (
	question group = iota
	command
	everything
	ceiling
	long
	groups
)

// A contender is one way to read a capture.
type contender struct {
	name  string
	group group
	cores int
	slow  bool // only runs in the slow rounds
	file  *made
	args  []string
	// report: it writes a report that is not parsed here, and exits with 1 if there are
	// findings.
	report bool
	runs   []measured
}

// measured is the resource usage of one process.
type measured struct {
	seconds float64 // from opening the file to the answer, as reported by the process; otherwise wall
	wall    time.Duration
	cpu     time.Duration // user and system, of the whole process
	rss     int64         // largest resident memory in bytes
	answer  string
}

// speed returns the throughput in GB (10^9 bytes) per second.
func (c *contender) speed(m measured) float64 { return float64(c.file.Bytes) / m.seconds / 1e9 }

// run runs the contender once.
func (c *contender) run() (measured, error) {
	cmd := exec.Command(c.args[0], append(c.args[1:len(c.args):len(c.args)], c.file.Path)...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if c.report {
		cmd.Stdout = nil
	}
	// threads of numerical libraries; DuckDB and Go detect the cores themselves
	cmd.Env = append(os.Environ(), "POLARS_MAX_THREADS="+strconv.Itoa(c.cores))
	start := time.Now()
	err := contest.OnCores(c.cores, cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	m := measured{wall: time.Since(start)}
	var exit *exec.ExitError
	if err != nil && !(c.report && errors.As(err, &exit) && exit.ExitCode() == 1) {
		return m, fmt.Errorf("%s: %w: %s", c.name, err, errs.String())
	}
	m.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	m.rss = contest.MaxRSS(cmd.ProcessState)
	m.seconds = m.wall.Seconds()
	if answer, seconds, ok := strings.Cut(strings.TrimSpace(out.String()), " seconds="); ok {
		m.answer = answer
		if m.seconds, err = strconv.ParseFloat(seconds, 64); err != nil {
			return m, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return m, nil
}

// Builds of homenode, and the contenders that targets refer to.
const (
	encodingCSV    = "Go encoding/csv"
	polars         = "polars read_csv(columns=…)"
	duckDB         = "DuckDB read_csv(columns=…)"
	duckDBAlone    = "DuckDB read_csv, which finds out the types"
	esxDoctorIndex = "esx-doctor, index alone"
	esxDoctorAll   = "esx-doctor, index and series"
	readAlone      = "read(2) alone, in blocks of 256 KiB"
	findNewlines   = "the same, find each newline (memchr)"
)

// captures are the generated files.
type captures struct {
	file, long, duck *made // duck is file unless a shorter one is requested
}

// A lineup is the list of contenders.
type lineup struct {
	cores int // maximum
	files captures
	all   []*contender
}

// add adds c once for each number of cores, or only for one core.
func (l *lineup) add(c contender, single bool) {
	for c.cores = 1; c.cores <= l.cores && (c.cores == 1 || !single); c.cores++ {
		one := c
		if one.file == nil {
			one.file = l.files.file
		}
		l.all = append(l.all, &one)
	}
}

// contenders returns the contenders. folder contains the programs that are built for it.
func contenders(s *settings, files captures, self, folder string) ([]*contender, error) {
	l := &lineup{cores: min(s.cores, 2), files: files}
	l.homenode(self, s.homenode)
	l.add(contender{name: encodingCSV, args: []string{self, "answer", "csv"}}, true)
	l.add(contender{name: encodingCSV, group: everything, args: []string{self, "answer", "csv-all"}}, true)
	if s.python != "" {
		script := filepath.Join(folder, "question.py")
		if err := os.WriteFile(script, questionPython, 0o600); err != nil {
			return nil, err
		}
		l.add(contender{name: polars, args: []string{s.python, script, "polars"}}, false)
		l.add(contender{name: polars, group: everything, slow: true, args: []string{s.python, script, "polars-all"}}, false)
		l.add(contender{name: duckDB, slow: true, file: files.duck, args: []string{s.python, script, "duckdb"}}, false)
		l.add(contender{name: duckDBAlone, slow: true, file: files.duck, args: []string{s.python, script, "duckdb-alone"}}, false)
	}
	if s.esxDoctor != "" {
		program, err := buildEsxDoctor(s.esxDoctor, folder)
		if err != nil {
			return nil, err
		}
		l.add(contender{name: esxDoctorIndex, slow: true, args: []string{program, "capturebench", "index"}}, true)
		l.add(contender{name: esxDoctorAll, slow: true, args: []string{program, "capturebench", "series"}}, true)
	}
	for _, c := range []struct{ name, limit string }{
		{readAlone, "read"}, {"the same, add up 64-bit words", "words"}, {findNewlines, "find"},
		{"the same, count newlines", "newlines"}, {"the same, count commas", "commas"},
	} {
		l.add(contender{name: c.name, group: ceiling, args: []string{self, "limit", c.limit}}, false)
	}
	return l.all, nil
}

// homenode adds the reader alone, ticks, all columns, and the whole command, as far as the programs exist.
func (l *lineup) homenode(self, homenode string) {
	if self != "" {
		l.add(contender{name: readerAlone, args: []string{self, "answer", "reader"}}, false)
		l.add(contender{name: readerTicks, args: []string{self, "answer", "ticks"}}, false)
		l.add(contender{name: readerAlone, group: everything, args: []string{self, "answer", "all"}}, false)
	}
	if homenode != "" {
		l.add(contender{name: wholeCommand, group: command, report: true, args: []string{homenode, "capture", "--format", "json"}}, false)
	}
	if l.files.long == nil {
		return
	}
	if self != "" {
		l.add(contender{name: readerAlone, group: long, file: l.files.long, args: []string{self, "answer", "reader"}}, false)
	}
	if homenode != "" {
		l.add(contender{name: wholeCommand, group: long, report: true, file: l.files.long, args: []string{homenode, "capture", "--format", "json"}}, false)
	}
}

// Ways to use homenode.
const (
	readerAlone  = "homenode's reader"
	readerTicks  = "homenode's ticks"
	wholeCommand = "homenode capture"
)
