package tables

import (
	"archive/zip"
	"bytes"
	"path"
	"strings"

	"homenode/numa"
)

// A Member is a file of a folder or archive.
type Member struct {
	Name string // below the folder or in the archive
	Read func() ([]byte, error)
}

// IsWorkbook reports whether a file with this name may be a workbook.
func IsWorkbook(name string) bool { return strings.EqualFold(path.Ext(name), ".xlsx") }

// IsText reports whether a file with this name may be CSV or JSON.
func IsText(name string) bool { return isTable(path.Base(name)) }

// Holds reports whether the member holds a table of VMs or hosts, or is another sheet of RVTools.
func (m Member) Holds() bool {
	return sureRVTools(path.Base(m.Name)) || file{path.Base(m.Name), m.Read}.holds()
}

// ReadMembers reads CSV and JSON members of the folder or archive at name, which are one export together.
func ReadMembers(name string, members []Member) (*numa.Fleet, error) {
	var files []file
	for _, m := range members {
		files = append(files, file{m.Name, m.Read})
	}
	return readFiles(name, baseName(name), ofRVTools(files))
}

// ReadBook reads a workbook in the folder or archive at name.
func ReadBook(name string, m Member) (*numa.Fleet, error) {
	b, err := m.Read()
	if err != nil {
		return nil, err
	}
	zr, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return readWorkbook(name+"/"+m.Name, path.Base(m.Name), zr)
}
