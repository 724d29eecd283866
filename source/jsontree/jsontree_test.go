package jsontree

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/source/text"
)

// dump writes a tree as lines of path, kind, text and place.
func dump(v *Value, path string, b *strings.Builder) {
	fmt.Fprintf(b, "%s %c %q %d:%d", path, v.Kind, v.Text, v.Line, v.Col)
	if v.Cut {
		b.WriteString(" cut")
	}
	b.WriteByte('\n')
	for i, m := range v.List() {
		dump(m, path+"/"+v.Keys[i], b)
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"kinds", "{\"a\": [1.50, \"x\\n\"],\n  \"b\": null, \"skip\": {\"a\": 1},\n\"c\": true}", ` { "" 7:1
/a [ "" 7:7
/a/0 0 "1.50" 7:8
/a/1 " "x\n" 7:14
/b n "" 8:8
/c t "true" 9:6
`},
		{"a key twice: the last counts", `{"a": 1, "a": 2}`, ` { "" 7:1
/a 0 "2" 7:15
`},
		{"cut off", `{"a": [{"b": 1}, {"b": `, ` { "" 7:1 cut
/a [ "" 7:7 cut
/a/0 { "" 7:8
/a/0/b 0 "1" 7:14
/a/1 { "" 7:18 cut
7:23: unexpected EOF
`},
		{"damaged", "{\"a\":\n oops}", ` { "" 7:1 cut
8:2: invalid character 'o' looking for beginning of value
`},
		{"many", "[0" + strings.Repeat(",0", 600_000) + "]", "7:1000000: found more than 500000 values\n"},
		{"deep", strings.Repeat("[", 70), "7:66: found more than 64 levels\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			v, err := Parse([]byte(tt.in), 7, "skip")
			if tt.name != "deep" && tt.name != "many" {
				dump(v, "", &b)
			}
			if err != nil {
				fmt.Fprintf(&b, "%d:%d: %s\n", err.Line, err.Col, err.Msg)
			}
			if b.String() != tt.want {
				t.Errorf("got\n%swant\n%s", b.String(), tt.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	v, err := Lines([]text.Line{text.Trim(3, "  {"), text.Trim(4, "\t \"a\": 5 }")})
	if c := v.At("a").Cell(); err != nil || c != (text.Line{N: 4, Col: 8, Text: "5"}) || v.At("a", "b").Kind != 0 {
		t.Errorf("a is %v, %v; want 5 at 4:8", c, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a": [1, "x", null, true], "b": {"c": 2}}`))
	f.Add([]byte("{\"a\":\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		v, err := Parse(doc, 1, "skip")
		if v == nil || err != nil && (err.Line < 1 || err.Col < 1) {
			t.Fatalf("%v, %+v", v, err)
		}
	})
}
