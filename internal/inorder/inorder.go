// Package inorder processes independent pieces of work with several goroutines, and delivers their
// results in the order of the pieces.
package inorder

import (
	"context"
	"runtime"
	"sync"
)

// ahead is the number of results of each goroutine that may wait for an earlier one: enough that a
// large piece delays the others only briefly, few enough for memory.
const ahead = 16

// Run calls do for the pieces 0 to n-1 with atOnce goroutines (0 for one per core), and use with
// the result of each piece, in their order and on the caller's goroutine. It stops at the first
// error of do or use, and when ctx ends.
func Run[T any](ctx context.Context, n, atOnce int, do func(ctx context.Context, i int) (T, error), use func(i int, result T) error) error {
	if atOnce <= 0 {
		atOnce = runtime.GOMAXPROCS(0)
	}
	ctx, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop(nil)
	results := make([]chan T, n)
	for i := range results {
		results[i] = make(chan T, 1)
	}
	next := make(chan int)
	room := make(chan bool, ahead*atOnce)
	all.Go(func() {
		defer close(next)
		for i := range n {
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
	for range min(atOnce, n) {
		all.Go(func() {
			for i := range next {
				result, err := do(ctx, i)
				if err != nil {
					stop(err)
					return
				}
				results[i] <- result
			}
		})
	}
	for i := range results {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case result := <-results[i]:
			<-room
			if err := use(i, result); err != nil {
				return err
			}
		}
	}
	return nil
}
