package tables

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// vInfoOnly is the least that can be read.
func vInfoOnly(rows ...string) map[string][]byte {
	return map[string][]byte{"RVTools_tabvInfo.csv": []byte(strings.Join(rows, "\r\n") + "\r\n")}
}

func TestErrors(t *testing.T) {
	minimal := testSheets{"vInfo": {{"VM"}, {"db01"}}}
	book := minimal.xlsx(t)
	for _, tt := range []struct {
		name string
		path string
		want string // PATH stands for the path
	}{
		{"missing", "none.xlsx", "read tables: stat none.xlsx: no such file or directory"},
		{"an empty folder", t.TempDir(), "PATH: found no tables"},
		{"text", tempFile(t, "a.txt", []byte("hello")), "PATH: found a table with 1 column: hello; no column names a VM or a host"},
		{"another CSV", tempFile(t, "batch.csv", []byte("a,b")), "PATH: found a table with 2 columns: a, b; no column names a VM or a host"},
		{"text called xlsx", tempFile(t, "a.xlsx", []byte("hello")), `PATH: not a zip file: found "hell", want "PK\x03\x04": the file is damaged or has a wrong name`},
		{"an empty xlsx", tempFile(t, "a.xlsx", nil), `PATH: not a zip file: found "", want "PK\x03\x04": the file is damaged or has a wrong name`},
		{"old Excel", tempFile(t, "a.xls", []byte(oleMagic)), "PATH: old binary .xls: save it as .xlsx, or export CSV from RVTools"},
		{"encrypted", tempFile(t, "a.xlsx", []byte(oleMagic)), "PATH: the workbook is encrypted or an old binary .xls: save it as .xlsx without a password"},
		{"cut off", tempFile(t, "a.xlsx", book[:len(book)/2]), "PATH: damaged or cut off: zip: not a valid zip file"},
		{"a zip of something else", tempFile(t, "a.zip", zipOf(t, map[string][]byte{"x.log": nil})), "PATH: a zip that is no workbook: found no xl/workbook.xml in it"},
		{"two exports", tempFolder(t, map[string][]byte{"RVTools_tabvInfo.csv": []byte("VM\n"), "tabvInfo.csv": []byte("VM\n")}),
			"PATH: found the sheet vInfo twice, in RVTools_tabvInfo.csv and tabvInfo.csv: put the files of each export into a folder of their own, and name the folders"},
		{"no relationships", tempFile(t, "a.xlsx", zipOf(t, map[string][]byte{workbookPart: []byte("<workbook/>")})), "PATH: damaged workbook: no xl/_rels/workbook.xml.rels"},
		{"workbook of nonsense", tempFile(t, "a.xlsx", zipOf(t, map[string][]byte{workbookPart: []byte("<workbook>")})), "PATH: damaged workbook: xl/workbook.xml: XML syntax error on line 1: unexpected EOF"},
		{"other sheets", tempFile(t, "a.xlsx", testSheets{"Sheet7": {{"VM"}}, "vHost": {{"Host"}}}.xlsx(t)), "PATH: no sheet vInfo, found sheets Sheet7, vHost: export all sheets from RVTools"},
		{"a renamed column", tempFile(t, "a.xlsx", testSheets{"vInfo": {{"Machine"}, {"db01"}}}.xlsx(t)), `PATH: sheet vInfo has no column "VM" in row 1, found sheets vInfo`},
		{"an empty sheet", tempFile(t, "a.xlsx", testSheets{"vInfo": nil}.xlsx(t)), `PATH: sheet vInfo has no column "VM" in row 1, found sheets vInfo`},
		{"an empty CSV", tempFolder(t, vInfoOnly("")), `PATH: sheet vInfo has no column "VM" in row 1, found sheets vInfo`},
		{"an open quote", tempFolder(t, vInfoOnly("VM,Host", `db01,"esx01`, "db02,esx01")), `PATH/RVTools_tabvInfo.csv:3:12: a " is not closed: the row starts on line 2`},
		{"a quote in a field", tempFolder(t, vInfoOnly("VM,Host", `db"01,esx01`)), `PATH/RVTools_tabvInfo.csv:2:3: found a " inside a field without quotes, want it doubled in a quoted field`},
		{"a quote in a quoted field", tempFolder(t, vInfoOnly("VM,Host", `"db"01,esx01`)), `PATH/RVTools_tabvInfo.csv:2:4: found a lone " in a quoted field, want it doubled or followed by a separator`},
		{"a NUL byte", tempFolder(t, vInfoOnly("VM,Host", "db\x0001,esx01")), "PATH/RVTools_tabvInfo.csv:2:3: found a NUL byte, want text: save as UTF-8, or as UTF-16 with a byte order mark"},
		{"a damaged sheet", tempFile(t, "a.xlsx", editPart(t, book, "xl/worksheets/sheet2.xml", `<row r="2"`, `</oops><row r="2"`)), `PATH: sheet vInfo: damaged workbook: found "</oops>" after row 1`},
		{"a cut-off sheet", tempFile(t, "a.xlsx", editPart(t, book, "xl/worksheets/sheet2.xml", `</sheetData>`, ``)), `PATH: sheet vInfo: damaged workbook: found "</worksheet>" after row 2`},
		{"a NUL in a sheet", tempFile(t, "a.xlsx", editPart(t, book, "xl/worksheets/sheet2.xml", `<row r="2"`, "\x00<row r=\"2\"")), `PATH: sheet vInfo: damaged workbook: found "\x00" after row 1`},
		{"a flipped bit", tempFile(t, "a.xlsx", flip(t, book, "xl/worksheets/sheet2.xml")), "PATH: sheet vInfo: xl/worksheets/sheet2.xml: damaged: zip: checksum error"},
		{"no part for a sheet", tempFile(t, "a.xlsx", editPart(t, book, "xl/worksheets/sheet2.xml", "", "")), `PATH: sheet vInfo: damaged workbook: no part "xl/worksheets/sheet2.xml"`},
		{"a zip bomb", tempFile(t, "a.xlsx", bomb(t, book, "xl/worksheets/sheet2.xml", 300<<20)), "PATH: xl/worksheets/sheet2.xml unpacks from 1000 B to 300 MB, more than 200 to 1: refused as a zip bomb"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Read(tt.path)
			if f != nil || err == nil {
				t.Fatalf("Read() = %v, %v; want an error", f, err)
			}
			if got := strings.ReplaceAll(err.Error(), tt.path, "PATH"); got != strings.ReplaceAll(tt.want, tt.path, "PATH") {
				t.Errorf("Read() = %s\nwant     %s", got, tt.want)
			}
		})
	}
}

