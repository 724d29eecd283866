// Package tables reads tables of VMs and hosts into a numa.Fleet: RVTools 3.x and 4.x exports (an .xlsx workbook, or a folder of RVTools_tab*.csv files),
// and the output of other programs: CSV, workbooks and JSON of PowerCLI, govc, Live Optics, Ansible and scripts.
//
// The kind of a table is determined by its headers (header.go): by the known names of columns (columns.go, shapes.go). A new format needs only another
// entry there. A cell that cannot be parsed results in an unknown fact and a note in the fleet; Read fails only if the whole export is unreadable. Most
// tables have no NUMA nodes and no advanced settings: then the packages of a host are assumed to be its nodes, and the settings of hosts and VMs stay
// unknown.
package tables

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// The first bytes of the file formats that Read distinguishes.
const (
	zipMagic = "PK"                               // zip and xlsx
	oleMagic = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" // binary .xls, and encrypted .xlsx
)

// Read reads the tables at path: an .xlsx, a folder of CSV and JSON files, or one such file. One CSV of an RVTools export stands for all files in its
// folder. No temporary files are written.
func Read(path string) (*numa.Fleet, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	if info.IsDir() {
		return readFolder(path, path)
	}
	f, err := bounded.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	defer f.Close()
	var head [8]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	ext := strings.ToLower(filepath.Ext(path))
	switch magic := string(head[:n]); {
	case strings.HasPrefix(magic, zipMagic):
		return readBook(path, baseName(path), f, info.Size())
	case magic == oleMagic && ext != ".xls":
		return nil, noBook(path, head[:n])
	case magic == oleMagic:
		return nil, fmt.Errorf("%s: old binary .xls: save it as .xlsx, or export CSV from RVTools", path)
	case sureRVTools(filepath.Base(path)) && ext == ".csv":
		return readFolder(path, filepath.Dir(path))
	case (ext == ".xlsx" || ext == ".xls" || ext == ".zip") && !(file{path, baseName(path), func() ([]byte, error) { return tableIn(path) }}).holds():
		if err := noBook(path, head[:n]); n > 0 && err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: not a zip file: found %q, want %q: the file is damaged or has a wrong name", path, head[:min(n, 4)], "PK\x03\x04")
	}
	return ReadFiles([]string{path})
}

// noBook returns the reason why a workbook that begins with head cannot be read; nil if there is none.
func noBook(path string, head []byte) error {
	switch {
	case strings.HasPrefix(filepath.Base(path), "~$"):
		return fmt.Errorf("%s: found the lock file that Office keeps beside an open workbook: name the workbook, without ~$", path)
	case len(head) == 0:
		return fmt.Errorf("%s: the file is empty", path)
	case head[0] == '<':
		return fmt.Errorf("%s: found HTML or XML under the name of a workbook: open it with a spreadsheet program and save it as .xlsx", path)
	case bytes.HasPrefix(head, []byte(oleMagic)):
		return fmt.Errorf("%s: the workbook is encrypted or an old binary .xls: save it as .xlsx without a password", path)
	}
	return nil
}

// ReadFiles reads CSV and JSON files that form one export, such as one with the VMs and one with their hosts.
func ReadFiles(paths []string) (*numa.Fleet, error) {
	var files []file
	var names []string
	for _, p := range paths {
		files = append(files, file{p, filepath.Base(p), func() ([]byte, error) { return tableIn(p) }})
		names = append(names, baseName(p))
	}
	return readFiles(strings.Join(paths, " "), strings.Join(names, " "), files)
}

// sureRVTools reports whether only RVTools uses such a file name: RVTools_tabvInfo.csv.
func sureRVTools(base string) bool {
	_, sure := rvtoolsSheet(base)
	return sure && isTable(base)
}

// Detect reports whether path is probably a table of VMs or hosts: by its name and first bytes, and by the names and headers inside a folder or zip.
// Damaged files count too: Read returns their errors.
func Detect(path string) bool {
	info, err := os.Stat(path)
	ext := strings.ToLower(filepath.Ext(path))
	switch {
	case err != nil || ext == ".xlsx" || ext == ".xls":
		return ext == ".xlsx" || ext == ".xls"
	case info.IsDir():
		files, err := folderFiles(path)
		return err == nil && slices.ContainsFunc(files, file.holds)
	case isTable(filepath.Base(path)):
		return true
	}
	b, err := bounded.Head(path, text.HeadSize), error(nil)
	if isJSON(b) { // the beginning of a JSON file is invalid JSON
		b, err = bounded.File(path, maxPart)
	}
	return zipAt(path, holdsTables) || file{path, path, func() ([]byte, error) { return b, err }}.holds()
}

