package esxtop

import "bytes"

// plain parses rows without any quotes, as relog and spreadsheets write them: field k begins after
// comma k. It counts the commas of a gap between wanted columns over the gap's width in the
// previous row, and then searches for the rest one by one. A row with a quote, a NUL byte or a
// possible header, and one with a wanted cell that needs a warning, is left to parser.strict.
type plain struct {
	h      *Header
	widths []int // of the gap before each wanted column, in the previous row
}

// newPlain returns nil for a file of another form.
func newPlain(h *Header, end byte) *plain {
	if h.quoted || h.comma == ';' || h.decimals.comma || end != '\n' {
		return nil
	}
	return &plain{h, make([]int, len(h.Wanted))}
}

// row parses the row at the start of data, as swift.row does.
func (s *plain) row(data []byte, out *output) (size int, ok bool) {
	if s == nil {
		return 0, false
	}
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		return 0, false
	}
	size = end + 1
	if end > 0 && data[end-1] == '\r' {
		end--
	}
	b, line := data[:len(data)+padding], data[:end]
	if bytes.IndexByte(line, '"') >= 0 || bytes.IndexByte(line, magic[0]) >= 0 || bytes.IndexByte(line, 0) >= 0 {
		return 0, false
	}
	p := bytes.IndexByte(line, s.h.comma) + 1
	if p == 0 {
		return 0, false
	}
	if out.stamp, out.form = parseStamp(line[:p-1]); out.form == noStamp {
		return 0, false
	}
	clear(out.known)
	at := 1 // field at whose start p is
	for i, column := range s.h.Wanted {
		if gap := s.h.Columns[column].Index - at; gap > 0 {
			before := p
			if p = s.hop(line, p, s.widths[i], gap); p < 0 {
				return 0, false
			}
			s.widths[i] = p - before
			at += gap
		}
		if at >= s.h.fields {
			return 0, false
		}
		n := s.cell(b, p, end, i, out)
		if n < 0 {
			return 0, false
		}
		if p += n; p == end { // an empty field there may be no field: strict decides
			return size, n > 0 && at+1 == s.h.fields && i+1 == len(s.h.Wanted)
		}
		p++
		at++
	}
	fields := at + 1 + bytes.Count(line[p:], []byte{s.h.comma})
	if p == end || line[end-1] == s.h.comma {
		if s.h.trailing {
			fields--
		}
	}
	return size, fields == s.h.fields
}

// hop returns the place after the next n separators, or -1.
func (s *plain) hop(line []byte, p, width, n int) int {
	separator := []byte{s.h.comma}
	at := min(p+width, len(line))
	have := bytes.Count(line[p:at], separator)
	for n-have > 16 && at < len(line) { // a row unlike the previous one
		next := min(at+n-have, len(line))
		have += bytes.Count(line[at:next], separator)
		at = next
	}
	for have < n {
		i := bytes.IndexByte(line[at:], s.h.comma)
		if i < 0 {
			return -1
		}
		at += i + 1
		have++
	}
	for have > n || line[at-1] != s.h.comma {
		at--
		if line[at] == s.h.comma {
			have--
		}
	}
	return at
}

// cell parses wanted cell i at p and returns its length; -1 when it needs a warning.
func (s *plain) cell(b []byte, p, end, i int, out *output) int {
	x := word(b, p)
	size := markIn(x, ones*uint64(s.h.comma))
	if size == 8 {
		if size = bytes.IndexByte(b[p:end], s.h.comma); size < 0 {
			size = end - p
		}
	}
	size = min(size, end-p)
	text := b[p : p+size]
	is := number
	if slot := s.h.slots[i]; slot >= 0 {
		out.values[i] = Missing
		if out.homes[slot], is = parseHomes(text); is == number {
			out.known.add(int(slot))
		}
	} else if size > 8 || size == 0 {
		out.values[i], is = parseNumber(text, s.h.decimals)
	} else if out.values[i] = swarNumber(x, size); out.values[i] < 0 {
		out.values[i], is = parseNumber(text, s.h.decimals)
	}
	if is > nothing {
		return -1
	}
	return size
}
