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
		for _, name := range []string{"vm.info.txt", "a.log", "a.vmx~", "empty.vmx", "strange.vmx"} {
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
