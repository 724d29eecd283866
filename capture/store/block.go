package store

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"unique"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/prometheus/model/labels"
)

// A block is a file with the samples of a time range. It is written once. After its first line come pages, each with some
// series in the order of labels, then the index, then the offset of the index:
//
//	"page", length and checksum of the head, length of the data; the head, packed; the chunks of its series
//	"indx", length and checksum of the index; the index, packed
//
// The head of a page has the labels of each series, its chunks, and the checksum of their bytes. So a block with a damaged
// index can be read from the beginning.
type block struct {
	path        string
	from, to    int64 // ms: the range, to excluded
	least, most int64 // ms of the oldest and the newest sample
	file        *os.File
	size        int64
	index
	readers atomic.Int32
	gone    bool // remove it when the last reader ends
	orphan  bool // close its file when the last reader ends
	told    bool // its damage has been reported
}

// An index locates the contents of a block.
type index struct {
	samples int64
	series  int64
	pages   []int64             // offsets
	values  map[string][]listed // values of labels by name, in the order of values
}

// listed is a label value and the pages that have it.
type listed struct {
	value string
	pages []uint32
}

const (
	blockHead  = "homenode block 1\n"
	blockEnd   = ".block"
	blockForm  = "%d-%d" + blockEnd
	pageMark   = "page"
	indexMark  = "indx"
	tailSize   = 8 // offset of the index
	pageFrame  = frameSize + 4
	pageData   = 64 << 10 // bytes of chunks after which a page ends
	pageMost   = 256      // series of a page
	mostLabels = 1000     // names of labels
)

// A packer packs and unpacks heads of pages and indexes.
type packer struct {
	*zstd.Encoder
	*zstd.Decoder
}

func newPacker() (*packer, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mostPart))
	return &packer{e, d}, err
}

// mostPart is the maximum length of a part of a file, in bytes, packed and unpacked. Those of the largest fleets have some MB.
const mostPart = 256 << 20

// readPart reads n bytes at an offset into buf. Where a file states more than a part can have, it is damaged.
func readPart(file io.ReaderAt, buf []byte, at, n int64) ([]byte, error) {
	if n > mostPart {
		return nil, fmt.Errorf("it states %d bytes", n)
	}
	buf = slices.Grow(buf[:0], int(n))[:n]
	_, err := file.ReadAt(buf, at)
	return buf, err
}

// An entry is a series of a page.
type entry struct {
	labels labels.Labels
	chunks []chunk // without data, see load
	at     int64   // offset of the data
	sum    uint32
	sizes  []uint64
}

// load reads the data of the chunks.
func (e *entry) load(file io.ReaderAt) error {
	size := uint64(0)
	for _, n := range e.sizes {
		size += n
	}
	data, err := readPart(file, nil, e.at, int64(size))
	if err != nil {
		return err
	}
	if checksum(data) != e.sum {
		return errors.New("its checksum differs")
	}
	for i, n := range e.sizes {
		e.chunks[i].data, data = data[:n:n], data[n:]
	}
	return nil
}

// readPage reads the head of the page at an offset, and returns the offset of the next page.
func readPage(file io.ReaderAt, at, size int64, zip *packer) (entries []entry, next int64, err error) {
	var frame [pageFrame]byte
	if _, err := file.ReadAt(frame[:], at); err != nil {
		return nil, 0, err
	}
	n, sum, data := int64(binary.LittleEndian.Uint32(frame[4:])), binary.LittleEndian.Uint32(frame[8:]), int64(binary.LittleEndian.Uint32(frame[12:]))
	next = at + pageFrame + n + data
	if string(frame[:4]) != pageMark || next > size {
		return nil, 0, errors.New("no page stands there")
	}
	head, err := readPart(file, nil, at+pageFrame, n)
	if err != nil {
		return nil, 0, err
	}
	if checksum(head) != sum {
		return nil, 0, errors.New("its checksum differs")
	}
	if head, err = zip.DecodeAll(head, nil); err != nil {
		return nil, 0, err
	}
	d := decoder{b: head}
	offset := at + pageFrame + n
	for len(d.b) > 0 && d.err == nil {
		e := entry{labels: d.labels(), at: offset}
		for k := d.uvarint(); k > 0 && d.err == nil; k-- {
			from, span, size := d.varint(), d.uvarint(), d.uvarint()
			if size < 2 || size > uint64(next-offset) {
				d.fail()
				break
			}
			e.chunks, e.sizes = append(e.chunks, chunk{from: from, to: from + int64(span)}), append(e.sizes, size)
			offset += int64(size)
		}
		e.sum = d.fixed32()
		if entries = append(entries, e); len(entries) > pageMost {
			d.fail()
		}
	}
	if d.err == nil && offset != next {
		d.fail()
	}
	return entries, next, d.err
}

