package words

import (
	"errors"
	"io/fs"
	"strings"
)

// Error returns the text of an error with usual words, in which a path stands once.
func Error(err error) string {
	text := err.Error()
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		text = strings.ReplaceAll(text, at.Error(), at.Path+": "+at.Err.Error())
		text = strings.ReplaceAll(text, at.Path+": "+at.Path+": ", at.Path+": ")
	}
	return Usual(text)
}

// Usual returns a text with usual words for those of the standard library.
func Usual(text string) string { return usual.Replace(text) }

var usual = strings.NewReplacer(
	"zip: not a valid zip file", "the end of the archive is missing",
	"unexpected EOF", "the data end early",
	"unexpected end of JSON input", "the JSON is cut off",
	"context deadline exceeded", "no answer in time",
	"i/o timeout", "no answer in time",
	"invalid character ", "found the character ",
	"looking for beginning of value", "where a value begins",
	"looking for beginning of object key string", "where a name begins",
	"at start of value", "where a value begins",
	"strconv.Atoi: parsing ", "found ",
	"strconv.ParseFloat: parsing ", "found ",
	"strconv.ParseInt: parsing ", "found ",
	"strconv.ParseUint: parsing ", "found ",
	`": invalid syntax`, `", want a number`,
	`": value out of range`, `", want a smaller number`,
)
