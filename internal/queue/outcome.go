package queue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Headers of the last message of a result.
const (
	headerPieces = "Homenode-Pieces" // messages before this one
	headerSum    = "Homenode-Sum"    // SHA-256 of the whole
	headerFailed = "Homenode-Failed" // the body says why there is no result
)

func workSubject(run, task string) string { return "homenode.work." + run + "." + task }
func doneSubject(run, task string) string { return "homenode.done." + run + "." + task }
func backSubject(run, task string) string { return "homenode.back." + run + "." + task }

// partSubject has the sum in it: pieces of two results never mix.
func partSubject(run, task, sum string, n int) string {
	return "homenode.part." + run + "." + task + "." + sum + "." + strconv.Itoa(n)
}

// store puts an outcome into the queue. The message that says that it is complete comes
// last; storing it again changes nothing.
func (c *Client) store(ctx context.Context, run, task string, out Outcome) error {
	body := out.Result
	if out.Failed != "" {
		body = []byte(out.Failed)
	}
	raw := sha256.Sum256(body)
	sum := hex.EncodeToString(raw[:])
	n := 0
	for ; len(body) > c.piece; n++ {
		part := &nats.Msg{Subject: partSubject(run, task, sum, n), Data: body[:c.piece]}
		if err := c.publish(ctx, part); err != nil {
			return err
		}
		body = body[c.piece:]
	}
	last := &nats.Msg{Subject: doneSubject(run, task), Data: body, Header: nats.Header{}}
	last.Header.Set(headerPieces, strconv.Itoa(n))
	last.Header.Set(headerSum, sum)
	if out.Failed != "" {
		last.Header.Set(headerFailed, "true")
	}
	return c.publish(ctx, last)
}

func (c *Client) publish(ctx context.Context, m *nats.Msg) error {
	return c.insist(ctx, "store", func() error {
		_, err := c.js.PublishMsg(ctx, m)
		return err
	})
}

// errGone says that a result is not in the queue, or not whole.
var errGone = errors.New("the queue does not hold the result")

// load reads an outcome; errGone when it is not there.
func (c *Client) load(ctx context.Context, run, task string) (Outcome, error) {
	last, err := c.last(ctx, doneSubject(run, task))
	if err != nil {
		return Outcome{}, err
	}
	n, err := strconv.Atoi(last.Header.Get(headerPieces))
	if err != nil || n < 0 {
		return Outcome{}, fmt.Errorf("result of task %s: %s is %q, want a number", task, headerPieces, last.Header.Get(headerPieces))
	}
	sum := last.Header.Get(headerSum)
	var body bytes.Buffer
	for i := range n {
		part, err := c.last(ctx, partSubject(run, task, sum, i))
		if err != nil {
			return Outcome{}, err
		}
		body.Write(part.Data)
	}
	body.Write(last.Data)
	if got := sha256.Sum256(body.Bytes()); hex.EncodeToString(got[:]) != sum {
		return Outcome{}, fmt.Errorf("result of task %s: its SHA-256 is %x, want %s", task, got, sum)
	}
	if last.Header.Get(headerFailed) != "" {
		return Outcome{Failed: body.String()}, nil
	}
	return Outcome{Result: body.Bytes()}, nil
}

// last returns the message of a subject of the result stream.
func (c *Client) last(ctx context.Context, subject string) (m *jetstream.RawStreamMsg, err error) {
	err = c.insist(ctx, "fetch", func() error {
		m, err = c.results.GetLastMsgForSubject(ctx, subject)
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, errGone
	}
	return m, err
}
