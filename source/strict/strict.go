// Package strict reads JSON that homenode wrote. A name that is unknown, in another case or twice in one object, a value of another type, text that is no
// UTF-8 and anything behind the end are errors with their place.
package strict

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// options decode values as encoding/json writes them.
var options = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false), json.MatchCaseInsensitiveNames(false),
	json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))

// Unmarshal reads the one value of a text into to; name is the file, and noun the thing that it holds, for errors.
func Unmarshal(name, noun string, text []byte, to any) error {
	d := NewDecoder(name, noun, text)
	if err := d.Next(to); err != nil {
		return err
	}
	if d.More() {
		return At(name, text, d.Begin(), "found more behind its end")
	}
	return nil
}

// A Decoder reads the values of a text, one behind the other.
type Decoder struct {
	name, noun string
	text       []byte
	in         *jsontext.Decoder
}

// NewDecoder returns a Decoder; its arguments are those of Unmarshal.
func NewDecoder(name, noun string, text []byte) *Decoder {
	return &Decoder{name, noun, text, jsontext.NewDecoder(bytes.NewReader(text))}
}

// More reports whether there is text before the end.
func (d *Decoder) More() bool { return len(bytes.TrimSpace(d.text[d.in.InputOffset():])) > 0 }

// Begin returns the offset of the next value.
func (d *Decoder) Begin() int64 {
	return int64(len(d.text) - len(bytes.TrimLeft(d.text[d.in.InputOffset():], " \t\r\n")))
}

// Next reads the next value.
func (d *Decoder) Next(to any) error {
	err := json.UnmarshalDecode(d.in, to, options)
	if err == nil {
		return nil
	}
	offset, msg := Explain(err, d.noun)
	if msg == cut || strings.HasSuffix(msg, ": "+cut) {
		offset = int64(len(d.text))
	}
	return At(d.name, d.text, offset, msg)
}

// cut is the message about a text that ends too early.
const cut = "found the end of the file: it is cut short"

// At returns an error with the line and column of an offset, or the column alone of a line of a file without a name.
func At(name string, text []byte, offset int64, msg string) *numa.SyntaxError {
	before := text[:min(offset, int64(len(text)))]
	e := &numa.SyntaxError{File: name, Line: bytes.Count(before, []byte("\n")) + 1, Col: len(before) - bytes.LastIndexByte(before, '\n'), Msg: msg}
	if name == "" {
		e.Line = 0
	}
	return e
}

// Explain returns the offset of a decoder's error and a message with its path, without Go types. noun names the content of the text.
func Explain(err error, noun string) (offset int64, msg string) {
	var pointer jsontext.Pointer
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntactic):
		offset, pointer, msg = syntactic.ByteOffset, syntactic.JSONPointer, syntactic.Err.Error()
	case errors.As(err, &semantic):
		offset, pointer, msg = semantic.ByteOffset, semantic.JSONPointer, message(semantic)
	default:
		msg = err.Error()
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		msg = cut
	case errors.Is(err, jsontext.ErrDuplicateName):
		msg, pointer = fmt.Sprintf("found %.40q twice", pointer.LastToken()), pointer.Parent()
	case errors.Is(err, json.ErrUnknownName):
		msg, pointer = fmt.Sprintf("found %.40q, which no %s has here", pointer.LastToken(), noun), pointer.Parent()
	}
	if pointer != "" { // /vms/12/memory is vms[12].memory
		path := number.ReplaceAllString(string(pointer), "[$1]")
		msg = fmt.Sprintf("%.100s: %s", strings.TrimPrefix(strings.ReplaceAll(path, "/", "."), "."), msg)
	}
	return offset, msg
}

var number = pattern.Of(`/(\d+)`)

// message describes the value found and the type expected, where json would name a Go type.
func message(e *json.SemanticError) string {
	if e.Err != nil && !errors.Is(e.Err, strconv.ErrRange) && !errors.Is(e.Err, strconv.ErrSyntax) {
		return fmt.Sprintf("%.200s", e.Err) // it may quote the file
	}
	return fmt.Sprintf("found %.40s, want %s", cmp.Or(string(e.JSONValue), e.JSONKind.String()), map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Int64: "a whole number", reflect.Float64: "a number that fits",
		reflect.Slice: "a list", reflect.Struct: "an object", reflect.Map: "an object", reflect.Uint32: "a release such as 7.0 U3",
	}[e.GoType.Kind()])
}
