package esxtop

import "testing"

// FuzzTally holds that both builds count as a loop over the bytes does.
func FuzzTally(f *testing.F) {
	for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 200} {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0\",\"\n7"[i*7%6]
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		type counts struct {
			quotes, commas int
			whole          bool
		}
		want := counts{whole: true}
		for _, c := range b {
			switch c {
			case '"':
				want.quotes++
			case ',':
				want.commas++
			case '\n':
				want.whole = false
			}
		}
		var got, plain counts
		got.quotes, got.commas, got.whole = tally(b)
		plain.quotes, plain.commas, plain.whole = tallyPlain(b)
		if got != want || plain != want {
			t.Errorf("%d bytes: tally %+v, tallyPlain %+v, want %+v", len(b), got, plain, want)
		}
	})
}