// Book reports whether the content of the file at path is a workbook, regardless of its name.
func Book(path string) bool { return zipAt(path, holdsBook) }

// zipAt reports whether the file at path is a zip for which holds returns true.
func zipAt(path string, holds func(*zip.Reader) bool) bool {
	f, err := bounded.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	zr, err := bounded.Zip(f, info.Size(), bounded.MostNames)
	return err == nil && holds(zr)
}

// RVTools reports whether path is an RVTools export according to the names in it, so that no other reader is tried.
func RVTools(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return Detect(path) && !isTable(path) || sureRVTools(filepath.Base(path))
	}
	files, err := folderFiles(path)
	return err == nil && slices.ContainsFunc(files, func(f file) bool { return sureRVTools(f.name) })
}

// Holds reports whether the file or folder at path contains a table of VMs or hosts.
func Holds(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || !isTable(filepath.Base(path)) {
		return Detect(path)
	}
	return file{path, filepath.Base(path), func() ([]byte, error) { return tableIn(path) }}.holds()
}

// Workbook reports whether a file with this name and beginning is an Excel workbook.
func Workbook(name string, head []byte) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return (ext == ".xlsx" || ext == ".xls") && (bytes.HasPrefix(head, []byte(zipMagic)) || bytes.HasPrefix(head, []byte(oleMagic)))
}

// HeadHolds reports whether the beginning of a file is a table of VMs or hosts; the name determines the format.
func HeadHolds(name string, head []byte) bool {
	return file{name, filepath.Base(name), func() ([]byte, error) { return slices.Clone(head), nil }}.holds()
}

// holds reports whether the file contains a table of VMs or hosts.
func (f file) holds() bool {
	holds, err := f.tables()
	return holds && err == nil
}

// tables reports whether the file contains a table of VMs or hosts; an error means that it is damaged.
func (f file) tables() (bool, error) {
	sheets, err := f.sheets(true)
	return slices.ContainsFunc(sheets, func(s *sheet) bool { return s.kind != nil }), err
}

// Part reports whether path is a CSV or JSON file with VMs but no hosts, or vice versa: together with the other one it is one fleet.
func Part(path string) bool {
	if info, err := os.Stat(path); err != nil || info.IsDir() || !isTable(filepath.Base(path)) {
		return false
	}
	f := file{path, filepath.Base(path), func() ([]byte, error) { return tableIn(path) }}
	sheets, err := f.sheets(true)
	var vms, hosts bool
	for _, s := range sheets {
		if s.kind != nil {
			isHosts := s.kind.name == "hosts" || s.kind.name == "vHost"
			vms, hosts = vms || !isHosts, hosts || isHosts
		}
	}
	return err == nil && vms != hosts
}

// readFolder reads the tables of folder; path is the path from the user.
func readFolder(path, folder string) (*numa.Fleet, error) {
	files, err := folderFiles(folder)
	if err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	return readFiles(path, baseName(folder), files)
}

// baseName returns the name of the file or folder at path, also for ".".
func baseName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Base(path)
}

// readBook reads the workbook r of size bytes.
func readBook(path, base string, r io.ReaderAt, size int64) (*numa.Fleet, error) {
	x, err := book(path, base, r, size)
	if err != nil {
		return nil, err
	}
	return x.fleet()
}

// book opens the workbook r of size bytes.
func book(path, base string, r io.ReaderAt, size int64) (*export, error) {
	zr, err := bounded.Zip(r, size, bounded.MostNames)
	if err != nil {
		return nil, fmt.Errorf("%s: damaged or cut off: %w", path, err)
	}
	if !holdsBook(zr) {
		return nil, fmt.Errorf("%s: a zip that is no workbook: found no %s in it", path, workbookPart)
	}
	return workbook(path, base, zr)
}
