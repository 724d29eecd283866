package queue

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Headers of the last message of a result.
const (
	headerPieces = "Homenode-Pieces" // messages before this one
	headerSum    = "Homenode-Sum"    // SHA-256 of the whole
	headerFailed = "Homenode-Failed" // the body says why there is no result
	headerSign   = "Homenode-Sign"   // HMAC of the others with the key of the run

	headerKey = "Homenode-Key" // of a task: the key of its run
)

func workSubject(run, task string) string { return "homenode.work." + run + "." + task }
func doneSubject(run, task string) string { return "homenode.done." + run + "." + task }
func backSubject(run, task string) string { return "homenode.back." + run + "." + task }

// partSubject has the sum in it: pieces of two results never mix.
func partSubject(run, task, sum string, n int) string {
	return "homenode.part." + run + "." + task + "." + sum + "." + strconv.Itoa(n)
}

// store puts an outcome into the queue, signed with the key of its run. The message that
// says that it is complete comes last; storing it again changes nothing.
func (c *Client) store(ctx context.Context, run, task string, key []byte, out Outcome) error {
	body := out.Result
	if out.Failed != "" {
		body = []byte(out.Failed)
	}
	if len(body) > maxUnpacked {
		body = fmt.Appendf(nil, "its result has %d bytes, want at most %d", len(body), maxUnpacked)
		out.Failed = string(body)
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
	last.Header.Set(headerSign, signature(key, run, task, last.Header))
	return c.publish(ctx, last)
}

// signature returns what whoever knows the key of the run says about an outcome.
func signature(key []byte, run, task string, h nats.Header) string {
	return hex.EncodeToString(mac(key, strings.Join([]string{run, task, h.Get(headerPieces), h.Get(headerSum), h.Get(headerFailed)}, "\n")))
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// pieces returns how many messages come before the last one of an outcome; an error is a
// *badError.
func pieces(m *jetstream.RawStreamMsg, run, task string, key []byte) (int, error) {
	if !hmac.Equal([]byte(m.Header.Get(headerSign)), []byte(signature(key, run, task, m.Header))) {
		return 0, &badError{"it is not signed with the key of the run"}
	}
	n, err := strconv.Atoi(m.Header.Get(headerPieces))
	if err != nil || n < 0 {
		return 0, &badError{fmt.Sprintf("%s is %.20q, want a number", headerPieces, m.Header.Get(headerPieces))}
	}
	return n, nil
}

// A badError says that what the queue holds is no result of the task: it counts as
// missing.
type badError struct{ why string }

func (e *badError) Error() string { return e.why }

func (c *Client) publish(ctx context.Context, m *nats.Msg) error {
	return c.insist(ctx, "store", func() error {
		_, err := c.js.PublishMsg(ctx, m)
		return err
	})
}

// errGone says that a result is not in the queue, or not whole.
var errGone = errors.New("the queue does not hold the result")

// load reads an outcome; errGone when it is not there, a *badError when it is none.
func (c *Client) load(ctx context.Context, run, task string, key []byte) (Outcome, error) {
	last, err := c.last(ctx, doneSubject(run, task))
	if err != nil {
		return Outcome{}, err
	}
	n, err := pieces(last, run, task, key)
	if err != nil {
		return Outcome{}, err
	}
	sum := last.Header.Get(headerSum)
	var body bytes.Buffer
	for i := range n {
		part, err := c.last(ctx, partSubject(run, task, sum, i))
		if err != nil {
			return Outcome{}, err
		}
		if body.Write(part.Data); body.Len() > maxUnpacked {
			return Outcome{}, &badError{fmt.Sprintf("it has more than %d bytes", maxUnpacked)}
		}
	}
	body.Write(last.Data)
	if got := sha256.Sum256(body.Bytes()); hex.EncodeToString(got[:]) != sum {
		return Outcome{}, &badError{fmt.Sprintf("its SHA-256 is %x, want %.64s", got, sum)}
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
