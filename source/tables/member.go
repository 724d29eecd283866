package tables

import (
	"bytes"
	"path"
	"strings"

	"homenode/numa"
)

// A Member is a file of a folder or archive.
type Member struct {
	Name string // below the folder or in the archive
	Head []byte // its beginning, of files whose name does not tell what they are
	Read func() ([]byte, error)
}

// MayHold reports whether the member may be a table: by its name, or of a name that tells nothing by its beginning.
func (m Member) MayHold() bool {
	return IsText(m.Name) || strings.EqualFold(path.Ext(m.Name), ".txt") || !Passing(m.Name) && (isJSON(m.Head) || HeadHolds(m.Name, m.Head))
}

// IsWorkbook reports whether a file with this name may be a workbook.
func IsWorkbook(name string) bool {
	return strings.EqualFold(path.Ext(name), ".xlsx") && !Passing(name)
}

// Passing reports whether a file is one that systems and editors put beside others: a resource fork of macOS, a hidden file, a lock of Office, a copy that an editor keeps.
func Passing(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "~$") || strings.HasSuffix(base, "~")
}

// Book reports whether the member is a workbook: by its name, or of another name by its first bytes.
func (m Member) Book() bool {
	if IsWorkbook(m.Name) || !IsText(m.Name) {
		return IsWorkbook(m.Name)
	}
	b, err := m.Read()
	return err == nil && bytes.HasPrefix(b, []byte(zipMagic+"\x03\x04"))
}

// IsText reports whether a file with this name may be CSV or JSON.
func IsText(name string) bool { return isTable(path.Base(name)) }

// OfRVTools reports whether only RVTools names a file so.
func OfRVTools(name string) bool { return sureRVTools(path.Base(name)) }

// Holds reports whether the member holds a table of VMs or hosts, or is another sheet of RVTools. The error says that it is damaged.
func (m Member) Holds() (bool, error) {
	if OfRVTools(m.Name) {
		return true, nil
	}
	return file{m.Name, path.Base(m.Name), m.Read}.tables()
}

// ReadMembers reads CSV and JSON members of the folder or archive at name, which are one export together. A damaged one leaves the others.
func ReadMembers(name string, members []Member) (*numa.Fleet, error) {
	var files []file
	for _, m := range members {
		files = append(files, file{name + "/" + m.Name, m.Name, m.Read})
	}
	return readFiles(name, baseName(name), ofRVTools(files))
}

// ReadBook reads a workbook in the folder or archive at name, and tells whether it is an export of RVTools.
func ReadBook(name string, m Member) (fleet *numa.Fleet, rvtools bool, err error) {
	b, err := m.Read()
	if err == nil {
		err = noBook(name+"/"+m.Name, b)
	}
	if err != nil {
		return nil, false, err
	}
	if f := (file{name + "/" + m.Name, m.Name, m.Read}); !bytes.HasPrefix(b, []byte(zipMagic)) && f.holds() {
		fleet, err = readFiles(name, baseName(name), []file{f})
		return fleet, false, err
	}
	x, err := book(name+"/"+m.Name, path.Base(m.Name), bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, false, err
	}
	fleet, err = x.fleet()
	return fleet, x.sheet("vInfo") != nil, err
}
