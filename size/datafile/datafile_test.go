package datafile

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"example.org/homenode/numa"
)

type sample struct {
	Block   numa.Bytes
	Name    string
	Share   float64
	Limited bool
	Dumps   []float64
	Release numa.Release
}

const heading = "# a comment\n\nblock | name | share | limited | dumps | release\n"

func TestRead(t *testing.T) {
	got, err := Read[sample]("f.txt", heading+"32 KiB | a b | 0.5 | yes | 1, 2.5 | 8.0U3\n1 MiB||||| \r\n")
	want := []sample{{32 << 10, "a b", 0.5, true, []float64{1, 2.5}, numa.NewRelease(8, 0, 3)}, {Block: 1 << 20}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, %v, want %v", got, err, want)
	}
}

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "f.txt:1:1: found no rows"},
		{heading, "f.txt:1:1: found no rows"},
		{"block | nom\n", `f.txt:1:9: found the column "nom", want each field of sample once`},
		{"block | block\n", `f.txt:1:9: found the column "block", want each field of sample once`},
		{"block | name\n", "f.txt:1:1: found 2 columns, want one for each of the 6 fields of sample"},
		{heading + "1 | a\n", "f.txt:4:1: found 2 cells, want 6"},
		{heading + "1 kB | a | 1 | yes | 1 | \n", `f.txt:4:1: found "1 kB", want a whole number`},
		{heading + "1 | ä | x | yes | 1 | \n", `f.txt:4:9: found "x", want a number`},
		{heading + "1 | a | 1 | no | 1 | \n", `f.txt:4:13: found "no", want yes or nothing`},
		{heading + "1 | a | 1 | | 1, b | \n", `f.txt:4:15: found "b", want a number`},
		{heading + "1 | a | 1 | | 1 | eight\n", "f.txt:4:19: "},
	} {
		if _, err := Read[sample]("f.txt", tt.text); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: found %v, want %s", tt.text, err, tt.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Must does not panic")
		}
	}()
	Must[sample](fstest.MapFS{"f.txt": {Data: []byte(heading)}}, "f.txt")
}
