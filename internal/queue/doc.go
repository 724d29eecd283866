// Package queue shares work between the cores of one machine or many machines: tasks of
// any kind, whose payload and outcome are bytes, with a Handler for each kind. It knows
// none of the kinds: capture/archive brings files to read, change/sweep simulations.
//
//	tasks ─┬─ RunLocal: goroutines of this process ───┬─► outcomes
//	       └─ Collect ──► NATS JetStream ──► Work …  ─┘   in the order of the tasks
//
// The queue holds tasks and results in two streams, one subject for each task:
//
//	homenode.work.RUN.TASK      the task; gone when a worker acknowledged it
//	homenode.done.RUN.TASK      its result, or the last piece of it
//	homenode.part.RUN.TASK.SUM.N  the pieces before
//	homenode.back.RUN.TASK      how often workers gave it back, and why
//	homenode.done.INPUT.input   what the tasks of a run have in common, with its
//	homenode.part.INPUT.input…  pieces: it is there once, named by its content
//
// A worker stores the result before it acknowledges the task. Whatever is killed
// between, the task is delivered again, and a result stored twice is stored under the
// same subject, where one message replaces the other: nothing is counted twice. A task
// that is neither in the work stream nor done is put there again by whoever waits for it:
// nothing is lost, not even with the store of the queue.
package queue
