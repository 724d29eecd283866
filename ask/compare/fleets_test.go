package compare

import (
	"archive/zip"
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/ask"
	"example.org/homenode/rules"
	"example.org/homenode/source/open"
	"example.org/homenode/source/scenario/given"
)

// TestUnjudged: a comparison of a fleet in which nothing can be judged is an error that says why; in part of one it is none.
func TestUnjudged(t *testing.T) {
	for text, want := range map[string]string{
		"vm a vcpus=4\nvm b vcpus=4\n": "none of 2 VMs could be judged",
		"release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm a vcpus=4 host=h\n":               "",
		"release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm a vcpus=4 host=h\nvm b vcpus=4\n": "",
		"release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\n":                                    "",
	} {
		f := given.Fleet(t, "a.txt", []byte(text))
		got := unjudged(rules.Run(f, rules.Options{}))
		if (got == nil) != (want == "") || got != nil && !strings.Contains(got.Error(), want) {
			t.Errorf("%s: found %v, want %q", text, got, want)
		}
	}
}

// TestFleetsInAnyForm: two fleets are compared also where one of them is a zip or workbook, which might hold captures.
func TestFleetsInAnyForm(t *testing.T) {
	dir := t.TempDir()
	folder, packed := filepath.Join(dir, "export"), filepath.Join(dir, "export.zip")
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range map[string]string{"hosts.csv": "Host,Cluster,# CPU,# Cores,Memory GB,ESX Version\nesx01,prod,2,32,512,7.0.3\n", "vms.csv": "VM,Host,CPUs,Memory GB\na,esx01,4,8\n"} {
		part, err := w.Create(name)
		if _, failed := part.Write([]byte(text)); cmp.Or(err, failed, os.MkdirAll(folder, 0o777), os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666)) != nil {
			t.Fatal(err, failed)
		}
	}
	if err := cmp.Or(w.Close(), os.WriteFile(packed, b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, sides := range [][2]string{{packed, folder}, {folder, packed}} {
		reply, err := (&Compare{A: sides[:1], B: sides[1:]}).Answer(t.Context(), &ask.Env{Open: open.Fleet})
		if err != nil || reply.Answers[0].Verdict[0] != "no drift" {
			t.Fatalf("%v: %+v, %v", sides, reply, err)
		}
	}
}

// workbook returns a workbook with one host and one VM.
func workbook(t *testing.T, host, vm string) []byte {
	t.Helper()
	sheet := func(rows ...string) string {
		text := "<worksheet><sheetData>"
		for _, row := range rows {
			text += "<row>"
			for _, cell := range strings.Split(row, ",") {
				text += `<c t="inlineStr"><is><t>` + cell + "</t></is></c>"
			}
			text += "</row>"
		}
		return text + "</sheetData></worksheet>"
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"xl/workbook.xml":            `<workbook xmlns:r="r"><sheets><sheet name="VMs" r:id="1"/><sheet name="Hosts" r:id="2"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="1" Target="worksheets/1.xml"/><Relationship Id="2" Target="worksheets/2.xml"/></Relationships>`,
		"xl/worksheets/1.xml":        sheet("VM,Host,CPUs,Memory GB", vm+","+host+",4,8"),
		"xl/worksheets/2.xml":        sheet("Host,Cluster,# CPU,# Cores,Memory GB,ESX Version", host+",prod,2,32,512,7.0.3"),
	} {
		part, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFoldersOfWorkbooks: a folder of workbooks is a fleet on either side, and of a side that cannot be read it is said why.
func TestFoldersOfWorkbooks(t *testing.T) {
	dir := t.TempDir()
	one, folder, csv, bad, night := filepath.Join(dir, "one.xlsx"), filepath.Join(dir, "both"), filepath.Join(dir, "csv"), filepath.Join(dir, "bad"), filepath.Join(dir, "night.csv")
	row := "VM,CPUs,Memory\na,4,8192\n"
	for path, text := range map[string]string{
		one: string(workbook(t, "esx01", "a")), filepath.Join(folder, "1.xlsx"): string(workbook(t, "esx01", "a")), filepath.Join(folder, "2.xlsx"): string(workbook(t, "esx02", "b")),
		filepath.Join(csv, "RVTools_tabvInfo.csv"): row, filepath.Join(bad, "RVTools_tabvInfo.csv"): row, filepath.Join(bad, "RVTools_tabvInfo (1).csv"): row,
		night: `"(PDH-CSV 4.0) (UTC)(0)","\\esx01\Memory\Free MBytes"` + "\n" + `"11/21/2026 10:00:00","1"` + "\n",
	} {
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ a, b, verdict, why string }{
		{folder, folder, "no drift", ""},
		{folder, one, "1 host new, 2 gone", ""},
		{one, folder, "2 hosts new, 1 gone", ""},
		{bad, one, "", bad + ": found the sheet vInfo twice"},
		{one, bad, "", bad + ": found the sheet vInfo twice"},
		{bad, folder, "", bad + ": found the sheet vInfo twice"},
		{night, folder, "", night + " is a capture, and the other side has none"},
		{one, night, "", night + " is a capture, and the other side has none"},
	} {
		reply, err := (&Compare{A: []string{tt.a}, B: []string{tt.b}}).Answer(t.Context(), &ask.Env{Open: open.Fleet})
		if tt.why != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.why) {
				t.Errorf("%s, %s: found %v, want %s", tt.a, tt.b, err, tt.why)
			}
			continue
		}
		if reply == nil || !strings.Contains(strings.Join(reply.Answers[0].Verdict, " "), tt.verdict) {
			t.Errorf("%s, %s: found %+v, %v, want %s", tt.a, tt.b, reply, err, tt.verdict)
		}
	}
}
