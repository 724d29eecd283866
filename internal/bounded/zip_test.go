package bounded_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"homenode/internal/bounded"
)

// TestZipNames refuses a zip of too many names before they are kept, also when it states fewer.
func TestZipNames(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	const n = 300_000
	for i := range n {
		if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i), Method: zip.Store}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = nil
	lying := bytes.Clone(b.Bytes())
	end := bytes.LastIndex(lying, []byte("PK\x05\x06"))
	at := bytes.LastIndex(lying[:end], []byte("PK\x06\x06")) // of zip64
	binary.LittleEndian.PutUint64(lying[at+24:], n%65536)
	binary.LittleEndian.PutUint64(lying[at+32:], n%65536)
	for name, all := range map[string][]byte{"honest": b.Bytes(), "lying": lying} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := bounded.Zip(bytes.NewReader(all), int64(len(all)), 1000)
		runtime.ReadMemStats(&after)
		if many := (*bounded.NamesError)(nil); !errors.As(err, &many) {
			t.Errorf("%s: %v", name, err)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 8 {
			t.Errorf("%s: it took %d MB", name, mb)
		}
		if z, err := bounded.Zip(bytes.NewReader(all), int64(len(all)), n); err != nil || len(z.File) != n {
			t.Errorf("%s: %v with room for all", name, err)
		}
	}
}
