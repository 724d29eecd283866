package queue

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Progress is how far a run is.
type Progress struct {
	Done    int // results that are there
	Total   int
	Taken   int // tasks that workers have taken, of all runs
	Waiting int // workers that wait for a task; with no Taken and none Waiting there is no worker
}

// CollectOptions are how Collect goes about it; all may be zero.
type CollectOptions struct {
	// Check looks again at a task that a worker refused: an error is the task's failure,
	// nil means that it is the worker that cannot do it.
	Check func(task Task, reason string) error
	// Inputs are what the tasks name and Client.Input gives to whoever does them.
	Inputs []Input
	// Progress is called about once a second, from the goroutine of Collect.
	Progress func(Progress)
}

// A collector is one call of Collect.
type collector struct {
	*Client
	opt   CollectOptions
	run   string
	key   []byte // that results are signed with
	tasks []Task
	index map[string]int  // of a task by ID
	done  []bool          // its result is in the queue
	used  int             // tasks whose outcome was handed on
	told  map[string]bool // workers whose refusals were shown
	// When it last looked at tasks that workers gave back: once a second is enough.
	looked     time.Time
	complained time.Time // about tasks that the queue does not take
}

// Collect puts tasks into the queue and calls use with the outcome of each, in the order
// of tasks. Results stay in the queue until their turn, and until the last one was used:
// whoever is killed and calls Collect with the same tasks again goes on where it was. At
// the end everything of the run is removed from the queue.
func (c *Client) Collect(ctx context.Context, tasks []Task, opt CollectOptions, use func(int, Outcome) error) error {
	run := runOf(tasks)
	k := &collector{Client: c, opt: opt, run: run, key: c.runKey(run), tasks: tasks, index: map[string]int{}, done: make([]bool, len(tasks)), told: map[string]bool{}}
	for i := range tasks {
		if _, twice := k.index[tasks[i].ID]; twice {
			return fmt.Errorf("task %s is there twice", tasks[i].ID)
		}
		k.index[tasks[i].ID] = i
	}
	var shown time.Time
	for {
		asked := time.Now()
		err := k.round(ctx)
		if err != nil {
			return fmt.Errorf("queue: %w", err)
		}
		took := time.Since(asked)
		if err := k.hand(ctx, use); err != nil {
			return err
		}
		if k.used == len(tasks) {
			return k.remove(ctx)
		}
		if opt.Progress != nil && time.Since(shown) > time.Second {
			shown = time.Now()
			if err := k.progress(ctx); err != nil {
				return fmt.Errorf("queue: %w", err)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		// Asking costs the server more the more tasks there are.
		case <-time.After(max(100*time.Millisecond, 10*took)):
		}
	}
}

// round asks which tasks are done and which are waiting, and puts those that are neither
// into the queue: all of them at first, later those that it lost.
func (k *collector) round(ctx context.Context) error {
	// In this order: a task that is done in between is in both, not in none.
	waiting, err := k.subjects(ctx, k.work, "homenode.work."+k.run+".*")
	if err != nil {
		return err
	}
	done, err := k.subjects(ctx, k.results, "homenode.*."+k.run+".*")
	if err != nil {
		return err
	}
	var missing, back []int
	for i := range k.tasks {
		id := k.tasks[i].ID
		_, k.done[i] = done[doneSubject(k.run, id)]
		if k.done[i] || i < k.used {
			continue
		}
		if _, ok := waiting[workSubject(k.run, id)]; !ok {
			missing = append(missing, i)
		}
		if _, ok := done[backSubject(k.run, id)]; ok {
			back = append(back, i)
		}
	}
	if len(missing) > 0 { // at first, and when the queue has lost what it held
		if err := k.keepInputs(ctx); err != nil {
			return err
		}
	}
	if time.Since(k.looked) > time.Second {
		if len(back) > 0 {
			if err := k.keepInputs(ctx); err != nil {
				return err
			}
		}
		for _, i := range back {
			if err := k.look(ctx, i); err != nil {
				return err
			}
		}
		k.looked = time.Now()
	}
	for some := range slices.Chunk(missing, 500) { // the client holds so many without an answer
		if err := k.post(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// subjects returns the subjects of a stream that match filter, each with its messages.
func (k *collector) subjects(ctx context.Context, s jetstream.Stream, filter string) (list map[string]uint64, err error) {
	err = k.insist(ctx, "ask", func() error {
		info, err := s.Info(ctx, jetstream.WithSubjectFilter(filter))
		if err == nil {
			list = info.State.Subjects
		}
		return err
	})
	return list, err
}

// post puts tasks into the queue. One that is there already stays as it is; one that
// could not be put there is missing in the next round too.
func (k *collector) post(ctx context.Context, which []int) error {
	var acks []jetstream.PubAckFuture
	for _, i := range which {
		b, err := k.tasks[i].message()
		if err != nil {
			return err
		}
		if most := k.nc.MaxPayload(); int64(len(b)) > most {
			out := Outcome{Failed: fmt.Sprintf("its task has %d bytes, packed, and the queue takes %d: raise max_payload of the server", len(b), most)}
			if err := k.store(ctx, k.run, k.tasks[i].ID, k.key, out); err != nil {
				return err
			}
			continue
		}
		ack, err := k.js.PublishMsgAsync(&nats.Msg{Subject: workSubject(k.run, k.tasks[i].ID), Data: b, Header: nats.Header{headerKey: {hex.EncodeToString(k.key)}}})
		if err != nil {
			if away(err) || errors.Is(err, jetstream.ErrTooManyStalledMsgs) {
				break
			}
			return err
		}
		acks = append(acks, ack)
	}
	for _, ack := range acks {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ack.Ok():
		case err := <-ack.Err():
			switch {
			case isThere(err):
			case away(err):
				k.refused(err)
			default:
				return err
			}
		}
	}
	return nil
}

// refused says once in a while why tasks cannot be put into the queue: the next round tries again.
func (k *collector) refused(err error) {
	if time.Since(k.complained) > time.Minute {
		k.complained = time.Now()
		k.say("the queue does not take tasks: trying again until it does (%v)", err)
	}
}

// isThere reports whether the server refused a message because its subject has one.
func isThere(err error) bool {
	var api *jetstream.APIError
	const storeFailed = 10077
	return errors.As(err, &api) && api.ErrorCode == storeFailed && strings.Contains(api.Description, "per subject")
}

// look judges a task that a worker gave back.
func (k *collector) look(ctx context.Context, i int) error {
	id := k.tasks[i].ID
	back, err := k.backOf(ctx, k.run, id)
	if err != nil || back.Reason == "" {
		return err
	}
	if k.opt.Check != nil {
		if bad := k.opt.Check(k.tasks[i], back.Reason); bad != nil {
			if err := k.store(ctx, k.run, id, k.key, Outcome{Failed: bad.Error()}); err != nil {
				return err
			}
			return k.purge(ctx, k.work, workSubject(k.run, id))
		}
	}
	if !k.told[back.Worker] {
		k.told[back.Worker] = true
		k.say("worker %s gave a task back: %s", back.Worker, back.Reason)
	}
	return nil
}

// hand gives outcomes to use as far as they are there without a gap.
func (k *collector) hand(ctx context.Context, use func(int, Outcome) error) error {
	for k.used < len(k.tasks) && k.done[k.used] {
		id := k.tasks[k.used].ID
		out, err := k.load(ctx, k.run, id, k.key)
		bad := (*badError)(nil)
		if errors.As(err, &bad) {
			k.say("the result of task %s counts as missing: %v", id, bad)
		}
		if errors.Is(err, errGone) || bad != nil { // the next round puts it into the queue again
			k.done[k.used] = false
			return k.purge(ctx, k.results, doneSubject(k.run, id))
		}
		if err != nil {
			return fmt.Errorf("queue: %w", err)
		}
		if err := use(k.used, out); err != nil {
			return err
		}
		k.used++
	}
	return nil
}

func (k *collector) progress(ctx context.Context) error {
	p := Progress{Total: len(k.tasks)}
	for i := range k.tasks {
		if k.done[i] || i < k.used {
			p.Done++
		}
	}
	err := k.insist(ctx, "ask", func() error {
		info, err := k.Client.tasks.Info(ctx)
		if err == nil {
			p.Taken, p.Waiting = info.NumAckPending, info.NumWaiting
		}
		return err
	})
	if err == nil {
		k.opt.Progress(p)
	}
	return err
}

// remove takes everything of the run out of the queue.
func (k *collector) remove(ctx context.Context) error {
	if err := k.purge(ctx, k.work, "homenode.work."+k.run+".*"); err != nil {
		return err
	}
	if err := k.purge(ctx, k.results, "homenode.*."+k.run+".>"); err != nil {
		return err
	}
	return k.removeInputs(ctx)
}

func (k *collector) purge(ctx context.Context, s jetstream.Stream, subject string) error {
	err := k.insist(ctx, "remove", func() error { return s.Purge(ctx, jetstream.WithPurgeSubject(subject)) })
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	return nil
}
