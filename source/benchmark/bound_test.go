package benchmark

import (
	"bytes"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
)

// A repeater returns some bytes again and again.
type repeater struct {
	text []byte
	at   int
	read int
	most uint64 // of memory, seen after each 4 MB
}

func (r *repeater) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	if r.read += n; r.read>>22 != (r.read-n)>>22 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r.most = max(r.most, m.HeapAlloc)
	}
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

// tenSeconds are inputs that are read to their bound of 64 MB, slowly: make prove reads them too.
var tenSeconds = []string{"Measuring Loaded Latencies for the system\n", `{ "fio version" : "fio-3.1", "x" : "`, "fio-3.json"}

// TestBounds reads each sample without end, as an archive of some KB may hold it: time and memory
// have a bound.
func TestBounds(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // make test collects less often
	endless := map[string]*repeater{
		"Measuring Loaded Latencies for the system\n":    {text: []byte("no line of it\n")},
		`{ "fio version" : "fio-3.1", "x" : [0`:          {text: []byte(",0")},
		`{ "fio version" : "fio-3.1", "x" : "`:           {text: []byte("x\n")},
		"Measuring Loaded Latencies for the system of\n": {text: []byte("x")},
	}
	for _, name := range inputs(t) {
		b := golden.Read(t, name)
		endless[filepath.Base(name)] = &repeater{text: append(b, '\n')}
	}
	for name, r := range endless {
		t.Run(name, func(t *testing.T) {
			if slices.Contains(tenSeconds, name) {
				testdeps.Proving(t)
			}
			head := ""
			if r.text[0] == ',' || len(r.text) < 20 {
				head = name
			}
			began := time.Now()
			_, err := Read("f", io.MultiReader(strings.NewReader(head), r))
			if err == nil || !strings.Contains(err.Error(), "found ") {
				t.Errorf("Read = %v, want that it found too much", err)
			}
			if r.most > 600<<20 {
				t.Errorf("Read took %d MB", r.most>>20)
			}
			t.Logf("%v, %d MB, %v", time.Since(began), r.most>>20, err)
		})
	}
}

// TestManyResults checks that what a long series of real runs has is within the bounds.
func TestManyResults(t *testing.T) {
	b := golden.Read(t, "testdata/hcibench.txt")
	if res, err := Read("f", bytes.NewReader(bytes.Repeat(append(b, '\n'), 1000))); err != nil || len(res.Runs) < 1000 {
		t.Errorf("Read of 1000 results: %v", err)
	}
}
