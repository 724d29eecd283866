package esxtop

import (
	"bytes"
	"encoding/binary"
)

// swift reads rows in the form that esxtop writes, in which every field stands in quotes:
// field k begins after quote 2k+1. Between two runs of wanted columns it only counts
// quotes, as many bytes as there were in the row before, and then steps the few bytes to
// the quote that is due:
//
//	…,"0.00","1.25","0.00",…        …,"0.00","97","0,1","3",…
//	   wanted run ┘ │◄── gap: as wide as last time ──►│┘ wanted run
//	                   tally quotes, commas, line ends
//
// The commas of every gap are counted too: a field that lacks its quotes, or has too many,
// shows by the two not agreeing. A run is read field by field. The end of the row has to
// come after the right number of both. A row that does not fit in any way is left to
// parser.strict, which is the specification: the two agree on every row that swift takes.
//
// Each byte is looked at three times by the vector instructions behind package bytes, or
// once in the build with GOEXPERIMENT=simd; only wanted cells are looked at byte by byte.
type swift struct {
	runs     []run
	cells    []cell
	widths   []int // of the gap before each run and of the one after the last, in the row before
	gap      int   // fields of the gap after the last run
	nameless int   // fields after that, without quotes: the column of ESXi 6.5
}

// A run is wanted columns next to each other, or nearly so.
type run struct {
	gap     int // fields between the run before and this one
	lo, hi  int // cells
	damaged bool
}

// A cell is a field of a run.
type cell struct {
	kind int8
	slot int32 // of home nodes
	at   int32 // of Header.Wanted
}

// What a cell holds.
const (
	numberCell int8 = iota
	homesCell
	skipCell // nobody wants it: cheaper to step over than to count
)

// skipMost is how many unwanted fields are stepped over within a run.
const skipMost = 6

// newSwift returns nil for a file of another form.
func newSwift(h *Header, end byte) *swift {
	if !h.quoted || h.comma != ',' || end != '\n' {
		return nil
	}
	s := &swift{nameless: h.fields - len(h.Columns) - 1}
	next := 1 // field after the last run
	for at, column := range h.Wanted {
		c := &h.Columns[column]
		gap := c.Index - next
		if len(s.runs) == 0 || gap > skipMost || c.Damaged || gap > 0 && damagedWithin(h, next, c.Index) {
			s.runs = append(s.runs, run{gap, len(s.cells), len(s.cells), c.Damaged})
		} else {
			for range gap {
				s.cells = append(s.cells, cell{skipCell, -1, -1})
			}
		}
		kind := numberCell
		if h.slots[at] >= 0 {
			kind = homesCell
		}
		s.cells = append(s.cells, cell{kind, h.slots[at], int32(at)})
		s.runs[len(s.runs)-1].hi = len(s.cells)
		next = c.Index + 1
	}
	s.gap = len(h.Columns) + 1 - next
	const usual = 7 // bytes of "0.00",
	for _, r := range s.runs {
		s.widths = append(s.widths, r.gap*usual+2)
	}
	s.widths = append(s.widths, s.gap*usual)
	return s
}

// damagedWithin reports whether a column of these fields is glued to a nameless one: a run
// does not step over it.
func damagedWithin(h *Header, lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if h.Columns[i-1].Damaged {
			return true
		}
	}
	return false
}

// row reads the row that data begins with; it has padding bytes behind it. size is its
// length with the line end.
func (s *swift) row(data []byte, out *output) (size int, ok bool) {
	if s == nil || len(data) < 2 || data[0] != '"' {
		return 0, false
	}
	b, end := data[:len(data)+padding], len(data)
	stamp := bytes.IndexByte(b[1:min(40, end)], '"')
	if stamp < 0 || b[2+stamp] != ',' {
		return 0, false
	}
	if out.stamp, out.form = parseStamp(b[1 : 1+stamp]); out.form == noStamp {
		return 0, false
	}
	clear(out.known)
	p := stamp + 2
	for i := range s.runs {
		r := &s.runs[i]
		before := p
		if p = s.locate(b, p, end, s.widths[i], r.gap); p < 0 || b[p-2] != ',' && !r.damaged {
			return 0, false
		}
		s.widths[i] = p - before
		if p = s.run(b, p, end, s.cells[r.lo:r.hi], out); p < 0 {
			return 0, false
		}
	}
	return s.finish(b, p, end)
}

