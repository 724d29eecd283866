package published

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// caseJSON is the JSON form of a Case.
type caseJSON struct {
	ID       words          `json:"id"`
	Source   words          `json:"source_url"`
	Gave     words          `json:"gave"`
	Kind     words          `json:"kind"`
	Release  words          `json:"release"`
	Hardware words          `json:"hw_version"`
	Event    words          `json:"event"`
	From     any            `json:"source_host"`
	Host     map[string]any `json:"host"`
	VM       map[string]any `json:"vm"`
	Observed map[string]any `json:"observed"`
}

// words are a string, or whatever stands there instead: a release may be written
// as the number 7.0.
type words string

// UnmarshalJSON takes any value. null is no words.
func (w *words) UnmarshalJSON(b []byte) error {
	var s string
	switch err := json.Unmarshal(b, &s); {
	case err == nil:
		*w = words(s) // of null, nothing
	default:
		*w = words(b)
	}
	return nil
}

// readJSON reads a list of cases or one. data is as in the file, so that positions
// are right.
func readJSON(name string, data []byte, single bool) ([]Case, error) {
	var forms []caseJSON
	var err error
	if single {
		forms = make([]caseJSON, 1)
		err = json.Unmarshal(data, &forms[0])
	} else {
		err = json.Unmarshal(data, &forms)
	}
	if err != nil {
		return nil, jsonError(name, data, err)
	}
	seen := map[string]bool{}
	var cases []Case
	for i, f := range forms {
		c := Case{ID: string(f.ID), Source: string(f.Source), Gave: string(f.Gave), Kind: string(f.Kind), Release: string(f.Release), Hardware: string(f.Hardware),
			Event: string(f.Event), Host: f.Host, VM: f.VM, Observed: f.Observed}
		switch from := f.From.(type) {
		case nil:
		case map[string]any:
			c.From = from
		default: // in words, which variants reads
			c.From = map[string]any{"shape": from}
		}
		switch {
		case c.ID == "":
			return nil, fmt.Errorf("%s: case %d has no id", name, i+1)
		case seen[c.ID]:
			return nil, fmt.Errorf("%s: case %s stands there twice", name, c.ID)
		}
		seen[c.ID] = true
		cases = append(cases, c)
	}
	return cases, nil
}

// jsonError gives an error of encoding/json its place and the words of the form.
func jsonError(name string, data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		off := int(syntax.Offset) - 1                         // of the byte that is wrong
		if syntax.Error() == "unexpected end of JSON input" { // there is none
			off++
		}
		return fmt.Errorf("%s%s: %w", name, place(data, off), err)
	case errors.As(err, &kind):
		field := kind.Field
		if field != "" {
			field += ": "
		}
		return fmt.Errorf("%s%s: %sfound %s, want an object", name, place(data, int(kind.Offset)-1), field, kind.Value)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// place returns ":line:column" of the byte at off.
func place(data []byte, off int) string {
	before := data[:max(0, min(off, len(data)))]
	return fmt.Sprintf(":%d:%d", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}
