package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"homenode/internal/queue"
	"homenode/source/ticks"
)

// A task cannot make a worker read what is not below its root, whatever it names.
func TestJobStaysBelowRoot(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "archive")
	writeFile(t, root, "esx01/night.csv", "")
	writeFile(t, dir, "secret", "root:x:0:0")
	if err := os.Symlink(dir, filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	file := func(path string) File {
		return File{Path: path, Size: info.Size(), Modified: info.ModTime().Unix()}
	}
	for _, tt := range []struct {
		name    string
		job     Job
		want    string
		refusal bool // others may see it differently
	}{
		{"up", Job{Name: "a", Files: []File{file("../secret")}}, `found the path "../secret" in the task, want one below the root`, false},
		{"up in the middle", Job{Name: "a", Files: []File{file("esx01/../../secret")}}, `found the path "esx01/../../secret" in the task, want one below the root`, false},
		{"from the root of the machine", Job{Name: "a", Files: []File{file(filepath.Join(dir, "secret"))}}, fmt.Sprintf("found the path %q in the task, want one below the root", filepath.Join(dir, "secret")), false},
		{"beside its files", Job{Name: "a", Files: []File{file("esx01/night.csv")}, Infos: []File{file("../secret")}}, `found the path "../secret" in the task, want one below the root`, false},
		{"over a link", Job{Name: "a", Files: []File{file("out/secret")}}, "out/secret: lstat: path escapes from parent", true},
		{"no file", Job{Name: "a", Format: ticks.Packed}, "found a task without files", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Do(t.Context(), Here{Root: root}, tt.job, options())
			var refusal *queue.Refusal
			if err == nil || err.Error() != tt.want || errors.As(err, &refusal) != tt.refusal {
				t.Errorf("Do = %+v, %v; want the error %q", r, err, tt.want)
			}
		})
	}
}

// Options that nothing can be counted by are the outcome of a task and no crash.
func TestTaskWithWrongOptions(t *testing.T) {
	o := options()
	o.Capture.Window = -1
	payload, err := json.Marshal(captureTask{Job{Name: "a", Files: []File{{Path: "a"}}}, o})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Handlers(Here{Root: t.TempDir()})[kindCapture](t.Context(), payload)
	if want := "task: " + o.Capture.Check().Error(); err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// A hidden file among others that belong together is skipped, and no other with it.
func TestScanHiddenAmongOthers(t *testing.T) {
	root := t.TempDir()
	const clients = "groupName groupID clientID homeNode affinity nWorlds vmmWorlds localMem remoteMem currLocal cummLocal\nvm.1 11 0 0 3 4 4 1024 0 100 100\n"
	for _, name := range []string{"esx01/.clients-20261121T200000Z.txt", "esx01/clients-20261121T203000Z.txt", "esx01/clients-20261121T203100Z.txt"} {
		writeFile(t, root, name, clients)
	}
	list, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, j := range list.Jobs {
		for _, f := range j.Files {
			got = append(got, f.Path)
		}
	}
	want := []string{"esx01/clients-20261121T203000Z.txt", "esx01/clients-20261121T203100Z.txt"}
	if fmt.Sprint(got) != fmt.Sprint(want) || list.Passed != 1 {
		t.Errorf("the jobs have %q, %d skipped; want %q, 1", got, list.Passed, want)
	}
}

// A file that goes away while an archive is listed takes no other with it.
func TestScanOfFileThatGoes(t *testing.T) {
	root := t.TempDir()
	writeFile(t, root, "a.csv", "12345")
	var l Listing
	files, err := l.statAll(root, []string{filepath.Join(root, "a.csv"), filepath.Join(root, "esx01", "gone.csv")})
	if err != nil || len(files) != 1 || files[0].Path != "a.csv" || files[0].Size != 5 {
		t.Errorf("statAll = %+v, %v; want a.csv of 5 bytes", files, err)
	}
	if want := "[esx01/gone.csv: stat: no such file or directory]"; fmt.Sprint(l.Failed) != want {
		t.Errorf("failed are %v, want %s", l.Failed, want)
	}
}
