package open

import (
	"cmp"
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
	unread  []string
	read    map[string]bool // by name of member
	failed  error           // of the reader of the whole
	damaged error           // of the first member that is damaged
}

// isCollection reports whether path is a folder or archive.
func isCollection(path string, info os.FileInfo) bool {
	return info.IsDir() || info.Size() <= mostPacked && (archive.IsArchive(path) || archive.Plain(path) != path || packs(path))
}

// packs reports whether the file at path is an archive, whatever it is called.
func packs(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return archive.Packs(f)
}

// readCollection reads all inventories in a folder or archive together, and notes which files are none and which are damaged. main is
// the reader that knows the whole by its content; nil when none does.
func readCollection(path string, main *inventory) (*numa.Fleet, error) {
	c := &collection{path: path, read: map[string]bool{}}
	beside := bundle.Detect(path) // files of VMs lie beside tables, and their reader notes how far an archive goes
	if err := c.list(); err != nil && !beside {
		c.add(nil, err)
	}
	slices.SortStableFunc(c.members, func(a, b tables.Member) int { return strings.Compare(a.Name, b.Name) })
	if main != nil && !main.tables {
		fleet, err := main.read(path)
		if err == nil && fleet.Hypervisor != numa.ESXi { // tables beside definitions of KVM are of another fleet
			return fleet, nil
		}
		c.failed, beside = err, false
		c.whole(filepath.Base(path), fleet, err)
	}
	c.books()
	c.texts()
	if beside {
		fleet, err := bundle.Read(path)
		c.whole("files of VMs", fleet, err)
	}
	c.skipped()
	var fleet *numa.Fleet
	var err error
	switch len(c.parts) {
	case 0:
		return nil, c.nothing()
	case 1:
		fleet = c.parts[0].Fleet
	default:
		if fleet, err = numa.Merge(c.parts); err != nil {
			return nil, fmt.Errorf("%s: %w: name its files one at a time", path, err)
		}
		fleet.Source = path
	}
	fleet.Notes, fleet.Unread = append(fleet.Notes, c.notes...), append(fleet.Unread, c.unread...)
	return fleet, nil
}

// whole adds the result of a reader of the whole, or the damage that it met.
func (c *collection) whole(name string, fleet *numa.Fleet, err error) {
	damaged, _ := errors.AsType[*bundle.Damaged](err)
	e, mistake := errors.AsType[*numa.SyntaxError](err)
	switch {
	case err == nil:
		c.parts = append(c.parts, numa.Part{Name: name, Fleet: fleet})
		damaged = &bundle.Damaged{Unread: fleet.Unread}
	case damaged == nil && !mistake:
		return
	case damaged == nil:
		damaged = &bundle.Damaged{Notes: []numa.Note{numa.NoteOf(e.File, "not read, so VMs may be missing: ", e)}, Unread: []string{e.File}}
		fallthrough
	default:
		c.damaged = cmp.Or(c.damaged, err)
		c.notes, c.unread = append(c.notes, damaged.Notes...), append(c.unread, damaged.Unread...)
	}
	for _, at := range damaged.Unread {
		c.read[strings.TrimPrefix(at, filepath.ToSlash(filepath.Clean(c.path))+"/")] = true
	}
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
		return (strings.Count(name, "/") < 2 || tables.IsWorkbook(name) || tables.OfRVTools(name)) && !strings.HasPrefix(filepath.Base(name), ".")
	}
	return archive.Walk(c.path, archive.Options{Want: want, Damaged: c.cut}, func(name string, _ int64, r io.Reader) error {
		full := name
		name = archive.Plain(c.inside(name))
		var b []byte
		if tables.IsText(name) || tables.IsWorkbook(name) || isTxt(name) {
			var err error
			b, err = io.ReadAll(io.LimitReader(r, left+1))
			left -= int64(len(b))
			switch {
			case left < 0:
				return fmt.Errorf("%s: %s cannot be unpacked to its end, within %v", c.path, name, numa.Bytes(mostUnpacked))
			case err != nil:
				c.cut(full, err)
				return nil
			}
		}
		c.members = append(c.members, tables.Member{Name: name, Read: func() ([]byte, error) { return slices.Clone(b), nil }})
		return nil
	})
}

// cut notes a member that cannot be unpacked; its own reader notes the VMs that are missing.
func (c *collection) cut(name string, err error) {
	if name = c.inside(name); tables.IsText(name) || tables.IsWorkbook(name) {
		c.add(nil, err, tables.Member{Name: name})
	}
}

// inside returns the name of a member in the archive; of a file that is packed alone its own.
func (c *collection) inside(name string) string {
	if rest, ok := strings.CutPrefix(name, c.path+"/"); ok {
		return rest
	}
	return filepath.Base(name)
}

// isTxt reports whether a member has the name of a text of any kind, which may be tables by its content.
func isTxt(name string) bool { return strings.EqualFold(filepath.Ext(name), ".txt") }

// books reads each workbook.
func (c *collection) books() {
	for _, m := range c.members {
		if m.Book() {
			fleet, err := tables.ReadBook(c.path, m)
			c.add(fleet, err, m)
		}
	}
}

