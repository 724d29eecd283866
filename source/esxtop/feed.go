package esxtop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	// maxJunk is the most text before the header, in bytes.
	maxJunk = 4 << 10
	// maxLine is the longest accepted line, in bytes: 25 times that of a large host.
	maxLine = 32 << 20
	// blockSize is the approximate size of a batch: it fits a core's L2 cache.
	blockSize = 512 << 10
	// mappedBlock is the same for a mapped file, which is not copied: larger batches reduce the
	// time that workers wait for each other (with two, 7.9 GB/s became 9.1).
	mappedBlock = 2 << 20
	// padding after the data of a batch allows the parser to load words beyond its end.
	padding = 64
)

// A feed splits a file into batches of whole lines. next is called by one goroutine at a time, load by many.
//
//	io.ReaderAt:  next looks for a line end where one is expected and load reads up to it,
//	              so that workers read at several places at once.
//	io.Reader:    next reads; the bytes after the last line end are carried over.
type feed struct {
	mu      sync.Mutex
	at      io.ReaderAt // nil for a stream
	r       io.Reader   // nil when at is set
	pos     int64       // of carry in the file
	carry   []byte      // read but not yet part of a batch
	err     error       // of r, after carry; io.EOF at its end
	end     byte        // of a line
	row     int         // length of the last row; 0 unknown
	probed  []byte
	windows *windows // nil for a source that cannot be mapped
}

// newFeed detects the capabilities of r and the encoding of its text.
func newFeed(r io.Reader) *feed {
	f := &feed{r: r, end: '\n'}
	if at, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		if pos, err := at.Seek(0, io.SeekCurrent); err == nil {
			f.at, f.r, f.pos = at, nil, pos
		}
	}
	f.fill(4)
	switch {
	case bytes.HasPrefix(f.carry, []byte("\xff\xfe")), bytes.HasPrefix(f.carry, []byte("(\x00P\x00")), bytes.HasPrefix(f.carry, []byte("\"\x00(\x00")):
		f.decode(unicode.LittleEndian)
	case bytes.HasPrefix(f.carry, []byte("\xfe\xff")), bytes.HasPrefix(f.carry, []byte("\x00(\x00P")), bytes.HasPrefix(f.carry, []byte("\x00\"\x00(")):
		f.decode(unicode.BigEndian)
	}
	return f
}

// decode makes f a stream of UTF-8.
func (f *feed) decode(order unicode.Endianness) {
	if f.at != nil {
		f.r = io.NewSectionReader(f.at, f.pos, 1<<62-f.pos)
		f.at = nil
	} else {
		f.r = io.MultiReader(bytes.NewReader(bytes.Clone(f.carry)), f.r)
	}
	f.r = transform.NewReader(f.r, unicode.UTF16(order, unicode.UseBOM).NewDecoder())
	f.carry, f.err = nil, nil
}

// read reads the bytes after carry.
func (f *feed) read(p []byte) (int, error) {
	if f.at != nil {
		return f.at.ReadAt(p, f.pos+int64(len(f.carry)))
	}
	return f.r.Read(p)
}

// fill reads until carry holds n bytes.
func (f *feed) fill(n int) {
	for empty := 0; len(f.carry) < n && f.err == nil; {
		if cap(f.carry) < n+1 {
			f.carry = append(make([]byte, 0, max(n+1, 2*cap(f.carry))), f.carry...)
		}
		got, err := f.read(f.carry[len(f.carry):n])
		f.carry, f.err = f.carry[:len(f.carry)+got], err
		if empty++; got > 0 {
			empty = 0
		} else if empty == 100 && err == nil {
			f.err = io.ErrNoProgress
		}
	}
}

// peek returns up to n of the following bytes without reading them.
func (f *feed) peek(n int) []byte {
	if f.at == nil {
		f.fill(n)
		return f.carry[:min(n, len(f.carry))]
	}
	b := make([]byte, n)
	n, _ = f.at.ReadAt(b, f.pos) // an error is returned again by the next read
	return b[:n]
}

// skip drops the first n bytes of carry.
func (f *feed) skip(n int) {
	f.pos += int64(n)
	f.carry = f.carry[n:]
}

// A passage is text that was skipped.
type passage struct {
	text         []byte
	bytes, lines int
}

// skipToMagic moves to the start of the header and detects the line end. Without a header it
// returns the text found instead.
func (f *feed) skipToMagic() (junk []byte, skipped passage, err error) {
	f.fill(maxJunk)
	if bytes.HasPrefix(f.carry, []byte("\ufeff")) {
		f.skip(3)
	}
	start := bytes.Index(f.carry[:min(maxJunk, len(f.carry))], []byte(magic))
	switch {
	case start >= 0:
	case f.err != nil && f.err != io.EOF:
		return nil, skipped, f.err
	case len(f.carry) == 0:
		return nil, skipped, io.ErrUnexpectedEOF
	default:
		first, _, _ := bytes.Cut(f.carry, []byte("\n"))
		return append([]byte{}, first...), skipped, nil
	}
	if start > 0 && f.carry[start-1] == '"' {
		start--
	}
	skipped.bytes = start
	skipped.text = bytes.Clone(f.carry[:start])
	f.skip(start)
	if f.end, err = f.lineEnd(); err != nil {
		return nil, skipped, err
	}
	skipped.lines = bytes.Count(skipped.text, []byte{f.end})
	return nil, skipped, nil
}

