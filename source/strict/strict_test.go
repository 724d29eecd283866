package strict

import "testing"

// TestUnmarshal: each departure from the JSON that homenode writes is an error with its place, and without Go types.
func TestUnmarshal(t *testing.T) {
	type inner struct {
		Count int     `json:"count"`
		Share float64 `json:"share"`
		Bytes []byte  `json:"bytes"`
	}
	type thing struct {
		Name  string           `json:"name"`
		Parts []inner          `json:"parts"`
		By    map[string]inner `json:"by"`
	}
	for text, want := range map[string]string{
		`{"name":"a","parts":[{"count":1,"share":0.5}]}` + "\n": "",
		``:                              "f:1:1: found the end of the file: it is cut short",
		`{"name":"a`:                    "f:1:11: name: found the end of the file: it is cut short",
		`{"name":"a"`:                   "f:1:12: found the end of the file: it is cut short",
		"{\n \"Name\":\"a\"}":           `f:2:2: found "Name", which no thing has here`,
		"{\"name\":\"a\",\n\"name\":1}": `f:2:1: found "name" twice`,
		`{"parts":[{},{"count":1.5}]}`:  "f:1:23: parts[1].count: found 1.5, want a whole number",
		`{"parts":[{"count":"1"}]}`:     "f:1:20: parts[0].count: found string, want a whole number",
		`{"parts":{}}`:                  "f:1:10: parts: found {, want a list",
		`{"by":[]}`:                     "f:1:7: by: found [, want an object",
		`{"name":"a"} {}`:               "f:1:14: found more behind its end",
		"{\"name\":\"\xff\"}":           "f:1:10: name: invalid UTF-8",
	} {
		got := ""
		if err := Unmarshal("f", "thing", []byte(text), &thing{}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: found %s, want %s", text, got, want)
		}
	}
	if err := Unmarshal("", "thing", []byte(`{"x":1}`), &thing{}); err.Error() != `column 2: found "x", which no thing has here` {
		t.Error(err)
	}
}
