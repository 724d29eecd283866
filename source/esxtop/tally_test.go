package esxtop

import (
	"bytes"
	"testing"
)

// FuzzSeek checks that seek finds the quote that is due as a loop over the bytes does,
// whatever width it is told, or gives up where there is a byte below a line end.
func FuzzSeek(f *testing.F) {
	for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 200, 500} {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0\",\"\x307"[i*7%6]
		}
		for _, due := range []int{1, 2, n / 3} {
			f.Add(b, uint16(n/2), uint16(due), uint16(due/2))
		}
		f.Add(append(b, "\n\",\""...), uint16(n), uint16(n/2+1), uint16(n/4))
	}
	f.Fuzz(func(t *testing.T, b []byte, width, quotes, commas uint16) {
		if quotes == 0 {
			return
		}
		want, due, separators := -1, int(quotes), int(commas)
	search:
		for i, c := range b {
			switch c {
			case '\n':
				break search
			case ',':
				separators--
			case '"':
				if due--; due == 0 {
					if separators == 0 {
						want = i + 1
					}
					break search
				}
			}
		}
		q, c, whole := tallyWords(b)
		if Q, C, W := bytes.Count(b, quoteMark), bytes.Count(b, commaMark), bytes.IndexByte(b, '\n') < 0; q != Q || c != C || whole != W {
			t.Errorf("tallyWords() = %d, %d, %t, want %d, %d, %t", q, c, whole, Q, C, W)
		}
		padded := append(bytes.Clone(b), bytes.Repeat([]byte{'"'}, padding)...)
		got := seek(padded, 0, len(b), int(width), int(quotes), int(commas))
		plain := seek(padded, 0, len(b), int(width), int(quotes), int(commas))
		if plain != want || got != want && (got >= 0 || bytes.IndexFunc(b[:want], func(r rune) bool { return r < '\n' }) < 0) {
			t.Errorf("seek() = %d, seek() = %d, want %d", got, plain, want)
		}
	})
}