// lineEnd returns the line end of the header: LF, or CR with no LF after it.
func (f *feed) lineEnd() (byte, error) {
	if f.at != nil && lineBreak(f.carry) < 0 {
		f.fill(f.firstBreak() + 2)
	}
	for seen := 0; ; {
		if i := lineBreak(f.carry[seen:]); i >= 0 {
			i += seen
			f.fill(i + 2)
			if f.carry[i] == '\r' && (i+1 == len(f.carry) || f.carry[i+1] != '\n') {
				return '\r', nil
			}
			return '\n', nil
		}
		seen = len(f.carry)
		if f.err != nil {
			return '\n', nil
		}
		if seen > maxLine {
			return 0, errLong
		}
		f.fill(2*seen + 4096)
	}
}

// firstBreak returns the number of bytes from carry to the first CR or LF, or the end of the file. A header has megabytes: carry, which then gets room for
// it once, would be copied and grown many times on the way there.
func (f *feed) firstBreak() int {
	b := make([]byte, 64<<10)
	for at := len(f.carry); ; {
		n, err := f.at.ReadAt(b, f.pos+int64(at))
		if i := lineBreak(b[:n]); i >= 0 {
			return at + i
		}
		if at += n; err != nil || at > maxLine {
			return at
		}
	}
}

// lineBreak returns the place of the first CR or LF, or -1.
func lineBreak(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, '\r'); j >= 0 {
		return j
	}
	return i
}

var errLong = fmt.Errorf("found a line of more than %d MiB", maxLine>>20)

// line returns the next line, without its end. It is valid until the feed is used again.
func (f *feed) line() ([]byte, error) {
	for seen := 0; ; {
		if i := bytes.IndexByte(f.carry[seen:], f.end); i >= 0 {
			line := f.carry[:seen+i]
			f.skip(seen + i + 1)
			return line, nil
		}
		seen = len(f.carry)
		switch {
		case f.err == io.EOF && seen > 0:
			line := f.carry
			f.skip(seen)
			return line, nil
		case f.err == io.EOF:
			return nil, io.ErrUnexpectedEOF
		case f.err != nil:
			return nil, f.err
		case seen > maxLine:
			return nil, errLong
		}
		f.fill(2*seen + 4096)
	}
}

// next returns the next lines. Only the part of load is left.
func (f *feed) next(b *batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b.length > 0 {
		f.row = b.length
	}
	b.reset()
	block := blockSize
	if f.windows != nil {
		block = mappedBlock
	}
	want := f.row
	switch {
	case want == 0:
		want = block / 4
	case want < block:
		want *= block / want
	}
	if f.at != nil {
		f.probe(b, want)
		if !b.last { // the end may move
			b.part = f.windows.cover(b.off, b.size+padding)
		}
		return
	}
	f.take(b, want)
}

// probe finds the line end at about want bytes.
func (f *feed) probe(b *batch, want int) {
	const window = 4 << 10
	f.carry, f.err = f.carry[:0], nil
	if f.probed == nil {
		f.probed = make([]byte, 16*window)
	}
	b.off = f.pos
	at := max(0, want-window/2)
	for p := f.probed[:window]; ; p = f.probed {
		n, err := f.at.ReadAt(p, f.pos+int64(at))
		if err != nil {
			// The end of the file: up to there, even if it moves meanwhile.
			b.size, b.last, b.err = at+n, true, err
			break
		}
		if i := bytes.LastIndexByte(p[:n], f.end); i >= 0 {
			b.size = at + i + 1
			break
		}
		if at += n; at > maxLine {
			b.last, b.err = true, errLong
			break
		}
	}
	if b.err == io.EOF {
		b.err = nil
	}
	f.pos += int64(b.size)
}

// take reads about want bytes of a stream.
func (f *feed) take(b *batch, want int) {
	const slack = 4 << 10 // the difference between rows
	b.off = f.pos
	for {
		f.fill(want + slack)
		cut := bytes.LastIndexByte(f.carry, f.end) + 1
		if f.err != nil {
			cut, b.last = len(f.carry), true
			if f.err != io.EOF {
				b.err = f.err
			}
		}
		if cut > 0 || b.last {
			b.data = append(b.data[:0], f.carry[:cut]...)
			f.pos += int64(cut)
			f.carry = f.carry[:copy(f.carry, f.carry[cut:])]
			return
		}
		if want = 2 * len(f.carry); want > 2*maxLine {
			b.last, b.err = true, errLong
			return
		}
	}
}

// load reads the bytes found by next, and pads them. It may run in parallel with next.
func (f *feed) load(b *batch) {
	if b.size > 0 {
		b.data = room(b.data, b.size)
		n, err := f.at.ReadAt(b.data, b.off)
		b.data = b.data[:n]
		if err != nil && n < b.size { // the file has shrunk
			b.last, b.short = true, !b.last || f.passed(b.off)
			if !errors.Is(err, io.EOF) {
				b.err = err
			}
		}
	}
	n := len(b.data)
	b.data = append(room(b.data, n), make([]byte, padding)...)[:n]
}

// passed reports whether the file now ends before off, up to which it was already read.
func (f *feed) passed(off int64) bool {
	at, ok := f.at.(file)
	if !ok {
		return false
	}
	info, err := at.Stat()
	return err == nil && info.Mode().IsRegular() && info.Size() < off
}

// room returns b with length n and at least padding more in capacity. It keeps the contents of b
// only if they are shorter than its capacity.
func room(b []byte, n int) []byte {
	if cap(b) >= n+padding {
		return b[:n]
	}
	out := make([]byte, n, n+n/8+padding)
	copy(out, b)
	return out
}

// back returns the data of b from b.header on, and the data of the later batches, to the feed.
func (f *feed) back(b *batch, later []*batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at != nil {
		f.pos, f.carry, f.err = b.off+int64(b.header), nil, nil
		return
	}
	rest := bytes.Clone(b.data[b.header:])
	for _, l := range later {
		rest = append(rest, l.data...)
	}
	f.pos = b.off + int64(b.header)
	f.carry = append(rest, f.carry...)
}
