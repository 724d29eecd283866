package flags

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"example.org/homenode/source/open"
)

func TestAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if got, err := reply(ctx, func() (string, error) { return "yes", nil }); got != "yes" || err != nil {
		t.Errorf("answer = %q, %v", got, err)
	}
	if got, err := reply(ctx, func() (string, error) { return "", io.EOF }); got != "" || err != io.EOF {
		t.Errorf("at the end: %q, %v", got, err)
	}
	release := make(chan struct{})
	defer close(release)
	_, err := reply(ctx, func() (string, error) {
		cancel() // while it waits
		<-release
		return "late", nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it waits: %v", err)
	}
	if _, err := reply(ctx, func() (string, error) { t.Error("asked after the end"); return "", nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// TestProgress checks that each message is one whole line.
func TestProgress(t *testing.T) {
	var b bytes.Buffer
	for _, s := range []open.Step{
		{Source: "vc01", Stage: "VMs", Done: 500, Total: 1000, Sources: 3},
		{Source: "vc\n02", Stage: "hosts", Done: 3, Total: 10, Sources: 3},
		{Ended: 1, Sources: 3},
		{Source: "vc01", Stage: "VMs", Done: 1000, Total: 1000, Ended: 1, Sources: 3},
	} {
		showProgress(&b, s)
	}
	want := "\r\x1b[Kvc01: read VMs 500 of 1000 (0 of 3 sources done)" + "\r\x1b[Kvc\uFFFD02: read hosts 3 of 10 (0 of 3 sources done)" +
		"\r\x1b[K" + "\r\x1b[Kvc01: read VMs 1000 of 1000 (1 of 3 sources done)\r\x1b[K"
	if b.String() != want {
		t.Errorf("progress %q\nwant %q", b.String(), want)
	}
}
