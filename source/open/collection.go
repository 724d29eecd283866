package open

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/bundle"
	"example.org/homenode/source/kvm"
	"example.org/homenode/source/planned"
	"example.org/homenode/source/tables"
	"example.org/homenode/source/text"
	"example.org/homenode/source/ticks"
)

// Limits for the content of an archive beside its main inventory.
const (
	mostPacked   = 256 << 20 // bytes of the archive
	mostUnpacked = 512 << 20 // bytes of its tables
	ratioFrom    = 32 << 20  // bytes of a member, which is kept, from which it may not be a bomb
	maxRatio     = 150       // of the unpacked to the packed size of such a member: real tables have 5 to 50
	mostMembers  = 20_000    // files that may hold an inventory
	mostTables   = 5_000     // files with tables that are joined: the time grows with their square
	longest      = 10 * time.Minute
)

// A collection is a folder or archive that may contain several inventories.
type collection struct {
	stop    func() error // why nothing more is read; nil goes on
	path    string
	members []tables.Member // at the top level, or in a folder of the archive
	files   bool            // it contains VM files; their reader adds notes about unreadable ones
	support bool            // it is a vm-support bundle, in which most files are not used
	parts   []numa.Part
	exports []*numa.Fleet // the exports of RVTools in parts
	notes   []numa.Note
	unread  []string
	read    map[string]bool // by name of member
	failed  error           // error of the reader of the whole
	damaged error           // error of the first damaged member
}

// isCollection reports whether path is a folder or archive.
func isCollection(path string, info os.FileInfo) bool {
	return info.IsDir() || info.Size() <= mostPacked && (archive.IsArchive(path) || archive.Plain(path) != path || packs(path))
}

// packs reports whether the file at path is an archive, regardless of its name.
func packs(path string) bool {
	f, err := bounded.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return archive.Packs(f)
}

// readCollection reads and merges all inventories in a folder or archive, and adds notes about damaged files and files that are no
// inventory. Like several sources, inventories of different hypervisors are rejected.
func readCollection(ctx context.Context, path string) (*numa.Fleet, error) {
	c := &collection{stop: within(ctx, path), path: path, read: map[string]bool{}, files: bundle.Detect(path)}
	c.failed = c.list()
	switch {
	case errors.Is(c.failed, archive.ErrMany):
		return nil, c.failed
	case c.failed != nil && !c.files:
		c.add(nil, c.failed)
	}
	slices.SortStableFunc(c.members, func(a, b tables.Member) int { return strings.Compare(a.Name, b.Name) })
	if c.files {
		fleet, err := bundle.Read(path)
		if errors.Is(err, archive.ErrMany) {
			return nil, err
		}
		c.failed = cmp.Or(c.failed, err)
		c.whole(filepath.Base(path), fleet, err)
	}
	stated, err := c.definitions()
	if err != nil {
		c.failed = cmp.Or(c.failed, err)
	}
	c.plans()
	if err := cmp.Or(c.tables(), c.stop()); err != nil {
		return nil, err
	}
	for _, m := range c.members {
		c.read[m.Name] = c.read[m.Name] || c.files && bundle.Reads(m.Name, m.Head)
	}
	switch {
	case stated != nil && len(c.parts) == 0: // its reader lists the other files
		stated.Notes, stated.Unread = append(stated.Notes, c.notes...), append(stated.Unread, c.unread...)
		return stated, nil
	case stated != nil:
		stated.Source = path + " (definitions of KVM)" // rejected beside others
		c.parts = append(c.parts, numa.Part{Name: "definitions of KVM", Fleet: stated})
	}
	c.skipped()
	return c.merged()
}

// definitions reads the KVM definitions in a folder; nil if there are none.
func (c *collection) definitions() (*numa.Fleet, error) {
	if isFile(c.path) || c.support || !kvm.Detect(c.path) {
		return nil, nil
	}
	fleet, err := kvm.Read(c.path)
	if err != nil {
		c.whole("", nil, err)
	}
	return fleet, err
}

// plans reads the planned VMs of a folder.
func (c *collection) plans() {
	for _, m := range c.members {
		if full := filepath.Join(c.path, filepath.FromSlash(m.Name)); !isFile(c.path) && !c.support && !c.read[m.Name] && planned.Detect(full) {
			fleet, err := planned.Read(full)
			c.add(fleet, err, m)
		}
	}
}

