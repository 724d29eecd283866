package tables

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/xuri/excelize/v2"
)

// rowsIn reads all rows of a sheet as "number: cell|cell", and its error.
func rowsIn(rows rowReader) (out []string) {
	for {
		cells, n, err := rows.next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			return append(out, err.Error())
		}
		out = append(out, fmt.Sprintf("%d: %s", n, strings.Join(cells, "|")))
	}
}

func TestSheet(t *testing.T) {
	shared := &sharedStrings{text: "db01web_x0041_", ends: []uint32{4, 7, 14, 14}}
	for _, tt := range []struct{ name, xml, want string }{
		{"trailing empty rows", `<sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="7" s="1"><c r="A7"/></row><row r="9"/></sheetData>`, "1: 1"},
		{"attributes first", `<sheetData><row spans="1:9" r="12"><c><is><t>x</t></is></c></row></sheetData>`, "12: x"},
		{"a name space", `<x:sheetData><x:row r="3"><x:c r="B3"><x:v>1</x:v></x:c></x:row></x:sheetData>`, "3: |1"},
		{"no numbers", `<sheetData><row><c><v>1</v></c><c><v>2</v></c></row><row><c r="C2"><v>3</v></c><c><v>4</v></c></row></sheetData>`, "1: 1|2, 2: ||3|4"},
		{"no values", `<sheetData><row r="3"><c/><c r="B3"></c><c><v></v></c></row></sheetData>`, ""},
		{"no rows", `<?xml version="1.0"?><worksheet><sheetData/></worksheet>`, ""},
		{"empty", "<sheetData>\n</sheetData>", ""},
		{"shared strings", `<sheetData><row r="1"><c t="s"><v>0</v></c><c t='s'><v> 1 </v></c><c t="s"><v>2</v></c><c t="s"><v>3</v></c><c t="n"><v>7</v></c></row></sheetData>`, "1: db01|web|A||7"},
		{"entities", `<sheetData><row r="1"><c t="str"><v>a&amp;b &lt;&#10;&#x2026;&quot;&gt;</v></c></row></sheetData>`, "1: a&b <\n…\">"},
		{"a rich text with a hint", `<sheetData><row r="1"><c t="inlineStr"><is><r><rPr><b/></rPr><t>a</t></r><r><t xml:space="preserve"> b</t></r><rPh><t>no</t></rPh></is></c></row></sheetData>`, "1: a b"},
		{"a formula", `<sheetData><row r="1"><c t="str"><f>A1&amp;"x"</f><v>y</v></c><c><f>B1</f></c></row></sheetData>`, "1: y"},
		{"CDATA and a comment", `<!-- <row> --><sheetData><!-- "> --><row r="1"><c t="str"><v><![CDATA[a<b>&c]]></v></c></row></sheetData>`, "1: a<b>&c"},
		{"a tag with a >", `<sheetData><row r="1" note="a>b"><c><v>1</v></c></row></sheetData>`, "1: 1"},
		{"escaped characters", `<sheetData><row r="1"><c t="str"><v>a_x000D_b_x00_c_x</v></c></row></sheetData>`, "1: a\rb_x00_c_x"},
		{"invalid UTF-8", "<sheetData><row r=\"1\"><c t=\"str\"><v>K\xf6ln</v></c><c><v>1</v></c></row></sheetData>", "1: K\uFFFDln|1"},
		{"no end", `<sheetData><row r="1"><c><v>1</v></c></row>`, "1: 1, sheet vInfo: damaged workbook: the sheet is cut off"},
		{"no end of a cell", `<sheetData><row r="1"><c><v>1</v></row></sheetData>`, `sheet vInfo: row 1: damaged workbook: found </row> before the end of a text`},
		{"text between rows", "<sheetData>\x00<row/></sheetData>", "sheet vInfo: damaged workbook: found \"\\x00\" after row 0"},
		{"another element", `<sheetData><row r="1"><c><v>1</v></c></row></oops></sheetData>`, `1: 1, sheet vInfo: damaged workbook: found "</oops>" after row 1`},
		{"rows that go back", `<sheetData><row r="2"/><row r="1"/></sheetData>`, `sheet vInfo: damaged workbook: found "<row r=\"1\"/" after row 2`},
		{"a row beyond all", `<sheetData><row r="1048577"/></sheetData>`, "sheet vInfo: damaged workbook: it has more than 1048576 rows"},
		{"a column beyond all", `<sheetData><row r="1"><c r="XFE1"><v>1</v></c></row></sheetData>`, `sheet vInfo: damaged workbook: found "<c r=\"XFE1\"" after row 1`},
		{"no such string", `<sheetData><row r="1"><c t="s"><v>4</v></c></row></sheetData>`, `sheet vInfo: row 1: damaged workbook: found the shared string "4" of 4`},
		{"an unknown entity", `<sheetData><row r="1"><c t="str"><v>&oops;</v></c></row></sheetData>`, `sheet vInfo: row 1: damaged workbook: found the entity "oops"`},
		{"a lone &", `<sheetData><row r="1"><c t="str"><v>a & b</v></c></row></sheetData>`, `sheet vInfo: row 1: damaged workbook: found a lone &`},
		{"a long text", `<sheetData><row r="1"><c t="str"><v>` + strings.Repeat("x", maxToken) + `</v></c></row></sheetData>`, `sheet vInfo: row 1: damaged workbook: found a text of more than 4194304 bytes`},
		{"a long tag", `<sheetData><row r="` + strings.Repeat(">", maxTag+10), `sheet vInfo: damaged workbook: found a tag of more than 16384 bytes`},
	} {
		for _, r := range []io.Reader{strings.NewReader(tt.xml), iotest.OneByteReader(strings.NewReader(tt.xml))} {
			if len(tt.xml) > 1<<20 {
				r = strings.NewReader(tt.xml)
			}
			if got := strings.Join(rowsIn(&xlsxRows{sheet: "vInfo", xml: scanner{r: r}, strings: shared}), ", "); got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
			}
		}
	}
}

