//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/cmd/bench/contest"
	"example.org/homenode/esxi/scheduler/benchstory"
)

// A contender is one simulation of one fleet.
type contender struct {
	name  string
	group group
	cores int
	slow  bool // only runs in the slow rounds
	args  []string
	runs  []measured
}

// A group is a set of contenders in one table.
type group int

const (
	kernel group = iota // kinds of days
	fleet               // the large fleet
	traced              // with a trace
	sparse              // compared with CloudSim Plus, at its default step of 300 s
	dense               // compared with CloudSim Plus, at steps of 2 s
	groups
)

// A measured is one run.
type measured struct {
	simulated
	updates int64 // VMs × steps
	cpu     time.Duration
	rss     int64  // largest resident memory in bytes
	version string // of CloudSim Plus
}

// Fleets of the kernel, and fleets for CloudSim Plus. It is so slow at steps of 2 s that a few
// hours are enough.
const (
	kernelHosts  = 40
	kernelVMs    = 50 * kernelHosts
	sharedHosts  = 100
	sharedVMs    = 1000
	sparseStep   = 300
	denseStep    = 2
	denseHours   = 4
	denseSeconds = denseHours * 3600
	wholeDay     = 24 * 3600
)

// judged is the contender that does all that homenode simulate does, but print.
const judged = "the same, priced and judged"

// contenders returns the contenders.
func contenders(s *settings, self string) (all []*contender) {
	add := func(name string, g group, cores int, slow bool, flags ...string) {
		args := append([]string{self, "run", "-hosts", strconv.Itoa(kernelHosts), "-vms", strconv.Itoa(kernelVMs), "-workers", strconv.Itoa(cores)}, flags...)
		all = append(all, &contender{name: name, group: g, cores: cores, slow: slow, args: args})
	}
	for cores := 1; cores <= 2; cores++ {
		for _, kind := range benchstory.Kinds {
			add(string(kind), kernel, cores, false, "-kind", string(kind))
		}
		add("a large fleet", fleet, cores, true, "-hosts", strconv.Itoa(s.hosts), "-vms", strconv.Itoa(s.vms), "-seconds", strconv.Itoa(s.hours*3600))
		for _, t := range []struct{ name, flag string }{{"no trace", ""}, {"a tick every 20 s", "ticks"}, {"the same, recorded", "record"}, {judged, "judge"}} {
			add(t.name, traced, cores, false, "-trace", t.flag)
		}
	}
	shared := []string{"-kind", "shared", "-hosts", strconv.Itoa(sharedHosts), "-vms", strconv.Itoa(sharedVMs), "-seconds"}
	add("homenode, steps of 2 s", sparse, 1, true, append(shared, strconv.Itoa(wholeDay))...)
	add("homenode, steps of 2 s", dense, 1, true, append(shared, strconv.Itoa(denseSeconds))...)
	if s.cloudsim == "" {
		return all
	}
	for _, c := range []struct {
		group         group
		seconds, step int
	}{{sparse, wholeDay, sparseStep}, {dense, denseSeconds, denseStep}} {
		all = append(all, &contender{
			name: fmt.Sprintf("CloudSim Plus, steps of %d s", c.step), group: c.group, cores: 2, slow: true,
			args: []string{s.cloudsim, "-hosts", strconv.Itoa(sharedHosts), "-vms", strconv.Itoa(sharedVMs),
				"-seconds", strconv.Itoa(c.seconds), "-interval", strconv.Itoa(c.step)},
		})
	}
	return all
}

// measure runs the contenders in turns and prints the results.
func measure(s *settings) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	all := contenders(s, self)
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
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.runs = append(c.runs, m)
		}
	}
	if err := agree(all); err != nil {
		return err
	}
	return write(os.Stdout, s, all)
}

// run runs the contender once.
func (c *contender) run() (m measured, err error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = contest.OnCores(c.cores, cmd.Start); err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return m, fmt.Errorf("%w: %s", err, errs.String())
	}
	if m.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); strings.HasPrefix(c.name, "CloudSim") {
		err = m.readCloudSim(out.String())
	} else {
		err = json.Unmarshal([]byte(out.String()), &m.simulated)
		m.updates = int64(m.VMs) * m.Steps
	}
	m.rss = contest.MaxRSS(cmd.ProcessState)
	return m, err
}

// readCloudSim parses the line that CloudSim Plus prints for a round.
func (m *measured) readCloudSim(line string) error {
	var c struct {
		Simulator   string  `json:"simulator"`
		Setup       float64 `json:"setup_seconds"`
		Wall        float64 `json:"wall_seconds"`
		Updates     int64   `json:"vm_updates"`
		Utilisation float64 `json:"mean_host_utilisation"`
		Steps       int64   `json:"steps"`
	}
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		return fmt.Errorf("%w in %q", err, line)
	}
	m.version, m.Setup, m.Seconds, m.updates, m.Utilisation, m.Steps = c.Simulator, c.Setup, c.Wall, c.Updates, c.Utilisation, c.Steps
	return nil
}

// agree checks that contenders with the same fleet, and all runs of a contender, have the same
// mean utilisation.
func agree(all []*contender) error {
	first := map[group]*contender{}
	for _, c := range all {
		for _, m := range c.runs {
			if want := c.runs[0]; m.Utilisation != want.Utilisation || m.updates != want.updates || m.Moves != want.Moves {
				return fmt.Errorf("%s: two runs differ: %+v and %+v", c.name, want, m)
			}
		}
		if c.group != sparse && c.group != dense {
			continue
		}
		if first[c.group] == nil {
			first[c.group] = c
		}
		if a, b := c.runs[0].Utilisation, first[c.group].runs[0].Utilisation; !(math.Abs(a-b) < 1e-9) {
			return fmt.Errorf("%s comes to a mean utilisation of %.12f, but %s to %.12f", c.name, a, first[c.group].name, b)
		}
	}
	return nil
}

// median returns the run with the median time; for an even number the faster of the middle two.
func (c *contender) median() measured {
	sorted := slices.SortedFunc(slices.Values(c.runs), func(a, b measured) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return sorted[(len(sorted)-1)/2]
}
