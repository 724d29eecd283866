package tables

import (
	"archive/zip"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"homenode/internal/bounded"
	"homenode/numa"
)

// Limits of what is unpacked. The vInfo sheet of 10,000 VMs is about 40 MB of
// XML that packs 10:1; the deflate format cannot pack better than 1032:1.
const (
	maxPart  = 512 << 20 // bytes of one sheet
	maxTotal = 1 << 30   // bytes of all parts of a workbook that are read
	maxRatio = 200       // unpacked ÷ packed, above freeRatio
	// freeRatio bytes may be packed at any ratio: they do no harm, and a sheet
	// of formatted but empty rows packs very well.
	freeRatio = 64 << 20
)

// holds says what a zip file holds.
type holds int

const (
	holdsNothing  holds = iota
	holdsWorkbook       // it is an .xlsx
	holdsFiles          // .csv or .json
	holdsXLSX           // .xlsx files
)

// zipHolds says what zr holds and in which of its files. Names are judged by
// their base only; nothing is ever written under them.
func zipHolds(zr *zip.Reader) (holds, []*zip.File) {
	var tables, books []*zip.File
	other := false
	for _, f := range zr.File {
		name := zipName(f)
		base := path.Base(name)
		switch {
		case strings.EqualFold(name, workbookPart):
			return holdsWorkbook, nil
		case strings.HasPrefix(base, "._") || strings.HasSuffix(name, "/"):
			// a resource fork that macOS adds to its zips, or a folder
		case strings.EqualFold(path.Ext(base), ".xlsx"):
			books = append(books, f)
		default:
			if isTable(base) {
				tables = append(tables, f)
			} else {
				other = true
			}
		}
	}
	switch {
	case tables != nil && (!other || slices.ContainsFunc(tables, func(f *zip.File) bool { return sureRVTools(path.Base(zipName(f))) })):
		return holdsFiles, tables
	case books != nil:
		return holdsXLSX, books
	}
	return holdsNothing, nil
}

// zipName returns the name of f with forward slashes; some Windows tools write
// the other ones.
func zipName(f *zip.File) string { return strings.ReplaceAll(f.Name, `\`, "/") }

func zipFiles(files []*zip.File) []file {
	var tables []file
	for _, f := range files {
		tables = append(tables, file{zipName(f), func() ([]byte, error) { return unpack(f) }})
	}
	return ofRVTools(tables)
}

// unpack returns the content of f. It is refused when it is larger than the
// limits or damaged.
func unpack(f *zip.File) ([]byte, error) {
	r, err := openPart(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(bounded.Reader(r, maxPart))
}

// openPart opens f to be read once. It is refused when it is larger than the limits; that it is
// damaged shows at its end.
func openPart(f *zip.File) (io.Reader, error) {
	// archive/zip returns an error when the content is longer than declared,
	// so the declared size can be trusted as a bound.
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

// A part names itself in its errors.
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
