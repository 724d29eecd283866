package queue

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Handler does a task of one kind. It returns a *Refusal when another worker may be
// able to do it; any other error is the outcome of the task.
type Handler func(ctx context.Context, payload []byte) ([]byte, error)

// WorkOptions are how a worker works.
type WorkOptions struct {
	Handlers map[string]Handler // by kind
	AtOnce   int                // tasks at a time; 0 is one
	Name     string             // of this worker in messages
	// Did is told of each task that was taken: done, or given back to other workers. Nil for
	// none; it is called by several goroutines.
	Did func(gaveBack bool)
}

// A task that workers died over alone is done by itself in its process, so that it takes
// no other task with it; after maxCrashes it counts as failed.
const (
	suspect    = 2
	maxCrashes = 5
)

// A worker is one call of Work.
type worker struct {
	*Client
	opt   WorkOptions
	alone sync.RWMutex // held for writing by a task under suspicion
}

// Work takes tasks from the queue and does them until ctx ends; what it has not finished
// then goes back to the queue at once. It returns nil, or why it cannot go on.
func (c *Client) Work(ctx context.Context, opt WorkOptions) error {
	w := &worker{Client: c, opt: opt}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	for range max(1, opt.AtOnce) {
		all.Go(func() {
			if err := w.loop(ctx); err != nil {
				stop(fmt.Errorf("queue: %w", err))
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// loop takes one task after the other.
func (w *worker) loop(ctx context.Context) error {
	refused := 0 // in a row
	for ctx.Err() == nil {
		msg, err := w.take(ctx)
		if err != nil {
			return err
		}
		if msg == nil {
			continue
		}
		gaveBack, err := w.do(ctx, msg)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if w.opt.Did != nil {
			w.opt.Did(gaveBack)
		}
		if !gaveBack {
			refused = 0
			continue
		}
		// A worker that sees no file must not keep the tasks from those that do.
		refused = min(refused+1, 6)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second << (refused - 1)):
		}
	}
	return nil
}

// take waits for a task for a while. It does not give up half-way: a task that arrives
// meanwhile would belong to no worker until its time is over.
func (w *worker) take(ctx context.Context) (jetstream.Msg, error) {
	batch, err := w.tasks.Fetch(1, jetstream.FetchMaxWait(time.Second))
	if err == nil {
		msg, ok := <-batch.Messages()
		if ok {
			return msg, nil
		}
		err = batch.Error()
	}
	switch {
	case err == nil || errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages):
		return nil, nil
	case errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrAuthorization):
		return nil, err
	}
	// The server is away, or was started again without what it held.
	err = w.insist(ctx, "take", func() error {
		_, err := w.tasks.Info(ctx)
		return err
	})
	select {
	case <-ctx.Done():
		return nil, nil
	case <-time.After(100 * time.Millisecond):
		return nil, err
	}
}

// do does one task and stores its outcome before it acknowledges it.
func (w *worker) do(ctx context.Context, msg jetstream.Msg) (gaveBack bool, err error) {
	run, id, err := parseSubject(msg.Subject())
	if err != nil { // a stream that someone made with other subjects
		return false, fmt.Errorf("%s: %w", msg.Subject(), err)
	}
	key, err := hex.DecodeString(msg.Headers().Get(headerKey))
	if err != nil {
		key = nil // the result counts as missing then
	}
	task, err := taskOf(msg.Data())
	if err != nil { // it would end one worker after the other
		if err := w.store(ctx, run, id, key, Outcome{Failed: fmt.Sprintf("found no task of homenode: %v", err)}); err != nil {
			return false, err
		}
		return false, w.acknowledge(ctx, msg)
	}
	stop := w.heartbeat(msg)
	defer stop()
	crashes, err := w.crashes(ctx, run, id, msg)
	if err != nil {
		return false, err
	}
	if m, err := w.last(ctx, doneSubject(run, id)); err == nil {
		if _, err := pieces(m, run, id, key); err == nil { // a worker died before it said so
			return false, w.acknowledge(ctx, msg)
		}
	} else if !errors.Is(err, errGone) {
		return false, err
	}
	var out Outcome
	if crashes >= maxCrashes {
		out.Failed = fmt.Sprintf("%d workers died over it", crashes)
	} else {
		out.Result, err = w.handle(ctx, &task, crashes >= suspect)
		var refusal *Refusal
		switch {
		case errors.As(err, &refusal):
			return true, w.giveBack(ctx, run, id, msg, refusal.Reason)
		case err != nil && ctx.Err() != nil: // told to stop
			return true, w.giveBack(ctx, run, id, msg, "")
		case err != nil:
			out = Outcome{Failed: err.Error()}
		}
	}
	// Without the task in the queue someone else did it, and the run may be over: its
	// result would stay there without a reader.
	if wanted, err := w.wanted(ctx, run, id); err != nil || !wanted {
		return false, err
	}
	if err := w.store(ctx, run, id, key, out); err != nil {
		return false, err
	}
	afterStore()
	return false, w.acknowledge(ctx, msg)
}

// afterStore is where tests kill a worker.
var afterStore = func() {}

func (w *worker) handle(ctx context.Context, task *Task, suspected bool) ([]byte, error) {
	h := w.opt.Handlers[task.Kind]
	if h == nil {
		return nil, &Refusal{Reason: fmt.Sprintf("does no tasks of kind %q", task.Kind)}
	}
	if suspected {
		w.alone.Lock()
		defer w.alone.Unlock()
	} else {
		w.alone.RLock()
		defer w.alone.RUnlock()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return h(ctx, task.Payload)
}

// heartbeat says again and again that the task is being done, until the returned function
// is called.
func (w *worker) heartbeat(msg jetstream.Msg) (stop func()) {
	done := make(chan struct{})
	var end sync.WaitGroup
	end.Go(func() {
		t := time.NewTicker(w.ackWait / 3)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				// While the queue is away it does not hear this; the task may then go to
				// another worker too, and both store the same.
				_ = msg.InProgress()
			}
		}
	})
	return func() { close(done); end.Wait() }
}

// acknowledge takes the task out of the queue. When that fails the task is delivered
// again, and whoever gets it finds the result.
func (w *worker) acknowledge(ctx context.Context, msg jetstream.Msg) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := msg.DoubleAck(ctx); err != nil {
		w.say("acknowledge: %v; the task comes again", err)
	}
	return nil
}

// wanted reports whether the task is still in the queue.
func (w *worker) wanted(ctx context.Context, run, id string) (bool, error) {
	err := w.insist(ctx, "ask", func() error {
		_, err := w.work.GetLastMsgForSubject(ctx, workSubject(run, id))
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	return err == nil, err
}

// parseSubject returns the run and task of a subject of the work stream.
func parseSubject(subject string) (run, task string, err error) {
	words := strings.Split(subject, ".")
	if len(words) != 4 {
		return "", "", fmt.Errorf("found %d words in the subject, want 4", len(words))
	}
	return words[2], words[3], nil
}
