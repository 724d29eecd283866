// Package rvtools reads RVTools 3.x and 4.x exports into a numa.Fleet: an .xlsx
// workbook, a folder of RVTools_tab*.csv files, or a zip of either.
//
// RVTools has no column for NUMA nodes and exports no advanced settings: the
// nodes of a host are assumed to be its packages, and the settings of hosts and
// VMs stay unknown. Columns are found by their headers (columns.go). A cell that
// cannot be read leaves its fact unknown and a note in the fleet; an error is
// returned only when the export as a whole cannot be read.
package tables

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"homenode/numa"
)

// The first bytes of the files that Read distinguishes.
const (
	zipMagic = "PK"                               // zip and xlsx
	oleMagic = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" // binary .xls, and encrypted .xlsx
)

// Read reads the export at path: an .xlsx, a folder of CSVs, one CSV of such a
// folder, or a zip of CSVs or of one .xlsx. Nothing is written to disk.
func Read(path string) (*numa.Fleet, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read RVTools export: %w", err)
	}
	if info.IsDir() {
		return readFolder(path, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read RVTools export: %w", err)
	}
	defer f.Close()
	var head [8]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("read RVTools export: %w", err)
	}
	ext := strings.ToLower(filepath.Ext(path))
	switch magic := string(head[:n]); {
	case strings.HasPrefix(magic, zipMagic):
		return readZip(path, f, info.Size())
	case magic == oleMagic && ext != ".xls":
		return nil, fmt.Errorf("%s: the workbook is encrypted or an old binary .xls: save it as .xlsx without a password", path)
	case magic == oleMagic || ext == ".xls":
		return nil, fmt.Errorf("%s: old binary .xls: save it as .xlsx, or export CSV from RVTools", path)
	case ext == ".csv":
		if _, ok := csvSheet(filepath.Base(path)); ok {
			return readFolder(path, filepath.Dir(path))
		}
	case ext == ".xlsx" || ext == ".zip":
		return nil, fmt.Errorf("%s: not a zip file: found %q, want %q: the file is damaged or has a wrong name", path, head[:min(n, 4)], "PK\x03\x04")
	}
	return nil, fmt.Errorf("%s: not an RVTools export: want an .xlsx, or a folder or zip of RVTools_tab*.csv", path)
}

// Detect reports whether path looks like an RVTools export: by its name and
// first bytes, and by the names inside a folder or zip. Whether it can be read
// is for Read to say, also about a damaged file.
func Detect(path string) bool {
	info, err := os.Stat(path)
	ext := strings.ToLower(filepath.Ext(path))
	if err != nil {
		return ext == ".xlsx" || ext == ".xls"
	}
	if info.IsDir() {
		files, err := folderCSVs(path)
		return err == nil && len(files) > 0
	}
	switch ext {
	case ".xlsx", ".xls":
		return true
	case ".csv":
		_, ok := csvSheet(filepath.Base(path))
		return ok
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	zr, err := zip.NewReader(f, info.Size())
	if err != nil {
		return false
	}
	kind, _ := zipHolds(zr)
	return kind != holdsNothing
}

// readFolder reads the CSVs of folder; path is what the user named.
func readFolder(path, folder string) (*numa.Fleet, error) {
	files, err := folderCSVs(folder)
	if err != nil {
		return nil, fmt.Errorf("read RVTools export: %w", err)
	}
	return readCSVs(path, baseName(folder), files)
}

// baseName returns the name of the file or folder at path, also for ".".
func baseName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Base(path)
}

// readZip reads the zip file r of size bytes: a workbook, or a zip that holds
// CSVs or one workbook.
func readZip(path string, r io.ReaderAt, size int64) (*numa.Fleet, error) {
	zr, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: damaged or cut off: %w", path, err)
	}
	switch kind, files := zipHolds(zr); kind {
	case holdsWorkbook:
		return readWorkbook(path, baseName(path), zr)
	case holdsCSVs:
		return readCSVs(path, baseName(path), zipCSVs(files))
	case holdsXLSX:
		if len(files) > 1 {
			return nil, fmt.Errorf("%s: holds %d workbooks (%s, %s, …): unpack it and read one at a time",
				path, len(files), files[0].Name, files[1].Name)
		}
		b, err := unpack(files[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if !strings.HasPrefix(string(b[:min(len(b), 2)]), zipMagic) {
			return nil, fmt.Errorf("%s: %s is not an .xlsx workbook", path, files[0].Name)
		}
		inner, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: damaged or cut off: %w", path, files[0].Name, err)
		}
		if kind, _ := zipHolds(inner); kind != holdsWorkbook {
			return nil, fmt.Errorf("%s: %s is not an .xlsx workbook: no %s", path, files[0].Name, workbookPart)
		}
		return readWorkbook(path, baseName(path), inner)
	}
	return nil, fmt.Errorf("%s: not an RVTools export: the zip holds neither a workbook nor RVTools_tab*.csv", path)
}