// merged returns all parts as one fleet.
func (c *collection) merged() (*numa.Fleet, error) {
	var fleet *numa.Fleet
	var err error
	switch len(c.parts) {
	case 0:
		return nil, c.nothing()
	case 1:
		fleet = c.parts[0].Fleet
	default:
		if fleet, err = numa.Merge(c.parts); err != nil {
			return nil, fmt.Errorf("%s: %w: name its files one at a time", c.path, err)
		}
		fleet.Source = c.path
	}
	if i := slices.IndexFunc(c.members, func(m tables.Member) bool { return isFile(c.path) && kvm.Defines(m.Name, m.Head) }); i >= 0 {
		return nil, fmt.Errorf("%s: %w in %s than beside it: name its files one at a time, unpacked", c.path, numa.ErrHypervisors, c.members[i].Name)
	}
	fleet.Notes, fleet.Unread = append(c.notes, fleet.Notes...), append(fleet.Unread, c.unread...)
	lost, others := fleet.Lost()
	fleet.Notes = append(lost, others...) // files that were not read come first
	return fleet, nil
}

// whole adds the result of a reader of the whole, or its error.
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

// mostDeep is the maximum folder depth for tables, and oneDeep for files whose names do not show that they are tables, in levels below the top folder.
const mostDeep, oneDeep = 4, 1

// wants reports whether a member is opened.
func (c *collection) wants(name string) bool {
	deep := strings.Count(name, "/")
	return (deep <= oneDeep || tables.IsWorkbook(name) || tables.IsText(name)) && !tables.Passing(strings.TrimRight(name, "~"))
}

// tells reports whether the name of a member shows its format.
func tells(name string) bool {
	return tables.IsText(name) || tables.IsWorkbook(name) || bundle.Names(name) || archive.IsArchive(name)
}

// list finds the members. Possible tables in an archive are kept in memory.
func (c *collection) list() error {
	if !isFile(c.path) {
		return filepath.WalkDir(c.path, c.visit)
	}
	left := int64(mostUnpacked)
	want := func(name string) bool {
		name = c.inside(name)
		c.support = c.support || strings.Contains(name, "commands/")
		return c.wants(name)
	}
	return archive.Walk(c.path, archive.Options{Want: want, Damaged: c.cut, Stop: c.stop, RatioFrom: ratioFrom, MaxRatio: maxRatio}, func(name string, _ int64, r io.Reader) error {
		m := tables.Member{Name: archive.Plain(c.inside(name))}
		in := bufio.NewReaderSize(r, text.HeadSize)
		if !tells(m.Name) {
			m.Head, _ = in.Peek(text.HeadSize) // an error is returned again by the next read
			m.Head = slices.Clone(m.Head)
		}
		var b []byte
		if m.MayHold() || tables.IsWorkbook(m.Name) {
			var err error
			b, err = io.ReadAll(io.LimitReader(in, left+1))
			left -= int64(len(b))
			switch {
			case left < 0:
				return fmt.Errorf("%s: %s cannot be unpacked to its end, within %v", c.path, m.Name, numa.Bytes(mostUnpacked))
			case err != nil:
				c.cut(name, err)
				return nil
			}
		}
		m.Read = func() ([]byte, error) { return slices.Clone(b), nil }
		return c.member(m)
	})
}

// visit adds an entry of a folder and the entries below it.
func (c *collection) visit(full string, e fs.DirEntry, err error) error {
	if stopped := c.stop(); stopped != nil {
		return stopped
	}
	rel, bad := filepath.Rel(c.path, full)
	name := filepath.ToSlash(rel)
	switch {
	case full == c.path || bad != nil:
		return cmp.Or(err, bad)
	case e.IsDir():
		if c.support = c.support || name == "commands"; c.support || tables.Passing(name) || strings.Count(name, "/") >= mostDeep {
			return fs.SkipDir
		}
		if err != nil && !c.files {
			c.add(nil, err, tables.Member{Name: name})
		}
	case err == nil && e.Type().IsRegular() && c.wants(name):
		m := tables.Member{Name: name, Read: func() ([]byte, error) { return bounded.File(full, mostUnpacked) }}
		if !tells(name) || tables.IsText(name) {
			m.Head = bounded.Head(full, text.HeadSize)
		}
		return c.member(m)
	}
	return nil
}

// within returns why a folder or archive is no longer read: ctx has ended, or the time for it is over.
func within(ctx context.Context, path string) func() error {
	end := time.Now().Add(longest)
	return func() error {
		if err := ctx.Err(); err != nil || time.Now().Before(end) {
			return err
		}
		return fmt.Errorf("%s: it was not read to its end within %v: %w", path, longest, archive.ErrMany)
	}
}

