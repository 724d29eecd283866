package bandwidth

import (
	"unsafe"

	"example.org/homenode/measure/guest/cpu"
)

// Kind is an access pattern.
type Kind int

// The kinds. Their bytes are counted as in STREAM, from the program's view: a processor may also read a line that it overwrites.
const (
	Read  Kind = iota // one load of each line
	Copy              // one half of the memory to the other
	Read2             // updates one of two lines: two reads for each write
	Read3             // updates one of three lines: three reads for each write
)

// Kinds are all kinds.
var Kinds = []Kind{Read, Copy, Read2, Read3}

// String returns the name: read, copy, 2:1 or 3:1.
func (k Kind) String() string { return [...]string{"read", "copy", "2:1", "3:1"}[k] }

// chunk is the number of bytes between two checks of the counter; it is a multiple of 12 lines of 64 or 128 bytes.
const chunk = 96 << 10

// A mover walks through memory in chunks, and starts again at its end.
type mover struct {
	kind Kind
	base unsafe.Pointer
	size int // whole chunks; for Copy the size of one half
	line int
	at   int
	sink uint64
}

// newMover returns a mover of memory of at least two chunks.
func newMover(k Kind, b []byte, line int) *mover {
	size := len(b) / chunk
	if k == Copy {
		size /= 2
	}
	return &mover{kind: k, base: unsafe.Pointer(&b[0]), size: size * chunk, line: line}
}

// step processes one chunk and returns its bytes.
func (m *mover) step() int {
	p, lines, bytes := unsafe.Add(m.base, m.at), chunk/m.line, chunk
	switch m.kind {
	case Read:
		m.sink += cpu.Read(p, lines, m.line)
	case Copy:
		copy(unsafe.Slice((*byte)(unsafe.Add(p, m.size)), chunk), unsafe.Slice((*byte)(p), chunk))
		bytes = 2 * chunk
	case Read2:
		m.sink += update2(p, lines/2, m.line)
		bytes = chunk / 2 * 3
	case Read3:
		m.sink += update3(p, lines/3, m.line)
		bytes = chunk / 3 * 4
	}
	if m.at += chunk; m.at == m.size {
		m.at = 0
	}
	return bytes
}

// update2 loads a word from the first line of each of n pairs, and increments one in the second.
func update2(p unsafe.Pointer, n, line int) (sum uint64) {
	for range n {
		sum += *(*uint64)(p)
		*(*uint64)(unsafe.Add(p, line))++
		p = unsafe.Add(p, 2*line)
	}
	return sum
}

// update3 loads words from two of each three lines, n times, and increments one in the third.
func update3(p unsafe.Pointer, n, line int) (sum uint64) {
	var more uint64
	for range n {
		sum += *(*uint64)(p)
		more += *(*uint64)(unsafe.Add(p, line))
		*(*uint64)(unsafe.Add(p, 2*line))++
		p = unsafe.Add(p, 3*line)
	}
	return sum + more
}

// slowly loads a word from each of the next lines with a pause of so many steps after each, about 50 µs in total, and returns the bytes.
func (m *mover) slowly(pause int) int {
	lines := min(max(1, 10_000/pause), chunk/m.line)
	for range lines {
		m.sink += *(*uint64)(unsafe.Add(m.base, m.at))
		if m.at += m.line; m.at == m.size {
			m.at = 0
		}
		cpu.Delay(pause)
	}
	return lines * m.line
}
