package tables

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// FuzzReadCSV reads one text as each of the sheets, next to a good vInfo and in
// its place.
func FuzzReadCSV(f *testing.F) {
	for _, name := range []string{"vInfo", "vCPU", "vMemory", "vHost", "vMetaData"} {
		b, err := os.ReadFile(filepath.Join(export4, "RVTools_tab"+name+".csv"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		of := func(name string, b []byte) file {
			return file{name, name, func() ([]byte, error) { return slices.Clone(b), nil }}
		}
		for _, files := range [][]file{
			{of("vInfo.csv", b)},
			{of("vInfo.csv", b), of("vCPU.csv", b), of("vMemory.csv", b), of("vHost.csv", b), of("vMetaData.csv", b)},
			{of("vInfo.csv", []byte("VM,VM ID\ndb01,vm-101\n")), of("vCPU.csv", b), of("vHost.csv", b)},
		} {
			fleet, err := readFiles("fleet", "fleet", files)
			checkResult(t, fleet, err)
		}
	})
}

// FuzzReadXLSX reads one part as a workbook's sheet, strings and index, and the
// whole as a zip.
func FuzzReadXLSX(f *testing.F) {
	book := testSheets{"vInfo": {{"VM", "CPUs"}, {"db01", "8"}}, "vHost": {{"Host", "# CPU"}, {"esx01", "2"}}}.xlsx(f)
	f.Add(book)
	zr, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	if err != nil {
		f.Fatal(err)
	}
	parts := map[string][]byte{}
	for _, p := range zr.File {
		if parts[p.Name], err = unpack(p); err != nil {
			f.Fatal(err)
		}
		f.Add(parts[p.Name])
	}
	parts[stringsPart] = []byte(`<sst><si><t>VM</t></si></sst>`)
	f.Fuzz(func(t *testing.T, b []byte) {
		fleet, err := readBook("fleet.xlsx", "fleet.xlsx", bytes.NewReader(b), int64(len(b)))
		checkResult(t, fleet, err)
		for _, part := range []string{"xl/worksheets/sheet2.xml", stringsPart, workbookPart, workbookRelsPart} {
			good := parts[part]
			parts[part] = b
			z := zipOf(t, parts)
			parts[part] = good
			fleet, err := readBook("fleet.xlsx", "fleet.xlsx", bytes.NewReader(z), int64(len(z)))
			checkResult(t, fleet, err)
		}
	})
}

// checkResult demands an error or a fleet that holds together. That Check fails
// is an error of the reader, not of the input: it must have left out or noted
// what is wrong.
func checkResult(t *testing.T, f *numa.Fleet, err error) {
	t.Helper()
	if (f == nil) == (err == nil) {
		t.Fatalf("got fleet %v and error %v, want one of them", f, err)
	}
	if f == nil {
		return
	}
	for _, h := range f.Hosts {
		if h.Nodes.Known() && len(h.Nodes.Value) != h.Packages.Value {
			t.Fatalf("host %q: %d nodes for %d packages", h.Name, len(h.Nodes.Value), h.Packages.Value)
		}
	}
}

// FuzzReadJSON reads one text as JSON of any program, alone and beside a table of hosts.
func FuzzReadJSON(f *testing.F) {
	for _, s := range []string{govcVMs, govcHosts, `[{"name":"name","op":"assign","val":{"_value":"a"}},{"name":"config.hardware.numCPU","op":"assign","val":4}]`, `{"a":{"cpu":{"count":4}},"b":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		of := func(name string, b []byte) file {
			return file{name, name, func() ([]byte, error) { return slices.Clone(b), nil }}
		}
		for _, files := range [][]file{{of("a.json", b)}, {of("a.json", b), of("hosts.csv", []byte("Host,Sockets,Cores\nesx01,2,32\n"))}, {of("a.csv", b)}} {
			fleet, err := readFiles("fleet", "fleet", files)
			checkFleet(t, fleet, err)
		}
	})
}

// checkFleet demands an error or a fleet.
func checkFleet(t *testing.T, f *numa.Fleet, err error) {
	t.Helper()
	if (f == nil) == (err == nil) {
		t.Fatalf("got fleet %v and error %v, want one of them", f, err)
	}
}
