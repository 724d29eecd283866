package explore

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample returns a published file, which is not part of the project.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../../shared/samples/esxtop", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no sample %s beside the checkout", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSample(t *testing.T) {
	l, err := List("f", bytes.NewReader(sample(t, "rach-sharp_esxtopd_small.csv")), Options{Object: "Group Memory"})
	if err != nil {
		t.Fatal(err)
	}
	o := l.Objects[0]
	if l.Columns != 7630 || l.Rows != 3 || !l.Quoted || len(l.Warnings) != 0 || *l.Interval != (Interval{5, 5, 5}) ||
		len(o.Instances) != 54 || len(o.Counters) != 15 || o.Columns != 810 {
		t.Errorf("got %+v with %d instances, %d counters, %d columns", l, len(o.Instances), len(o.Counters), o.Columns)
	}
}

// TestSampleNodes takes the counters of two nodes out of a file that a tool has trimmed.
func TestSampleNodes(t *testing.T) {
	var b strings.Builder
	x, err := extract(&b, "f", bytes.NewReader(sample(t, "aumezawa_log-analysis_2numa_nodes_trimmed.csv")), []string{`Numa Node(?)\*Processor*`}, 0)
	if err != nil {
		t.Fatal(err)
	}
	const want = `time,\\test0001\Numa Node(0)\% Processor Time,\\test0001\Numa Node(1)\% Processor Time
2022-02-03T03:46:25Z,1.78,2.02
`
	if !strings.HasPrefix(b.String(), want) || x.Rows != 5 {
		t.Errorf("got %d rows\n%s\nwant 5, from\n%s", x.Rows, b.String(), want)
	}
}
