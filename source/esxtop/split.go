package esxtop

import "bytes"

// A span is a part of a line, in bytes.
type span struct{ lo, hi uint32 }

// A field is the text between two separators of a line.
type field struct {
	span
	// text is the field without its quotes. When there are characters before the quotes, fused is
	// set and text is the quoted part. clear is false when the text is uncertain.
	text         span
	quotes       int
	fused, clear bool
}

// split cuts a line at the separators outside quotes. It is the reference for parsing a line: any
// other way must give the same result or give up.
func split(line []byte, separator byte, out []field) []field {
	out = out[:0]
	if bytes.IndexByte(line, '"') < 0 {
		for lo := 0; ; {
			i := bytes.IndexByte(line[lo:], separator)
			if i < 0 {
				return append(out, cut(line, lo, len(line), 0))
			}
			out = append(out, cut(line, lo, lo+i, 0))
			lo += i + 1
		}
	}
	lo, inside, quotes := 0, false, 0
	for i := 0; i <= len(line); i++ {
		if i < len(line) {
			if i == lo && line[i] == '"' { // most are quoted and nothing else
				if n := bytes.IndexByte(line[i+1:], '"'); n >= 0 && i+n+2 < len(line) && line[i+n+2] == separator {
					f := field{span: span{uint32(i), uint32(i + n + 2)}, quotes: 2, clear: true}
					f.text = span{f.lo + 1, f.hi - 1}
					out = append(out, f)
					i += n + 2
					lo = i + 1
					continue
				}
			}
			if line[i] == '"' {
				inside = !inside
				quotes++
			}
			if line[i] != separator || inside {
				continue
			}
		}
		out = append(out, cut(line, lo, i, quotes))
		lo, quotes = i+1, 0
	}
	return out
}

// cut finds the text of the field line[lo:hi].
func cut(line []byte, lo, hi, quotes int) field {
	f := field{span: span{uint32(lo), uint32(hi)}, quotes: quotes}
	f.text = f.span
	raw := line[lo:hi]
	switch quotes {
	case 0:
		f.clear = true
	case 2:
		first, last := bytes.IndexByte(raw, '"'), bytes.LastIndexByte(raw, '"')
		f.text = span{uint32(lo + first + 1), uint32(lo + last)}
		alone := len(trim(raw[last+1:])) == 0
		f.fused = alone && len(trim(raw[:first])) > 0
		f.clear = alone && !f.fused
	}
	return f
}
