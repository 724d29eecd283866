package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A back is how often workers gave a task back in good order. Deliveries that are neither
// the last one nor given back ended with the worker.
type back struct {
	Count  uint64 `json:"count"`
	Worker string `json:"worker"` // the last one
	Reason string `json:"reason"` // empty when it was told to stop
}

// backOf returns what is known of a task that was given back; the zero value for one that
// never was.
func (c *Client) backOf(ctx context.Context, run, id string) (b back, err error) {
	m, err := c.last(ctx, backSubject(run, id))
	if errors.Is(err, errGone) {
		return back{}, nil
	}
	if err != nil {
		return back{}, err
	}
	if json.Unmarshal(m.Data, &b) != nil { // whoever wrote it is no worker
		return back{}, nil
	}
	return b, nil
}

// giveBack returns a task to the queue: at once when the worker was told to stop, else
// after a moment.
func (w *worker) giveBack(ctx context.Context, run, id string, msg jetstream.Msg, reason string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	b, err := w.backOf(ctx, run, id)
	if err != nil {
		return err
	}
	b = back{Count: b.Count + 1, Worker: w.opt.Name, Reason: reason}
	body, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := w.publish(ctx, &nats.Msg{Subject: backSubject(run, id), Data: body}); err != nil {
		return err
	}
	if reason == "" {
		return msg.Nak()
	}
	w.say("gave a task back: %s", reason)
	// Time for others: this worker itself takes nothing for longer and longer.
	return msg.NakWithDelay(time.Second)
}

// crashes returns how many workers died over the task.
func (w *worker) crashes(ctx context.Context, run, id string, msg jetstream.Msg) (int, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return 0, err
	}
	if meta.NumDelivered <= suspect {
		return 0, nil
	}
	b, err := w.backOf(ctx, run, id)
	if err != nil {
		return 0, err
	}
	return int(max(meta.NumDelivered-1, b.Count) - b.Count), nil
}
