package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// inputTasks are tasks that add a byte of their own to what they have in common.
func inputTasks(t *testing.T, in Input, n int) (tasks []Task) {
	t.Helper()
	for i := range n {
		task, err := NewTask("fake", []any{in.ID, i})
		if err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, task)
	}
	return tasks
}

// TestInput checks that tasks get what they have in common, in pieces, also when the queue
// loses it while they are done, and that nothing of it stays.
func TestInput(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	large := fakeTask{Seed: 3, Size: 3<<20 + 7}
	in := NewInput(large.bytes())
	tasks := inputTasks(t, in, 12)
	c, worker := dial(t, Access{URL: url}), dial(t, Access{URL: url})
	var lost atomic.Bool
	workers(t, 2, url, func(ctx context.Context, payload []byte) ([]byte, error) {
		var of []any
		if err := json.Unmarshal(payload, &of); err != nil {
			return nil, err
		}
		if of[1].(float64) == 5 && !lost.Swap(true) { // as another run with the same input does at its end
			if err := worker.results.Purge(ctx, jetstream.WithPurgeSubject("homenode.*."+in.ID+".>")); err != nil {
				return nil, err
			}
		}
		body, err := worker.Input(ctx, of[0].(string))
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(body, in.Body) {
			return nil, errors.New("the input is another one")
		}
		return payload, nil
	})
	next := 0
	ctx, stop := context.WithTimeout(t.Context(), time.Minute) // an input that stays lost is waited for
	defer stop()
	err := c.Collect(ctx, tasks, CollectOptions{Inputs: []Input{in}}, func(i int, out Outcome) error {
		if out.Failed != "" || string(out.Result) != string(tasks[i].Payload) || i != next {
			t.Errorf("task %d: %q, %s; want task %d and %s", i, out.Failed, out.Result, next, tasks[i].Payload)
		}
		next++
		return nil
	})
	if err != nil || next != len(tasks) {
		t.Fatalf("%v after %d tasks, want %d", err, next, len(tasks))
	}
	if n := left(t, c); n != 0 {
		t.Errorf("%d messages are left in the queue, want 0", n)
	}
	var refusal *Refusal
	if _, err := c.Input(t.Context(), in.ID); !errors.As(err, &refusal) {
		t.Errorf("%v, want a refusal: the input is gone", err)
	}
}
