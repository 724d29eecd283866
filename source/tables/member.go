package tables

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"example.org/homenode/numa"
)

// A Member is a file of a folder or archive.
type Member struct {
	Name string // below the folder or in the archive
	Head []byte // its beginning, if the name does not show the format
	Read func() ([]byte, error)
}

// MayHold reports whether the member may be a table: by its name or, if the name is not specific, by its beginning.
func (m Member) MayHold() bool {
	return IsText(m.Name) || strings.EqualFold(path.Ext(m.Name), ".txt") || !Passing(m.Name) && (isJSON(m.Head) || HeadHolds(m.Name, m.Head))
}

// IsWorkbook reports whether a file with this name may be a workbook.
func IsWorkbook(name string) bool {
	return strings.EqualFold(path.Ext(name), ".xlsx") && !Passing(name)
}

// Passing reports whether a file is an auxiliary file of a system or editor: a resource fork of macOS, a hidden file, an Office lock file, an editor
// backup.
func Passing(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "~$") || strings.HasSuffix(base, "~")
}

// Book reports whether the member is a workbook: by its name or, with another extension, by its first bytes.
func (m Member) Book() bool {
	if IsWorkbook(m.Name) || !IsText(m.Name) {
		return IsWorkbook(m.Name)
	}
	b, err := m.Read()
	return err == nil && bytes.HasPrefix(b, []byte(zipMagic+"\x03\x04"))
}

// IsText reports whether a file with this name may be CSV or JSON.
func IsText(name string) bool { return isTable(path.Base(name)) }

// OfRVTools reports whether only RVTools uses such a file name.
func OfRVTools(name string) bool { return sureRVTools(path.Base(name)) }

// Holds reports whether the member contains a table of VMs or hosts, or another RVTools sheet. An error means that it is damaged.
func (m Member) Holds() (bool, error) {
	if OfRVTools(m.Name) {
		return true, nil
	}
	return file{m.Name, path.Base(m.Name), m.Read}.tables()
}

// Exports divides CSV files of RVTools: where each folder of them has VMs, it is an export of its own.
func Exports(members []Member) (out [][]Member) {
	if members == nil {
		return nil
	}
	by, vms := map[string][]Member{}, map[string]bool{}
	for _, m := range members {
		dir := path.Dir(m.Name)
		by[dir] = append(by[dir], m)
		sheet, _ := rvtoolsSheet(path.Base(m.Name))
		vms[dir] = vms[dir] || strings.EqualFold(sheet, "vInfo")
	}
	for _, dir := range slices.Sorted(maps.Keys(by)) {
		if !vms[dir] {
			return [][]Member{members}
		}
		out = append(out, by[dir])
	}
	return out
}

// ReadMembers reads CSV and JSON members of the folder or archive at name as one export. A damaged one does not affect the others.
func ReadMembers(name string, members []Member) (*numa.Fleet, error) {
	var files []file
	for _, m := range members {
		files = append(files, file{name + "/" + m.Name, m.Name, m.Read})
	}
	return readFiles(name, baseName(name), ofRVTools(files))
}

// ReadBook reads a workbook in the folder or archive at name, and reports whether it is an RVTools export.
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
