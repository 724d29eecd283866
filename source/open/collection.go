package open

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"homenode/internal/bounded"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/source/archive"
	"homenode/source/bundle"
	"homenode/source/kvm"
	"homenode/source/tables"
)

// Bounds of what is looked at beside the main inventory of an archive.
const (
	mostPacked   = 256 << 20 // bytes of the archive
	mostUnpacked = 512 << 20 // bytes of its tables
)

// A collection is a folder or archive, in which several inventories can lie.
type collection struct {
	path    string
	members []tables.Member // on top, or in a folder of the archive
	support bool            // it is a bundle of vm-support, most files of which are of no use
	parts   []numa.Part
	notes   []numa.Note
	read    map[string]bool // by name of member
}

// isCollection reports whether path is a folder or archive.
func isCollection(path string, info os.FileInfo) bool {
	return info.IsDir() || info.Size() <= mostPacked && (archive.IsArchive(path) || archive.Plain(path) != path)
}

// readCollection reads all inventories in a folder or archive together, and notes which files are none. main is the reader that
// knows the whole by its content; nil when none does.
func readCollection(path string, main *inventory) (*numa.Fleet, error) {
	c := &collection{path: path, read: map[string]bool{}}
	if err := c.list(); err != nil && main == nil {
		return nil, err
	}
	slices.SortStableFunc(c.members, func(a, b tables.Member) int { return strings.Compare(a.Name, b.Name) })
	ofTables := main != nil && main.tables
	whole := ofTables && !(isFile(path) && c.several()) // the main reader reads all CSV and JSON, and of an archive the only workbook
	var failed error
	if main != nil && (whole || !ofTables) {
		fleet, err := main.read(path)
		if err == nil && fleet.Hypervisor != numa.ESXi { // tables beside definitions of KVM are of another fleet
			return fleet, nil
		}
		if failed = err; err == nil {
			c.parts = append(c.parts, numa.Part{Name: filepath.Base(path), Fleet: fleet})
		} else if ofTables {
			return nil, err
		}
	}
	c.books(whole && isFile(path))
	c.texts(whole)
	if ofTables && bundle.Detect(path) {
		if fleet, err := bundle.Read(path); err == nil {
			c.parts = append(c.parts, numa.Part{Name: "files of VMs", Fleet: fleet})
		}
	}
	c.skipped()
	switch len(c.parts) {
	case 0:
		return nil, c.nothing(failed)
	case 1:
		fleet := c.parts[0].Fleet
		fleet.Notes = append(fleet.Notes, c.notes...)
		return fleet, nil
	}
	fleet, err := numa.Merge(c.parts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: name its files one at a time", path, err)
	}
	fleet.Source, fleet.Notes = path, append(fleet.Notes, c.notes...)
	return fleet, nil
}

// list finds the members. Those of an archive that may be tables are kept in memory.
func (c *collection) list() error {
	if !isFile(c.path) {
		entries, err := os.ReadDir(c.path)
		for _, e := range entries {
			full := filepath.Join(c.path, e.Name())
			if c.support = c.support || e.Name() == "commands"; e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
				c.members = append(c.members, tables.Member{Name: e.Name(), Read: func() ([]byte, error) { return bounded.File(full, mostUnpacked) }})
			}
		}
		return err
	}
	left := int64(mostUnpacked)
	want := func(name string) bool {
		name = c.inside(name)
		c.support = c.support || strings.Contains(name, "commands/")
		return strings.Count(name, "/") < 2 && !strings.HasPrefix(filepath.Base(name), ".")
	}
	return archive.Walk(c.path, archive.Options{Want: want, Damaged: func(string, error) {}}, func(name string, _ int64, r io.Reader) error {
		name = archive.Plain(c.inside(name))
		var b []byte
		if tables.IsText(name) || tables.IsWorkbook(name) {
			var err error
			if b, err = io.ReadAll(io.LimitReader(r, left+1)); err != nil || int64(len(b)) > left {
				return errors.Join(err, fmt.Errorf("%s: %s cannot be unpacked to its end, within %v", c.path, name, numa.Bytes(mostUnpacked)))
			}
			left -= int64(len(b))
		}
		c.members = append(c.members, tables.Member{Name: name, Read: func() ([]byte, error) { return slices.Clone(b), nil }})
		return nil
	})
}

// inside returns the name of a member in the archive; of a file that is packed alone its own.
func (c *collection) inside(name string) string {
	if rest, ok := strings.CutPrefix(name, c.path+"/"); ok {
		return rest
	}
	return filepath.Base(name)
}

// several reports whether it holds a workbook and other tables.
func (c *collection) several() bool {
	books, others := 0, 0
	for _, m := range c.members {
		switch {
		case tables.IsWorkbook(m.Name):
			books++
		case tables.IsText(m.Name) && m.Holds():
			others++
		}
	}
	return books > 0 && books+others > 1
}

// books reads each workbook; done says that the main reader has done so.
func (c *collection) books(done bool) {
	for _, m := range c.members {
		if !tables.IsWorkbook(m.Name) {
			continue
		}
		c.read[m.Name] = done
		if done {
			continue
		}
		fleet, err := tables.ReadBook(c.path, m)
		c.add(fleet, err, m)
	}
}

// texts reads the CSV and JSON files with VMs or hosts; done says that the main reader has done so.
func (c *collection) texts(done bool) {
	var found []tables.Member
	for _, m := range c.members {
		if tables.IsText(m.Name) && m.Holds() {
			c.read[m.Name] = true
			found = append(found, m)
		}
	}
	if found != nil && !done {
		fleet, err := tables.ReadMembers(c.path, found)
		c.add(fleet, err, found...)
	}
}

// add adds what was read of members, or notes why it was not.
func (c *collection) add(fleet *numa.Fleet, err error, of ...tables.Member) {
	for _, m := range of {
		c.read[m.Name] = true
	}
	if err != nil {
		c.notes = append(c.notes, numa.Note{At: filepath.Join(c.path, of[0].Name), Text: fmt.Sprintf("not read: %v", err)})
		return
	}
	c.parts = append(c.parts, numa.Part{Name: of[0].Name, Fleet: fleet})
}

// left lists the members that no reader has use for.
func (c *collection) left() (names []string) {
	for _, m := range c.members {
		if !c.read[m.Name] && !bundle.Uses(m.Name) && !kvm.Uses(m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// skipped notes the members that are no inventory.
func (c *collection) skipped() {
	if names := c.left(); names != nil && !c.support {
		c.notes = append(c.notes, numa.Note{At: c.path, Text: fmt.Sprintf("%s not read, %s no inventory: %s; homenode explain FILE says what a file is",
			words.Verb(len(names), "file is", "files are"), map[bool]string{true: "which is", false: "which are"}[len(names) == 1], first(names))})
	}
}

// first lists the first names.
func first(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// nothing is the error about a collection without an inventory.
func (c *collection) nothing(failed error) error {
	where := "an archive"
	if !isFile(c.path) {
		where = "a folder"
	}
	var names []string
	for _, m := range c.members {
		names = append(names, m.Name)
	}
	text := fmt.Sprintf("it holds %s (%s), and no inventory that is read from %s: want tables of VMs or hosts (.xlsx, CSV or JSON), .vmx, vmware.log or a vm-support bundle; XML of libvirt in a folder",
		words.Plural(len(names), "file"), first(names), where)
	if failed != nil {
		return fmt.Errorf("%w; %s", failed, text)
	}
	return fmt.Errorf("%s: found no inventory: %s", c.path, text)
}
