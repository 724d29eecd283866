package words

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
)

// TestError: errors of the standard library reach users in usual words, with each path once.
func TestError(t *testing.T) {
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
		{numberError("abc"), `found "abc", want a number`},
		{json.Unmarshal([]byte(`{"a": x}`), new(any)), "found the character 'x' where a value begins"},
	} {
		if got := Error(tt.err); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.err, got, tt.want)
		}
	}
}

func numberError(text string) error { _, err := strconv.ParseInt(text, 10, 64); return err }
