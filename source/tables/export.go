package tables

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// An export is the set of tables from one source, in any form.
type export struct {
	path   string // as given by the user, for errors
	base   string // its last element, for notes and origins
	form   string // "a workbook", for a message
	sheets []*sheet
	beside []*sheet // tables of other programs in a workbook of RVTools: they are not read, as they would state the same VMs again

	several bool     // of several files: a damaged one does not affect the others
	unread  []string // damaged files
	broken  error    // error of the first of them
	notes   []numa.Note
}

// cutOff is the error about a table with an incomplete last row; the rows before it are valid.
type cutOff struct{ error }

func (e cutOff) Unwrap() error { return e.error }

// damaged returns the error of a file; nil, with a note, if there are other files or some rows could be read.
func (x *export) damaged(at string, err error) error {
	if _, cut := errors.AsType[cutOff](err); err == nil || !x.several && !cut {
		return numa.Located(cmp.Or(at, x.path), err)
	}
	x.broken = cmp.Or(x.broken, numa.Located(at, err))
	x.unread = append(x.unread, at)
	x.notes = append(x.notes, numa.NoteOf(at, "damaged, and not read from there on, so VMs and facts may be missing: ", err))
	return nil
}

// sheet returns the first sheet of a kind; nil if there is none.
func (x *export) sheet(kind string) *sheet {
	if all := x.all(kind); all != nil {
		return all[0]
	}
	return nil
}

// all returns the sheets of some kinds.
func (x *export) all(kinds ...string) (all []*sheet) {
	for _, s := range x.sheets {
		if s.kind != nil && slices.Contains(kinds, s.kind.name) {
			all = append(all, s)
		}
	}
	return all
}

// fleet reads the sheets in the order of their dependencies: hosts, VMs, then the other facts of VMs.
func (x *export) fleet() (*numa.Fleet, error) {
	rvtools := slices.ContainsFunc(x.sheets, func(s *sheet) bool { return s.kind != nil && !s.kind.generic() })
	if i := slices.IndexFunc(x.sheets, func(s *sheet) bool { return s.name == "About" }); i >= 0 && slices.Equal(x.sheets[i].header, []string{"What", "Value"}) {
		return nil, &Unknown{x.path, "a report of this program, which is no inventory: name the SOURCE it was made of"}
	}
	switch {
	case x.broken != nil && x.sheet("vInfo") == nil && x.all("VMs") == nil && x.all("hosts") == nil:
		return nil, x.broken
	case rvtools && x.sheet("vInfo") == nil && x.all("VMs") == nil:
		return nil, fmt.Errorf("%s: no sheet vInfo, found %s: export all sheets from RVTools", x.path, x.found())
	case !rvtools && x.all("VMs") == nil && x.all("hosts") == nil:
		return nil, x.unknown()
	}
	n := &notes{base: x.base, cells: map[string]int{}, vcenters: newVCenters(), said: map[numa.Note]bool{}, differ: map[string]tally{}}
	if x.sheet("vInfo") != nil {
		n.vms, n.hosts = "sheet vInfo", "sheet vHost"
	}
	f := &numa.Fleet{Source: x.path}
	if err := x.readMeta(f, n); err != nil {
		return nil, err
	}
	x.addParts()
	hosts, err := x.readHosts(n)
	if err != nil {
		return nil, err
	}
	vms, err := x.readVMs(n)
	if err != nil {
		return nil, err
	}
	ofOneVCenter(hosts, vms)
	j := newJoin(vms)
	n.repeats(vms)
	if x.sheet("vInfo") != nil {
		for _, sheet := range []string{"vCPU", "vMemory"} {
			if err := x.joinSheet(sheet, vms, j, n); err != nil {
				return nil, err
			}
		}
	}
	n.noteShared()
	assemble(f, hosts, vms, n)
	x.notesBeside(f, n)
	f.Notes, f.Unread = append(x.notes, n.all()...), x.unread
	if len(f.VMs)+len(f.Hosts) == 0 && x.broken != nil {
		return nil, x.broken
	}
	if err := f.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", x.path, err)
	}
	return f, nil
}

// table opens a sheet; nil for a damaged one if there are others.
func (x *export) table(s *sheet, n *notes) (*table, error) {
	rows, err := s.open()
	if err != nil {
		return nil, x.damaged(s.file, err)
	}
	t, err := newTable(s, rows, n)
	if err != nil {
		return nil, x.damaged(s.file, err)
	}
	n.share(t)
	return t, nil
}

// optional calls read for the RVTools sheets of a kind that a fleet does not require. If there is none, or one lacks all columns that identify an
// object, a note lists the unknown facts.
func (x *export) optional(kind string, n *notes, read func(*table) error, keys ...string) error {
	all := x.all(kind)
	if all == nil {
		n.add("", fmt.Sprintf("no sheet %s: unknown for all: %s", kind, kindNamed(kind).facts()))
	}
	for _, s := range all {
		t, err := x.table(s, n)
		switch {
		case err != nil:
			return err
		case t == nil:
		case slices.ContainsFunc(keys, t.has):
			n.noteMissing([]*table{t})
			if err := read(t); err != nil {
				return err
			}
		default:
			n.add(s.place(), fmt.Sprintf("no column %q: unknown for all: %s", s.kind.columns[0].title(), s.kind.facts()))
		}
	}
	return nil
}

