package esxtop

import "bytes"

// swift parses rows in esxtop's own form, with every field in quotes: field k begins after quote
// 2k+1. Between two runs of wanted columns it only counts quotes, over as many bytes as in the
// previous row, and then steps the few bytes to the target quote:
//
//	…,"0.00","1.25","0.00",…        …,"0.00","97","0,1","3",…
//	   wanted run ┘ │◄── gap: as wide as last time ──►│┘ wanted run
//	                   tally quotes, commas, line ends
//
// The commas of every gap are counted too: a field with missing or extra quotes makes the two
// counts disagree. A run is parsed field by field. The end of the row has to come after the right
// number of both. A row that does not fit in any way is left to parser.strict, the reference. The
// only undetected case is a gap with as many extra as missing quotes, and a comma within quotes
// that compensates: no known damage has this form.
//
// Each byte is processed three times by the vector instructions behind package bytes; only wanted
// cells are processed byte by byte.
type swift struct {
	runs     []run
	alike    []alike
	widths   []int // of the gap before each run and of the one after the last, in the previous row
	gap      int   // fields of the gap after the last run
	before   memory
	decimals decimals
	nameless int // fields after that, without quotes: the column of ESXi 6.5
}

// A run is a sequence of adjacent or nearly adjacent wanted columns.
type run struct {
	gap     int // fields between the previous run and this one
	lo, hi  int // of swift.alike
	damaged bool
}

// An alike is a sequence of adjacent columns of a run that are parsed in the same way.
type alike struct {
	kind cellKind
	n    int
	at   int // the first of Header.Wanted
	slot int // of home nodes
}

// A cellKind is the kind of content of a cell.
type cellKind int8

const (
	numberCell cellKind = iota
	homesCell
	skipCell // not wanted: cheaper to skip than to count
)

// skipMost is the most unwanted fields skipped within a run.
const skipMost = 6

// newSwift returns nil for a file of another form.
func newSwift(h *Header, end byte) *swift {
	if !h.quoted || h.comma != ',' || h.decimals.comma || end != '\n' {
		return nil
	}
	n := len(h.Wanted)
	s := &swift{decimals: h.decimals, nameless: h.fields - len(h.Columns) - 1, before: memory{words: make([]uint64, n), sizes: make([]uint8, n), values: make([]float64, n)}}
	next, homes := 1, h.homeColumns // field after the last run
	for at, column := range h.Wanted {
		// Home nodes contain commas of their own: they are not wanted here, but must be parsed.
		for ; len(homes) > 0 && homes[0] < column; homes = homes[1:] {
			s.add(h, &next, homes[0], alike{skipCell, 1, at, -1})
		}
		c := alike{numberCell, 1, at, int(h.slots[at])}
		if c.slot >= 0 {
			c.kind, homes = homesCell, homes[1:]
		}
		s.add(h, &next, column, c)
	}
	for _, column := range homes {
		s.add(h, &next, column, alike{skipCell, 1, n, -1})
	}
	s.gap = len(h.Columns) + 1 - next
	const usual = 7 // bytes of "0.00",
	for _, r := range s.runs {
		s.widths = append(s.widths, r.gap*usual+2)
	}
	s.widths = append(s.widths, s.gap*usual)
	return s
}

// add appends a column to the last run, or to a new one.
func (s *swift) add(h *Header, next *int, column int, c alike) {
	field := h.Columns[column].Index
	gap, damaged := field-*next, h.Columns[column].Damaged
	if len(s.runs) == 0 || gap > skipMost || damaged || gap > 0 && damagedWithin(h, *next, field) {
		s.runs = append(s.runs, run{gap, len(s.alike), len(s.alike), damaged})
	} else if gap > 0 {
		s.alike = append(s.alike, alike{skipCell, gap, c.at, -1})
	}
	r := &s.runs[len(s.runs)-1]
	if last := len(s.alike) - 1; c.kind == numberCell && last >= r.lo && s.alike[last].kind == numberCell {
		s.alike[last].n++
	} else {
		s.alike = append(s.alike, c)
	}
	r.hi = len(s.alike)
	*next = field + 1
}

