package archive

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"example.org/homenode/capture"
	"example.org/homenode/capture/export/esxtop"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/ticks"
)

// perFile is how many ticks a file of the test archive holds.
const perFile = 30

// makeArchive writes the demo's night as files of perFile ticks, a folder for each host,
// every third one packed, and beside them a damaged file.
func makeArchive(t testing.TB, root string) {
	t.Helper()
	in, err := demo.Capture()
	if err != nil {
		t.Fatal(err)
	}
	var w *esxtop.Writer
	var b *bytes.Buffer
	var dir string
	n := 0
	flush := func() {
		if b == nil {
			return
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		name, body := fmt.Sprintf("%s/night-%03d.csv", dir, n), b.Bytes()
		if n%3 == 2 {
			z, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			name, body = name+".zst", z.EncodeAll(body, nil)
		}
		writeFile(t, root, name, string(body))
		b = nil
	}
	ticks := 0
	err = in.Ticks(func(tick *numa.Tick) error {
		if tick.Host != dir || ticks == perFile {
			flush()
			if tick.Host != dir {
				dir, n = tick.Host, 0
			} else {
				n++
			}
			b, ticks = &bytes.Buffer{}, 0
			w = esxtop.NewWriter(b)
		}
		ticks++
		return w.Add(tick)
	})
	if err != nil {
		t.Fatal(err)
	}
	flush()
	writeFile(t, root, "esx02.demo/broken.csv", "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\esx09\\Memory\\Free MBytes\",\n\"nonsense\",\"1\",\n")
}

func writeFile(t testing.TB, root, name, body string) {
	t.Helper()
	p := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, p, []byte(body))
}

func options() *Options { return &Options{Capture: rules.CaptureOptions(nil)} }

// results reads every file of an archive on its own.
func results(t testing.TB, root string) (all []*Result) {
	t.Helper()
	list, err := ticks.List(root)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Sources {
		r := &Reading{Options: options()}
		open := func(name, format string) error { r.Open(name, format); return nil }
		tick := func(tick *numa.Tick) error { r.Tick(tick); return nil }
		done := func(f *ticks.File, err error) error { r.Done(f, err); return nil }
		if _, err := list.Sources[i].Read(t.Context(), ticks.Options{}, ticks.Visit{Open: open, Tick: tick, Done: done}); err != nil {
			t.Fatal(err)
		}
		all = append(all, &r.Result)
	}
	return all
}

// merged merges results.
func merged(t testing.TB, all []*Result) *Merged {
	t.Helper()
	var m Merger
	defer m.Close()
	for _, r := range all {
		if err := m.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) > mostHeld && m.file == nil {
		t.Errorf("%d results wait in memory, want at most %d", len(all), mostHeld)
	}
	out, err := m.Merged(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// encoded returns all of a Merged as bytes.
func encoded(t testing.TB, m *Merged) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintln(&b, m.Notes, m.Files, m.Failed, m.Outside)
	writeRecordings(t, &b, m.Recordings)
	return b.Bytes()
}

func writeRecordings(t testing.TB, w io.Writer, list []*capture.Recording) {
	t.Helper()
	for _, r := range list {
		if err := capture.Encode(w, r); err != nil {
			t.Fatal(err)
		}
	}
}

// oneReader reads the same files one after the other into one Recorder a host: what the
// archive is compared with has no results and no merging.
func oneReader(t testing.TB, root string) []byte {
	t.Helper()
	recorders := capture.NewRecorders(options().Capture)
	list, err := ticks.List(root)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Sources {
		name := list.Sources[i].Name
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		recorders.Open(name, ticks.Batch)
		file, err := ticks.Read(t.Context(), name, f, ticks.Options{}, func(tick *numa.Tick) error {
			recorders.Add(tick)
			return nil
		})
		if err == nil {
			for _, text := range file.Warnings {
				recorders.Warn(text)
			}
		}
		f.Close()
	}
	var b bytes.Buffer
	writeRecordings(t, &b, recorders.Recordings())
	return b.Bytes()
}

// An archive gives the same bytes in whatever order its results come, also those that were
// packed, and read without any of them.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeArchive(t, root)
	all := results(t, root)
	if len(all) <= mostHeld {
		t.Fatalf("the archive has %d files, want more than wait in memory", len(all))
	}
	want := encoded(t, merged(t, all))
	if !bytes.HasSuffix(want, oneReader(t, root)) {
		t.Error("the merged recordings are not those of one Recorder")
	}
	rnd := rand.New(rand.NewPCG(28, 1))
	for range 2 {
		mixed := slices.Clone(all)
		rnd.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		for i, r := range mixed {
			if rnd.IntN(2) == 0 {
				continue
			}
			packed, err := r.Pack()
			if err != nil {
				t.Fatal(err)
			}
			if mixed[i], err = Unpack(packed); err != nil {
				t.Fatal(err)
			}
		}
		if got := encoded(t, merged(t, mixed)); !bytes.Equal(got, want) {
			t.Fatal("another order gives other bytes")
		}
	}
}

