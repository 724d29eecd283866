package coefficients

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/iocost"
)

// entryOf is a cost of 32 KiB with every member.
func entryOf(read unit.Share, value unit.Cycles) Entry {
	e := Entry{Method: "3 runs", Sources: []string{"a.txt", "b.txt"}, Measured: []string{"2024-11-29 13:10:00"}}
	e.Kind = iocost.Kind{Path: iocost.VSANESA, Block: 32 * numa.KiB, Read: read, Random: 1}
	e.PerIO = unit.Figure[unit.Cycles]{Value: value, Low: value * 0.99, High: value * 1.01, Origin: unit.Measured, Source: "a.txt, b.txt", Hardware: "2 x Xeon Gold 6544Y"}
	e.Network = &unit.Figure[unit.Cycles]{Value: value / 5, Low: value / 5, High: value / 4, Origin: unit.Derived}
	e.Core, e.Runs, e.Scope = 3.6*unit.GHz, 3, iocost.Host
	return e
}

// TestOneScope checks that costs of hosts and of guests are not in one curve: neither is
// written beside the other, nor read.
func TestOneScope(t *testing.T) {
	path := filepath.Join(t.TempDir(), DefaultFile)
	host, guest, nvme := entryOf(1, 640500), entryOf(0, 1e6), entryOf(1, 150000)
	guest.Scope, nvme.Scope, nvme.Path = "guest", "guest", iocost.NVMe
	if _, _, _, err := Save(path, []Entry{host, nvme}, false); err != nil {
		t.Fatalf("scopes of two paths: %v, want none", err)
	}
	want := "vsan-esa 32 KiB read random is of hosts, vsan-esa 32 KiB write random of guests: no curve goes through both (--replace starts anew)"
	if _, _, _, err := Save(path, []Entry{guest}, false); err == nil || err.Error() != want {
		t.Errorf("found %v, want %s", err, want)
	}
	if f, err := Load(path); err != nil || len(f.Entries) != 2 {
		t.Errorf("found %+v, %v; want the 2 entries of before", f, err)
	}
	if err := (&File{Entries: []Entry{host, guest}}).Write(path); err != nil {
		t.Fatal(err)
	}
	want = path + ":37:5: point 2: vsan-esa 32 KiB read random is of hosts, vsan-esa 32 KiB write random of guests: no curve goes through both"
	if _, err := Load(path); err == nil || err.Error() != want {
		t.Errorf("found %v, want %s", err, want)
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), DefaultFile)
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("before: %v, want none", err)
	}
	steps := []struct {
		entries                  []Entry
		replace                  bool
		want                     []Entry
		added, replaced, written int
	}{
		{[]Entry{entryOf(0, 1825900.004)}, false, []Entry{entryOf(0, 1825900)}, 1, 0, 1},
		{[]Entry{entryOf(1, 640500)}, false, []Entry{entryOf(1, 640500), entryOf(0, 1825900)}, 1, 0, 2},
		{[]Entry{entryOf(0, 1700000), entryOf(0.7, 935800)}, false, []Entry{entryOf(1, 640500), entryOf(0.7, 935800), entryOf(0, 1700000)}, 1, 1, 3},
		{[]Entry{entryOf(0, 1e6)}, true, []Entry{entryOf(0, 1e6)}, 1, 0, 1},
	}
	for i, s := range steps {
		f, added, replaced, err := Save(path, s.entries, s.replace)
		if err != nil || added != s.added || replaced != s.replaced || len(f.Entries) != s.written {
			t.Fatalf("step %d: %d added, %d replaced, %d in all, %v; want %d, %d, %d", i, added, replaced, len(f.Entries), err, s.added, s.replaced, s.written)
		}
		got, err := Load(path)
		if err != nil || !reflect.DeepEqual(got, &File{path, s.want}) {
			t.Fatalf("step %d: %+v, %v; want %+v", i, got, err, s.want)
		}
		points := got.Points()
		for j := range points {
			if !reflect.DeepEqual(points[j], s.want[j].Point) {
				t.Errorf("step %d, point %d: %+v, want %+v", i, j, points[j], s.want[j].Point)
			}
		}
		if _, err := iocost.New(points...); err != nil {
			t.Errorf("step %d: no model of it: %v", i, err)
		}
	}
}

// TestSaveKeeps checks that a file that cannot be read is not lost.
func TestSaveKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), DefaultFile)
	const text = `{"format": "homenode-coefficients", "version": 2, "points": []}`
	golden.Write(t, path, []byte(text))
	_, _, _, err := Save(path, []Entry{entryOf(0, 1e6)}, false)
	want := path + `:1:48: found version 2, want 1: a newer homenode wrote it, or it was edited (--replace starts anew)`
	if err == nil || err.Error() != want {
		t.Errorf("found %v, want %s", err, want)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("the file is now %q, %v", got, err)
	}
	if _, _, _, err := Save(path, []Entry{entryOf(0, 1e6)}, true); err != nil {
		t.Error(err)
	}
}

const head = "{\"format\": \"homenode-coefficients\", \"version\": 1,\n \"points\": [\n"

const good = `{"path":"nvme","block":4096,"read":1,"random":1,"perIO":{"value":100,"low":90,"high":110,"origin":"measured","source":"a"},"runs":1,"scope":"guest","method":"","sources":null}`

