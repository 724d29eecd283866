package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"example.org/homenode/source/strict"
)

// form and formVersion identify the JSON that ReadAnswers reads (docs/reference/json.md).
const (
	form        = "homenode-capture"
	formVersion = 2
)

// wanted names the expected input in error messages.
const wanted = "what homenode capture FILE --format json writes of one file"

// answer has the fields that are read from the JSON of a capture.
type answer struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Homenode string `json:"homenode"`
	Result   struct {
		Whole []byte `json:"whole"`
	} `json:"result"`
}

// ReadAnswers reads the JSON answers of captures, one or more in sequence, and calls use with
// each Result. The answers must be written by the version homenode, because another version may
// read captures differently. Errors come from r and use, or are a *numa.SyntaxError.
func ReadAnswers(name string, r io.Reader, homenode string, use func(*Result) error) error {
	lines := strict.NewLines(r)
	d := json.NewDecoder(lines)
	for n := 0; ; n++ {
		var text json.RawMessage
		err := d.Decode(&text)
		var syntax *json.SyntaxError
		size, _ := lines.Size()
		switch {
		case errors.Is(err, io.EOF) && n > 0:
			return nil
		case errors.Is(err, io.EOF):
			return lines.Error(name, 0, "found no text, want "+wanted)
		case errors.Is(err, io.ErrUnexpectedEOF):
			return lines.Error(name, size, "found the end within JSON, want "+wanted)
		case errors.As(err, &syntax):
			return lines.Error(name, syntax.Offset-1, fmt.Sprintf("found no JSON (%v), want %s", syntax, wanted))
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		}
		begin := d.InputOffset() - int64(len(text))
		result, at, err := readAnswer(text, homenode)
		if err != nil {
			return lines.Error(name, begin+at, err.Error())
		}
		if err := use(result); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		lines.Place(d.InputOffset()) // forgets the lines before
	}
}

// readAnswer returns the Result in an answer, or an error with its offset in the text.
func readAnswer(text []byte, homenode string) (r *Result, at int64, err error) {
	var a answer
	err = json.Unmarshal(text, &a)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return nil, 0, fmt.Errorf("found JSON of another kind (%s), want %s", wrong.Value, wanted)
	case errors.As(err, &wrong):
		return nil, wrong.Offset, fmt.Errorf("found a %s as %s, want %s", wrong.Value, wrong.Field, wanted)
	case a.Format != form:
		return nil, keyIn(text, "format"), fmt.Errorf("found the format %.60q, want %q: %s", a.Format, form, wanted)
	case a.Version != formVersion:
		return nil, keyIn(text, "version"), fmt.Errorf("found version %d of %s, want version %d", a.Version, form, formVersion)
	case a.Homenode != homenode:
		return nil, keyIn(text, "homenode"), fmt.Errorf("found a result of homenode %.60q, want one of this version, %q: another one may read captures otherwise", a.Homenode, homenode)
	case err != nil: // base64 error
		return nil, keyIn(text, "whole"), fmt.Errorf("found result.whole damaged (%w), want it as it was written", err)
	case a.Result.Whole == nil:
		return nil, keyIn(text, "result"), fmt.Errorf("found no result.whole, want %s: answers about the demo, about several files and of --merge have none", wanted)
	}
	if r, err = Unpack(a.Result.Whole); err != nil {
		return nil, keyIn(text, "whole"), fmt.Errorf("found result.whole damaged (%w), want it as it was written", err)
	}
	return r, 0, nil
}

// keyIn returns the offset of an object's key in JSON; 0 if there is none. Quotes in strings
// are escaped, so a string cannot pass for a key.
func keyIn(text []byte, key string) int64 {
	return int64(max(0, bytes.Index(text, []byte(`"`+key+`":`))))
}
