package vsphere

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
)

func TestReturned(t *testing.T) {
	const head = `<?xml version="1.0"?><Envelope><Body><ExecuteSimpleCommandResponse xmlns="urn:vim25">`
	for _, c := range []struct{ in, want, err string }{
		{head + `<returnval>|a|&lt;b&gt; &amp;amp; &#10;&#xe9;|</returnval></ExecuteSimpleCommandResponse>`, "|a|<b> &amp; \né|", ""},
		{head + `<returnval xsi:type="xsd:string">x</returnval>`, "x", ""},
		{head + `<returnval/>`, "", ""},
		{head + `</ExecuteSimpleCommandResponse>`, "", ""},
		{head + `<returnval>|a|b`, "", "the answer is cut off: unexpected EOF"},
		{head + `<returnval`, "", "unexpected EOF"},
		{head + `<returnval>a<b/></returnval>`, "", "found an element in returnval, want text"},
		{head + `<returnval>a &b c</returnval>`, "", "found a lone &"},
		{head + `<returnval>a &b; c</returnval>`, "", `found the entity "b"`},
		{`<html>proxy</html>`, "", "found no returnval in the answer"},
	} {
		got, err := returned([]byte(c.in))
		if err == nil && c.err != "" || err != nil && err.Error() != c.err || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q, %s", c.in[min(len(head), len(c.in)):], got, err, c.want, c.err)
		}
	}
}

// FuzzReturned checks that any text comes through, and that no answer ends the program.
func FuzzReturned(f *testing.F) {
	f.Add("|a|<b> & 'c'\n|", []byte("<returnval>&#x41;</returnval>"))
	f.Fuzz(func(t *testing.T, text string, answer []byte) {
		_, _ = returned(answer)
		var b bytes.Buffer
		if err := xml.EscapeText(&b, []byte(text)); err != nil {
			t.Fatal(err)
		}
		want := strings.Map(func(r rune) rune { // what XML cannot say the encoder replaces
			if r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 {
				return r
			}
			return '\uFFFD'
		}, string([]rune(text)))
		got, err := returned([]byte("<returnval>" + b.String() + "</returnval>"))
		if err != nil || string(got) != want {
			t.Errorf("%q came as %q, %v", text, got, err)
		}
	})
}
