package open

import (
	"strings"
	"testing"
)

// Every file that is not read is named, whatever its ending, and one of a VM that cannot be read is an error.
func TestUnreadNamed(t *testing.T) {
	files := map[string][]byte{
		"good.csv":    []byte("Name,NumCpu\nfour,4\n"),
		"vm.info.txt": []byte("Name:           forgotten\n  CPU:          32 vCPU(s)\n"),
		"a.log":       []byte("no log of a VM\n"),
		"a.vmx":       []byte("displayName = \"three\"\nnumvcpus = \"4\"\nmemSize = \"4096\"\n"),
		"a.vmx~":      []byte("displayName = \"three\"\nnumvcpus = \"8\"\n"),
		"empty.vmx":   nil,
		"strange.vmx": []byte("no key\n"),
	}
	for _, name := range []string{"b.txt", "c.txt", "d.png", "e.md"} {
		files[name] = []byte("odd\n")
	}
	for form, write := range map[string]func(t *testing.T, dir string, files map[string][]byte) string{"folder": folderOf, "zip": zipOf} {
		path := write(t, t.TempDir(), files)
		fleet, err := File(path)
		if err != nil {
			t.Fatal(err)
		}
		var notes, named, errs []string
		for _, n := range fleet.Notes {
			notes = append(notes, n.String())
		}
		for _, p := range Anything(path, nil) {
			named = append(named, p.Name+" "+p.Note)
			if p.Err != nil {
				errs = append(errs, p.Err.Error())
			}
		}
		for _, name := range []string{"vm.info.txt", "a.log", "a.vmx~", "empty.vmx", "strange.vmx", "b.txt", "c.txt", "d.png", "e.md"} {
			if !strings.Contains(strings.Join(notes, "\n"), name) {
				t.Errorf("%s: assess does not name %s: %q", form, name, notes)
			}
			if !strings.Contains(strings.Join(named, "\n"), name) {
				t.Errorf("%s: explain does not name %s: %q", form, name, named)
			}
		}
		for _, name := range []string{"empty.vmx", "strange.vmx"} {
			if !strings.Contains(strings.Join(errs, "\n"), name) {
				t.Errorf("%s: %s is no error: %q", form, name, errs)
			}
		}
	}
}

// An error of a file reads the same in a folder as alone, and unread files come first in the notes.
func TestNotReadFirst(t *testing.T) {
	files := map[string]string{
		"empty.xlsx":     "",
		"protected.xlsx": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
		"answer.json":    `{"error_type":"UNAUTHENTICATED","messages":[{"default_message":"Unable to authenticate user"}]}`,
		"older.json":     `{"type":"com.vmware.vapi.std.errors.unauthenticated","value":{"messages":[]}}`,
		"fault.json":     `{"_typeName":"NotAuthenticated","faultMessage":[]}`,
	}
	says := map[string]string{"empty.xlsx": "the file is empty", "protected.xlsx": "save it as .xlsx without a password", "answer.json": "a vCenter error response",
		"older.json": "a vCenter error response", "fault.json": "a vCenter error response"}
	all := map[string][]byte{"a.csv": []byte("Name,NumCpu\nfour,4\n"), "z.png": []byte("\x89PNG")}
	for name, text := range files {
		all[name] = []byte(text)
	}
	fleet, err := File(folderOf(t, t.TempDir(), all))
	if err != nil || len(fleet.Unread) != len(files) {
		t.Fatalf("%+v, %v", fleet, err)
	}
	for i, n := range fleet.Notes {
		name := n.At[strings.LastIndex(n.At, "/")+1:]
		if first := i < len(files); first != (says[name] != "") || !strings.Contains(n.Text, says[name]) {
			t.Errorf("note %d: %v", i, n)
		}
	}
	for name, text := range files {
		path := folderOf(t, t.TempDir(), map[string][]byte{name: []byte(text)}) + "/" + name
		if _, err := File(path); err == nil || !strings.Contains(err.Error(), says[name]) {
			t.Errorf("%s alone: %v", name, err)
		}
	}
}