// member adds a member, which is not read once the collection is stopped.
func (c *collection) member(m tables.Member) error {
	if len(c.members) == mostMembers {
		return fmt.Errorf("%s: found more than %s to read: %w", c.path, words.Plural(mostMembers, "file"), archive.ErrMany)
	}
	read := m.Read
	m.Read = func() ([]byte, error) {
		if err := c.stop(); err != nil {
			return nil, err
		}
		return read()
	}
	c.members = append(c.members, m)
	return nil
}

// cut adds a note about a member that cannot be decompressed; its own reader adds the note about the missing VMs.
func (c *collection) cut(name string, err error) {
	if name = c.inside(name); !tables.Passing(name) && (tables.IsText(name) || tables.IsWorkbook(name)) {
		c.add(nil, err, tables.Member{Name: name})
	}
}

// inside returns the name of a member in the archive, or its own name for a single compressed file.
func (c *collection) inside(name string) string {
	if rest, ok := strings.CutPrefix(name, c.path+"/"); ok {
		return rest
	}
	return filepath.Base(name)
}

// tables reads workbooks, CSV and JSON files with VMs or hosts: first the exports of RVTools, then the others. An error ends the collection.
func (c *collection) tables() error {
	type table struct {
		fleet *numa.Fleet
		err   error
		of    []tables.Member
	}
	var rest []table
	var own, others []tables.Member // CSV files of RVTools, and other tables
	for _, m := range c.members {
		if err := c.stop(); err != nil {
			return err
		}
		if c.read[m.Name] || !m.MayHold() && !m.Book() || ticks.Detect(m.Head) != "" {
			continue
		}
		if m.Book() {
			fleet, rvtools, err := tables.ReadBook(c.path, m)
			if _, unknown := errors.AsType[*tables.Unknown](err); unknown {
				c.failed = cmp.Or(c.failed, err)
			} else if rvtools && err == nil {
				c.export(fleet, nil, m)
			} else {
				rest = append(rest, table{fleet, err, []tables.Member{m}})
			}
			continue
		}
		switch holds, err := m.Holds(); {
		case err != nil && !tables.IsText(m.Name):
		case err != nil && !c.support:
			c.add(nil, err, m)
		case holds && tables.OfRVTools(m.Name):
			own = append(own, m)
		case holds:
			others = append(others, m)
		}
	}
	if len(own)+len(others)+len(rest) > mostTables {
		return fmt.Errorf("%s: found more than %s of VMs or hosts: %w", c.path, words.Plural(mostTables, "table"), archive.ErrMany)
	}
	for _, one := range tables.Exports(own) {
		fleet, err := tables.ReadMembers(c.path, one)
		c.export(fleet, err, one...)
	}
	if others != nil {
		fleet, err := tables.ReadMembers(c.path, others)
		rest = append(rest, table{fleet, err, others})
	}
	for _, t := range rest {
		c.beside(t.fleet, t.err, t.of...)
	}
	return c.archives()
}

// archives reads the tables in archives within the folder.
func (c *collection) archives() error {
	for _, m := range c.members {
		if isFile(c.path) || !archive.IsArchive(m.Name) || path.Dir(m.Name) != "." {
			continue
		}
		in := &collection{stop: c.stop, path: filepath.Join(c.path, m.Name), read: map[string]bool{}}
		if err := in.list(); err != nil && !bundle.Detect(c.path) { // its reader adds a note
			in.add(nil, err)
		}
		if err := in.tables(); err != nil {
			return err
		}
		for _, part := range in.parts {
			c.beside(part.Fleet, nil, m)
		}
		if in.damaged != nil || in.parts != nil {
			c.read[m.Name], c.damaged = true, cmp.Or(c.damaged, in.damaged)
			c.notes, c.unread = append(c.notes, in.notes...), append(c.unread, in.unread...)
		}
	}
	return nil
}

// export adds an export of RVTools.
func (c *collection) export(fleet *numa.Fleet, err error, of ...tables.Member) {
	c.add(fleet, err, of...)
	if err == nil {
		c.exports = append(c.exports, fleet)
	}
}

// beside adds a fleet from members. Beside an export of RVTools it would state the same VMs again: then the members are named in a note,
// and count as unread if they contain VMs that the export lacks.
func (c *collection) beside(fleet *numa.Fleet, err error, of ...tables.Member) {
	if c.exports == nil || err != nil {
		c.add(fleet, err, of...)
		return
	}
	names := words.Texts(of, func(m tables.Member) string { c.read[m.Name] = true; return m.Name })
	text, lacks := tables.Beside(c.exports, fleet, "file", names)
	if lacks {
		text += "name the file alone"
		c.unread = append(c.unread, c.path+"/"+names[0])
	}
	c.unread = append(c.unread, fleet.Unread...)
	c.notes = append(c.notes, numa.Note{At: c.path, Text: text})
}

