package store

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A torn disk cannot be read before an offset.
type torn struct {
	*bytes.Reader
	before int64
}

func (d torn) ReadAt(p []byte, at int64) (int, error) {
	if at < d.before {
		return 0, syscall.EIO
	}
	return d.Reader.ReadAt(p, at)
}

// TestUnreadable salvages the whole pages behind one that the disk cannot read.
func TestUnreadable(t *testing.T) {
	const size = 3 << 20
	data := make([]byte, size)
	copy(data[size-100:], pageMark)
	file := torn{bytes.NewReader(data), 1 << 20}
	if mark, at := nextMark(file, 10, size, recordMark, pageMark); mark != pageMark || at != size-100 {
		t.Errorf("found %q at %d, want %q at %d", mark, at, pageMark, size-100)
	}
	if mark, at := nextMark(file, 10, size-200, pageMark); mark != "" || at != size-200 {
		t.Errorf("found %q at %d where none is", mark, at)
	}
}

// TestStatedSizes refuses files of 16 GB, nearly all of it holes, whose parts state gigabytes, before it takes memory for these.
func TestStatedSizes(t *testing.T) {
	zip, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	const size, stated = 16 << 30, 3 << 30
	frame := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, stated), 0)
	path := filepath.Join(t.TempDir(), "0000000000001-0000000000002"+blockEnd)
	f, err := os.Create(path)
	for at, b := range map[int64][]byte{0: []byte(blockHead), 100: append([]byte(pageMark), frame...), 200: append([]byte(recordMark), frame...), 300: append([]byte(indexMark), frame...), size - tailSize: {44, 1, 0, 0, 0, 0, 0, 0}} {
		if err == nil {
			_, err = f.WriteAt(b, at)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, blockErr := openBlock(path, zip)
	_, _, pageErr := readPage(f, 100, size, zip)
	_, recordErr := (&replayed{}).record(f, 200, size)
	dataErr := (&entry{sizes: []uint64{stated}}).load(f)
	runtime.ReadMemStats(&after)
	for _, err := range []error{blockErr, pageErr, recordErr, dataErr} {
		if err == nil || !strings.Contains(err.Error(), "it states ") {
			t.Errorf("found %v", err)
		}
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("took %d bytes", took)
	}
}