// A writer writes a block.
type writer struct {
	file   *os.File
	to     *bufio.Writer
	zip    *packer
	at     int64
	head   []byte
	data   []byte
	series int // series of the page
	index
	known       map[[2]string]*listed // by name and value
	least, most int64
}

// create begins a block in a temporary file.
func (s *Store) create() (*writer, error) {
	f, err := os.CreateTemp(s.dir, "*.tmp")
	if err != nil {
		return nil, err
	}
	w := &writer{file: f, to: bufio.NewWriterSize(f, 1<<20), zip: s.zip, least: math.MaxInt64, most: math.MinInt64, index: index{values: map[string][]listed{}}, known: map[[2]string]*listed{}}
	w.write([]byte(blockHead))
	return w, nil
}

// write writes; Flush returns the first error.
func (w *writer) write(b []byte) {
	n, _ := w.to.Write(b)
	w.at += int64(n)
}

// add adds the next series in the order of labels.
func (w *writer) add(l labels.Labels, chunks []chunk) {
	if len(chunks) == 0 {
		return
	}
	w.head = binary.AppendUvarint(appendLabels(w.head, l), uint64(len(chunks)))
	begin := len(w.data)
	for _, c := range chunks {
		w.head = binary.AppendUvarint(binary.AppendUvarint(binary.AppendVarint(w.head, c.from), uint64(c.to-c.from)), uint64(len(c.data)))
		w.data = append(w.data, c.data...)
		w.samples += c.samples()
	}
	w.head = binary.LittleEndian.AppendUint32(w.head, checksum(w.data[begin:]))
	w.least, w.most = min(w.least, chunks[0].from), max(w.most, chunks[len(chunks)-1].to)
	page := uint32(len(w.pages))
	l.Range(func(x labels.Label) { w.list(x.Name, x.Value, page) })
	w.index.series++
	if w.series++; w.series >= pageMost || len(w.data) >= pageData {
		w.page()
	}
}

// list records that a page has a value.
func (w *writer) list(name, value string, page uint32) {
	x := w.known[[2]string{name, value}]
	if x == nil {
		x = &listed{value: value}
		w.known[[2]string{name, value}] = x
	}
	if n := len(x.pages); n == 0 || x.pages[n-1] != page {
		x.pages = append(x.pages, page)
	}
}

// page writes the page.
func (w *writer) page() {
	if w.series == 0 {
		return
	}
	w.pages = append(w.pages, w.at)
	head := w.zip.EncodeAll(w.head, nil)
	w.frame(pageMark, head, uint32(len(w.data)))
	w.write(w.data)
	w.head, w.data, w.series = w.head[:0], w.data[:0], 0
}

// frame writes a part with its mark, length and checksum.
func (w *writer) frame(mark string, body []byte, more ...uint32) {
	b := binary.LittleEndian.AppendUint32([]byte(mark), uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, checksum(body))
	for _, x := range more {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	w.write(b)
	w.write(body)
}

// finish writes the index and renames the file to a block that ends before to. Without any series there is no block.
func (w *writer) finish(dir string, to int64) (*block, error) {
	w.page()
	begin := w.at
	w.frame(indexMark, w.zip.EncodeAll(w.packIndex(), nil))
	w.write(binary.LittleEndian.AppendUint64(nil, uint64(begin)))
	err := errors.Join(w.to.Flush(), w.file.Sync())
	if err = errors.Join(err, w.file.Close()); err != nil || w.index.series == 0 {
		return nil, errors.Join(err, os.Remove(w.file.Name()))
	}
	path := filepath.Join(dir, fmt.Sprintf("%013d-%013d%s", w.least, to, blockEnd))
	if err := os.Rename(w.file.Name(), path); err != nil {
		return nil, errors.Join(err, os.Remove(w.file.Name()))
	}
	return openBlock(path, w.zip)
}

// abandon removes the unfinished file.
func (w *writer) abandon() error { return errors.Join(w.file.Close(), os.Remove(w.file.Name())) }

// packIndex returns the index as bytes.
func (w *writer) packIndex() []byte {
	b := binary.AppendVarint(binary.AppendVarint(nil, w.least), w.most)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(w.index.series)), uint64(w.samples))
	b = binary.AppendUvarint(b, uint64(len(w.pages)))
	last := int64(0)
	for _, at := range w.pages {
		b, last = binary.AppendUvarint(b, uint64(at-last)), at
	}
	for key, x := range w.known {
		w.values[key[0]] = append(w.values[key[0]], *x)
	}
	b = binary.AppendUvarint(b, uint64(len(w.values)))
	for _, name := range slices.Sorted(maps.Keys(w.values)) {
		all := w.values[name]
		slices.SortFunc(all, func(x, y listed) int { return cmp.Compare(x.value, y.value) })
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
		b = binary.AppendUvarint(b, uint64(len(all)))
		for _, x := range all {
			b = append(binary.AppendUvarint(b, uint64(len(x.value))), x.value...)
			b = binary.AppendUvarint(b, uint64(len(x.pages)))
			last := uint32(0)
			for _, p := range x.pages {
				b, last = binary.AppendUvarint(b, uint64(p-last)), p
			}
		}
	}
	return b
}

