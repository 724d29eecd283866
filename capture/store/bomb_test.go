package store_test

import (
	"encoding/binary"
	"hash/crc32"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/golden"
)

// framed returns a part of a file with its mark, length and checksum.
func framed(mark string, body []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(mark), uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return append(b, body...)
}

// TestBombs opens stores with small files that unpack to much more: they are lost, and take little memory.
func TestBombs(t *testing.T) {
	const large = 64 << 20
	zip, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	index := make([]byte, large/4) // no page, and one label with as many empty values as there are bytes for
	index[5], index[6], index[7] = 1, 1, 'a'
	binary.PutUvarint(index[8:], large/8)
	block := append([]byte("homenode block 1\n"), framed("indx", zip.EncodeAll(index, nil))...)
	block = binary.LittleEndian.AppendUint64(block, uint64(len("homenode block 1\n")))
	for name, content := range map[string][]byte{
		"00000001.journal":                  append([]byte("homenode journal 1\n"), framed("tick", s2.Encode(nil, make([]byte, large)))...),
		"1795000000000-1795007200000.block": block,
	} {
		dir := t.TempDir()
		golden.Write(t, filepath.Join(dir, name), content)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := store.Open(dir, store.Options{})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > large/2 || len(content) > 100<<10 {
			t.Errorf("%s of %d bytes takes %d MB", name, len(content), took>>20)
		}
		if !slices.ContainsFunc(s.State().Losses, func(l store.Loss) bool { return filepath.Base(l.File) == name }) {
			t.Errorf("%s: its loss is not reported: %+v", name, s.State().Losses)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
