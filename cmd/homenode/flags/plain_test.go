package flags

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
)

// TestPlain: errors of the standard library reach users in usual words, with each path once.
func TestPlain(t *testing.T) {
	_, missing := os.Stat("nofile.json")
	reason := errors.Unwrap(missing).Error() // which differs by system
	for _, tt := range []struct {
		err  error
		want string
	}{
		{missing, "nofile.json: " + reason},
		{fmt.Errorf("nofile.json: %w", missing), "nofile.json: " + reason},
		{fmt.Errorf("--config: %w", missing), "--config: nofile.json: " + reason},
		{fmt.Errorf("a.tgz: damaged or cut off at or behind a.log: %w", io.ErrUnexpectedEOF), "a.tgz: damaged or cut off at or behind a.log: the data end early"},
	} {
		if got := ErrorText(tt.err); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.err, got, tt.want)
		}
	}
}
