package esxtop

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// A regular file is mapped instead of copied where the system supports it: windows of some
// megabytes, each for several batches, are mapped and unmapped.
//
//	file     ──────┬──────────────────────────┬───────────
//	window 1       └─ batch ─ batch ─ batch ──┤
//	window 2                                └─┴ batch ─ …    from a page on, like all windows
//
// Another program may truncate the file meanwhile. Accessing the missing part is a fault, which
// parser.mapped turns into a panic, and recovers; the rest of the last page reads as zeros, so a
// shrunk file is detected by its size. In both cases, and when the disk fails, the batch is read
// again by ReadAt, which respects the end.

// windowSize is the size of a mapping. Unmapping interrupts all cores that have used the window; a
// much larger size would show in the resident memory.
const windowSize = 10 << 20

// A window is a mapped part of a file.
type window struct {
	of    *windows
	off   int64 // of data in the file
	data  []byte
	users atomic.Int32 // number of batches, and windows.last
}

// windows are the windows of a file. cover is called by one goroutine at a time.
type windows struct {
	file file
	page int64
	last *window
}

// file is implemented by *os.File and its wrappers.
type file interface {
	Stat() (os.FileInfo, error)
}

// cover returns a window of the n bytes at off, for release; nil when there is none, for any reason.
func (w *windows) cover(off int64, n int) *window {
	if w == nil || n > windowSize/2 {
		return nil
	}
	if l := w.last; l == nil || off < l.off || off+int64(n) > l.off+int64(len(l.data)) {
		w.close()
		start := off - off%w.page
		size := min(windowSize, sizeOf(w.file)-start)
		if off+int64(n) > start+size {
			return nil
		}
		data, err := w.mapped(start, int(size))
		if err != nil {
			return nil
		}
		w.last = &window{of: w, off: start, data: data}
		w.last.users.Add(1)
	}
	w.last.users.Add(1)
	return w.last
}

// close releases the last window.
func (w *windows) close() {
	if w != nil && w.last != nil {
		w.last.release()
		w.last = nil
	}
}

// sizeOf returns the length of a file, 0 when it is unknown.
func sizeOf(f file) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// release ends one use.
func (w *window) release() {
	if w.users.Add(-1) == 0 {
		unmap(w.data)
	}
}

// read loads and parses b.
func (p *parser) read(f *feed, b *batch) {
	if b.part != nil {
		ok := p.mapped(b)
		b.part.release()
		if b.part = nil; ok {
			return
		}
		b.clear()
	}
	f.load(b)
	p.batch(b)
	if b.short {
		b.shrunk()
	}
}

// mapped parses b from the mapping. It returns false when that fails.
func (p *parser) mapped(b *batch) (ok bool) {
	w, own := b.part, b.data
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		b.data = own[:0]
		if v := recover(); v != nil {
			if _, fault := v.(runtime.Error); !fault {
				panic(v)
			}
			ok = false
		}
	}()
	lo := int(b.off - w.off)
	b.data = w.data[lo : lo+b.size : lo+b.size+padding]
	p.batch(b)
	return sizeOf(w.of.file) >= b.off+int64(b.size)+padding
}
