package ask_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/ask/change"
	"example.org/homenode/ask/compare"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/ask/recording"
	"example.org/homenode/ask/size"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/open"
	"example.org/homenode/source/scenario/given"
)

// A leaving context ends when it is looked at for the time that is said, and counts how often it is looked at, and after its end.
type leaving struct {
	context.Context
	leave        context.CancelFunc
	at           int64 // 0 for never
	looks, after atomic.Int64
}

func newLeaving(t *testing.T, at int64) *leaving {
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	return &leaving{Context: ctx, leave: leave, at: at}
}

// Err is what long work asks.
func (l *leaving) Err() error {
	if l.looks.Add(1) == l.at {
		l.leave()
	}
	err := l.Context.Err()
	if err != nil {
		l.after.Add(1)
	}
	return err
}

// largeFleet has VMs of many shapes and settings, with findings that need plans.
func largeFleet(t *testing.T, vms int) *numa.Fleet {
	t.Helper()
	hosts := vms / 20
	var b strings.Builder
	fmt.Fprintf(&b, "release 7.0U3\ncluster prod\nhost esx[001-%03d] nodes=2 cores=18 memory=768GB\nhost old[001-%03d] nodes=2 cores=12 memory=384GB\n", hosts, hosts/4)
	for i := range vms {
		fmt.Fprintf(&b, "vm vm%05d host=esx%03d vcpus=%d coresPerSocket=%d memory=%dGB hotAdd=%s hw=%d\n", i, i%hosts+1,
			[]int{2, 4, 8, 16, 24}[i%5], []int{1, 2, 1, 2, 4}[i%5], []int{8, 16, 64, 384, 40}[i%5], []string{"on", "off"}[i%2], 13+i%5)
	}
	return given.Fleet(t, "large", []byte(b.String()))
}

// entries are all questions.
func entries() []*ask.Entry {
	return slices.Concat(fleet.Entries, change.Entries, recording.Entries, size.Entries, []*ask.Entry{compare.Entry})
}

// someMore is how often the context may be looked at after its end: whoever works at the same time, and each caller above, looks once.
const someMore = 64

// commandAlone are the questions that no process answers which others use, and why.
var commandAlone = map[string]string{
	"move":           "it writes files",
	"optimise":       "it takes minutes",
	"size rightsize": "it reads captures of weeks",
	"size calibrate": "it reads results of benchmarks and writes a file",
}

// TestBudgets holds every question to a budget: it bounds what a process answers that others use, or no such process answers.
func TestBudgets(t *testing.T) {
	for _, e := range entries() {
		if _, alone := commandAlone[e.Name]; alone != (e.Budget.Steps == 0) {
			t.Errorf("%s: a budget of %d steps; on the list of commands alone: %v", e.Name, e.Budget.Steps, alone)
		}
		q := e.Ask()
		i := slices.IndexFunc(ask.Fields(q), func(f *ask.Field) bool { return f.Name == "source" || f.Name == "scenario" })
		if _, own := q.(ask.Weighed); i < 0 || own && e.Name != "simulate" || e.Budget.Steps == 0 {
			continue
		}
		if err := ask.Fields(q)[i].Set("SOURCE"); err != nil {
			t.Fatal(err)
		}
		huge := &ask.Held{Sources: []string{"SOURCE"}, Result: &rules.Result{Fleet: &numa.Fleet{VMs: make([]numa.VM, e.Budget.Steps+1)}}}
		if _, err := e.Answer(t.Context(), q, &ask.Env{Shared: true, Held: huge}); err == nil || !strings.Contains(err.Error(), "at most; the command has no limit") {
			t.Errorf("%s of a fleet beyond its budget: %v", e.Name, err)
		}
	}
}

// TestEnds asks what takes long of a large fleet: when the asker leaves in the middle, the question ends there with the error of its context.
func TestEnds(t *testing.T) {
	const vms = 400
	f := largeFleet(t, vms)
	held := &ask.Held{Sources: []string{"SOURCE"}, Result: rules.Run(f, rules.Options{})}
	for _, tt := range []struct {
		name, asked string
		least       int64 // how often the context is looked at
	}{
		{"assess", "source=SOURCE&choose=F-18", 2 * vms},
		{"assess", "source=SOURCE&what-if=vm%3D* hotAdd%3Doff", 3 * vms},
		{"assess", "source=SOURCE&select=vcpus > 8", vms},
		{"explain", "source=SOURCE&vm=vm0000*&choose=F-18", 2 * vms},
		{"explain", "source=SOURCE&vm=vm00001&vcpus=8", 2 * vms},
		{"fix", "source=SOURCE", 4 * vms},
		{"fix", "source=SOURCE&set=numa.vcpu.preferHT%3DTRUE", 4 * vms},
		{"move", "source=SOURCE&hosts=2x32c/1TB*60", 2 * vms},
		{"simulate", "scenario=SOURCE&hours=0.2", vms},
		{"optimise", "scenario=SOURCE&cluster=prod&hours=0.2", 2 * vms},
		{"size fit", "vm=24x192GB*2000&hosts=2x32c/1TB,2x48c/1.5TB", vms},
		{"size upgrade", "source=SOURCE&release=9.0&hardware=22", 4 * vms},
		{"compare", "a=https://before&b=https://after", 2 * vms},
		{"explain", "source=SOURCE&cluster=prod&choose=F-18", 2 * vms},
		{"size rightsize", "file=demo&fleet=SOURCE", 2 * vms},
	} {
		t.Run(tt.name+" "+tt.asked, func(t *testing.T) {
			t.Parallel()
			answer := func(ctx context.Context) error {
				e := &ask.Env{Held: held, Shared: true, Today: time.Now()}
				if tt.name == "compare" || tt.name == "size rightsize" { // of two sources, of captures
					e = &ask.Env{Today: time.Now(), Open: func(context.Context, []string, open.Options) (*numa.Fleet, []numa.Note, error) { return f, nil, nil }}
				}
				entry := ask.Named(entries(), tt.name)
				q := entry.Ask()
				asked, err := url.ParseQuery(tt.asked)
				if err != nil {
					t.Fatal(err)
				}
				for _, field := range ask.Fields(q) {
					for _, v := range asked[field.Name] {
						if err := field.Set(v); err != nil {
							t.Fatal(err)
						}
					}
				}
				_, err = q.Answer(ctx, e) // the budget is not asked: its own context would be looked at
				return err
			}
			stays := newLeaving(t, 0)
			if err := answer(stays); err != nil {
				t.Fatal(err)
			}
			all := stays.looks.Load()
			if all < tt.least {
				t.Fatalf("the context is looked at %d times, want %d or more", all, tt.least)
			}
			for part := range int64(4) {
				ctx := newLeaving(t, 1+part*all/4)
				if err := answer(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("the asker leaves at %d of %d: error %v", ctx.at, all, err)
				}
				if n := ctx.after.Load(); n > someMore {
					t.Errorf("the asker leaves at %d of %d: the context is looked at %d times after", ctx.at, all, n)
				}
			}
		})
	}
}
