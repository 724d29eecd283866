package tables

import (
	"archive/zip"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
)

// Limits for decompressed data. The vInfo sheet of 10,000 VMs is about 40 MB of XML with a compression ratio of 10:1; the maximum of
// deflate is 1032:1.
const (
	maxPart  = 512 << 20 // bytes of one sheet
	maxTotal = 1 << 30   // bytes of all parts of a workbook that are read
	maxRatio = 200       // maximum compression ratio above freeRatio
	// freeRatio bytes may have any compression ratio: they are harmless, and a sheet of formatted but empty rows compresses very well.
	freeRatio = 64 << 20
)

// holdsBook reports whether a zip is a workbook, and holdsTables whether it is one or contains workbooks or RVTools files, by their names.
func holdsBook(zr *zip.Reader) bool {
	return slices.ContainsFunc(zr.File, func(f *zip.File) bool { return strings.EqualFold(zipName(f), workbookPart) })
}

func holdsTables(zr *zip.Reader) bool {
	return holdsBook(zr) || slices.ContainsFunc(zr.File, func(f *zip.File) bool { return IsWorkbook(zipName(f)) || OfRVTools(zipName(f)) })
}

// zipName returns the name of f with forward slashes; some Windows tools write backslashes.
func zipName(f *zip.File) string { return strings.ReplaceAll(f.Name, `\`, "/") }

// unpack returns the content of f. It fails if the content exceeds the limits or is damaged.
func unpack(f *zip.File) ([]byte, error) {
	r, err := openPart(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(bounded.Reader(r, maxPart))
}

// openPart opens f for reading once. It fails if f exceeds the limits; damage is detected at its end.
func openPart(f *zip.File) (io.Reader, error) {
	// archive/zip returns an error if the content is longer than declared, so the declared size is a reliable limit.
	size, packed := f.UncompressedSize64, f.CompressedSize64
	if size > maxPart {
		return nil, fmt.Errorf("%s unpacks to more than %v: refused", f.Name, numa.Bytes(maxPart))
	}
	if size > freeRatio && size/maxRatio > packed {
		return nil, fmt.Errorf("%s unpacks from %v to %v, more than %d to 1: refused as a zip bomb",
			f.Name, numa.Bytes(packed), numa.Bytes(size), maxRatio)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: damaged: %w", f.Name, err)
	}
	return part{f.Name, r}, nil
}

// A part adds its name to its errors.
type part struct {
	name string
	r    io.Reader
}

func (p part) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: damaged: %w", p.name, err)
	}
	return n, err
}
