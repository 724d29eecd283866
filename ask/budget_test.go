package ask

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
)

// slow takes longer than its budget.
type slow struct {
	Asked
	Files []string `ask:"file"`
	steps int
}

func (s *slow) Answer(ctx context.Context, _ *Env) (*Reply, error) {
	if s.steps < 0 {
		<-ctx.Done()
	}
	return &Reply{}, ctx.Err()
}

func (s *slow) Steps(*Env) (int, string, error) { return s.steps, "steps", nil }

// TestBudget bounds a question that is asked in a process that others use, and lets it read no file.
func TestBudget(t *testing.T) {
	e := &Entry{Name: "slow", New: func() Question { return &slow{} }, Budget: Budget{Steps: 10}}
	for _, tt := range []struct {
		steps  int
		shared bool
		file   string
		want   string
	}{
		{10, true, "", ""}, {11, false, "@file", ""}, {11, true, "", "found 11 steps: a page asks about 10 at most; the command has no limit"}, {-1, true, "", errTime.Error()},
		{0, true, "@/etc/passwd", "--file: a page reads no files"},
	} {
		q := e.Ask().(*slow)
		q.steps = tt.steps
		if e.Budget.Time = time.Hour; tt.steps < 0 { // it waits for its end
			e.Budget.Time = time.Millisecond
		}
		if tt.file != "" {
			if err := Fields(q)[0].Set(tt.file); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if _, err := e.Answer(t.Context(), q, &Env{Shared: tt.shared}); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// greedy keeps memory until its context ends.
type greedy struct {
	Asked
	held [][]byte
}

func (g *greedy) Answer(ctx context.Context, _ *Env) (*Reply, error) {
	const step, most = 4 << 20, 2 << 30
	for ctx.Err() == nil && len(g.held) < most/step {
		block := make([]byte, step)
		for i := 0; i < step; i += 4096 {
			block[i] = 1
		}
		g.held = append(g.held, block)
		time.Sleep(time.Millisecond)
	}
	return &Reply{}, ctx.Err()
}

// TestBudgetOfMemory ends a question for which the process holds more than it may.
func TestBudgetOfMemory(t *testing.T) {
	e := &Entry{Name: "greedy", New: func() Question { return &greedy{} }, Budget: Budget{Steps: 1, Memory: 64 << 20}}
	if _, err := e.Answer(t.Context(), e.Ask(), &Env{Shared: true}); !errors.Is(err, errMemory) {
		t.Errorf("%v, want that it takes too much memory", err)
	}
}

// holding keeps memory as greedy does, in small steps, and says how much when its context ends.
type holding struct {
	Asked
	most *int
}

func (h *holding) Answer(ctx context.Context, _ *Env) (*Reply, error) {
	var all [][]byte
	const step = 4 << 20
	for ctx.Err() == nil && len(all) < 2<<30/step {
		all = append(all, bytes.Repeat([]byte{1}, step))
		time.Sleep(10 * time.Millisecond)
	}
	*h.most = max(*h.most, len(all)*step)
	return &Reply{}, ctx.Err()
}

// TestBudgetAgain asks for too much memory several times: what an ended question held is not room for the next one.
func TestBudgetAgain(t *testing.T) {
	most := 0
	e := &Entry{Name: "holding", New: func() Question { return &holding{most: &most} }, Budget: Budget{Steps: 1, Memory: 256 << 20}}
	for range 3 {
		if _, err := e.Answer(t.Context(), e.Ask(), &Env{Shared: true}); !errors.Is(err, errMemory) {
			t.Errorf("%v, want that it takes too much memory", err)
		}
	}
	if most > 640<<20 {
		t.Errorf("one of them held %d MB", most>>20)
	}
}

// about is a question about a fleet that counts no steps itself.
type about struct {
	Asked
	Source string `ask:"source,arg"`
}

func (*about) Answer(context.Context, *Env) (*Reply, error) { return &Reply{}, nil }

// TestBudgetOfFleets counts the VMs of the fleet that a question is about, and refuses a question without a budget.
func TestBudgetOfFleets(t *testing.T) {
	held := &Held{Sources: []string{"SOURCE"}, Result: &rules.Result{Fleet: &numa.Fleet{VMs: make([]numa.VM, 3)}}}
	for _, tt := range []struct {
		source string
		most   int
		want   string
	}{
		{"SOURCE", 3, ""}, {"SOURCE", 2, "found 3 VMs: a page asks about 2 at most; the command has no limit"}, {"", 1, ""}, {"", 0, "this is not available on a page: use the command"},
	} {
		e := &Entry{Name: "about", New: func() Question { return &about{Source: tt.source} }, Budget: Budget{Steps: tt.most}}
		got := ""
		if _, err := e.Answer(t.Context(), e.Ask(), &Env{Shared: true, Held: held}); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}
