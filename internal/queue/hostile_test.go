package queue

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// A message that is no task ends no worker; it is an outcome as any other.
func TestNoTask(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	c := dial(t, Access{URL: url})
	if err := c.publish(t.Context(), &nats.Msg{Subject: workSubject("aa", "bb"), Data: []byte("{soup")}); err != nil {
		t.Fatal(err)
	}
	workers(t, 1, url, fake)
	list := fakes()[:2]
	got, err := collect(t.Context(), c, tasksOf(list))
	if err != nil {
		t.Fatal(err)
	}
	if want := transcript(list); !bytes.Equal(got, want) {
		t.Error(firstDifference(got, want))
	}
	out, err := c.load(t.Context(), "aa", "bb", nil)
	if want := "found no task of homenode: invalid character 's' looking for beginning of object key string"; err != nil || out.Failed != want {
		t.Errorf("load = %+v, %v; want the failure %q", out, err, want)
	}
}

// A task of very many files fits into a message; one that does not fails alone.
func TestLargeTasks(t *testing.T) {
	t.Parallel()
	url := serve(t, ServerOptions{})
	c := dial(t, Access{URL: url})
	type file struct {
		Path           string
		Size, Modified int64
	}
	var files []file
	for i := range 20_000 { // more than a day of one file every 5 seconds
		files = append(files, file{Path: fmt.Sprintf("2026-11-21/esx01.example.com/esx01.example.com-fetchstats-%06d.txt", i), Size: 700_000, Modified: 1_795_000_000 + 5*int64(i)})
	}
	many, err := NewTask("fake", files)
	if err != nil {
		t.Fatal(err)
	}
	if len(many.Payload) < 2<<20 {
		t.Fatalf("a payload of %d bytes tests nothing", len(many.Payload))
	}
	f := fakeTask{Seed: 1, Size: 2 << 20}
	large, err := NewTask("fake", f.bytes())
	if err != nil {
		t.Fatal(err)
	}
	workers(t, 1, url, func(_ context.Context, payload []byte) ([]byte, error) { return payload, nil })
	var got []Outcome
	err = c.Collect(t.Context(), []Task{many, large}, CollectOptions{}, func(_ int, out Outcome) error {
		got = append(got, out)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got[0].Result, many.Payload) {
		t.Errorf("the task of many files came as %d bytes, want %d", len(got[0].Result), len(many.Payload))
	}
	if want := "its task has 2100000 bytes, packed, and the queue takes 1048576: raise max_payload of the server"; !strings.HasSuffix(got[1].Failed, "bytes, packed, and the queue takes 1048576: raise max_payload of the server") {
		t.Errorf("the large task failed with %q, want about %q", got[1].Failed, want)
	}
}
