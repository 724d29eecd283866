package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"example.org/homenode/numa"
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
	lines := &lineReader{r: r}
	d := json.NewDecoder(lines)
	for n := 0; ; n++ {
		var text json.RawMessage
		err := d.Decode(&text)
		var wrong *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF) && n > 0:
			return nil
		case errors.Is(err, io.EOF):
			return lines.wrong(name, 0, "found no text, want "+wanted)
		case errors.Is(err, io.ErrUnexpectedEOF):
			return lines.wrong(name, lines.read, "found the end within JSON, want "+wanted)
		case errors.As(err, &wrong):
			return lines.wrong(name, wrong.Offset-1, fmt.Sprintf("found no JSON (%v), want %s", wrong, wanted))
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		}
		begin := d.InputOffset() - int64(len(text))
		result, at, err := readAnswer(text, homenode)
		if err != nil {
			return lines.wrong(name, begin+at, err.Error())
		}
		if err := use(result); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		lines.forget(d.InputOffset())
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

// A lineReader records the offsets of line ends.
type lineReader struct {
	r      io.Reader
	read   int64
	ends   []int64 // offsets after line ends
	before int     // lines dropped from ends
	start  int64   // offset of the first line still in ends
}

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i)+1)
		}
	}
	l.read += int64(n)
	return n, err
}

// forget drops the lines that end before an offset.
func (l *lineReader) forget(offset int64) {
	n, _ := slices.BinarySearch(l.ends, offset+1)
	if n > 0 {
		l.before, l.start = l.before+n, l.ends[n-1]
		l.ends = slices.Delete(l.ends, 0, n)
	}
}

// wrong returns a syntax error with the line and column of an offset.
func (l *lineReader) wrong(name string, offset int64, text string) error {
	n, _ := slices.BinarySearch(l.ends, offset+1)
	start := l.start
	if n > 0 {
		start = l.ends[n-1]
	}
	return &numa.SyntaxError{File: name, Line: l.before + n + 1, Col: int(offset-start) + 1, Msg: text}
}
