package openmetrics

import (
	"encoding/binary"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// The spool is a file of chunks, each with points of one metric:
//
//	offset of the metric's previous chunk, -1 for none · number of points · points of 16 bytes
const (
	chunkPoints = 64
	pointSize   = 16
	headSize    = 12
	// mostHeld limits the points in memory, in bytes. A capture of 2,000 metrics needs 2 MB;
	// chunks get smaller above 32,000 metrics.
	mostHeld = 32 << 20
)

// A point is a value at a time in milliseconds since 1970.
type point struct {
	at     int64
	number float64
}

// A chain locates the points of a metric: chunks in the spool, and the last points here.
type chain struct {
	last int64 // offset of the last chunk + 1; 0 for none
	held []byte
}

type spool struct {
	file *os.File
	size int64
	buf  []byte // not yet in the file
	held int
	most int // limit of held; beyond it everything goes to the file
}

// newSpool creates the file in the folder of path, where there is space for the result.
func newSpool(path string) (*spool, error) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		dir = os.TempDir() // a device or pipe, such as /dev/stdout
	}
	f, err := os.CreateTemp(dir, "."+base[:min(len(base), 100)]+".*.spool")
	if err != nil {
		return nil, err
	}
	return &spool{file: f, most: mostHeld}, nil
}

// add adds a point to the chain of a metric in one of the families.
func (s *spool) add(c *chain, p point, families [][]*metric) error {
	c.held = binary.LittleEndian.AppendUint64(c.held, uint64(p.at))
	c.held = binary.LittleEndian.AppendUint64(c.held, math.Float64bits(p.number))
	s.held += pointSize
	switch {
	case len(c.held) == chunkPoints*pointSize:
		return s.put(c)
	case s.held >= s.most:
		return s.putAll(families)
	}
	return nil
}

// put moves the points of the chain to the spool.
func (s *spool) put(c *chain) error {
	at := s.size + int64(len(s.buf))
	s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(c.last-1))
	s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(len(c.held)/pointSize))
	s.buf = append(s.buf, c.held...)
	s.held -= len(c.held)
	c.held = c.held[:0]
	c.last = at + 1
	if len(s.buf) < 256<<10 {
		return nil
	}
	return s.write()
}

func (s *spool) write() error {
	n, err := s.file.Write(s.buf)
	s.size += int64(n)
	s.buf = s.buf[:0]
	return err
}

// putAll moves the points of all chains to the spool and frees their memory.
func (s *spool) putAll(families [][]*metric) error {
	for _, family := range families {
		for _, m := range family {
			if len(m.chain.held) == 0 {
				continue
			}
			if err := s.put(&m.chain); err != nil {
				return err
			}
			m.chain.held = nil
		}
	}
	return nil
}

// flush writes everything to the file before it is read.
func (s *spool) flush(families [][]*metric) error {
	if err := s.putAll(families); err != nil {
		return err
	}
	return s.write()
}

// points yields the points of a chain in the order in which they were added. An error comes
// last.
func (s *spool) points(c *chain) iter.Seq2[point, error] {
	return func(yield func(point, error) bool) {
		var head [headSize]byte
		var chunks []int64
		for at := c.last - 1; at >= 0; {
			chunks = append(chunks, at)
			if _, err := s.file.ReadAt(head[:8], at); err != nil {
				yield(point{}, err)
				return
			}
			at = int64(binary.LittleEndian.Uint64(head[:]))
		}
		var chunk [headSize + chunkPoints*pointSize]byte
		for _, at := range slices.Backward(chunks) {
			// A chunk with fewer points can be the last in the file.
			n, err := s.file.ReadAt(chunk[:], at)
			b := chunk[headSize:]
			if n >= headSize {
				b = b[:pointSize*int(binary.LittleEndian.Uint32(chunk[8:]))]
			}
			if n < headSize+len(b) {
				yield(point{}, err)
				return
			}
			for ; len(b) > 0; b = b[pointSize:] {
				p := point{int64(binary.LittleEndian.Uint64(b)), math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))}
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

// remove closes and removes the file.
func (s *spool) remove() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
		s.file = nil
	}
}
