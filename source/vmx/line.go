package vmx

import (
	"bytes"
	"fmt"
)

// An entry is one line of a .vmx; its slices are borrowed from the line, unless the value had escapes.
type entry struct {
	key   string
	value []byte
	col   int // of the value, from 1, in bytes
}

// ParseEntry parses key = "value", the form in a .vmx and in the DICT lines of vmware.log. ok is false
// if the line is not an entry; problem describes an error in the line. value is borrowed from line.
func ParseEntry(line []byte) (key string, value []byte, col int, ok bool, problem string) {
	e, ok, problem := parseLine(line)
	return e.key, e.value, e.col, ok, problem
}

// parseLine parses key = "value". ok is false for blank lines, comments and other lines that are no
// entries; problem describes an error in the line.
func parseLine(line []byte) (e entry, ok bool, problem string) {
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) == 0 || trimmed[0] == '#' {
		return e, false, ""
	}
	at := bytes.IndexByte(line, '=')
	if at < 0 {
		return e, false, fmt.Sprintf(`found %q, want key = "value"`, clip(trimmed))
	}
	key := bytes.TrimSpace(line[:at])
	if len(key) == 0 || bytes.ContainsAny(key, " \t\"\x00") {
		return e, false, fmt.Sprintf("found the key %q, want one word", clip(key))
	}
	rest := line[at+1:]
	value := bytes.TrimLeft(rest, " \t\u00a0")
	e.key, e.col = string(key), len(line)-len(value)+1
	e.value, problem = unquote(bytes.TrimSpace(value))
	return e, true, problem
}

// unquote removes the quotes of a value; without quotes the value is the rest of the line, as for the
// vmx process. A value without a closing quote is truncated, and unknown.
func unquote(v []byte) (value []byte, problem string) {
	if len(v) == 0 || v[0] != '"' {
		return unescape(v), ""
	}
	end := bytes.IndexByte(v[1:], '"')
	if end < 0 {
		return nil, "the value has no closing quote: unknown"
	}
	if rest := bytes.TrimSpace(v[end+2:]); len(rest) > 0 && rest[0] != '#' {
		problem = fmt.Sprintf("found %q after the value", clip(rest))
	}
	return unescape(v[1 : end+1]), problem
}

// unescape replaces |22 by the byte 0x22, and so on: quotes, bars and control characters are stored in
// this form.
func unescape(v []byte) []byte {
	if bytes.IndexByte(v, '|') < 0 {
		return v
	}
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		if v[i] == '|' && i+2 < len(v) && isHex(v[i+1]) && isHex(v[i+2]) {
			out = append(out, hex(v[i+1])<<4|hex(v[i+2]))
			i += 2
			continue
		}
		out = append(out, v[i])
	}
	return out
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func hex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

// clip shortens a quotation for a message.
func clip(b []byte) []byte {
	const most = 60
	if len(b) > most {
		return append(bytes.Clone(b[:most]), "..."...)
	}
	return b
}