// damagedWithin reports whether one of these fields is a column glued to a nameless one: a run does not skip it.
func damagedWithin(h *Header, lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if h.Columns[i-1].Damaged {
			return true
		}
	}
	return false
}

// row parses the row at the start of data, which has padding bytes after it. size is its length with the line end.
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
	s.before.row()
	p := stamp + 2
	for i := range s.runs {
		r := &s.runs[i]
		before := p
		if p = s.locate(b, p, end, s.widths[i], r.gap); p < 0 || b[p-2] != ',' && !r.damaged {
			return 0, false
		}
		s.widths[i] = p - before
		if p = s.run(b, p, end, s.alike[r.lo:r.hi], out); p < 0 {
			return 0, false
		}
	}
	return s.finish(b, p, end)
}

// locate returns the place after the quote that opens the field after the next gap fields, or -1. p
// is after a closing quote, and width the expected distance.
func (s *swift) locate(b []byte, p, end, width, gap int) int {
	if width == 2 && gap == 0 && b[p] == ',' && b[p+1] == '"' {
		return p + 2
	}
	return seek(b, p, end, width, 2*gap+1, gap+1)
}

// finish checks the rest of a row.
func (s *swift) finish(b []byte, p, end int) (size int, ok bool) {
	if s.gap > 0 {
		last := len(s.runs)
		before := p
		if p = seek(b, p, end, s.widths[last], 2*s.gap, s.gap); p < 0 {
			return 0, false
		}
		s.widths[last] = p - before
	}
	n := bytes.IndexByte(b[p:end], '\n')
	if n < 0 {
		return 0, false
	}
	tail := b[p : p+n]
	if n > 0 && tail[n-1] == '\r' {
		tail = tail[:n-1]
	}
	quotes, commas, _ := tally(tail)
	// A row may end with one comma more.
	if len(tail) > 0 && tail[len(tail)-1] == ',' {
		commas--
	}
	return p + n + 1, quotes == 0 && commas == s.nameless
}

// run parses the cells from p on, which is after an opening quote. It returns the place after the
// quote that closes the last one, or -1.
func (s *swift) run(b []byte, p, end int, cells []alike, out *output) int {
	for i := range cells {
		c := &cells[i]
		n := 0
		if c.kind == skipCell {
			n, p = skip(b, p, c.n)
		}
		for n < c.n {
			if c.kind == numberCell {
				done := 0
				done, p = s.before.numbers(b, p, out.values[c.at+n:c.at+c.n], c.at+n)
				if n += done; n == c.n {
					break
				}
			}
			size := -1
			if c.kind == homesCell && b[p+1] == '"' && b[p]-'0' <= 9 {
				size = 1
				out.values[c.at], out.homes[c.slot] = Missing, 1<<(b[p]-'0')
				out.known.add(c.slot)
			} else {
				size = s.one(b, p, end, c, n, out)
			}
			if size < 0 {
				return -1
			}
			p += size
			if n++; n == c.n && i+1 == len(cells) {
				p++
				if c := b[p]; c != ',' && c != '\n' && (c != '\r' || b[p+1] != '\n') {
					return -1
				}
				return p
			}
			if b[p+1] != ',' || b[p+2] != '"' {
				return -1
			}
			p += 3
		}
	}
	return p - 2 // numbers has already skipped the next quote
}

// one parses cell n of c, and returns its length, or -1.
func (s *swift) one(b []byte, p, end int, c *alike, n int, out *output) int {
	if p >= end {
		return -1
	}
	size := quoteIn(word(b, p))
	if size == 8 {
		if size = bytes.IndexByte(b[p:end], '"'); size < 0 {
			return -1
		}
	}
	text := b[p : p+size]
	at, verdict := c.at+n, number
	switch c.kind {
	case numberCell:
		out.values[at], verdict = parseNumber(text, s.decimals)
	case homesCell:
		out.values[at] = Missing
		if out.homes[c.slot], verdict = parseHomes(text); verdict == number {
			out.known.add(c.slot)
		}
	}
	if verdict > nothing || c.kind != numberCell && bytes.IndexByte(text, '\n') >= 0 {
		return -1
	}
	return size
}
