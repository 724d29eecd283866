package main

import (
	"context"
	"errors"
	"io"
	"testing"
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
