// Package esxtop parses the batch files of esxtop and resxtop: CSV with one row a moment and one
// column a counter, often 50,000 columns and many gigabytes. A Reader returns the cells of the
// wanted columns and skips the rest unparsed; Ticks converts them to NUMA ticks, host by host.
//
//	"(PDH-CSV 4.0) (UTC)(0)","\\esx01\Group Cpu(7:db01)\% Used","\\esx01\…     header
//	"11/21/2026 10:00:00","12.50",…                                            row
//
// Memory does not grow with the length of the file. Damaged parts are reported in Warnings and
// omitted; a cell that cannot be parsed with certainty is Missing.
package esxtop

import (
	"fmt"
	"io"
	"math"
	"time"

	"example.org/homenode/numa"
)

// Options select the columns of a file and the way of reading.
type Options struct {
	// Want selects the columns; nil means all. It is called once for each column of a header, in
	// their order, and again when the file has another header further down.
	Want func(*Column) bool
	// Workers is the number of goroutines that read and parse ahead of Scan; 0 means none. Rows
	// come in the order of the file in any case. One worker pays off for a source with its own
	// computation, such as a decompressor. With more, an io.ReaderAt that is also an io.Seeker,
	// such as a file, is read at several places at once.
	Workers int
	// From and To bound the time range in which Ticks warns about cells; zero is no bound. Rows
	// outside still become ticks.
	From, To time.Time
}

// Missing stands for a cell without a number: one that is empty, "-", damaged or ambiguous. It is a
// NaN: compare with IsMissing. No number of a file is a NaN.
var Missing = math.NaN()

// IsMissing reports whether v, of Row.Values, is no number.
func IsMissing(v float64) bool { return v != v }

// A Row is one moment of a file. It is valid until the next Scan.
type Row struct {
	Header *Header   // another pointer when the columns have changed
	Time   time.Time // UTC
	Line   int       // from 1
	// Values are the cells of the columns Header.Wanted, Missing where there is no number. Those of
	// home nodes are in Homes and always Missing here.
	Values []float64

	homes []numa.NodeSet
	known uint64s

	begins int // as Reader.begins, when it was parsed
}

// uint64s is a set of bits.
type uint64s []uint64

func (s uint64s) has(i int) bool { return s[i>>6]>>(i&63)&1 == 1 }
func (s uint64s) add(i int)      { s[i>>6] |= 1 << (i & 63) }

// Value returns cell i of Header.Wanted; false when it has no number.
func (r *Row) Value(i int) (v float64, ok bool) { return r.Values[i], !IsMissing(r.Values[i]) }

// Homes returns the home nodes in cell i of Header.Wanted; false when it is no column of home nodes
// or has none. The empty set is written as "-".
func (r *Row) Homes(i int) (nodes numa.NodeSet, ok bool) {
	slot := r.Header.slots[i]
	if slot < 0 || !r.known.has(int(slot)) {
		return 0, false
	}
	return r.homes[slot], true
}

// A Reader reads the rows of a file, in the style of bufio.Scanner.
type Reader struct {
	name   string
	opt    Options
	choose chooser
	feed   *feed
	parse  *parser // of this goroutine; nil with workers
	team   *team   // nil without workers

	header *Header
	begins int // number of headers after the first, equal or not
	batch  *batch
	next   int // row of batch
	line   int // lines before batch
	read   Row // the last one parsed
	row    Row // the current one: read, or one buffered until the rows of its minute were complete
	spread spread
	warns  warnings
	stamps clock
	done   bool
	err    error
}

// NewReader returns a reader of r after parsing its header. The name is used in messages. The error
// is a *numa.SyntaxError for a file that does not begin as one of esxtop, or that of r.
func NewReader(name string, r io.Reader, opt Options) (*Reader, error) {
	return newReader(name, r, opt, func(*Header) func(*Column) bool { return opt.Want })
}

func newReader(name string, r io.Reader, opt Options, choose chooser) (*Reader, error) {
	rd := &Reader{name: name, opt: opt, choose: choose, feed: newFeed(r)}
	rd.feed.windows = newWindows(r)
	if err := rd.readHeader(); err != nil {
		return nil, err
	}
	rd.start()
	return rd, nil
}

// readHeader reads the first header of the file.
func (r *Reader) readHeader() error {
	junk, skipped, err := r.feed.skipToMagic()
	if err != nil {
		return fmt.Errorf("read %s: %w", r.name, err)
	}
	if junk != nil {
		return &numa.SyntaxError{File: r.name, Line: 1, Col: 1, Msg: fmt.Sprintf("found %s, want the header of an esxtop batch file, %q", quoted(junk), magic+" 4.0)")}
	}
	r.line = skipped.lines
	if skipped.bytes > 0 {
		r.warns.add(kindJunk, 1, 1, func() string {
			return fmt.Sprintf("found %s before the header: left out", quoted(skipped.text))
		})
	}
	line, err := r.feed.line()
	if err != nil {
		return fmt.Errorf("read %s: %w", r.name, err)
	}
	h, msg := parseHeader(line, r.line+1, &r.warns, r.choose)
	if msg != "" {
		return &numa.SyntaxError{File: r.name, Line: r.line + 1, Col: 1, Msg: msg}
	}
	r.line++
	h.decide(r.feed, decimals{comma: h.comma == ';'})
	r.header = h
	return nil
}

