package queue

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// ahead is how many outcomes for each worker may wait for an earlier one: enough that a
// large file holds up the others briefly, few enough for memory.
const ahead = 16

// RunLocal does tasks with goroutines of this process and calls use with the outcome of
// each, in the order of tasks. atOnce 0 is one goroutine for each core.
func RunLocal(ctx context.Context, tasks []Task, h Handler, atOnce int, opt CollectOptions, use func(int, Outcome) error) error {
	if atOnce <= 0 {
		atOnce = runtime.GOMAXPROCS(0)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	outcomes := make([]chan Outcome, len(tasks))
	for i := range outcomes {
		outcomes[i] = make(chan Outcome, 1)
	}
	next := make(chan int)
	room := make(chan bool, ahead*atOnce)
	var all sync.WaitGroup
	all.Go(func() {
		defer close(next)
		for i := range tasks {
			select {
			case room <- true:
			case <-ctx.Done():
				return
			}
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	for range min(atOnce, len(tasks)) {
		all.Go(func() {
			for i := range next {
				out, err := doLocal(ctx, tasks[i], h, opt)
				if err != nil {
					stop(err)
					return
				}
				outcomes[i] <- out
			}
		})
	}
	defer all.Wait()
	for i := range tasks {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case out := <-outcomes[i]:
			<-room
			if err := use(i, out); err != nil {
				stop(err)
				return err
			}
			if opt.Progress != nil {
				opt.Progress(Progress{Done: i + 1, Total: len(tasks), Taken: min(atOnce, len(tasks)-i-1)})
			}
		}
	}
	return nil
}

// doLocal does one task. There is no other worker: what this one refuses it tries once
// more, and then it has failed.
func doLocal(ctx context.Context, task Task, h Handler, opt CollectOptions) (Outcome, error) {
	for try := 0; ; try++ {
		b, err := h(ctx, task.Payload)
		var refusal *Refusal
		switch {
		case err == nil:
			return Outcome{Result: b}, nil
		case ctx.Err() != nil:
			return Outcome{}, context.Cause(ctx)
		case !errors.As(err, &refusal) || try > 0:
			return Outcome{Failed: err.Error()}, nil
		case refusal.Always:
			return Outcome{}, err
		}
		if opt.Check == nil {
			continue
		}
		if bad := opt.Check(task, refusal.Reason); bad != nil {
			return Outcome{Failed: bad.Error()}, nil
		}
	}
}
