package flags

import (
	"errors"
	"strings"
	"testing"
)

// TestLongError cuts the text of an error that quotes a whole file.
func TestLongError(t *testing.T) {
	text := ErrorText(errors.New("found " + strings.Repeat("a", 30<<20)))
	if len(text) > 2*mostError || !strings.HasPrefix(text, "found aaa") || !strings.HasSuffix(text, "bytes more)") {
		t.Errorf("%d bytes, begin %.20q, end %q", len(text), text, text[max(0, len(text)-40):])
	}
	if text := ErrorText(errors.New("found 1\nfound 2")); text != "found 1\n  found 2" {
		t.Errorf("%q", text)
	}
}