// notesBeside adds a note about the tables beside the RVTools sheets of a workbook that list VMs or hosts that the sheets lack: these may be missing.
func (x *export) notesBeside(f *numa.Fleet, n *notes) {
	for _, s := range x.beside {
		s.kind = kindOf(s.header)
		other, err := (&export{path: x.path, base: x.base, sheets: []*sheet{s}}).fleet()
		if err != nil {
			continue // nothing in it is a VM or host
		}
		if text, lacks := Beside([]*numa.Fleet{f}, other, "sheet", []string{quote(s.name)}); lacks {
			x.notes = append(x.notes, numa.Note{At: x.base, Text: text + "save the sheet as a workbook of its own"})
			x.unread = append(x.unread, x.path)
		}
	}
}

// Beside returns a note about tables that are not read beside exports of RVTools, as they would state the same VMs again; lacks reports whether other,
// their fleet, has a VM or host that the exports lack.
func Beside(exports []*numa.Fleet, other *numa.Fleet, noun string, names []string) (text string, lacks bool) {
	text = fmt.Sprintf("%s not read beside the export of RVTools: %s", words.Verb(len(names), noun+" is", noun+"s are"), words.Few(names))
	known := map[string]bool{}
	var hosts []numa.Host
	for _, f := range exports {
		hosts = append(hosts, f.Hosts...)
		for i := range f.VMs {
			known[f.VMs[i].Name] = true
		}
	}
	lacking := func(what, name string) (string, bool) {
		return fmt.Sprintf("%s; %s that the export lacks are missing here, such as %s: ", text, what, quote(name)), true
	}
	for i := range other.VMs {
		if name := other.VMs[i].Name; !known[name] {
			return lacking("VMs", name)
		}
	}
	for i := range other.Hosts {
		if name := other.Hosts[i].Name; !slices.ContainsFunc(hosts, func(h numa.Host) bool { return numa.SameHost(h.Name, name) }) {
			return lacking("hosts", name)
		}
	}
	return text, false
}

// found lists the sheets of the export for an error.
func (x *export) found() string {
	if len(x.sheets) == 0 {
		return "no sheets"
	}
	var names []string
	for _, s := range x.sheets {
		names = append(names, s.name)
	}
	return "sheets " + strings.Join(names, ", ")
}

// readMeta reads the time, the server and the RVTools version of the export.
func (x *export) readMeta(f *numa.Fleet, n *notes) error {
	if m := nameTime.FindStringSubmatch(x.path); m != nil {
		f.Collected = unknownZone(m[1] + "T" + m[2] + ":" + m[3] + ":" + m[4])
	}
	release, servers := "", []string(nil)
	for _, s := range x.all("vMetaData") { // 3.x has no such sheet
		t, err := x.table(s, n)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		err = x.rowsOf(t, func() { // one row for each vCenter
			if when, ok := parseTime(t.text("xlsx creation datetime")); ok {
				f.Collected = when
			}
			release = cmp.Or(t.text("RVTools version"), release)
			if s := t.text("Server"); s != "" {
				servers = append(servers, s)
			}
		})
		if err != nil {
			return err
		}
	}
	if release != "" {
		f.Source += " (RVTools " + release
		if servers != nil {
			f.Source += " of " + strings.Join(servers, ", ")
		}
		f.Source += ")"
	}
	return nil
}

// nameTime matches the time in the default name of an export, RVTools_export_all_2025-06-01_10.20.30.
var nameTime = pattern.Of(`(\d{4}-\d{2}-\d{2})_(\d{2})\.(\d{2})\.(\d{2})`)

const wallClock = "2006-01-02T15:04:05"

// parseTime parses the creation time of an export: an Excel date, or a text that begins with the year. In other texts, day and month are
// ambiguous.
func parseTime(s string) (string, bool) {
	if days, err := strconv.ParseFloat(s, 64); err == nil {
		t, ok := excelTime(days)
		if !ok {
			return "", false
		}
		return unknownZone(t.Round(time.Second).Format(wallClock)), true
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.Format(time.RFC3339), true
	}
	s = strings.Replace(strings.ReplaceAll(s, "/", "-"), " ", "T", 1)
	if _, err := time.Parse(wallClock, s); err != nil {
		return "", false
	}
	return unknownZone(s), true
}

// excelTime returns the date that a cell of Excel has as a number of days.
func excelTime(days float64) (time.Time, bool) {
	// 36526 is 2000-01-01, before the first RVTools; 73051 is 2100-01-01.
	if !(days >= 36526 && days < 73051) {
		return time.Time{}, false
	}
	return time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Add(time.Duration(days * float64(24*time.Hour))), true
}

// unknownZone returns the time s in RFC 3339. RVTools writes local time without a zone; RFC 3339 §4.3 defines -00:00 for that.
func unknownZone(s string) string {
	if _, err := time.Parse(wallClock, s); err != nil {
		return ""
	}
	return s + "-00:00"
}

// rowsOf runs read for each row of t.
func (x *export) rowsOf(t *table, read func()) error {
	for t.scan() {
		read()
	}
	return x.damaged(t.file, t.done())
}
