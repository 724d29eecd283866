package serve

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/ask/recording"
	"example.org/homenode/numa"
	"example.org/homenode/output/format"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/record"
	"example.org/homenode/source/anonymise"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/open"
)

// hidden are names that nothing of an anonymised recording may hold, beside those of the demo.
var hidden = []string{"vc77", "acme", "zwingli", "secretstore", "secretuser", "secretgroup", "4233aaf0", "192.0.2.71"}

// secretive returns the demo's inventory with names in more places.
func secretive(lab *demoLab) *numa.Fleet {
	f := lab.fleet()
	f.Source = "https://vc77.acme.example/sdk"
	f.Notes = append(f.Notes, numa.Note{At: "esx02.demo", Text: `VM sql02 on [secretstore] sql02/sql02.vmx belongs to ACME\secretuser (192.0.2.71)`})
	v := &f.VMs[0]
	v.Folder, v.UUID, v.Tags = "/Zwingli/vm", "4233aaf0-1b2c-3d4e-5f60-718293a4b5c6", []string{"owner:secretuser"}
	v.Settings = numa.ReadAt(append(slices.Clone(v.Settings.Value), numa.Setting{Key: "sched.swap.derivedName", Value: "/vmfs/volumes/secretstore/" + v.Name + "/a.vswp"}), "config.extraConfig")
	return f
}

// TestRecordAnonymised records two hours of the demo with names and with pseudonyms: nothing in the second folder is a name, and
// capture says the same of both.
func TestRecordAnonymised(t *testing.T) {
	now := time.Now().UTC()
	lab, err := startDemo(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.close()
	const vcenter = "vc77.acme.example"
	dir := t.TempDir()
	keyFile := dir + "/night.key.json"
	folders := []string{dir + "/named", dir + "/night"}
	fleet := secretive(lab)
	recorders := make([]*record.Recorder, 2)
	begin := func(i int, at time.Time) {
		o := record.Options{Every: time.Minute, Version: "test"}
		if i == 1 {
			o.Key = keyFile
		}
		if recorders[i], err = record.Open(folders[i], o, at); err != nil {
			t.Fatal(err)
		}
		recorders[i].Fleet(vcenter, fleet)
	}
	first := now.Add(-5 * time.Hour)
	begin(0, first)
	begin(1, first)
	both := func(a *collect.Answer) {
		for _, r := range recorders {
			r.Answer(a)
		}
	}
	writers := map[string]*fetchstats.Writer{}
	slices.SortStableFunc(lab.past, func(a, b numa.Tick) int { return a.Time.Compare(b.Time) })
	again := false
	for i := range lab.past {
		x := &lab.past[i]
		if x.Time.Before(first) {
			continue
		}
		if !again && now.Sub(x.Time) < time.Hour { // go on with the key
			again = true
			for i, r := range recorders {
				if err := r.Close(x.Time); err != nil {
					t.Fatal(err)
				}
				begin(i, x.Time)
			}
			writers = map[string]*fetchstats.Writer{}
		}
		id := lab.hostID[x.Host]
		a := collect.Answer{VCenter: vcenter, Host: id, Name: x.Host, Columns: true}
		if writers[id] == nil {
			writers[id] = &fetchstats.Writer{Machine: lab.writers[id].Machine, Boot: lab.writers[id].Boot}
			a.Text = []byte(writers[id].Info())
			both(&a)
		}
		a.Columns, a.Time = false, x.Time
		a.Text = []byte(strings.Replace(writers[id].Answer(x), "|Sched|", "|Vmfs|/vmfs/volumes/secretstore|\n|SchedGroup|9|sh.secretgroup|1|0|secretgroup|0|0|0|0|0|0|0|0|\n|Sched|", 1))
		both(&a)
	}
	why := "https://vc77.acme.example/sdk: ACME\\secretuser may not read esx02 (192.0.2.71), says zwingli"
	for i, r := range recorders {
		r.Note([]collect.Status{{Name: vcenter, Error: why, Hosts: []collect.HostStatus{{ID: lab.hostID["esx02.demo"], Name: "esx02.demo", Failing: why, Reason: "privilege"}, {ID: "host-99", Name: "esx99.acme.example"}}}}, now)
		if err := r.Close(now); err != nil {
			t.Fatal(i, err)
		}
	}

	f, err := os.Open(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	key, err := anonymise.ReadKey(keyFile, f)
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Clone(hidden)
	for _, n := range key.Names() {
		if len(n) > 3 && n != "epyc" && n != "SQL Server 2019 Standard" { // the processor is called so too; the rules ask for the product
			names = append(names, strings.ToLower(n))
		}
	}
	if !slices.Contains(names, "cache01") || !slices.Contains(names, "demo") || !slices.Contains(names, "esx99") {
		t.Errorf("the key has %q", names)
	}
	read := map[string]int{}
	err = filepath.WalkDir(folders[1], func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return cmp.Or(err, leaks(t, names, path, []byte(strings.TrimPrefix(path, folders[1]))))
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		plain, err := archive.Unpack(path, in, archive.Options{})
		if err != nil {
			return err
		}
		b, err := io.ReadAll(plain)
		read[filepath.Ext(path)]++
		return cmp.Or(err, leaks(t, names, path, append([]byte(strings.TrimPrefix(path, folders[1])+"\n"), b...)))
	})
	if err != nil || read[".json"] != 2 || read[".zst"] < 6 {
		t.Fatal(read, err)
	}

	told := make([]string, 2)
	for i, folder := range folders {
		r, err := ask.Named(recording.Entries, "capture").Answer(t.Context(), &recording.Capture{Files: []string{folder}, FailOn: "medium"}, &ask.Env{Open: open.Fleet, Form: "json"})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := format.Write(&b, "json", r.Answers[0], r.Form); err != nil {
			t.Fatal(err)
		}
		told[i] = strings.ReplaceAll(b.String(), folder, "FOLDER")
	}
	reasons := func(line string) bool {
		return strings.Contains(line, "FOLDER: no answer of ") || strings.Contains(line, ": no answer from ")
	}
	a := slices.DeleteFunc(strings.Split(told[0], "\n"), reasons)
	b := slices.DeleteFunc(strings.Split(key.Text(told[1]), "\n"), reasons)
	if n := strings.Count(told[0], `"rule": "M`); len(a) < 1000 || n < 2 {
		t.Errorf("%d findings in %d lines are too few to compare", n, len(a))
	}
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d of %d and %d:\n%s\n%s", i, len(a), len(b), a[min(i, len(a)-1)], b[min(i, len(b)-1)])
		}
	}

	for want, o := range map[string]record.Options{
		"pseudonyms, and this one would have names": {Version: "test"},
		"goes on with its key alone":                {Key: dir + "/other.key.json"},
		"given away with the folder":                {Key: folders[1] + "/k.json"},
	} {
		if _, err := record.Open(folders[1], o, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %q", err, want)
		}
	}
}

// leaks reports which names stand in b.
func leaks(t *testing.T, names []string, path string, b []byte) error {
	low := bytes.ToLower(b)
	for _, n := range names {
		if i := bytes.Index(low, []byte(n)); i >= 0 {
			t.Errorf("%s: %q is in …%s…", path, n, b[max(i-80, 0):min(i+80, len(b))])
		}
	}
	return nil
}
