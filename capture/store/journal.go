package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/labels"
)

// A journal is a file of appended samples, record by record. Each record is written with one system call, so
// recorded samples survive kill -9.
type journal struct {
	file   *os.File
	path   string
	id     int
	size   int64
	begins int64 // ms; it has no sample before; 0 if unknown
	newest int64 // ms of its newest sample
	series uint64
	buf    []byte // the record under construction
	packed []byte
	old    []ended
}

// ended is an earlier journal.
type ended struct {
	path   string
	begin  int64
	size   int64
	newest int64
}

const (
	journalHead = "homenode journal 1\n"
	journalEnd  = ".journal"
	recordMark  = "tick"
	frameSize   = 12      // mark, length, checksum
	mostSeries  = 1 << 24 // in a journal
	mostRatio   = 100     // of the unpacked to the packed length of a record; those of fleets have 3 to 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// turn begins a new file, for samples from a time on.
func (j *journal) turn(dir string, begins int64) error {
	if j.file != nil {
		if err := j.file.Close(); err != nil { // the kernel writes it
			return err
		}
		j.old = append(j.old, ended{j.path, j.begins, j.size, j.newest})
	}
	j.id++
	j.path = filepath.Join(dir, fmt.Sprintf("%08d%s", j.id, journalEnd))
	f, err := os.OpenFile(j.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(journalHead); err != nil {
		return errors.Join(err, f.Close())
	}
	j.file, j.size, j.begins, j.newest, j.series = f, int64(len(journalHead)), begins, math.MinInt64, 0
	return nil
}

// close syncs and closes the file.
func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	err := errors.Join(j.file.Sync(), j.file.Close())
	j.file = nil
	return err
}

// forget removes the files whose samples are all in blocks from the list, and returns their paths.
func (j *journal) forget(floor int64) (paths []string) {
	j.old = slices.DeleteFunc(j.old, func(x ended) bool {
		if x.newest < floor {
			paths = append(paths, x.path)
		}
		return x.newest < floor
	})
	return paths
}

// begin begins the record of a time.
func (j *journal) begin(ms int64) {
	if j.begins == 0 || ms < j.begins {
		j.begins = ms
	}
	j.buf = binary.AppendVarint(j.buf[:0], ms)
}

// add adds a sample to the record. In each file the first sample of a series includes its labels.
func (j *journal) add(m *memory, number float64) {
	if m.file == j.id {
		j.buf = binary.AppendUvarint(j.buf, m.number+1)
	} else {
		m.file, m.number = j.id, j.series
		j.series++
		j.buf = binary.AppendUvarint(append(j.buf, 0), m.number)
		j.buf = appendLabels(j.buf, m.labels)
	}
	j.buf = binary.LittleEndian.AppendUint64(j.buf, math.Float64bits(number))
}

// end writes the record, all or nothing.
func (j *journal) end() error {
	j.packed = slices.Grow(j.packed[:0], frameSize+s2.MaxEncodedLen(len(j.buf)))
	body := s2.Encode(j.packed[frameSize:cap(j.packed)], j.buf)
	j.packed = append(j.packed[:0], recordMark...)
	j.packed = binary.LittleEndian.AppendUint32(j.packed, uint32(len(body)))
	j.packed = binary.LittleEndian.AppendUint32(j.packed, checksum(body))
	j.packed = j.packed[:frameSize+len(body)]
	if _, err := j.file.Write(j.packed); err != nil {
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(len(j.packed))
	ms, _ := binary.Varint(j.buf)
	j.newest = max(j.newest, ms)
	return nil
}

// appendLabels adds labels as names and values with their lengths.
func appendLabels(b []byte, l labels.Labels) []byte {
	b = binary.AppendUvarint(b, uint64(l.Len()))
	l.Range(func(x labels.Label) {
		for _, s := range []string{x.Name, x.Value} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	})
	return b
}

// replay reads the journals into the head, saves the intact parts of damaged ones, records the missing files, and begins a new one.
func (s *Store) replay(listed []listedFile, there map[string]bool) error {
	paths, err := filepath.Glob(filepath.Join(quoteGlob(s.dir), "*"+journalEnd))
	if err != nil {
		return err
	}
	slices.Sort(paths)
	for _, x := range listed {
		s.journal.id = max(s.journal.id, journalID(x.name)) // a new journal never gets the name of a missing one
	}
	var damaged []replayed
	oldest := map[string]int64{}
	for _, path := range paths {
		r := replayed{store: s, path: path, newest: math.MinInt64}
		id := journalID(path)
		if id < 0 {
			r.lost++ // set it aside
		}
		if err := r.read(); errors.Is(err, syscall.EIO) {
			r.lost++ // set it aside
		} else if err != nil {
			return err
		}
		if i := slices.IndexFunc(listed, func(x listedFile) bool { return x.name == filepath.Base(path) }); i >= 0 {
			short := max(0, listed[i].size-r.size) // its end may be missing after a complete record
			r.lost, r.cut, r.begin = r.lost+short, r.cut || short > 0, listed[i].first()
		}
		s.journal.id = max(s.journal.id, id)
		oldest[filepath.Base(path)] = r.oldest
		if r.lost > 0 || r.unknown > 0 {
			damaged = append(damaged, r)
		} else {
			s.journal.old = append(s.journal.old, ended{path, cmp.Or(r.oldest, s.begins()), r.size, r.newest})
		}
	}
	s.missing(listed, there, oldest)
	if err := s.journal.turn(s.dir, s.begins()); err != nil {
		return err
	}
	if len(damaged) == 0 {
		return nil
	}
	// Everything that was read goes into a block, so the damaged files are not needed any more.
	if err := s.cut(s.head.newest + 1); err != nil {
		return err
	}
	for _, r := range damaged {
		if err := s.aside(r.loss(oldest)); err != nil {
			return err
		}
	}
	return nil
}

// journalID returns the number in the name of a journal; -1 without one.
func journalID(path string) (id int) {
	if _, err := fmt.Sscanf(filepath.Base(path), "%d"+journalEnd, &id); err != nil {
		return -1
	}
	return id
}

// begins returns the time before which no sample can be appended any more; 0 if one of any time can.
func (s *Store) begins() int64 { return max(0, s.head.floor) }

// quoteGlob escapes the name of a folder for use in a pattern.
func quoteGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// A replayed is a journal during replay.
type replayed struct {
	store   *Store
	path    string
	series  []*memory
	newest  int64
	oldest  int64
	size    int64
	lost    int64     // bytes that are no record
	late    bool      // the first record is lost
	cut     bool      // the last record may be lost
	begin   time.Time // before which it had no sample; zero if unknown
	unknown int64     // samples of series that only a lost record defined
	packed  []byte
	buf     []byte
}

// read reads every intact record, and after damage searches for the next one.
func (r *replayed) read() error {
	f, err := os.Open(r.path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size, at := info.Size(), int64(len(journalHead))
	r.size = size
	if !begins(f, journalHead) {
		at = 0
		r.lost++ // also if no record is missing: set it aside
	}
	for at < size {
		n, err := r.record(f, at, size)
		if err == nil {
			at += n
			r.cut = false
			continue
		}
		r.late, r.cut = r.late || r.oldest == 0, true
		_, next := nextMark(f, at+1, size, recordMark)
		r.lost += next - at
		at = next
	}
	return nil
}

// begins reports whether a file begins with a line.
func begins(f io.ReaderAt, line string) bool {
	b := make([]byte, len(line))
	_, err := f.ReadAt(b, 0)
	return err == nil && string(b) == line
}

// record reads the record at an offset, and returns its length.
func (r *replayed) record(f io.ReaderAt, at, size int64) (n int64, err error) {
	var frame [frameSize]byte
	if _, err := f.ReadAt(frame[:], at); err != nil {
		return 0, err
	}
	n = int64(binary.LittleEndian.Uint32(frame[4:]))
	if string(frame[:4]) != recordMark || n > size-at-frameSize {
		return 0, errors.New("no record stands there")
	}
	if r.packed, err = readPart(f, r.packed, at+frameSize, n); err != nil {
		return 0, err
	}
	if checksum(r.packed) != binary.LittleEndian.Uint32(frame[8:]) {
		return 0, errors.New("its checksum differs")
	}
	if unpacked, err := s2.DecodedLen(r.packed); err != nil || unpacked > mostPart || int64(unpacked) > mostRatio*n+64<<10 {
		return 0, errors.New("it states a length that no record has")
	}
	if r.buf, err = s2.Decode(r.buf[:cap(r.buf)], r.packed); err != nil {
		return 0, err
	}
	return frameSize + n, r.take(r.buf)
}

// take adds the samples of a record to the head.
func (r *replayed) take(b []byte) error {
	d := decoder{b: b}
	ms := d.varint()
	h := &r.store.head
	for len(d.b) > 0 && d.err == nil {
		n := d.uvarint()
		if n == 0 {
			n = d.uvarint() + 1
			if n > mostSeries {
				d.fail()
				break
			}
			r.series = append(r.series, make([]*memory, max(0, int(n)-len(r.series)))...)
			r.series[n-1] = h.find(d.labels())
		}
		number := math.Float64frombits(d.fixed64())
		if d.err != nil {
			break
		}
		if n > uint64(len(r.series)) || r.series[n-1] == nil {
			r.unknown++
			continue
		}
		if m := r.series[n-1]; ms > m.last && ms >= h.floor {
			m.append(ms, number, r.store.span)
			h.took(ms)
		}
	}
	if r.oldest == 0 {
		r.oldest = ms
	}
	r.newest = max(r.newest, ms)
	return d.err
}

// loss describes the missing data of the file. oldest has the first sample of each journal, in ms.
func (r *replayed) loss(oldest map[string]int64) Loss {
	x := Loss{File: r.path, Samples: -1, Bytes: r.lost}
	if r.lost == 0 {
		x.Samples = r.unknown
	}
	x.From, x.To = time.UnixMilli(r.oldest).UTC(), time.UnixMilli(r.newest).UTC()
	if r.late || r.oldest == 0 {
		x.From = r.begin
	}
	if r.cut || r.oldest == 0 {
		x.To = lastOf(filepath.Base(r.path), oldest)
	}
	return x
}

// A decoder reads the elements of journals and blocks.
type decoder struct {
	b   []byte
	err error
	l   labels.ScratchBuilder
}

func (d *decoder) fail() { d.b, d.err = nil, io.ErrUnexpectedEOF }

// take returns the next n bytes; fewer only after fail.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return x
}

func (d *decoder) varint() int64 {
	x := d.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

func (d *decoder) fixed64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) fixed32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) string() string { return string(d.take(d.uvarint())) }

func (d *decoder) labels() labels.Labels {
	d.l.Reset()
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		name := d.string()
		d.l.Add(name, d.string())
	}
	return d.l.Labels()
}
