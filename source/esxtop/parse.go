package esxtop

import (
	"bytes"
	"fmt"

	"example.org/homenode/numa"
)

// A parser parses the lines of batches into rows. It belongs to one goroutine.
type parser struct {
	h      *Header
	end    byte   // of a line
	swift  *swift // one of these two; both nil where only strict can parse
	plain  *plain
	fields []field
	out    output
}

// output is the destination of the row being parsed.
type output struct {
	stamp  int64
	form   stampForm
	values []float64
	homes  []numa.NodeSet
	known  uint64s
}

func newParser(h *Header, end byte) *parser {
	return &parser{h: h, end: end, swift: newSwift(h, end), plain: newPlain(h, end)}
}

// batch parses all lines of b, or those before another header.
func (p *parser) batch(b *batch) {
	for at := 0; at < len(b.data); {
		p.grow(b)
		size, ok := p.swift.row(b.data[at:], &p.out)
		if !ok && p.plain != nil {
			size, ok = p.plain.row(b.data[at:], &p.out)
		}
		if !ok {
			line := b.data[at:]
			terminated := true
			if size = bytes.IndexByte(line, p.end); size < 0 {
				size, terminated = len(line), false
			}
			line = line[:size]
			if i := bytes.Index(line, []byte(magic)); i >= 0 {
				p.shrink(b)
				p.otherHeader(b, at, i)
				return
			}
			if ok = p.strict(line, terminated, b); !ok {
				p.shrink(b)
			}
			if terminated {
				size++
			}
		}
		b.lines++
		if ok {
			b.length = size
			b.rows = append(b.rows, rowRef{p.out.stamp, b.lines, at, p.out.form})
		}
		at += size
	}
}

// grow makes room for a row in b.
func (p *parser) grow(b *batch) {
	n, words := len(p.h.Wanted), p.h.words()
	b.values = extend(b.values, n)
	p.out.values = b.values[len(b.values)-n:]
	b.homes = extend(b.homes, p.h.homes)
	p.out.homes = b.homes[len(b.homes)-p.h.homes:]
	b.known = extend(b.known, words)
	p.out.known = b.known[len(b.known)-words:]
}

// shrink removes that room again.
func (p *parser) shrink(b *batch) {
	b.values = b.values[:len(b.values)-len(p.h.Wanted)]
	b.homes = b.homes[:len(b.homes)-p.h.homes]
	b.known = b.known[:len(b.known)-p.h.words()]
}

// otherHeader stops at a line with the magic at offset i.
func (p *parser) otherHeader(b *batch, at, i int) {
	if i > 0 && b.data[at+i-1] == '"' {
		i--
	}
	if i > 0 {
		junk := b.data[at : at+i]
		b.warns.add(kindJunk, b.lines+1, 1, func() string {
			return fmt.Sprintf("found %s before a header: left out", quoted(junk))
		})
	}
	b.header = at + i
}

// strict parses a line in any form, slowly. It returns false for an omitted one.
func (p *parser) strict(line []byte, terminated bool, b *batch) bool {
	n := b.lines + 1
	line = bytes.TrimSuffix(line, []byte("\r"))
	if i := bytes.IndexByte(line, 0); i >= 0 {
		b.warns.add(kindNUL, n, i+1, func() string { return "found NUL bytes" })
	}
	if len(bytes.Trim(line, " \t\r\x00")) == 0 {
		return false
	}
	h := p.h
	p.fields = split(line, h.comma, p.fields)
	// A comma at the end closes the last field when the header has one there, or when every field
	// is in quotes; else an empty field follows it.
	fields := p.fields
	if last := fields[len(fields)-1]; last.lo == last.hi && (h.trailing || h.quoted) {
		fields = fields[:len(fields)-1]
	}
	if len(fields) != h.fields {
		p.miscounted(fields, line, terminated, b)
		return false
	}
	stamp := fields[0]
	if p.out.stamp, p.out.form = parseStamp(line[stamp.text.lo:stamp.text.hi]); !stamp.clear || p.out.form == noStamp {
		b.warns.add(kindStamp, n, 1, func() string {
			return fmt.Sprintf("found %s, want a time such as 11/21/2026 10:00:00: the row is left out", quoted(line[stamp.lo:stamp.hi]))
		})
		return false
	}
	clear(p.out.known)
	for i, column := range h.Wanted {
		c := &h.Columns[column]
		f := fields[c.Index]
		if !terminated && (!h.quoted || !f.clear) && c.Index == h.fields-1 && len(fields) == len(p.fields) {
			p.lastCell(i, c, f, b)
			continue
		}
		p.cell(i, c, f, line, b)
	}
	return true
}

// miscounted warns of a row with too few or too many fields.
func (p *parser) miscounted(fields []field, line []byte, terminated bool, b *batch) {
	if !terminated && len(fields) < p.h.fields {
		b.warns.add(kindCut, b.lines+1, len(line)+1, func() string {
			return fmt.Sprintf("found the end of the file after %d of %d fields: the row is left out", len(fields), p.h.fields)
		})
		return
	}
	kind, col := kindShort, len(line)+1
	if len(fields) > p.h.fields {
		kind, col = kindCount, int(fields[p.h.fields].lo)+1
	}
	b.warns.add(kind, b.lines+1, col, func() string {
		return fmt.Sprintf("found %d fields, want %d as in the header: the row is left out", len(fields), p.h.fields)
	})
}

// lastCell drops a number at the end of a file that may lack its last digits.
func (p *parser) lastCell(i int, c *Column, f field, b *batch) {
	p.out.values[i] = Missing
	b.warns.add(kindLastCell, b.lines+1, int(f.lo)+1, func() string {
		return c.String() + ": found no line end after the number, which may be cut: the cell is left out"
	})
}

// cell parses wanted cell i.
func (p *parser) cell(i int, c *Column, f field, line []byte, b *batch) {
	text := line[f.text.lo:f.text.hi]
	p.out.values[i] = Missing
	verdict := wrong
	slot := p.h.slots[i]
	switch clear := f.clear || f.fused && c.Damaged; {
	case !clear:
	case slot >= 0:
		var set numa.NodeSet
		if set, verdict = parseHomes(text); verdict == number {
			p.out.homes[slot] = set
			p.out.known.add(int(slot))
		}
	default:
		p.out.values[i], verdict = parseNumber(text, p.h.decimals)
	}
	raw := line[f.lo:f.hi]
	if f.clear {
		raw = text
	}
	switch {
	case verdict == ambiguous:
		b.warns.add(kindAmbiguous, b.lines+1, int(f.text.lo)+1, func() string {
			return fmt.Sprintf("%s: found %s, want a decimal point: it could mean two numbers, the cell is left out", c, quoted(raw))
		})
	case verdict == wrong && slot >= 0:
		b.warns.add(kindHomes, b.lines+1, int(f.text.lo)+1, func() string {
			return fmt.Sprintf("%s: found %s, want home nodes such as 0,1: the cell is left out", c, quoted(raw))
		})
	case verdict == wrong:
		b.warns.add(kindNumber, b.lines+1, int(f.text.lo)+1, func() string {
			return fmt.Sprintf("%s: found %s, want a number: the cell is left out", c, quoted(raw))
		})
	}
}
