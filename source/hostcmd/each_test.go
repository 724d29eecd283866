package hostcmd

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// endless is the same output again and again.
type endless struct{ text []byte }

func (e *endless) Read(b []byte) (n int, err error) {
	for n < len(b) {
		n += copy(b[n:], e.text)
	}
	return n, nil
}

// An error ends the reading, however much would follow.
func TestEachEnds(t *testing.T) {
	stop := errors.New("stop")
	err := Each("a", &endless{[]byte("date\n2026-11-21T20:30:00Z\n")}, func(*Output) error { return stop })
	if err != stop {
		t.Errorf("the error is %v, want that of visit", err)
	}
	err = Each("a", io.MultiReader(strings.NewReader("nodeID used idle entitled owed loadAvgPct nVcpu freeMem totalMem\n"), &endless{[]byte("0 1 1 1 1 1 1 1 1\n")}), func(*Output) error { return nil })
	if want := "a:1: found an output of more than 8 MB"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