// TestUnwanted reads only the columns that are asked for; the rows stay.
func TestUnwanted(t *testing.T) {
	const xml = `<x:sheetData><x:row r="1"><x:c r="A1"><x:v>1</x:v></x:c><x:c r="B1" t="str"><x:v>b</x:v></x:c><x:c r="C1"><x:v>3</x:v></x:c></x:row><x:row r="2"><x:c r="D2"><x:v>4</x:v></x:c></x:row><x:row r="3"><x:c r="A3"/></x:row></x:sheetData>`
	for _, r := range []io.Reader{strings.NewReader(xml), iotest.OneByteReader(strings.NewReader(xml))} {
		rows := &xlsxRows{sheet: "vInfo", xml: scanner{r: r}}
		rows.want([]int{1, -1, 2})
		if got, want := rowsIn(rows), []string{"1: …|b|3", "2: |||…"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSharedStrings(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`<?xml version="1.0"?><sst count="9"><si><t>a</t></si><si/><si><r><t>b</t></r><r><t>c&amp;</t></r></si><!-- x --><si><t/></si></sst>`, "a||bc&|"},
		{`<sst/>`, ""},
		{`<sst><si><t>a</t></si>`, "damaged workbook: xl/sharedStrings.xml is cut off"},
		{`<sst><si><t>a`, "damaged workbook: xl/sharedStrings.xml is cut off"},
		{`<sst><si><t>a</t><si></sst>`, "xl/sharedStrings.xml: damaged workbook: found <si> before the end of a text"},
		{"<sst><si><t>\xff</t></si></sst>", "damaged workbook: xl/sharedStrings.xml is not UTF-8"},
	} {
		s, err := readStrings(strings.NewReader(tt.in))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			var all []string
			for i := range s.ends {
				all = append(all, s.at(i))
			}
			got = strings.Join(all, "|")
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestAsExcelize reads every sheet of the samples and of written workbooks as excelize does.
func TestAsExcelize(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "samples", "rvtools", "*.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	own := readExport4(t)
	own["vInfo"][1][0] = "a&b <c> \"d\" _x0041_ é\n"
	files = append(files, tempFile(t, "own.xlsx", own.xlsx(t)))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		zr, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		x, err := workbook(file, file, zr)
		if err != nil {
			t.Fatal(err)
		}
		book, err := excelize.OpenFile(file, excelize.Options{RawCellValue: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range x.sheets {
			sheet := s.name
			rows, err := s.open()
			if err != nil {
				t.Fatal(err)
			}
			got, want := rowsIn(rows), rowsOfExcelize(t, book, sheet)
			if i := 0; !slices.Equal(got, want) {
				for i = range min(len(got), len(want)) {
					if got[i] != want[i] {
						break
					}
				}
				t.Errorf("%s, sheet %s: %d rows, want %d; first difference:\n got %q\nwant %q", filepath.Base(file), sheet, len(got), len(want), got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
			}
		}
		book.Close()
	}
}

func rowsOfExcelize(t testing.TB, book *excelize.File, sheet string) (out []string) {
	rows, err := book.Rows(sheet)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; rows.Next(); n++ {
		cells, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(cells, func(c string) bool { return c != "" }) {
			out = append(out, fmt.Sprintf("%d: %s", n, strings.Join(cells, "|")))
		}
	}
	return out
}
