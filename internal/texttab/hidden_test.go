package texttab

import (
	"encoding/json"
	"strings"
	"testing"
)

const hostile = "a\x1b[31m\u007fb\u009bc\u202ed\u2066e\u200df\U000E0001g\u2028h\u00adäñ日本"

func TestEscapedJSON(t *testing.T) {
	text, err := json.Marshal(map[string]string{"name": hostile})
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []int{1, 2, 1000} {
		var b strings.Builder
		w := EscapedJSON(&b)
		for rest := text; len(rest) > 0; {
			n, err := w.Write(rest[:min(piece, len(rest))])
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		const want = `{"name":"a\u001b[31m\u007fb\u009bc\u202ed\u2066e\u200df\udb40\udc01g\u2028h\u00adäñ日本"}`
		var back map[string]string
		if err := json.Unmarshal([]byte(b.String()), &back); b.String() != want || err != nil || back["name"] != hostile {
			t.Errorf("in pieces of %d: %s, %v\nwant %s", piece, b.String(), err, want)
		}
	}
}

func TestCleaned(t *testing.T) {
	var b strings.Builder
	if _, err := Cleaned(&b).Write([]byte("x\n\ty" + hostile)); err != nil {
		t.Fatal(err)
	}
	if want := "x\n\ty" + Clean(hostile); b.String() != want {
		t.Errorf("Cleaned wrote %q, want %q", b.String(), want)
	}
}
