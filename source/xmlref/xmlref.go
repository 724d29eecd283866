// Package xmlref decodes the references of XML: &amp; and &#10;.
package xmlref

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

var entities = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "apos": '\'', "quot": '"'}

// Character returns the character of a reference of XML by its name: amp, #10 or #x2026.
func Character(name []byte) (rune, bool) {
	if len(name) < 2 || name[0] != '#' {
		r, ok := entities[string(name)]
		return r, ok
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(string(digits), base, 32)
	return rune(n), err == nil && n <= utf8.MaxRune && utf8.ValidRune(rune(n))
}

// Decode appends text of XML with its references decoded, which are never shorter than their characters.
func Decode(to, s []byte) ([]byte, error) {
	for {
		i := bytes.IndexByte(s, '&')
		if i < 0 {
			return append(to, s...), nil
		}
		to, s = append(to, s[:i]...), s[i+1:]
		end := bytes.IndexByte(s[:min(len(s), 12)], ';')
		if end < 0 {
			return nil, errors.New("found a lone &")
		}
		r, ok := Character(s[:end])
		if !ok {
			return nil, fmt.Errorf("found the entity %q", s[:end])
		}
		to, s = utf8.AppendRune(to, r), s[end+1:]
	}
}
