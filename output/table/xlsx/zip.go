package xlsx

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"slices"
)

// sortedZip writes the parts of a workbook by name, in whatever order they come:
// excelize takes its sheets from a map. Each part is compressed as it comes, so
// that only compressed bytes wait.
type sortedZip struct {
	w     io.Writer
	parts map[string]*part
	last  *part
}

// part is a file of the workbook, compressed.
type part struct {
	packed bytes.Buffer
	flate  *flate.Writer
	crc    hash.Hash32
	size   uint64
}

func newSortedZip(w io.Writer) *sortedZip { return &sortedZip{w: w, parts: map[string]*part{}} }

// Create begins a part; it ends where the next one begins.
func (z *sortedZip) Create(name string) (io.Writer, error) {
	if err := z.end(); err != nil {
		return nil, err
	}
	p := &part{crc: crc32.NewIEEE()}
	var err error
	if p.flate, err = flate.NewWriter(&p.packed, flate.DefaultCompression); err != nil {
		return nil, err
	}
	z.parts[name], z.last = p, p
	return p, nil
}

// Write compresses b.
func (p *part) Write(b []byte) (int, error) {
	p.crc.Write(b) // never fails
	p.size += uint64(len(b))
	return p.flate.Write(b)
}

func (z *sortedZip) end() error {
	if z.last == nil {
		return nil
	}
	err := z.last.flate.Close()
	z.last = nil
	return err
}

// AddFS is part of excelize's interface; excelize never calls it.
func (z *sortedZip) AddFS(fs.FS) error { return fs.ErrInvalid }

// Close writes the archive.
func (z *sortedZip) Close() error {
	if err := z.end(); err != nil {
		return err
	}
	out := zip.NewWriter(z.w)
	for _, name := range slices.Sorted(maps.Keys(z.parts)) { // [Content_Types].xml comes first
		p := z.parts[name]
		w, err := out.CreateRaw(&zip.FileHeader{
			Name: name, Method: zip.Deflate, CRC32: p.crc.Sum32(), CompressedSize64: uint64(p.packed.Len()), UncompressedSize64: p.size,
		})
		if err != nil {
			return err
		}
		if _, err := p.packed.WriteTo(w); err != nil {
			return err
		}
	}
	return out.Close()
}
