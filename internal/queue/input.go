package queue

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
)

// An Input is what many tasks of a run have in common and none of them could carry: the
// queue holds it once, packed, for as long as the run goes on.
type Input struct {
	ID   string // 32 hexadecimal digits; equal inputs have one
	Body []byte
}

// NewInput returns the input with this body.
func NewInput(body []byte) Input {
	sum := sha256.Sum256(body)
	return Input{ID: short(sum[:]), Body: body}
}

// mostInput is the largest input, unpacked: what a worker would refuse to unpack is not
// put into the queue.
const mostInput = maxUnpacked

// inputTask stands for the task in the subjects of an input; its ID stands for the run.
const inputTask = "input"

// Input returns the body of an input that whoever collects has put into the queue. It is a
// *Refusal when it is not there: it comes back with the next round of the one who collects.
func (c *Client) Input(ctx context.Context, id string) ([]byte, error) {
	body, err := c.input(ctx, id)
	if bad := (*badError)(nil); errors.Is(err, errGone) || errors.As(err, &bad) {
		return nil, &Refusal{Reason: "the queue does not hold what the task works on"}
	}
	return body, err
}

// input returns the body of an input; errGone or a *badError when it is not there, or another one.
func (c *Client) input(ctx context.Context, id string) ([]byte, error) {
	out, err := c.load(ctx, id, inputTask, nil) // its name is its sum: it needs no key
	if err != nil {
		return nil, err
	}
	body, err := Unpack(out.Result)
	if err != nil {
		return nil, &badError{err.Error()}
	}
	if got := NewInput(body); got.ID != id {
		return nil, &badError{"its bytes are those of " + got.ID}
	}
	return body, nil
}

// keepInputs puts those inputs into the queue that it does not hold, or not whole: another
// run that began with the same removes them when it is done.
func (k *collector) keepInputs(ctx context.Context) error {
	for _, in := range k.opt.Inputs {
		if len(in.Body) > mostInput {
			return fmt.Errorf("an input has %d bytes, want at most %d", len(in.Body), mostInput)
		}
		whole, err := k.holds(ctx, in.ID)
		if err != nil {
			return err
		}
		if whole {
			continue
		}
		if err := k.store(ctx, in.ID, inputTask, nil, Outcome{Result: Pack(in.Body)}); err != nil {
			return err
		}
	}
	return nil
}

// holds reports whether the queue has an input as it is.
func (k *collector) holds(ctx context.Context, id string) (bool, error) {
	_, err := k.input(ctx, id)
	if bad := (*badError)(nil); errors.Is(err, errGone) || errors.As(err, &bad) {
		return false, nil
	}
	return err == nil, err
}

// removeInputs takes the inputs out of the queue.
func (k *collector) removeInputs(ctx context.Context) error {
	for _, in := range k.opt.Inputs {
		if err := k.purge(ctx, k.results, "homenode.*."+in.ID+".>"); err != nil {
			return err
		}
	}
	return nil
}