// locate returns the place after the quote that opens the field after the next gap fields,
// or -1. p is behind a closing quote, and width the distance that is expected.
func (s *swift) locate(b []byte, p, end, width, gap int) int {
	wantQuotes, wantCommas := 2*gap+1, gap+1
	if width == 2 && gap == 0 && b[p] == ',' && b[p+1] == '"' {
		return p + 2
	}
	// Phase 1: count as far as it went in the row before.
	at := min(p+width, end)
	quotes, commas, whole := tally(b[p:at])
	// Phase 2: a row unlike the one before may be far off.
	for whole && wantQuotes-quotes > 16 && at < end {
		next := min(at+2*(wantQuotes-quotes), end)
		q, c, w := tally(b[at:next])
		quotes, commas, whole, at = quotes+q, commas+c, w, next
	}
	if !whole {
		return -1
	}
	// Phase 3: to the quote that is due.
	for quotes < wantQuotes {
		if at == end {
			return -1
		}
		switch b[at] {
		case '"':
			quotes++
		case ',':
			commas++
		case '\n':
			return -1
		}
		at++
	}
	for quotes > wantQuotes || b[at-1] != '"' {
		at--
		switch b[at] {
		case '"':
			quotes--
		case ',':
			commas--
		}
	}
	if commas != wantCommas {
		return -1
	}
	return at
}

// finish checks what is left of a row.
func (s *swift) finish(b []byte, p, end int) (size int, ok bool) {
	const differ = 256 // bytes that rows differ by
	last := len(s.runs)
	from := min(p+max(0, s.widths[last]-differ), end)
	n := bytes.IndexByte(b[from:end], '\n')
	if n < 0 {
		return 0, false
	}
	stop := from + n
	s.widths[last] = stop - p
	size = stop + 1
	if b[stop-1] == '\r' {
		stop--
	}
	quotes, commas, whole := tally(b[p:stop])
	// The commas before p are one less than the fields there; a row may end with one more.
	want := s.gap + s.nameless
	if stop > p && b[stop-1] == ',' && commas == want+1 {
		commas--
	}
	return size, whole && quotes == 2*s.gap && commas == want
}

// run reads the cells from p on, which is behind an opening quote. It returns the place
// behind the quote that closes the last one, or -1.
func (s *swift) run(b []byte, p, end int, cells []cell, out *output) int {
	const separator = '"' | ','<<8 | '"'<<16
	values, spans := out.values, out.spans
	for i := range cells {
		if p > end {
			return -1
		}
		c := &cells[i]
		n := -1
		if c.kind == numberCell {
			x := binary.LittleEndian.Uint64(b[p:])
			v := -1.0
			if n = quoteIn(x); n < 8 || b[p+8] == '"' {
				v = swarNumber(x, n)
			}
			if v < 0 {
				v, n = slowNumber(b, p, end)
			}
			values[c.at] = v
		} else {
			n = s.other(b, p, end, c, out)
		}
		if n < 0 {
			return -1
		}
		if spans != nil && c.kind != skipCell {
			spans[c.at] = span{uint32(p), uint32(p + n)}
		}
		p += n
		if i+1 == len(cells) {
			break
		}
		if binary.LittleEndian.Uint32(b[p:])&0xffffff != separator {
			return -1
		}
		p += 3
	}
	p++
	if c := b[p]; c != ',' && c != '\n' && (c != '\r' || b[p+1] != '\n') {
		return -1
	}
	return p
}

// other reads a cell that is no number, and returns its length, or -1.
func (s *swift) other(b []byte, p, end int, c *cell, out *output) int {
	n := bytes.IndexByte(b[p:end], '"')
	if n < 0 || bytes.IndexByte(b[p:p+n], '\n') >= 0 {
		return -1
	}
	if c.kind == homesCell {
		out.values[c.at] = Missing
		set, verdict := parseHomes(b[p : p+n])
		switch verdict {
		case number:
			out.homes[c.slot] = set
			out.known.add(int(c.slot))
		case wrong, ambiguous:
			return -1
		}
	}
	return n
}

// slowNumber reads a number that is not of the usual form, and returns its length, or -1.
func slowNumber(b []byte, p, end int) (v float64, n int) {
	if n = bytes.IndexByte(b[p:min(p+64, end)], '"'); n < 0 {
		return 0, -1
	}
	v, verdict := parseNumber(b[p:p+n], false)
	if verdict > nothing || bytes.IndexByte(b[p:p+n], '\n') >= 0 {
		return 0, -1
	}
	return v, n
}
