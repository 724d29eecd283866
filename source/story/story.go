// Package story parses stories written by hand: a scenario, which describes a fleet, with a clock:
// the load of its VMs, and timed events. The simulation of the NUMA scheduler runs a story; tests,
// published experiments and the demo are stories.
//
//	release 6.0
//	host esx01 nodes=2 cores=12 nodeMemory=132000MB
//	vm   cli3 vcpus=12 memory=110GB
//	vm   cli  vcpus=24 memory=48GB power=off
//
//	run  3h every=20s start=2018-01-10T10:00:00Z seed=1
//	used esx01 node=1 memory=4GB
//	load cli3 cpu=2% memory=100GB over=1m active=0%
//	load *    cpu=5..60% peak=14:00
//	talk cli cli3 rate=800
//
//	at 42m   power-on cli          # a remark of the author
//	at 1h42m load cli cpu=90% memory=24GB over=5m
//	at 12:14 power-cycle cli
//
// Lines of the fleet are those of package scenario. Unstated parts of a load are assumed, and
// marked as such. docs/reference/scenarios.md lists every word.
package story

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/word"
)

// The first words of lines: those of a fleet, which package scenario parses, and those of a story.
var (
	fleetLines = []string{"release", "cluster", "host", "vm", "seen"}
	storyLines = []string{"run", "used", "load", "talk", "placed", "at"}
)

// Read parses the story in data, a txtar archive with a section "-- in --" or the lines alone; name
// is used in errors and origins. Errors with a place are a *numa.SyntaxError.
func Read(name string, data []byte) (*numa.Story, error) {
	text, first, err := word.Section(name, data)
	if err != nil {
		return nil, err
	}
	// Each parser gets its own lines, in their places.
	var fleetText strings.Builder
	fleetText.WriteString(strings.Repeat("\n", first-1))
	var lines []line
	number := first
	for raw := range strings.Lines(string(text)) {
		one := strings.TrimRight(raw, "\r\n")
		switch key := firstWord(one); {
		case key == "" || slices.Contains(fleetLines, key):
			fleetText.WriteString(one)
		case slices.Contains(storyLines, key):
			lines = append(lines, line{file: name, number: number, text: one})
		default:
			return nil, unknownLine(&line{file: name, number: number, text: one}, key)
		}
		fleetText.WriteByte('\n')
		number++
	}
	fleet, err := scenario.Read(name, []byte(fleetText.String()))
	if err != nil {
		return nil, err
	}
	s := Of(fleet, Defaults{})
	p := newParser(s)
	if err := p.take(lines); err != nil {
		return nil, err
	}
	return s, p.finish()
}

// firstWord returns the first word of a line; "" for an empty line or a comment.
func firstWord(text string) string {
	text = strings.TrimLeft(text, " \t")
	if i := strings.IndexAny(text, " \t=#"); i >= 0 {
		text = text[:i]
	}
	return text
}

func unknownLine(l *line, key string) error {
	if _, err := word.Split(l.text); err != nil {
		return l.located(err)
	}
	col := 1 + strings.Index(l.text, key)
	known := slices.Concat(fleetLines, storyLines)
	if near, ok := word.Meant(key, known); ok {
		return l.errorf(col, "found %q, is %s meant?", word.Short(key), near)
	}
	if _, ok := kindNamed(key); ok {
		return l.errorf(col, "found %q, want when it happens before it: at TIME %s …", key, key)
	}
	return l.errorf(col, "found %q, want one of %s", word.Short(key), strings.Join(known, ", "))
}

// Is reports whether the text is a story: it describes a host, as a scenario does, and has a line
// that only stories have.
func Is(data []byte) bool {
	text, _, err := word.Section("", data)
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	host, own := false, false
	for raw := range strings.Lines(string(text)) {
		key := firstWord(strings.TrimRight(raw, "\r\n"))
		host = host || key == "host"
		own = own || slices.Contains(storyLines, key)
	}
	return host && own
}

// StatesEvery reports whether the text of a story sets the interval of its ticks, with every= in its run line.
func StatesEvery(data []byte) bool {
	text, _, _ := word.Section("", data)
	for raw := range strings.Lines(string(text)) {
		one := strings.TrimRight(raw, "\r\n")
		if firstWord(one) != "run" {
			continue
		}
		ws, err := word.Split(one)
		return err == nil && slices.ContainsFunc(ws, func(w word.Word) bool { return w.Key == "every" })
	}
	return false
}

// Defaults are values for facts missing in a story. The zero value means the defaults of every text.
type Defaults struct {
	Start  time.Time     // zero for Monday, 5 January 2026, 00:00 UTC
	Length time.Duration // zero for a day
	Every  time.Duration // between two ticks; zero for 20 s, the finest of vCenter
	Seed   uint64
	// Unstated is the load of VMs that no line describes; unknown for an office day.
	Unstated numa.Fact[numa.Load]
}

var defaultStart = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

const (
	defaultLength = 24 * time.Hour
	defaultEvery  = 20 * time.Second
	defaultPeak   = 14 * time.Hour
)

// officeDay is the load of VMs that no line describes. It has no source; it is so low that VMs do
// not wait in a fleet that is not overcommitted.
var officeDay = numa.AssumedFor(numa.Load{
	CPU:    numa.Demand{Low: 0.05, High: 0.25, Peak: defaultPeak, Noise: 0.03},
	Memory: -1,
	Active: 0.25,
}, "the load of the VM is not stated: an office day of 5 to 25 % of each vCPU, most at 14:00 UTC; all memory touched, a quarter of it active, no pages alike")

// Of returns the story of a fleet without events: its VMs run with an assumed load.
func Of(f *numa.Fleet, d Defaults) *numa.Story {
	s := &numa.Story{Name: f.Source, Fleet: f, Start: d.Start.UTC(), Length: d.Length, Every: d.Every, Seed: d.Seed, Unstated: d.Unstated}
	if d.Start.IsZero() {
		s.Start = defaultStart
	}
	s.Length = cmp.Or(s.Length, defaultLength)
	s.Every = cmp.Or(s.Every, defaultEvery)
	if !s.Unstated.Known() {
		s.Unstated = officeDay
	}
	return s
}

// Add adds lines to a story from any source: run, used, load, talk, placed and at lines. They
// change the values they name; everything else stays, and later events change the values in their
// own lines. name is used in errors: a file, or the flag. On an error s is unchanged.
func Add(s *numa.Story, lines, name string) error {
	out := *s
	out.Used, out.Loads, out.Talks, out.Seen = slices.Clone(s.Used), slices.Clone(s.Loads), slices.Clone(s.Talks), slices.Clone(s.Seen)
	p := newParser(&out)
	p.reopen(s)
	var added []line
	number := 1
	for raw := range strings.Lines(lines) {
		l := line{file: name, number: number, text: strings.TrimRight(raw, "\r\n"), added: true}
		number++
		blank := strings.TrimLeft(l.text, " \t")
		switch key := firstWord(l.text); {
		case blank == "" || blank[0] == '#':
		case slices.Contains(fleetLines, key):
			return l.errorf(1+strings.Index(l.text, key), "found a line of a fleet, want one of %s", strings.Join(storyLines, ", "))
		case slices.Contains(storyLines, key):
			added = append(added, l)
		default:
			return unknownLine(&l, key)
		}
	}
	if err := p.take(added); err != nil {
		return err
	}
	if err := p.finish(); err != nil {
		return err
	}
	*s = out
	return nil
}
