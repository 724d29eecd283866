package bounded_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/bounded"
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

// TestZipOverlap refuses a zip whose directory names the same packed bytes several times.
func TestZipOverlap(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if f, err := w.CreateHeader(&zip.FileHeader{Name: "a.csv", Method: zip.Store}); err != nil {
		t.Fatal(err)
	} else if _, err := f.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	begin, end := bytes.Index(b.Bytes(), []byte("PK\x01\x02")), bytes.Index(b.Bytes(), []byte("PK\x05\x06"))
	for times, want := range map[int]bool{1: true, 2: false} {
		name := b.Bytes()[begin:end]
		forged := slices.Concat(b.Bytes()[:begin], bytes.Repeat(name, times), b.Bytes()[end:])
		tail := forged[len(forged)-(b.Len()-end):]
		binary.LittleEndian.PutUint16(tail[8:], uint16(times))
		binary.LittleEndian.PutUint16(tail[10:], uint16(times))
		binary.LittleEndian.PutUint32(tail[12:], uint32(times*len(name)))
		if z, err := bounded.Zip(bytes.NewReader(forged), int64(len(forged)), 10); (err == nil && len(z.File) == times) != want || !want && !strings.Contains(err.Error(), "overlap") {
			t.Errorf("%d names: %v", times, err)
		}
	}
}