// start starts parsing with r.header at the position of the feed.
func (r *Reader) start() {
	if r.opt.Workers > 0 {
		r.team = newTeam(r.feed, r.header, r.opt)
		return
	}
	r.parse = newParser(r.header, r.feed.end)
	if r.batch == nil {
		r.batch = new(batch)
	}
	r.batch.reset()
}

// Header returns the header of the current row, and that of the file before the first.
func (r *Reader) Header() *Header {
	if r.row.Header != nil {
		return r.row.Header
	}
	return r.header
}

// Scan advances to the next row. It returns false at the end of the file and after an
// error.
func (r *Reader) Scan() bool {
	for !r.spread.next(&r.row) {
		ref := r.advance()
		switch {
		case ref == nil && !r.spread.waiting():
			return false
		case ref == nil:
			r.spread.end(&r.warns)
		case ref.form.tells() == minutes || r.spread.waiting():
			r.spread.add(&r.read, ref.form.tells() != minutes, &r.warns)
		default:
			r.row = r.read
			return true
		}
	}
	return true
}

// advance reads the next row; nil at the end of the file and after an error.
func (r *Reader) advance() *rowRef {
	for !r.done {
		if b := r.batch; b != nil && r.next < len(b.rows) {
			ref := &b.rows[r.next]
			b.row(&r.read, r.header, r.next, r.line)
			r.read.begins = r.begins
			r.next++
			if o := &r.stamps.dates; ref.form&slashed != 0 && !o.proven {
				if !o.known {
					*o = r.dates(ref)
				} else if o.contradicts(ref.form) {
					// The earlier rows were returned with other dates.
					r.err = &numa.SyntaxError{File: r.name, Line: r.read.Line, Col: 1, Msg: fmt.Sprintf("found %s, while the dates before were read as %s: they cannot be; read the file from disk, unpacked", dateText(ref), o)}
					r.Close()
					return nil
				}
			}
			if r.stamps.set(&r.read, ref, r.header, &r.warns) {
				return ref
			}
			continue
		}
		if !r.nextBatch() {
			r.Close()
		}
	}
	return nil
}

// nextBatch gets the next rows.
func (r *Reader) nextBatch() bool {
	if r.batch != nil {
		b := r.batch
		r.warns.merge(&b.warns, r.line)
		r.line += b.lines
		switch {
		case b.header >= 0:
			if !r.newHeader(b) {
				return false
			}
		case b.err != nil:
			r.err = fmt.Errorf("read %s: %w", r.name, b.err)
			return false
		case b.last:
			if short := r.warns[kindShort]; short.count == 1 && short.line == r.line { // an editor ended the last line
				r.warns[kindCut], r.warns[kindShort] = short, warning{}
			}
			return false
		}
	}
	r.next = 0
	if r.team != nil {
		if r.batch != nil {
			r.team.free <- r.batch
		}
		r.batch = <-r.team.queue
		<-r.batch.ready
		return true
	}
	r.feed.next(r.batch)
	r.parse.read(r.feed, r.batch)
	return true
}

// newHeader continues with the header at b.header, where the parser stopped.
func (r *Reader) newHeader(b *batch) bool {
	if r.team != nil {
		r.team.stop(b)
		r.team = nil
	} else {
		r.feed.back(b, nil)
	}
	line, err := r.feed.line()
	if err != nil {
		r.err = fmt.Errorf("read %s: %w", r.name, err)
		return false
	}
	h, msg := parseHeader(line, r.line+1, &r.warns, r.choose)
	r.line++
	if msg != "" {
		// The following rows are meaningless without columns.
		r.err = &numa.SyntaxError{File: r.name, Line: r.line, Col: 1, Msg: msg}
		return false
	}
	h.decide(r.feed, r.header.decimals)
	if !h.same(r.header) {
		r.warns.add(kindHeader, r.line, 1, func() string {
			return fmt.Sprintf("found another header with %d columns, the one before has %d: rows below are read by it", len(h.Columns), len(r.header.Columns))
		})
		r.header = h
	}
	r.begins++
	r.batch = nil
	r.start()
	return true
}

// Row returns the current row. It is valid until the next Scan.
func (r *Reader) Row() *Row { return &r.row }

// Err returns the first error other than the end of the file.
func (r *Reader) Err() error { return r.err }

// Warnings returns the faults found and omitted so far, in the order of the file: the first of each
// kind, with their number.
func (r *Reader) Warnings() []error { return r.warns.list(r.name) }

// Close ends the goroutines of Options.Workers and releases the source without closing it. It is
// only needed before Scan has returned false.
func (r *Reader) Close() {
	r.done = true
	if r.team != nil {
		r.team.close()
		r.team = nil
	}
	r.feed.windows.close()
}
