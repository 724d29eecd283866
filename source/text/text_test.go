package text

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func read(t *testing.T, r io.Reader) (lines []string, cut int, err error) {
	t.Helper()
	l := NewLines(r)
	for l.Scan() {
		lines = append(lines, l.Text())
		if l.Line() != len(lines) {
			t.Fatalf("line %d is called %d", len(lines), l.Line())
		}
		if l.Cut() {
			cut++
		}
	}
	return lines, cut, l.Err()
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", MaxLine+5)
	for _, tt := range []struct {
		name, in string
		want     []string
		cut      int
	}{
		{"empty", "", nil, 0},
		{"no end", "a\nb", []string{"a", "b"}, 0},
		{"LF", "a\n\nb\n", []string{"a", "", "b"}, 0},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}, 0},
		{"CR", "a\rb\r\rc", []string{"a", "b", "", "c"}, 0},
		{"BOM", "\xEF\xBB\xBFa\n", []string{"a"}, 0},
		{"BOM alone", "\xEF\xBB\xBF", nil, 0},
		{"UTF-16LE", "\xFF\xFEa\x00\r\x00\n\x00\xe4\x00", []string{"a", "ä"}, 0},
		{"UTF-16BE", "\xFE\xFF\x00a\x00\n\x00b", []string{"a", "b"}, 0},
		{"too long", long + "\nb\n", []string{long[:MaxLine], "b"}, 1},
		{"longer than the buffer", long[:HeadSize+7] + "\r\nb", []string{long[:HeadSize+7], "b"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				got, cut, err := read(t, r)
				if err != nil || !slices.Equal(got, tt.want) || cut != tt.cut {
					t.Errorf("%d lines, %d cut, %v; want %d, %d", len(got), cut, err, len(tt.want), tt.cut)
				}
			}
		})
	}
	want := errors.New("disk on fire")
	got, _, err := read(t, io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(want)))
	if !slices.Equal(got, []string{"a"}) || !errors.Is(err, want) || err.Error() != "line 2: disk on fire" {
		t.Errorf("%q, %v", got, err)
	}
}
