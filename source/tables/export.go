package tables

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"homenode/numa"
)

// An export is the sheets of one RVTools export, in any form.
type export struct {
	path   string               // as the user gave it, for errors
	base   string               // its last element, for notes and origins
	sheets []string             // found, in the order of the file
	open   map[string]openSheet // by name in lower case
}

// fleet reads the sheets in the order in which one needs the other: hosts, VMs,
// then the further facts of VMs.
func (x *export) fleet() (*numa.Fleet, error) {
	n := &notes{base: x.base, cells: map[string]int{}}
	f := &numa.Fleet{Source: x.path}
	if err := x.readMeta(f, n); err != nil {
		return nil, err
	}
	hosts, err := x.readHosts(n)
	if err != nil {
		return nil, err
	}
	vms, err := x.readVMs(n)
	if err != nil {
		return nil, err
	}
	j := newJoin(vms)
	if err := x.joinSheet("vCPU", vms, j, n, readCPU); err != nil {
		return nil, err
	}
	if err := x.joinSheet("vMemory", vms, j, n, readMemory); err != nil {
		return nil, err
	}
	n.noteShared()
	assemble(f, hosts, vms, n)
	f.Notes = n.all()
	if err := f.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", x.path, err)
	}
	return f, nil
}

// table opens a sheet; it returns nil when the export has none of that name.
func (x *export) table(sheet string, n *notes) (*table, error) {
	open := x.open[strings.ToLower(sheet)]
	if open == nil {
		return nil, nil
	}
	rows, err := open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.path, err)
	}
	t, err := newTable(sheet, rows, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.path, err)
	}
	n.share(t)
	return t, nil
}

// optional opens a sheet that a fleet can do without. When it is missing or has
// none of the columns that say who a row is about, a note says what is unknown.
func (x *export) optional(sheet string, n *notes, keys ...string) (*table, error) {
	t, err := x.table(sheet, n)
	if err != nil {
		return nil, err
	}
	if t == nil {
		n.add("", fmt.Sprintf("no sheet %s: unknown for all: %s", sheet, factsOf(sheet)))
		return nil, nil
	}
	for _, k := range keys {
		if t.has(k) {
			t.noteMissing()
			return t, nil
		}
	}
	n.add("sheet "+sheet, fmt.Sprintf("no column %q: unknown for all: %s", columnsOf(sheet)[0].names[0], factsOf(sheet)))
	return nil, nil
}

// found lists the sheets of the export for an error.
func (x *export) found() string {
	if len(x.sheets) == 0 {
		return "no sheets"
	}
	return "sheets " + strings.Join(x.sheets, ", ")
}

// readMeta reads when, from where and by which version the export was made.
func (x *export) readMeta(f *numa.Fleet, n *notes) error {
	if m := nameTime.FindStringSubmatch(x.path); m != nil {
		f.Collected = unknownZone(m[1] + "T" + m[2] + ":" + m[3] + ":" + m[4])
	}
	t, err := x.table("vMetaData", n)
	if err != nil || t == nil {
		return err // 3.x has no such sheet
	}
	release, servers := "", []string(nil)
	for t.scan() { // one row per vCenter
		if when, ok := parseTime(t.text("xlsx creation datetime")); ok {
			f.Collected = when
		}
		if v := t.text("RVTools version"); v != "" {
			release = v
		}
		if s := t.text("Server"); s != "" {
			servers = append(servers, s)
		}
	}
	if err := t.done(); err != nil {
		return fmt.Errorf("%s: %w", x.path, err)
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

// nameTime matches the time in the name that RVTools gives to an export,
// RVTools_export_all_2025-06-01_10.20.30.
var nameTime = regexp.MustCompile(`(\d{4}-\d{2}-\d{2})_(\d{2})\.(\d{2})\.(\d{2})`)

const wallClock = "2006-01-02T15:04:05"

// parseTime reads the creation time of an export: a date of Excel, or a text
// that begins with the year. In other texts day and month cannot be distinguished.
func parseTime(s string) (string, bool) {
	if days, err := strconv.ParseFloat(s, 64); err == nil {
		// 36526 is 2000-01-01; RVTools is younger, and 73051 is 2100-01-01.
		if !(days >= 36526 && days < 73051) {
			return "", false
		}
		t := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Add(time.Duration(days * float64(24*time.Hour)))
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

// unknownZone returns the time s in RFC 3339. RVTools writes the local time of
// the machine it runs on without its zone; RFC 3339 §4.3 has -00:00 for that.
func unknownZone(s string) string {
	if _, err := time.Parse(wallClock, s); err != nil {
		return ""
	}
	return s + "-00:00"
}

// rowsOf runs read for each row of t.
func rowsOf(path string, t *table, read func()) error {
	for t.scan() {
		read()
	}
	if err := t.done(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