// editPart replaces the first old with new in a part of a workbook; with no old
// it drops the part.
func editPart(t *testing.T, book []byte, part, old, new string) []byte {
	t.Helper()
	files, found := map[string][]byte{}, false
	zr, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range zr.File {
		b, err := unpack(f)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == part {
			found = bytes.Contains(b, []byte(old))
			if old == "" {
				continue
			}
			b = bytes.Replace(b, []byte(old), []byte(new), 1)
		}
		files[f.Name] = b
	}
	if !found {
		t.Fatalf("no %q in %s", old, part)
	}
	return zipOf(t, files)
}

// flip changes the checksum of a part of a workbook.
func flip(t *testing.T, book []byte, part string) []byte {
	t.Helper()
	return rezip(t, book, part, func(h *zip.FileHeader) { h.CRC32 ^= 1 })
}

// rezip copies a workbook and changes the header of one part.
func rezip(t *testing.T, book []byte, part string, change func(*zip.FileHeader)) []byte {
	t.Helper()
	zr, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range zr.File {
		h := f.FileHeader
		if h.Name == part {
			change(&h)
		}
		raw, err := f.OpenRaw()
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.CreateRaw(&h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(out, raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb replaces a part of a workbook by one that declares to unpack from 1,000
// bytes to size; size alone has it refused.
func bomb(t *testing.T, book []byte, part string, size uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if book != nil {
		zr, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range zr.File {
			if f.Name != part {
				if err := w.Copy(f); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	packed := make([]byte, 1000)
	out, err := w.CreateRaw(&zip.FileHeader{Name: part, Method: zip.Deflate, UncompressedSize64: size, CompressedSize64: uint64(len(packed))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(packed); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// notesOf returns the notes of a fleet without the name of the export.
func notesOf(f *numa.Fleet) []string {
	var notes []string
	for _, n := range f.Notes {
		_, s, _ := strings.Cut(n.String(), ": ")
		notes = append(notes, s)
	}
	return notes
}

// TestBadCells reads cells that are not what they should be: nothing is lost but
// the fact itself.
func TestBadCells(t *testing.T) {
	s := readExport4(t)
	set := func(sheet string, row int, header, value string) {
		t.Helper()
		i := slices.Index(s[sheet][0], header)
		if i < 0 {
			t.Fatalf("no column %q in %s", header, sheet)
		}
		s[sheet][row-1][i] = value
	}
	set("vHost", 4, "# Cores", "96")
	want := []string{`sheet vInfo: column "Host" stands 2 times: the last is read`}
	for _, c := range []struct {
		sheet         string
		row           int
		header, value string
		note          string
	}{
		{"vHost", 2, "# CPU", "65", `found "65", want 1 to 64: ignored for host esx01.example.com`},
		{"vHost", 2, "# Memory", "-5", `found "-5", want 1024 to 1073741824: ignored for host esx01.example.com`},
		{"vHost", 3, "HT Active", "maybe", `found "maybe", want True or False: ignored for host esx02.example.com`},
		{"vHost", 3, "ESX Version", "ESXi", `found "ESXi", want a release such as VMware ESXi 7.0.3 build-21930508: ignored for host esx02.example.com`},
		{"vInfo", 2, "HW version", "new", `found "new", want a version such as 21 or vmx-21: ignored for VM db01`},
		{"vInfo", 2, "Powerstate", "on fire", `found "on fire", want poweredOn, poweredOff or suspended: ignored for VM db01`},
		{"vInfo", 3, "Folder", strings.Repeat("x", 10<<20), "found a text of 10485760 bytes, want at most 32767: ignored for VM web"},
		{"vCPU", 3, "Cores p/s", "1.5", `found "1.5", want a number: ignored for VM db01`},
		{"vCPU", 3, "Limit", "0x10", `found "0x10", want a number: ignored for VM db01`},
		{"vMemory", 2, "Size MiB", "99999999999", `found "99999999999", want 1 to 67108864: ignored for VM db01`},
		{"vMemory", 3, "Hot Add", strings.Repeat("é", 70), `found "` + strings.Repeat("é", 60) + `…", want True or False: ignored for VM web`},
	} {
		set(c.sheet, c.row, c.header, c.value)
		note := fmt.Sprintf("sheet %s, row %d, column %q: %s", c.sheet, c.row, c.header, c.note)
		if c.sheet == "vHost" {
			want = slices.Insert(want, len(want)-1, note)
		} else {
			want = append(want, note)
		}
	}
	// Without its # CPU the host keeps its cores, without its cores its nodes.
	f := mustRead(t, tempFolder(t, s.csvs(",")))
	got := notesOf(f)
	// The notes on whole sheets are those of TestReadFolder.
	got = slices.DeleteFunc(got, func(s string) bool {
		return strings.Contains(s, "(first: ") || strings.Contains(s, ": no column ")
	})
	// Facts of one row are read in the order of the model, not of the columns.
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("notes:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	h := f.Hosts[0]
	if h.Packages.Known() || h.Nodes.Known() || h.Memory.Known() || h.Cores.Value != 64 {
		t.Errorf("host %s: packages %v, nodes %v, memory %v, cores %v; want only the cores known", h.Name, h.Packages, h.Nodes, h.Memory, h.Cores)
	}
	v := f.VMs[0]
	// Sockets says what Cores p/s does not.
	wantCores := numa.DerivedFrom(12, "CPUs and Sockets of vCPU")
	if v.CoresPerSocket != wantCores || v.CPULimit.Known() || v.Hardware.Known() || v.Power.Known() {
		t.Errorf("VM %s: cores per socket %v, limit %v, hardware %v, power %v; want only the first known", v.Name, v.CoresPerSocket, v.CPULimit, v.Hardware, v.Power)
	}
}

// TestManyBadCells reads a column of the wrong kind: a few notes, not one a VM.
func TestManyBadCells(t *testing.T) {
	rows := []string{"VM,Template"}
	for i := range 100 {
		rows = append(rows, fmt.Sprintf("vm%d,maybe", i))
	}
	f := mustRead(t, tempFolder(t, vInfoOnly(rows...)))
	got := slices.DeleteFunc(notesOf(f), func(s string) bool { return !strings.Contains(s, `column "Template"`) })
	want := []string{
		`sheet vInfo, row 2, column "Template": found "maybe", want True or False: ignored for VM vm0`,
		`sheet vInfo, row 3, column "Template": found "maybe", want True or False: ignored for VM vm1`,
		`sheet vInfo, row 4, column "Template": found "maybe", want True or False: ignored for VM vm2`,
		`sheet vInfo, row 5, column "Template": found "maybe", want True or False: ignored for VM vm3`,
		`sheet vInfo, row 6, column "Template": found "maybe", want True or False: ignored for VM vm4`,
		`sheet vInfo, column "Template": 95 more cells are unreadable or contradict others: ignored`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("notes:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