// texts reads the CSV and JSON files with VMs or hosts.
func (c *collection) texts() {
	var own, others []tables.Member // of RVTools
	for _, m := range c.members {
		if c.read[m.Name] || !tables.IsText(m.Name) && !isTxt(m.Name) {
			continue
		}
		switch holds, err := m.Holds(); {
		case err != nil && isTxt(m.Name):
		case err != nil && !c.support:
			c.add(nil, err, m)
		case holds && tables.OfRVTools(m.Name):
			own = append(own, m)
		case holds:
			others = append(others, m)
		}
	}
	var export *numa.Fleet
	if own != nil {
		before := len(c.parts)
		fleet, err := tables.ReadMembers(c.path, own)
		if c.add(fleet, err, own...); len(c.parts) > before {
			export = fleet
		}
	}
	if others != nil {
		fleet, err := tables.ReadMembers(c.path, others)
		c.beside(export, fleet, err, others...)
	}
	for _, m := range c.members {
		full := filepath.Join(c.path, m.Name)
		if isFile(c.path) || !archive.IsArchive(m.Name) {
			continue
		}
		in := &collection{path: full, read: map[string]bool{}}
		if err := in.list(); err != nil && !bundle.Detect(c.path) { // whose reader notes it
			in.add(nil, err)
		}
		in.books()
		in.texts()
		for _, part := range in.parts {
			c.beside(export, part.Fleet, nil, m)
		}
		if in.damaged != nil || in.parts != nil {
			c.read[m.Name], c.damaged = true, cmp.Or(c.damaged, in.damaged)
			c.notes, c.unread = append(c.notes, in.notes...), append(c.unread, in.unread...)
		}
	}
}

// beside adds what was read of members. Beside an export of RVTools they would state its VMs again: they are named, and are missing where
// they have VMs that it lacks.
func (c *collection) beside(export, fleet *numa.Fleet, err error, of ...tables.Member) {
	if export == nil || err != nil {
		c.add(fleet, err, of...)
		return
	}
	names := words.Texts(of, func(m tables.Member) string { c.read[m.Name] = true; return m.Name })
	text := fmt.Sprintf("%s not read beside the export of RVTools: %s", words.Verb(len(names), "file is", "files are"), words.Few(names))
	known := map[string]bool{}
	for i := range export.VMs {
		known[export.VMs[i].Name] = true
	}
	if lacks := slices.IndexFunc(fleet.VMs, func(v numa.VM) bool { return !known[v.Name] }); lacks >= 0 {
		text += fmt.Sprintf("; VMs that the export lacks are missing here, such as %s: name the file alone", fleet.VMs[lacks].Name)
		c.unread = append(c.unread, c.path+"/"+names[0])
	}
	c.unread = append(c.unread, fleet.Unread...)
	c.notes = append(c.notes, numa.Note{At: c.path, Text: text})
}

// add adds what was read of members, or notes why it was not.
func (c *collection) add(fleet *numa.Fleet, err error, of ...tables.Member) {
	for _, m := range of {
		c.read[m.Name] = true
	}
	if err == nil {
		c.parts = append(c.parts, numa.Part{Name: of[0].Name, Fleet: fleet})
		return
	}
	at := c.path
	if len(of) == 1 {
		at += "/" + of[0].Name
	}
	err = numa.Located(at, err)
	c.damaged = cmp.Or(c.damaged, err)
	c.unread = append(c.unread, at)
	c.notes = append(c.notes, numa.NoteOf(at, "not read, so VMs may be missing: ", err))
}

// left lists the members that no reader has use for.
func (c *collection) left() (names []string) {
	for _, m := range c.members {
		if !c.read[m.Name] && !bundle.Uses(m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// skipped notes the members that are no inventory.
func (c *collection) skipped() {
	if names := c.left(); names != nil && !c.support {
		c.notes = append(c.notes, numa.Note{At: c.path, Text: fmt.Sprintf("%s not read, %s no inventory: %s; homenode explain FILE says what a file is",
			words.Verb(len(names), "file is", "files are"), map[bool]string{true: "which is", false: "which are"}[len(names) == 1], words.Few(names))})
	}
}

// nothing is the error about a collection without an inventory.
func (c *collection) nothing() error {
	if c.damaged != nil {
		return c.damaged
	}
	where := "an archive"
	if !isFile(c.path) {
		where = "a folder"
	}
	var names []string
	for _, m := range c.members {
		names = append(names, m.Name)
	}
	holds := "no file that is read"
	if names != nil {
		holds = fmt.Sprintf("%s (%s)", words.Plural(len(names), "file"), words.Few(names))
	}
	text := fmt.Sprintf("it holds %s, and no inventory that is read from %s: want tables of VMs or hosts (.xlsx, CSV or JSON), .vmx, vmware.log or a vm-support bundle; XML of libvirt in a folder",
		holds, where)
	if c.failed != nil {
		return fmt.Errorf("%w; %s", numa.Located(c.path, c.failed), text)
	}
	return fmt.Errorf("%s: found no inventory: %s", c.path, text)
}
