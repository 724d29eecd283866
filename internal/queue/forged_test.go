package queue

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestForgedResults puts what is no result where results are expected: each counts as missing
// and is named, and the archive is read all the same.
func TestForgedResults(t *testing.T) {
	t.Parallel()
	list := fakes()[:8]
	tasks := tasksOf(list)
	run := runOf(tasks)
	header := func(pieces, sum, sign string) nats.Header {
		return nats.Header{headerPieces: {pieces}, headerSum: {sum}, headerSign: {sign}}
	}
	const sumOfX = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
	signed := header("2", sumOfX, "")
	signed.Set(headerSign, signature(mac([]byte("another token"), "homenode run "+run), run, tasks[3].ID, signed))
	forged := []*nats.Msg{
		{Subject: doneSubject(run, tasks[0].ID), Data: []byte("x"), Header: header("abc", sumOfX, "")},
		{Subject: doneSubject(run, tasks[1].ID), Data: []byte("x"), Header: header("0", "a wrong sum", "")},
		{Subject: doneSubject(run, tasks[2].ID), Data: []byte("x")},
		{Subject: doneSubject(run, tasks[3].ID), Data: []byte("x"), Header: signed},
		{Subject: doneSubject(run, tasks[4].ID), Data: []byte("x"), Header: header("2000000000", sumOfX, "")},
		{Subject: backSubject(run, tasks[5].ID), Data: []byte("{soup")},
	}
	var mu sync.Mutex
	said := map[string]bool{}
	url := serve(t, ServerOptions{Token: secret})
	c := dial(t, Access{URL: url, Token: secret, Log: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said[text] = true
	}})
	admin := dial(t, Access{URL: url, Token: secret, Role: Administers})
	for _, m := range forged {
		if err := admin.publish(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	w := dial(t, Access{URL: url, Token: Works.Token(secret), Role: Works})
	go w.Work(t.Context(), WorkOptions{Name: "w", Handlers: map[string]Handler{"fake": fake}})
	got, err := collect(t.Context(), c, tasks)
	if err != nil {
		t.Fatal(err)
	}
	if want := transcript(list); !bytes.Equal(got, want) {
		t.Error(firstDifference(got, want))
	}
	mu.Lock()
	defer mu.Unlock()
	for i := range 5 {
		if want := "the result of task " + tasks[i].ID + " counts as missing: it is not signed with the key of the run"; !said[want] {
			t.Errorf("%q was not said, but %v", want, said)
		}
	}
	for text := range said {
		if strings.Contains(text, secret) {
			t.Errorf("%q holds the token", text)
		}
	}
}

// TestForgedInput checks that an input which is another one is put there again.
func TestForgedInput(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	c := dial(t, Access{URL: url})
	in := NewInput([]byte("what the task works on"))
	if err := c.store(t.Context(), in.ID, inputTask, nil, Outcome{Result: Pack([]byte("another"))}); err != nil {
		t.Fatal(err)
	}
	w := dial(t, Access{URL: url})
	if _, err := w.Input(t.Context(), in.ID); !errors.As(err, new(*Refusal)) {
		t.Errorf("Input = %v, want a refusal", err)
	}
	workers(t, 1, url, func(ctx context.Context, _ []byte) ([]byte, error) { return w.Input(ctx, in.ID) })
	err := c.Collect(t.Context(), fakeTasks()[:1], CollectOptions{Inputs: []Input{in}}, func(_ int, out Outcome) error {
		if string(out.Result) != string(in.Body) {
			t.Errorf("the task worked on %q, %s", out.Result, out.Failed)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRoles checks that the token of a role lets in that role alone, and that it does no more than
// the role does.
func TestRoles(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{Token: secret})
	for _, r := range Roles {
		for _, as := range Roles {
			c, err := Dial(t.Context(), Access{URL: url, Token: r.Token(secret), Role: as})
			if err == nil {
				c.Close()
			}
			if (err == nil) != (r == as) {
				t.Errorf("the token of the %s as %s: %v", r, as, err)
			}
		}
	}
	dial(t, Access{URL: url, Token: secret}) // makes the streams
	for _, tt := range []struct {
		role    Role
		subject string
		want    bool
	}{
		{Works, "homenode.done.aa.bb", true},
		{Works, "homenode.work.aa.bb", false},
		{Works, "$JS.API.STREAM.PURGE.HOMENODE_RESULTS", false},
		{Works, "$JS.API.STREAM.DELETE.HOMENODE_WORK", false},
		{Works, "$JS.API.STREAM.UPDATE.HOMENODE_WORK", false},
		{Collects, "homenode.work.aa.bb", true},
		{Collects, "homenode.back.aa.bb", false},
		{Collects, "$JS.API.CONSUMER.MSG.NEXT.HOMENODE_WORK.homenode-work", false},
		{Collects, "$JS.API.STREAM.DELETE.HOMENODE_WORK", false},
		{Administers, "$JS.API.STREAM.DELETE.HOMENODE_WORK", true},
	} {
		denied := make(chan bool, 1)
		nc, err := nats.Connect(url, nats.UserInfo(string(tt.role), tt.role.Token(secret)), nats.CustomInboxPrefix(tt.role.inbox()),
			nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
				if errors.Is(err, nats.ErrPermissionViolation) {
					denied <- true
				}
			}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = nc.Request(tt.subject, []byte("{}"), 300*time.Millisecond)
		select {
		case <-denied:
			err = nats.ErrPermissionViolation
		default:
		}
		if got := !errors.Is(err, nats.ErrPermissionViolation); got != tt.want {
			t.Errorf("%s sends %s: %v, want allowed %v", tt.role, tt.subject, err, tt.want)
		}
		nc.Close()
	}
}

// TestWorkerBeforeQueue starts a worker, and then its queue.
func TestWorkerBeforeQueue(t *testing.T) {
	t.Parallel()
	const url = "nats://127.0.0.1:1"
	said := make(chan string, 10)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := Dial(ctx, Access{URL: url, Role: Works, Log: func(text string) { said <- text }})
		done <- err
	}()
	if got, want := <-said, "no queue is at "+url+" yet: waiting until one is"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Dial = %v", err)
	}
	url2 := serve(t, ServerOptions{Token: secret})
	if _, err := Dial(t.Context(), Access{URL: url2, Token: "wrong", Role: Works}); err == nil {
		t.Error("a wrong token gets in")
	}
}
