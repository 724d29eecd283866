package tables

import (
	"archive/zip"
	"cmp"
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"

	"example.org/homenode/numa"
)

// The parts of a workbook that are read besides its sheets.
const (
	workbookPart     = "xl/workbook.xml"
	workbookRelsPart = "xl/_rels/workbook.xml.rels"
	stringsPart      = "xl/sharedStrings.xml"
)

// workbook opens the .xlsx in zr. Only required sheets are read, each once and while it is decompressed.
func workbook(file, base string, zr *zip.Reader) (*export, error) {
	parts := map[string]*zip.File{}
	for _, f := range zr.File {
		parts[strings.ToLower(zipName(f))] = f
	}
	names, targets, err := sheetParts(parts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	shared := &sharedStrings{}
	if f := parts[strings.ToLower(stringsPart)]; f != nil {
		r, err := openPart(f)
		if err == nil {
			shared, err = readStrings(r)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	x := &export{path: file, base: base, form: "a workbook"}
	for _, name := range names {
		target := targets[strings.ToLower(name)]
		of, _ := rvtoolsSheet(name)
		s := &sheet{name: name, at: name, kind: kindNamed(of), open: func() (rowReader, error) {
			f := parts[strings.ToLower(target)]
			if f == nil {
				return nil, fmt.Errorf("sheet %s: damaged workbook: no part %q", name, target)
			}
			r, err := openPart(f)
			return &xlsxRows{sheet: name, xml: scanner{r: r}, strings: shared}, err
		}}
		x.sheets = append(x.sheets, s)
	}
	if err := x.recognise(func(s *sheet) bool { return parts[strings.ToLower(targets[strings.ToLower(s.name)])] != nil }); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	total := uint64(0)
	for i, name := range names {
		if f := parts[strings.ToLower(targets[strings.ToLower(name)])]; f != nil && (x.sheets[i].kind != nil || slices.Contains(x.beside, x.sheets[i])) {
			total += f.UncompressedSize64
		}
	}
	if total > maxTotal {
		return nil, fmt.Errorf("%s: the workbook unpacks to more than %v: refused", file, numa.Bytes(maxTotal))
	}
	return x, nil
}

// recognise determines the kinds of the sheets of a workbook: by the names that RVTools gives them, else by their headers. People copy the sheets of
// several vCenters into one workbook, as "vInfo vc2" or "vInfo (2)": all are read. there reports whether the workbook has the part of a sheet.
func (x *export) recognise(there func(*sheet) bool) error {
	var damaged error
	for _, s := range x.sheets {
		name, kind := s.name, s.kind
		if kind != nil && kind.generic() {
			kind = nil
		}
		if kind != nil && strings.HasSuffix(strings.ToLower(strings.TrimSpace(name)), strings.ToLower(kind.name)) {
			if err := s.recognise(kind); err != nil || s.kind == nil || !s.kind.generic() { // a person named a table of another program so
				s.kind = kind
			}
			s.name, s.at = name, name
			continue
		}
		if s.kind = nil; !there(s) {
			continue
		}
		if err := s.recognise(kind); err != nil {
			damaged = cmp.Or(damaged, err)
			if s.kind = nil; kind != nil {
				return err
			}
		}
		s.name, s.at = name, name
	}
	info := x.sheet("vInfo") != nil
	nth := map[string]int{}
	for _, s := range x.sheets {
		switch {
		case s.kind == nil:
		case s.kind.generic() && info:
			x.beside, s.kind = append(x.beside, s), nil
		case !s.kind.generic(): // names that people append may be those of customers, and are in no note
			s.at = s.kind.name
			if nth[s.at]++; nth[s.at] > 1 {
				s.at += fmt.Sprint(" ", nth[s.kind.name])
			}
		}
	}
	if info {
		return nil
	}
	return damaged
}

// sheetParts returns the names of the sheets and their parts by lower-case name.
func sheetParts(parts map[string]*zip.File) (names []string, targets map[string]string, err error) {
	var book struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"id,attr"`
		} `xml:"sheets>sheet"`
	}
	var rels struct {
		Relationships []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if err := decodePart(parts, workbookPart, &book); err != nil {
		return nil, nil, err
	}
	if err := decodePart(parts, workbookRelsPart, &rels); err != nil {
		return nil, nil, err
	}
	byID := map[string]string{}
	for _, r := range rels.Relationships {
		target := strings.TrimPrefix(r.Target, "/")
		if target == r.Target { // relative to the workbook
			target = path.Join(path.Dir(workbookPart), target)
		}
		byID[r.ID] = target
	}
	targets = map[string]string{}
	for _, s := range book.Sheets {
		key := strings.ToLower(s.Name)
		if _, ok := targets[key]; ok {
			return nil, nil, fmt.Errorf("damaged workbook: it holds sheet %s twice", s.Name)
		}
		names = append(names, s.Name)
		targets[key] = byID[s.ID]
	}
	return names, targets, nil
}

func decodePart(parts map[string]*zip.File, name string, v any) error {
	f := parts[strings.ToLower(name)]
	if f == nil {
		return fmt.Errorf("damaged workbook: no %s", name)
	}
	b, err := unpack(f)
	if err != nil {
		return err
	}
	if err := xml.Unmarshal(b, v); err != nil {
		return fmt.Errorf("damaged workbook: %s: %w", name, err)
	}
	return nil
}