// add adds the fleet of members, or a note with the error.
func (c *collection) add(fleet *numa.Fleet, err error, of ...tables.Member) {
	for _, m := range of {
		c.read[m.Name] = true
	}
	if err == nil {
		name := of[0].Name
		if len(of) > 1 { // an export, by its folder
			name = cmp.Or(strings.TrimPrefix(path.Dir(name), "."), filepath.Base(c.path))
		}
		c.parts = append(c.parts, numa.Part{Name: name, Fleet: fleet})
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

// ofVM are the extensions of files beside a .vmx that have no information about its layout.
var ofVM = map[string]bool{".nvram": true, ".vmsd": true, ".vmxf": true, ".vmdk": true, ".vswp": true, ".vmsn": true, ".vmem": true, ".vmss": true, ".hlog": true}

// left lists the members that no reader uses.
func (c *collection) left() (names []string) {
	for _, m := range c.members {
		if !c.read[m.Name] && !ofVM[strings.ToLower(path.Ext(m.Name))] {
			names = append(names, m.Name)
		}
	}
	return names
}

// mostNamed is the maximum number of files in a note: a folder may be full of pictures.
const mostNamed = 50

// skipped adds notes about the members that are no inventory. If no other member has VMs, these may have some.
func (c *collection) skipped() {
	if names := c.left(); names != nil && !c.support {
		if !slices.ContainsFunc(c.parts, func(p numa.Part) bool { return len(p.Fleet.VMs) > 0 }) {
			for _, name := range names {
				c.unread = append(c.unread, c.path+"/"+name)
			}
		}
		c.notes = append(c.notes, numa.Note{At: c.path, Text: fmt.Sprintf("%s not read, %s no inventory: %s; homenode explain FILE says what a file is",
			words.Verb(len(names), "file is", "files are"), map[bool]string{true: "which is", false: "which are"}[len(names) == 1], words.First(mostNamed, names))})
	}
}

// otherBooks identifies a zip as a workbook of another kind by one of its files.
var otherBooks = map[string]string{"xl/workbook.bin": "a binary workbook (.xlsb)", "content.xml": "a document of OpenOffice or LibreOffice"}

// isUnknown reports whether an error is about an intact file of an unknown kind.
func isUnknown(err error) bool {
	_, unknown := errors.AsType[*tables.Unknown](err)
	return unknown
}

// nothing returns the error for a collection without an inventory.
func (c *collection) nothing() error {
	where, form := "a folder", ""
	if isFile(c.path) {
		where, form = "an archive", packing(bounded.Head(c.path, text.HeadSize))
	}
	switch _, mistake := errors.AsType[*numa.SyntaxError](c.damaged); {
	case mistake:
		return c.damaged
	case isUnknown(c.damaged), errors.Is(c.damaged, archive.ErrEncrypted):
		return fmt.Errorf("%w; a SOURCE is %s", c.damaged, want)
	case c.damaged != nil:
		return fmt.Errorf("%w (%s); a SOURCE is %s", c.damaged, words.Join(", ", form, "damaged or cut off"), want)
	case c.failed != nil && c.members == nil && form != "":
		return fmt.Errorf("%w (%s); a SOURCE is %s", numa.Located(c.path, c.failed), form, want)
	}
	var names []string
	for _, m := range c.members {
		if form := otherBooks[m.Name]; form != "" && isFile(c.path) {
			return fmt.Errorf("%s: found %s: save it as .xlsx; a SOURCE is %s", c.path, form, want)
		}
		names = append(names, m.Name)
	}
	if len(names) == 1 && !isFile(c.path) && !slices.Contains([]string{"", ".txt", ".md"}, path.Ext(names[0])) { // its own reader knows more about it
		if _, err := File(filepath.Join(c.path, filepath.FromSlash(names[0]))); err != nil {
			return noFleet{err}
		}
	}
	if slices.ContainsFunc(names, kvm.IsText) {
		return noFleet{numa.Located(c.path, kvm.ErrNothing)}
	}
	holds := "no file that is read"
	if names != nil {
		holds = fmt.Sprintf("%s (%s)", words.Plural(len(names), "file"), words.Few(names))
	}
	text := fmt.Sprintf("it holds %s, and no inventory that is read from %s: want tables of VMs or hosts (.xlsx, CSV or JSON), .vmx, vmware.log or a vm-support bundle; XML of libvirt in a folder",
		holds, where)
	if c.failed != nil {
		return noFleet{fmt.Errorf("%w; %s", numa.Located(c.path, c.failed), text)}
	}
	return noFleet{fmt.Errorf("%s: found no inventory: %s", c.path, text)}
}
