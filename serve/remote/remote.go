// Package remote sends the samples of a store to other databases by Prometheus's remote write. The store is its queue: for each host it
// remembers the time up to which the target has everything, so a target that is down for days costs nothing.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/model"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/serve/metrics"
	"example.org/homenode/serve/post"
)

// A Target receives samples by remote write, version 1.
type Target struct {
	post.Address `yaml:",inline"`
	Name         string            `yaml:"name"`   // for its cursor and metrics; default: host and port of the URL
	Labels       map[string]string `yaml:"labels"` // added to every series, such as collector: a
}

var (
	nameForm  = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9.:_-]*$`)
	labelForm = pattern.Of(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
)

// ours are the labels of samples.
var ours = []string{"vcenter", "cluster", "host", "vm", "vm_id", "gid", "node", "rule", "severity", "topic", "to", "result", "reason"}

// Check validates and completes the target. Errors never contain a possible secret.
func (t *Target) Check() error {
	host, err := t.Address.Check()
	if err != nil {
		return err
	}
	if t.Name = cmp.Or(t.Name, host); !nameForm.MatchString(t.Name) {
		return errors.New("name: want letters, digits, dots, dashes and colons")
	}
	for name := range t.Labels {
		if !labelForm.MatchString(name) || slices.Contains(ours, name) {
			return fmt.Errorf("labels: found %q, want a name that samples do not have", name)
		}
	}
	return nil
}

// A Sender sends to one Target.
type Sender struct {
	target Target
	file   string
	late   time.Duration

	mu    sync.Mutex
	marks marks
	state State
}

// marks is the content of a Sender's file.
type marks struct {
	From  int64            `json:"from"`  // ms: older samples are not read again
	Hosts map[string]int64 `json:"hosts"` // ms by vCenter and host: the target has everything up to this time
	Sum   uint32           `json:"sum"`   // checksum of the marks
}

// A State is the status of a Sender.
type State struct {
	To     string    `json:"to"`
	Begin  time.Time `json:"begin,omitzero"` // set if there were no marks: a new target receives everything from then on
	Until  time.Time `json:"until,omitzero"` // the target has everything up to this time
	Sent   int64     `json:"sent"`           // samples
	Failed int64     `json:"failed"`         // samples that the target refused
	Error  string    `json:"error,omitempty"`
}

// New returns the Sender of a target, with its marks in a folder. It does not wait for hosts whose ticks are later than others by more
// than late. A new target receives the samples since begin. So does a target with damaged marks, which are set aside and reported to
// lost.
func New(t Target, dir string, late time.Duration, begin time.Time, lost func(store.Loss)) (*Sender, error) {
	name := strings.ReplaceAll(t.Name, ":", "+") // Windows forbids colons in file names, and names of targets have no plus
	s := &Sender{target: t, file: filepath.Join(dir, "remote-"+name+".json"), late: late}
	s.state.To = t.Name
	var b []byte
	err := errors.New("it is no file")
	if !store.Misplaced(s.file) {
		b, err = bounded.File(s.file, 64<<20)
	}
	if err == nil {
		if s.marks, err = readMarks(b); err == nil {
			return s, nil
		}
	}
	switch {
	case errors.Is(err, os.ErrPermission):
		return nil, err
	case !errors.Is(err, os.ErrNotExist):
		to, err := store.SetAside(s.file)
		if err != nil {
			return nil, err
		}
		lost(store.Loss{File: to, To: begin.UTC().Truncate(time.Second), Samples: -1, Bytes: int64(len(b))})
	}
	s.marks = marks{From: begin.UnixMilli(), Hosts: map[string]int64{}}
	s.state.Begin = begin
	return s, nil
}

// sum returns the checksum of the marks.
func (m *marks) sum() uint32 {
	own := *m
	own.Sum = 0
	b, _ := json.Marshal(&own) // numbers and names cannot fail
	return crc32.ChecksumIEEE(b)
}

// readMarks reads the output of save.
func readMarks(b []byte) (m marks, err error) {
	if err = json.Unmarshal(b, &m); err == nil && (m.Hosts == nil || m.Sum != m.sum()) {
		err = errors.New("its checksum differs")
	}
	if again, _ := json.Marshal(&m); err == nil && string(again)+"\n" != string(b) { // numbers and names cannot fail
		err = errors.New("it is not as it was written")
	}
	return m, err
}

// State returns the status.
func (s *Sender) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Timing and sizes of sending.
const (
	window      = time.Minute // of samples that are read at once
	sendTimeout = 30 * time.Second
	longestRest = time.Minute
	batch       = 10_000 // samples of a request
)

// Run sends until ctx ends; open returns the store, or nil while it is not open.
func (s *Sender) Run(ctx context.Context, open func() *store.Store, every time.Duration) {
	for ctx.Err() == nil {
		if from := open(); from != nil {
			if err := s.Pass(ctx, from, time.Now()); err != nil && ctx.Err() == nil {
				s.fail(err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

func (s *Sender) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Error = err.Error()
}

// Pass sends the samples up to now that the target does not have, in time order.
func (s *Sender) Pass(ctx context.Context, from *store.Store, now time.Time) error {
	for at := s.marks.From; at < now.UnixMilli() && ctx.Err() == nil; at += window.Milliseconds() {
		until := min(at+window.Milliseconds(), now.UnixMilli())
		if err := s.window(ctx, from, at, until); err != nil {
			return err
		}
		// Late samples are looked for again in the next pass.
		if done := min(until, now.Add(-s.late).UnixMilli()); done > s.marks.From {
			s.marks.From = done
		}
		if err := s.save(); err != nil {
			return err
		}
		s.mu.Lock()
		s.state.Until, s.state.Error = time.UnixMilli(until), ""
		s.mu.Unlock()
	}
	return ctx.Err()
}

// save writes the marks, without outdated ones.
func (s *Sender) save() error {
	maps.DeleteFunc(s.marks.Hosts, func(_ string, at int64) bool { return at <= s.marks.From })
	s.marks.Sum = s.marks.sum()
	return atomicfile.Write(s.file, func(w io.Writer) error { return json.NewEncoder(w).Encode(&s.marks) })
}

// collector is the key of the collector's own samples, which come together and have its clock's time.
const collector = "\x00"

// ofHosts returns the names of samples with the time of a host.
var ofHosts = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for i := range metrics.Families {
		names[metrics.Families[i].Name] = true
	}
	return names
})

// window sends the samples after from, up to until, that the target does not have.
func (s *Sender) window(ctx context.Context, in *store.Store, from, until int64) error {
	marks := maps.Clone(s.marks.Hosts)
	var (
		all []series
		n   int
	)
	extra := slices.Sorted(maps.Keys(s.target.Labels))
	flush := func() error {
		if n == 0 {
			return nil
		}
		err := s.deliver(ctx, all)
		all, n = nil, 0
		return err
	}
	err := in.Each(ctx, time.UnixMilli(from+1), time.UnixMilli(until), func(x *store.Range) error {
		host := collector
		if ofHosts()[x.Label(model.MetricNameLabel)] {
			host = x.Label("vcenter") + "\x00" + x.Label("host")
		}
		mark := s.marks.Hosts[host]
		var out []sample
		for x.Next() {
			at, number := x.At()
			if at <= mark {
				continue
			}
			out = append(out, sample{at, number})
			marks[host] = max(marks[host], at)
		}
		if err := x.Err(); err != nil || len(out) == 0 {
			return err
		}
		one := series{samples: out}
		x.Labels(func(name, value string) { one.labels = append(one.labels, label{name, value}) })
		for _, name := range extra {
			one.labels = append(one.labels, label{name, s.target.Labels[name]})
		}
		if len(extra) > 0 {
			slices.SortFunc(one.labels, func(a, b label) int { return cmp.Compare(a.name, b.name) })
		}
		all = append(all, one)
		if n += len(out); n >= batch {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		s.marks.Hosts = marks
	}
	return err
}

// deliver sends until the target accepts or refuses the samples.
func (s *Sender) deliver(ctx context.Context, all []series) error {
	rest := post.Rest{Most: longestRest}
	for {
		err := s.post(ctx, all)
		switch {
		case err == nil:
			s.mu.Lock()
			s.state.Sent += int64(samples(all))
			s.state.Error = ""
			s.mu.Unlock()
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, post.ErrRefused):
			return s.apart(ctx, all, err)
		}
		s.fail(err)
		rest.Wait(ctx, err)
	}
}

// apart resends refused samples in halves, down to the offending sample: a target refuses all because of one.
func (s *Sender) apart(ctx context.Context, all []series, why error) error {
	one := all
	switch {
	case len(all) > 1:
		half := len(all) / 2
		if err := s.deliver(ctx, all[:half]); err != nil {
			return err
		}
		return s.deliver(ctx, all[half:])
	case len(one[0].samples) > 1:
		for _, x := range one[0].samples {
			if err := s.deliver(ctx, []series{{one[0].labels, []sample{x}}}); err != nil {
				return err
			}
		}
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Failed++
	s.state.Error = why.Error()
	return nil
}

func samples(all []series) (n int) {
	for i := range all {
		n += len(all[i].samples)
	}
	return n
}

// post sends one request.
func (s *Sender) post(ctx context.Context, all []series) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return s.target.Send(ctx, map[string]string{"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0"}, request(all))
}
