package compare

import (
	"archive/zip"
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homenode/ask"
	"homenode/rules"
	"homenode/source/open"
	"homenode/source/scenario"
)

// TestUnjudged: a comparison of a fleet in which nothing can be judged is an error that says why; in part of one it is none.
func TestUnjudged(t *testing.T) {
	for text, want := range map[string]string{
		"vm a vcpus=4\nvm b vcpus=4\n": "none of 2 VMs could be judged",
		"release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm a vcpus=4 host=h\n":               "",
		"release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm a vcpus=4 host=h\nvm b vcpus=4\n": "",
		"release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\n":                                    "",
	} {
		f, err := scenario.Read("a.txt", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
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
