package texttab

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for _, tt := range []struct {
		s    string
		want int
	}{
		{"", 0},
		{"esx01", 5},
		{"äöü ß", 5},
		{"a\u0308", 1},            // ä of two code points
		{"e\u0301\u0323", 1},      // two marks on one letter
		{"\u20dd", 0},             // an enclosing mark alone
		{"\u4e2d\u6587", 4},       // Chinese
		{"\ud55c\uae00", 4},       // Korean
		{"\uff76", 1},             // halfwidth katakana
		{"\uff21", 2},             // fullwidth A
		{"\u2500\u2502\u2192", 3}, // lines and arrows of drawings
		{"\U0001f600", 2},
		{"a\u200db\u200b\ufeff", 2}, // joiner, zero width space, byte order mark
		{"\x1b[1;31mHIGH\x1b[0m", 4},
		{"\x1b[mHIGH", 4},
		{"\x1b[31m\u4e2d\x1b[0m", 2},
		{"\x1b hello me", 9},   // no sequence: nothing is swallowed
		{"\x1b[2K memory", 10}, // another sequence: what is printed of it counts
		{"\x1b[1;3", 4},        // cut
		{"a\xffb", 3},          // not UTF-8: a replacement character
		{"a\tb\x00", 2},
	} {
		if got := Width(tt.s); got != tt.want {
			t.Errorf("Width(%q) = %d, want %d", tt.s, got, tt.want)
		}
	}
}

// TestCut checks that a text is never wider than it may be.
func TestCut(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{{"sql01", 5, "sql01"}, {"sql01", 4, "sql…"}, {"sql01", 1, "…"}, {"sql01", 0, ""}, {"数据库", 4, "数…"}, {"数据库", 2, "…"}, {"", 0, ""}} {
		if got := Cut(tt.s, tt.n); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	const red, off = "\x1b[31m", "\x1b[0m"
	for _, tt := range []struct {
		name  string
		table Table
		rows  [][]string
		want  string
	}{
		{"none", Table{}, nil, ""},
		{"left and right", Table{Right: map[int]bool{1: true}}, [][]string{{"VM", "VCPUS", "HOST"}, {"sql01", "8", "esx01"}, {"a", "128", ""}}, `
VM     VCPUS  HOST
sql01      8  esx01
a        128
`},
		{"indented, rows of different lengths", Table{Indent: "  "}, [][]string{{"a"}, {"bb", "c"}, {}}, `
  a
  bb  c

`},
		{"the last column is not padded", Table{}, [][]string{{"a", "long text"}, {"b", "c"}}, `
a  long text
b  c
`},
		{"wide characters", Table{}, [][]string{{"\u4e2d\u6587", "x"}, {"abcde", "y"}, {"e\u0301", "z"}}, `
` + "\u4e2d\u6587" + `   x
abcde  y
` + "e\u0301" + `      z
`},
		{"colours of a stranger", Table{Right: map[int]bool{0: true}}, [][]string{{red + "1" + off, "x"}, {"100", "y"}}, `
�[31m1�[0m  x
       100  y
`},
		{"line breaks in a cell", Table{}, [][]string{{"a\nb", "c\r\nd\te"}, {"f", "g"}}, `
a b  c d e
f    g
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, row := range tt.rows {
				tt.table.Row(row...)
			}
			var b strings.Builder
			n, err := tt.table.WriteTo(&b)
			if got := "\n" + b.String(); tt.want != "" && got != tt.want || tt.want == "" && b.Len() > 0 || n != int64(b.Len()) || err != nil {
				t.Errorf("WriteTo = %d, %v:%swant:%s", n, err, got, tt.want)
			}
		})
	}
}

func TestPaint(t *testing.T) {
	table := Table{Right: map[int]bool{0: true}}
	table.Row("1", "x")
	table.Paint(0, "31")
	table.Row("100", "y")
	var b strings.Builder
	if _, err := table.WriteTo(&b); err != nil || b.String() != "  \x1b[31m1\x1b[0m  x\n100  y\n" {
		t.Errorf("WriteTo: %q, %v", b.String(), err)
	}
}

func TestClean(t *testing.T) {
	for _, tt := range []struct{ s, want string }{
		{"esx01 äöü → 中文 2 × 16", "esx01 äöü → 中文 2 × 16"},
		{"a\x1b]0;title\ab", "a�]0;title�b"},
		{"a\r\n\tb\x00\x7f\u009b2J", "a���b���2J"},
		{"gpj.\u202etxt\u2066\u200f", "gpj.�txt��"},
		{"a\u2028b\u2029c", "a�b�c"},
		{"a\xff\xfeb", "a�b"},
		{"", ""},
	} {
		if got := Clean(tt.s); got != tt.want {
			t.Errorf("Clean(%q) = %q, want %q", tt.s, got, tt.want)
		}
	}
}

// TestRowIsCopied: what the caller does with its slice does not change the table.
func TestRowIsCopied(t *testing.T) {
	var table Table
	row := []string{"a", "b"}
	table.Row(row...)
	row[0] = "x"
	var b strings.Builder
	if _, err := table.WriteTo(&b); err != nil || b.String() != "a  b\n" {
		t.Errorf("WriteTo: %q, %v", b.String(), err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteError(t *testing.T) {
	var table Table
	table.Row("a")
	if n, err := table.WriteTo(broken{}); n != 0 || err == nil || err.Error() != "broken pipe" {
		t.Errorf("WriteTo = %d, %v", n, err)
	}
}

// TestUnitsStay checks that a number and its unit stay on one line.
func TestUnitsStay(t *testing.T) {
	got := Wrap("most of it, 46 GB, is remote: 37 %.", 14)
	want := []string{"most of it,", "46 GB, is", "remote: 37 %."}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
