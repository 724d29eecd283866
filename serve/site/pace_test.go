package site

import (
	"io"
	"strings"
	"testing"
	"time"
)

// TestPaced sets a deadline for each share of a body: a client that sends little does not move it, and none is after the last.
func TestPaced(t *testing.T) {
	var set []time.Time
	begin := time.Now()
	p := &paced{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("a", 100))), last: begin.Add(90 * time.Minute), bytes: 40, within: time.Hour,
		until: func(end time.Time) error { set = append(set, end); return nil }}
	one := make([]byte, 1)
	for range 40 {
		if _, err := p.Read(one); err != nil {
			t.Fatal(err)
		}
	}
	if len(set) != 1 || set[0].Before(begin.Add(time.Hour)) {
		t.Errorf("after a share, byte by byte: %v", set)
	}
	p.last = begin.Add(time.Minute)
	if n, err := io.Copy(io.Discard, p); err != nil || n != 60 {
		t.Fatal(n, err)
	}
	if len(set) < 2 || !set[len(set)-1].Equal(p.last) {
		t.Errorf("the last of %v is after %v", set, p.last)
	}
}
