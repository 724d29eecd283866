//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// measure generates the captures, runs the contenders in turns and prints the results.
func measure(s *settings) (err error) {
	folder, err := os.MkdirTemp(s.folder, "capturebench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	files, err := generateAll(s, self, folder)
	if err != nil {
		return err
	}
	all, err := contenders(s, files, self, folder)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(c *contender) bool { return !strings.Contains(strings.ToLower(c.name), s.only) })
	if len(all) == 0 {
		return fmt.Errorf("-only %q: no contender of that name", s.only)
	}
	for round := range max(s.rounds, s.slowRounds) {
		for _, c := range all {
			rounds := s.rounds
			if c.slow {
				rounds = s.slowRounds
			}
			if round >= rounds {
				continue
			}
			fmt.Fprintf(os.Stderr, "round %d: %s, cores: %d\n", round+1, c.name, c.cores)
			m, err := c.run()
			if err != nil {
				return err
			}
			c.runs = append(c.runs, m)
		}
	}
	if err := agree(all); err != nil {
		return err
	}
	return write(os.Stdout, s, files, all)
}

// generateAll writes the captures and reads them once, so that they are in the page cache for
// all contenders. A separate process writes them: the peak memory of this process would count
// as memory of the contenders that it starts.
func generateAll(s *settings, self, folder string) (f captures, err error) {
	for _, want := range []struct {
		to   **made
		name string
		mb   int64
	}{{&f.file, "capture.csv", s.megabytes}, {&f.long, "long.csv", s.longMB}, {&f.duck, "duckdb.csv", s.duckMB}} {
		if want.mb == 0 {
			continue
		}
		path := filepath.Join(folder, want.name)
		cmd := exec.Command(self, "generate", "-mb", strconv.FormatInt(want.mb, 10), "-columns", strconv.Itoa(s.columns), path)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return f, fmt.Errorf("generate a capture: %w", err)
		}
		if err := json.Unmarshal(out, want.to); err != nil {
			return f, err
		}
		if err := warm(path); err != nil {
			return f, err
		}
	}
	return f, nil
}

func warm(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, f)
	return errors.Join(err, f.Close())
}

// agree checks that all answers about a file are equal. It ignores home nodes for contenders
// that cannot read them. An index only knows the number of rows.
func agree(all []*contender) error {
	type asked struct {
		file  *made
		group group
	}
	first := map[asked]*contender{}
	for _, c := range all {
		if c.report || c.group == ceiling || c.name == esxDoctorIndex {
			continue
		}
		key := asked{c.file, c.group}
		for _, m := range c.runs {
			if m.answer == "" {
				return fmt.Errorf("%s gave no answer", c.name)
			}
			if first[key] == nil {
				first[key] = c
			}
			want := first[key].runs[0].answer
			if c.name == esxDoctorAll {
				want = want[:strings.LastIndex(want, "=")+1] + "-"
			}
			if m.answer != want {
				return fmt.Errorf("%s answers %s, but %s %s", c.name, m.answer, first[key].name, want)
			}
		}
	}
	return nil
}

// median returns the run with the median time; for an even number the faster of the middle two.
func (c *contender) median() measured {
	sorted := slices.SortedFunc(slices.Values(c.runs), func(a, b measured) int { return cmp.Compare(a.seconds, b.seconds) })
	return sorted[(len(sorted)-1)/2]
}

// extremes returns the slowest and the fastest speed.
func (c *contender) extremes() (slowest, fastest float64) {
	slowest, fastest = c.speed(c.runs[0]), c.speed(c.runs[0])
	for _, m := range c.runs[1:] {
		slowest, fastest = min(slowest, c.speed(m)), max(fastest, c.speed(m))
	}
	return slowest, fastest
}

// mostRSS returns the highest peak memory of all runs.
func (c *contender) mostRSS() (most int64) {
	for _, m := range c.runs {
		most = max(most, m.rss)
	}
	return most
}