// openBlock opens a block and reads its index.
func openBlock(path string, zip *packer) (*block, error) {
	b := &block{path: path}
	if n, err := fmt.Sscanf(filepath.Base(path), blockForm, &b.from, &b.to); n != 2 || err != nil || b.from >= b.to {
		return nil, fmt.Errorf("%w: its name has no times", errDamaged)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b.file = f
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b.size = info.Size()
	if err := b.readIndex(zip); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: its index: %w", errDamaged, err), f.Close())
	}
	if b.least != b.from || b.most > b.to {
		return nil, errors.Join(errOther, f.Close())
	}
	return b, nil
}

// errOther reports an intact block that has the name of another one.
var errOther = errors.New("the name of the block states other times than its samples")

// errDamaged is wrapped by errors about a block whose content differs from the written one.
var errDamaged = errors.New("the block is damaged")

// readIndex reads the index, whose offset is at the end of the file.
func (b *block) readIndex(zip *packer) error {
	least := int64(len(blockHead) + frameSize + tailSize)
	if b.size < least {
		return io.ErrUnexpectedEOF
	}
	var tail [tailSize]byte
	if _, err := b.file.ReadAt(tail[:], b.size-tailSize); err != nil {
		return err
	}
	begin := int64(binary.LittleEndian.Uint64(tail[:]))
	if begin < int64(len(blockHead)) || begin > b.size-frameSize-tailSize {
		return errors.New("its place is not known")
	}
	all, err := readPart(b.file, nil, begin, b.size-tailSize-begin)
	if err != nil {
		return err
	}
	body := all[frameSize:]
	if string(all[:4]) != indexMark || int(binary.LittleEndian.Uint32(all[4:])) != len(body) || binary.LittleEndian.Uint32(all[8:]) != checksum(body) {
		return errors.New("its checksum differs")
	}
	if body, err = zip.DecodeAll(body, nil); err != nil {
		return err
	}
	d := decoder{b: body}
	b.least, b.most = d.varint(), d.varint()
	b.series, b.samples = int64(d.uvarint()), int64(d.uvarint())
	last := int64(0)
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		at := last + int64(d.uvarint())
		if at <= last || at >= begin {
			return errors.New("it lists a page that the block does not have")
		}
		b.pages, last = append(b.pages, at), at
	}
	b.values = map[string][]listed{}
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		name := unique.Make(d.string()).Value()
		count := d.uvarint()
		if count > uint64(pageMost*len(b.pages)) || len(b.values) > mostLabels {
			return errors.New("it lists more labels than its pages have")
		}
		var all []listed
		for ; count > 0 && d.err == nil; count-- {
			all = append(all, d.listed(uint32(len(b.pages))))
		}
		b.values[name] = slices.Clip(all)
	}
	return d.err
}

// listed reads a value and its pages, of that many. Blocks share the text of a value.
func (d *decoder) listed(pages uint32) listed {
	x := listed{value: unique.Make(d.string()).Value()}
	next := uint64(0) // the least number of another page
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		step := d.uvarint()
		if len(x.pages) > 0 {
			step-- // it counts from the last page
		}
		if step >= uint64(pages) || next+step >= uint64(pages) {
			d.fail()
			break
		}
		x.pages = append(x.pages, uint32(next+step))
		next += step + 1
	}
	x.pages = slices.Clip(x.pages)
	return x
}
