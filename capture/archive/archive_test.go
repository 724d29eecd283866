package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"homenode/capture"
	"homenode/capture/export/esxtop"
	"homenode/internal/queue"
	"homenode/numa"
	"homenode/rules"
	"homenode/source/demo"
	"homenode/source/ticks"
)

// perFile is how many ticks a file of the test archive holds.
const perFile = 90

// makeArchive writes the demo's night as files of perFile ticks, a folder for each host,
// every third one packed, and beside them a damaged file, one without ticks and one of
// another kind. It returns how many files hold ticks.
func makeArchive(t testing.TB, root string) (files int) {
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
		files, b = files+1, nil
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
	writeFile(t, root, "esx02.demo/notes.txt", "looks fine to me\n")
	writeFile(t, root, ".snapshot/esx02.demo/night-000.csv", "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\esx09\\Memory\\Free MBytes\",\n")
	return files
}

func writeFile(t testing.TB, root, name, body string) {
	t.Helper()
	p := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

func options() Options { return Options{Capture: rules.CaptureOptions(nil)} }

// encoded returns all of a Merged as bytes.
func encoded(t testing.TB, m *Merged) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "jobs %d, read %d, broken %d, ticks %d\n", m.Jobs, m.Read, m.Broken, m.Ticks)
	for _, n := range m.Notes {
		fmt.Fprintln(&b, n)
	}
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
// archive is compared with has no jobs, results or merging.
func oneReader(t testing.TB, root string, jobs []Job) []byte {
	t.Helper()
	recorders := capture.NewRecorders(options().Capture)
	for i := range jobs {
		name := jobs[i].Name
		f, err := os.Open(filepath.Join(root, name))
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

// The same archive gives the same bytes with one goroutine, with several, with workers
// of a queue, and read without any of them.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := makeArchive(t, root)
	list, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(list.Jobs), files+1; got != want {
		t.Fatalf("listed %d jobs, want %d", got, want)
	}
	one, err := Run(t.Context(), Here{Root: root, AtOnce: 1}, list.Jobs, options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := encoded(t, one)
	if !bytes.HasSuffix(want, oneReader(t, root, list.Jobs)) {
		t.Error("the merged recordings are not those of one Recorder")
	}
	if one.Read != files || one.Broken != 0 || len(one.Notes) != 2 {
		t.Errorf("read %d files, %d broken, notes %v; want %d, 0 and two notes", one.Read, one.Broken, one.Notes, files)
	}
	several, err := Run(t.Context(), Here{Root: root, AtOnce: 5}, list.Jobs, options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, several), want) {
		t.Error("five goroutines give other bytes than one")
	}

	url := serve(t)
	elsewhere := filepath.Join(t.TempDir(), "mounted") // as another machine sees it
	if err := os.Symlink(root, elsewhere); err != nil {
		t.Fatal(err)
	}
	for i, at := range []string{root, elsewhere, elsewhere} {
		startArchiveWorker(t, url, Here{Root: at}, fmt.Sprint("w", i))
	}
	queued, err := RunOn(t.Context(), dial(t, url), Here{Root: root}, list.Jobs, options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, queued), want) {
		t.Error("the queue gives other bytes than one goroutine")
	}
}

// serve starts a queue in this process and returns its URL.
func serve(t testing.TB) string {
	t.Helper()
	o := queue.ServerOptions{Listen: "127.0.0.1:0", Store: t.TempDir()}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- queue.Serve(ctx, o, func(url string) { ready <- url }) }()
	select {
	case url := <-ready:
		t.Cleanup(func() { cancel(); <-ended })
		return url
	case err := <-ended:
		cancel()
		t.Fatal(err)
		return ""
	}
}

func dial(t testing.TB, url string) *queue.Client {
	t.Helper()
	c, err := queue.Dial(t.Context(), queue.Access{URL: url, AckWait: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func startArchiveWorker(t testing.TB, url string, here Here, name string) {
	t.Helper()
	c := dial(t, url)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- c.Work(ctx, queue.WorkOptions{Name: name, Handlers: Handlers(here)}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A file that is not the listed one any more is a note; one that grew is read.
func TestChangedFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeArchive(t, root)
	list, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	first, second, third := list.Jobs[1], list.Jobs[2], list.Jobs[4]
	at := func(j Job) string { return filepath.Join(root, j.Name) }
	later := time.Unix(first.Files[0].Modified+60, 0)
	if err := os.Chtimes(at(first), later, later); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(at(second)); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(at(third), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("\"truncat"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	m, err := Run(t.Context(), Here{Root: root}, list.Jobs, options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Broken != 2 || len(m.Notes) != 2 {
		t.Fatalf("%d files are broken, notes %v; want 2 and two notes", m.Broken, m.Notes)
	}
	notes := m.Failed
	size := first.Files[0].Size
	want := []string{
		fmt.Sprintf("%s: changed since it was listed: found %d bytes of %s, want %d of %s", first.Name, size, date(later.Unix()), size, date(later.Unix()-60)),
		second.Name + ": lstat: no such file or directory",
	}
	if !reflect.DeepEqual(notes, want) {
		t.Errorf("notes\n%s\nwant\n%s", strings.Join(notes, "\n"), strings.Join(want, "\n"))
	}
	var warned []string
	for _, f := range m.Recordings[0].Files {
		if f.Name == third.Name {
			warned = f.Warnings
		}
	}
	if len(warned) == 0 || warned[0] != third.Name+": grew after the archive was listed" {
		t.Errorf("warnings of %s are %q, want that it grew", third.Name, warned)
	}
}

func TestNothingRead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFile(t, root, "notes.txt", "looks fine to me\n")
	list, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	if list.Passed != 1 || len(list.Jobs) != 0 {
		t.Errorf("listed %+v, want one file skipped", list)
	}
	_, err = Run(t.Context(), Here{Root: root}, list.Jobs, options(), nil)
	if want := "found nothing that is read"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Parts of Parquet that cannot be written are no fault of the file: the run ends.
func TestParquetFails(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeArchive(t, root)
	list, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, root, "taken", "")
	_, err = Run(t.Context(), Here{Root: root, Parquet: filepath.Join(root, "taken")}, list.Jobs, options(), nil)
	var refusal *queue.Refusal
	if !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Reason, "parquet: ") {
		t.Errorf("error %v, want one of parquet", err)
	}
}

// Parquet is the same whether one worker wrote it or several, and when it is written again.
func TestParquetAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeArchive(t, root)
	list, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	jobs := list.Jobs[:4]
	out := t.TempDir()
	var seen []map[string]string
	for _, atOnce := range []int{1, 3, 2} {
		if _, err := Run(t.Context(), Here{Root: root, Parquet: out, AtOnce: atOnce}, jobs, options(), nil); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		err := filepath.WalkDir(out, func(p string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(p)
			files[p] = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, files)
	}
	if len(seen[0]) == 0 || !reflect.DeepEqual(seen[0], seen[1]) || !reflect.DeepEqual(seen[0], seen[2]) {
		t.Errorf("the files of Parquet differ between runs: %d, %d and %d files", len(seen[0]), len(seen[1]), len(seen[2]))
	}
}
