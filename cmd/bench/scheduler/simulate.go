//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/esxi/scheduler/benchstory"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	rulesimulate "example.org/homenode/rules/simulate"
)

// A simulated is the result that the process of one simulation prints.
type simulated struct {
	ClientTicks int64
	VMs, Hosts  int
	Steps       int64
	Setup       float64 // seconds: placing the VMs
	Seconds     float64 // of the simulation itself, including the sums of every VM
	StateBytes  int64   // heap size of the world after the run, without the story
	Ticks       int64   // of the trace
	Utilisation float64 // mean of the cores of all hosts
	Moves       int64
}

// simulate is the process that runs one story: run [flags].
func simulate(args []string) (*simulated, error) {
	fl := flag.NewFlagSet("run", flag.ContinueOnError)
	kind := fl.String("kind", string(benchstory.Typical), "kind of the day; shared for the fleet of CloudSim Plus")
	hosts := fl.Int("hosts", 20, "hosts")
	vms := fl.Int("vms", 1000, "VMs")
	seconds := fl.Int("seconds", 24*3600, "simulated")
	workers := fl.Int("workers", 1, "hosts simulated at the same time")
	trace := fl.String("trace", "", "ticks: a tick every 20 s; record: and record it; judge: all that homenode simulate does with a story but print")
	shared := benchstory.Shared{Cores: 64, VCPUs: 4, Hold: 300}
	if err := fl.Parse(args); err != nil {
		return nil, err
	}
	var s *numa.Story
	if *kind == "shared" {
		shared.Hosts, shared.VMs, shared.Seconds = *hosts, *vms, *seconds
		s = shared.Story()
	} else {
		s = benchstory.Story(benchstory.Kind(*kind), *hosts, *vms, time.Duration(*seconds)*time.Second)
	}
	m := &simulated{VMs: *vms, Hosts: *hosts, Steps: int64(s.Length / numa.Step)}
	if *trace == "judge" {
		return m, m.judge(s, *workers)
	}
	o := scheduler.Options{Workers: *workers, Observe: m.observe(*trace, s)}
	return m, m.time(s, o)
}

// judge runs the story and judges it.
func (m *simulated) judge(s *numa.Story, workers int) error {
	before, start := heap(), time.Now()
	r, err := rulesimulate.Run(context.Background(), s, rulesimulate.Options{Workers: workers})
	if err != nil {
		return err
	}
	m.Seconds = time.Since(start).Seconds()
	m.count(s, r.Outcome)
	m.StateBytes = heap() - before
	runtime.KeepAlive(r)
	return nil
}

// time runs the story.
func (m *simulated) time(s *numa.Story, o scheduler.Options) error {
	before := heap()
	start := time.Now()
	w, err := scheduler.New(s, o)
	if err != nil {
		return err
	}
	placed := time.Now()
	m.Setup = placed.Sub(start).Seconds()
	if err := w.RunTo(context.Background(), s.Length); err != nil {
		return err
	}
	out := w.Outcome()
	m.Seconds = time.Since(placed).Seconds()
	if len(out.Problems) > 0 {
		return fmt.Errorf("%v", out.Problems[0])
	}
	for i := range out.VMs {
		if out.VMs[i].Steps != m.Steps {
			return errors.New("a VM did not run all the time")
		}
	}
	m.count(s, out)
	out = nil
	m.StateBytes = heap() - before
	runtime.KeepAlive(w)
	runtime.KeepAlive(s)
	return nil
}

// count sets the counts of the outcome of the story.
func (m *simulated) count(s *numa.Story, out *scheduler.Outcome) {
	m.ClientTicks = out.ClientTicks
	run := int64(0)
	for i := range out.VMs {
		run += out.VMs[i].Run
		m.Moves += out.VMs[i].Moves.All
	}
	cores := 0
	for i := range s.Fleet.Hosts {
		for _, n := range s.Fleet.Hosts[i].Nodes.Value {
			cores += n.Cores
		}
	}
	m.Utilisation = float64(run) / 1e4 / float64(m.Steps) / float64(cores)
}

// heap returns the live heap in bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// observe returns the function that receives the ticks; nil without a trace. The ticks of a
// host arrive in order.
func (m *simulated) observe(trace string, s *numa.Story) func(int, *numa.Tick, *scheduler.Look) {
	if trace == "" {
		return nil
	}
	recorders := make([]*capture.Recorder, len(s.Fleet.Hosts))
	for i := range recorders {
		recorders[i] = capture.NewRecorder(rules.CaptureOptions(nil))
		recorders[i].Open(s.Name, "simulation")
	}
	m.Ticks = int64(len(recorders)) * (int64(s.Length/s.Every) + 1)
	return func(host int, t *numa.Tick, _ *scheduler.Look) {
		if trace == "record" {
			recorders[host].Add(t)
		}
	}
}