// recorded returns a result of a file with one tick.
func recorded(name string, o capture.Options) *Result {
	r := capture.NewRecorder(o)
	r.Open(name, ticks.Batch)
	r.Add(&numa.Tick{Host: "esx01", Time: time.Unix(1e9, 0).UTC(), VMs: []numa.VMTick{{GID: 7, Name: "db01"}}})
	return &Result{Recordings: []*capture.Recording{r.Recording()}}
}

func TestPack(t *testing.T) {
	t.Parallel()
	want := recorded("a.csv", options().Capture)
	want.Outside, want.Notes, want.Failed = 7, []string{"a note <1>"}, []string{"a.csv:2:1: a failure"}
	want.Named = []Named{{As: "esx01", Host: "esx02", File: "a.csv"}}
	packed, err := want.Pack()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unpack(packed)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Unpack = %+v, %v; want %+v", got, err, want)
	}
	for _, tt := range []struct {
		name, want string
		in         []byte
	}{
		{"nothing", "found no line end behind its head", nil},
		{"cut", "unpack: ", packed[:len(packed)/2]},
		{"no packed bytes", "unpack: ", []byte("{}")},
		{"an unknown field", `column 2: found "x", which no result has here`, pack([]byte("{\"x\":1}\n"))},
		{"no recording", "read recording: ", pack([]byte("{}\n{}\n"))},
	} {
		if r, err := Unpack(tt.in); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: Unpack = %+v, %v; want the error %q", tt.name, r, err, tt.want)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte("{\"outside\":1,\"notes\":[\"x\"]}\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Unpack(pack(in))
		if err != nil {
			return
		}
		packed, err := r.Pack()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Unpack(packed)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := again.Pack(); err != nil || !bytes.Equal(twice, packed) {
			t.Errorf("packed again it is %+v, %v; want %+v", again, err, r)
		}
	})
}

// What cannot be merged is refused.
func TestAddErrors(t *testing.T) {
	t.Parallel()
	other := options().Capture
	other.Locality = 0.9
	for _, tt := range []struct {
		name string
		all  []*Result
		want string
	}{
		{"two sets of limits", []*Result{recorded("a.csv", options().Capture), recorded("b.csv", other)},
			"found two sets of limits, want one: a.csv and b.csv have other thresholds"},
		{"two hosts called alike", []*Result{{Named: []Named{{"esx01", "esx02.example.com", "a.csv"}, {"esx09", "esx03", "c.csv"}}}, {Named: []Named{{"esx01", "esx02", "b.csv"}, {"esx01", "esx03", "c.csv"}}}},
			"--host-name esx01: found files of esx02 and esx03 (c.csv), which are two hosts: want files of one"},
	} {
		var m Merger
		var err error
		for _, r := range tt.all {
			err = cmp.Or(err, m.Add(r))
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v\nwant %s", tt.name, err, tt.want)
		}
	}
}