func TestParse(t *testing.T) {
	f, err := Parse("f.json", []byte(head+"  "+good+"]}\n"))
	if err != nil || len(f.Entries) != 1 || f.Entries[0].Kind != (iocost.Kind{Path: iocost.NVMe, Block: 4096, Read: 1, Random: 1}) || f.Entries[0].PerIO.Value != 100 {
		t.Fatalf("%+v, %v", f, err)
	}
	with := func(old, new string) string { return head + "  " + strings.Replace(good, old, new, 1) + "]}" }
	for _, tt := range []struct{ in, want string }{
		{"", "f.json:1:1: found the end of the file: it is cut short"},
		{"[]", "f.json:1:1: found [, want an object"},
		{"{", "f.json:1:2: found the end of the file: it is cut short"},
		{"{}", `f.json:1:1: found the format "", want "homenode-coefficients"`},
		{`{"format": "homenode-snapshot"}`, `f.json:1:12: found the format "homenode-snapshot", want "homenode-coefficients"`},
		{`{"format": "homenode-coefficients", "format": "homenode-coefficients"}`, `f.json:1:37: found "format" twice`},
		{`{"format": "homenode-coefficients", "version": 1.5}`, "f.json:1:48: found version 1.5, want 1: a newer homenode wrote it, or it was edited"},
		{`{"hosts": 3}`, `f.json:1:2: found "hosts", which no file of homenode size calibrate has here`},
		{head, "f.json:3:1: points: found the end of the file: it is cut short"},
		{head + "  " + good[:40], "f.json:3:43: points[0]: found the end of the file: it is cut short"},
		{head + "  " + good + "]}\n x", "f.json:4:2: found more behind its end"},
		{`{"format": "homenode-coefficients", "version": 1, "points": {}}`, "f.json:1:61: points: found {, want a list"},
		{head + "  " + good + ",\n  " + good + "]}", "f.json:4:3: point 2: the same kind of I/O as point 1"},
		{with(`"nvme"`, `"nvm"`), `f.json:3:3: point 1: path: found "nvm", want nvme or vsan-esa`},
		{with(`"block":4096`, `"block":0`), "f.json:3:3: point 1: block: found 0, want 1 byte to 1 TiB"},
		{with(`"block":4096`, `"block":-4096`), "f.json:3:3: point 1: block: found -4096, want 1 byte to 1 TiB"},
		{with(`"read":1`, `"read":100`), "f.json:3:3: point 1: read: found 100, want a share, 0 to 1"},
		{with(`"random":1`, `"random":-0.5`), "f.json:3:3: point 1: random: found -0.5, want a share, 0 to 1"},
		{with(`"read":1,`, ``), `f.json:3:3: point 1: found no "read"`},
		{with(`"low":90,`, ``), `f.json:3:3: point 1: found no "perIO.low"`},
		{with(`"runs":1`, `"runs":0`), "f.json:3:3: point 1: runs: found 0, want 1 or more"},
		{with(`"scope":"guest"`, `"scope":"process"`), `f.json:3:3: point 1: scope: found "process", want host or guest`},
		{with(`"value":100`, `"value":0`), "f.json:3:3: point 1: perIO: found 0 cycles, want more than 0"},
		{with(`"value":100`, `"value":-100`), "f.json:3:3: point 1: perIO: found -100 cycles, want more than 0"},
		{with(`"low":90`, `"low":-90`), "f.json:3:3: point 1: perIO: found -90 cycles, want 0 or more"},
		{with(`"value":100`, `"value":120`), "f.json:3:3: point 1: perIO: found a value of 120 outside its range, 90 to 110"},
		{with(`"value":100`, `"value":NaN`), "f.json:3:68: points[0].perIO.value: invalid character 'N' at start of value"},
		{with(`"value":100`, `"value":1e999`), "f.json:3:68: points[0].perIO.value: found 1e999, want a number that fits"},
		{with(`"runs":1`, `"runs":1,"core":-1`), "f.json:3:3: point 1: core: found -1, want hertz, or 0 for not known"},
		{with(`"runs":1`, `"runs":1,"network":{"value":100,"low":90,"high":110}`), "f.json:3:3: point 1: network: found 100 cycles, want less than the whole cost of 100"},
		{with(`"runs":1`, `"runs":1,"network":{"value":10}`), `f.json:3:3: point 1: found no "network.low"`},
		{with(`"path":"nvme"`, `"path":5`), "f.json:3:11: points[0].path: found number, want a string"},
		{head + "  5]}", "f.json:3:3: points[0]: found number, want an object"},
		{with(`"runs":1`, `"runs":1,"cost":3`), `f.json:3:135: points[0]: found "cost", which no file of homenode size calibrate has here`},
	} {
		_, err := Parse("f.json", []byte(tt.in))
		var syntax *numa.SyntaxError
		if err == nil || err.Error() != tt.want || !errors.As(err, &syntax) {
			t.Errorf("%q:\nfound %v\nwant  %s", tt.in, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(head + good + "]}"))
	f.Add([]byte(head + good + "," + strings.Replace(good, "4096", "8192", 1) + "]}"))
	f.Add([]byte("{"))
	f.Add([]byte(`{"points":null,"version":1,"format":"homenode-coefficients"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		file, err := Parse("f", in)
		if err != nil {
			var syntax *numa.SyntaxError
			if file != nil || !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Line > bytes.Count(in, []byte("\n"))+1 || syntax.Col < 1 {
				t.Fatalf("%+v, %v", file, err)
			}
			return
		}
		kinds := map[iocost.Kind]bool{}
		for i := range file.Entries {
			if err := file.Entries[i].check(); err != nil || kinds[file.Entries[i].Kind] {
				t.Fatalf("%+v: %v", file.Entries[i], err)
			}
			kinds[file.Entries[i].Kind] = true
		}
		// What was read can be written and read again.
		text, err := json.Marshal(map[string]any{"format": format, "version": version, "points": file.Entries})
		if err != nil {
			t.Fatal(err)
		}
		if len(file.Entries) > 0 {
			if again, err := Parse("f", text); err != nil || len(again.Entries) != len(file.Entries) {
				t.Fatalf("%s: %v", text, err)
			}
		}
	})
}
