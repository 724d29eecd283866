package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A member is a file of a test archive.
type member struct{ name, content string }

func makeTar(t testing.TB, members ...member) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.content)), Typeflag: tar.TypeReg}
		if strings.HasPrefix(m.content, "-> ") {
			h = &tar.Header{Name: m.name, Typeflag: tar.TypeSymlink, Linkname: m.content[3:]}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, m.content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func makeZip(t testing.TB, members ...member) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		f, err := w.Create(m.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func packGzip(t testing.TB, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func packZstd(t testing.TB, content string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(content), nil))
}

// put writes a file into a new folder and returns its path.
func put(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, path, []byte(content))
	return path
}

// walk returns what a walk visits, each as "name size content", without the
// folder of path, and what is damaged.
func walk(path string, opt Options) (visited, damaged []string, err error) {
	dir := filepath.ToSlash(filepath.Dir(path)) + "/"
	opt.Damaged = func(name string, err error) {
		damaged = append(damaged, strings.TrimPrefix(name, dir)+"| "+strings.ReplaceAll(err.Error(), dir, ""))
	}
	err = Walk(path, opt, func(name string, size int64, r io.Reader) error {
		b, err := io.ReadAll(r)
		text := fmt.Sprintf("%s %d %s", strings.TrimPrefix(name, dir), size, b)
		if err != nil {
			text += " (" + strings.ReplaceAll(err.Error(), dir, "") + ")"
		}
		visited = append(visited, text)
		return nil
	})
	if err != nil {
		err = errors.New(strings.ReplaceAll(err.Error(), dir, ""))
	}
	return visited, damaged, err
}

func TestWalk(t *testing.T) {
	a, b := member{"top/a.log", "alpha"}, member{"top/sub/b.vmx", "beta"}
	plain := makeTar(t, a, member{"top/skip.bin", "xx"}, b)
	ab := []string{"in/top/a.log 5 alpha", "in/top/sub/b.vmx 4 beta"}
	want := func(name string) bool {
		return strings.HasSuffix(name, ".log") || strings.HasSuffix(Plain(name), ".vmx")
	}
	under := func(prefix string, list ...string) []string {
		var out []string
		for _, s := range list {
			out = append(out, strings.Replace(s, "in/", prefix, 1))
		}
		return out
	}
	for _, tt := range []struct {
		name, file, content string
		want                []string
	}{
		{"a file", "in.log", "alpha", []string{"in.log 5 alpha"}},
		{"an empty file", "in.log", "", []string{"in.log 0 "}},
		{"gz", "in.log.gz", packGzip(t, "alpha"), []string{"in.log.gz -1 alpha"}},
		{"zst", "in.log.zst", packZstd(t, "alpha"), []string{"in.log.zst -1 alpha"}},
		{"tar", "in", plain, ab},
		{"tgz", "in", packGzip(t, plain), ab},
		{"tar.zst", "in", packZstd(t, plain), ab},
		{"zip", "in", makeZip(t, a, member{"top/skip.bin", "xx"}, b), ab},
		{"an empty zip", "in", makeZip(t), nil},
		{"a tgz in a tgz", "in", packGzip(t, makeTar(t, member{"x.tgz", packGzip(t, plain)}, a)), append(under("in/x.tgz/", ab...), "in/top/a.log 5 alpha")},
		{"a tgz in a zip", "in", makeZip(t, member{"x.TGZ", packGzip(t, plain)}), under("in/x.TGZ/", ab...)},
		{"a zip in a tgz", "in", packGzip(t, makeTar(t, member{"x.zip", makeZip(t, a, b)})), under("in/x.zip/", ab...)},
		{"three deep", "in", makeTar(t, member{"x.tar", makeTar(t, member{"y.tar", plain})}), nil},
		{"gz in a tar", "in", makeTar(t, member{"b.vmx.gz", packGzip(t, "beta")}, member{"c.vmx.zst", packZstd(t, "gamma")}),
			[]string{"in/b.vmx.gz -1 beta", "in/c.vmx.zst -1 gamma"}},
		{"a link in a tar", "in", makeTar(t, member{"a.log", "-> /etc/passwd"}, b), []string{"in/top/sub/b.vmx 4 beta"}},
		{"names that lead out", "in", makeTar(t, member{"../../a.log", "1"}, member{"/etc/b.log", "2"}, member{"x\x1b[31m\n.log", "3"}),
			[]string{"in/a.log 1 1", "in/etc/b.log 1 2", "in/x\uFFFD[31m\uFFFD.log 1 3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			visited, damaged, err := walk(put(t, tt.file, tt.content), Options{Want: want})
			if err != nil || damaged != nil || !slices.Equal(visited, tt.want) {
				t.Errorf("got  %q\nwant %q\ndamaged %q, %v", visited, tt.want, damaged, err)
			}
		})
	}
}

func TestFolder(t *testing.T) {
	path := put(t, "in/a.log", "alpha")
	dir := filepath.Dir(path)
	outside := put(t, "secret.log", "secret")
	for _, err := range []error{
		os.Symlink(outside, filepath.Join(dir, "b.log")),
		os.Symlink(filepath.Dir(outside), filepath.Join(dir, "out")),
		os.WriteFile(filepath.Join(dir, "x.tgz"), []byte(packGzip(t, makeTar(t, member{"c.log", "gamma"}))), 0o644),
		os.WriteFile(filepath.Join(dir, "y.zip"), []byte(makeZip(t, member{"d.log", "delta"})), 0o644),
		os.WriteFile(filepath.Join(dir, "e.log.FRAG-00000"), []byte("ep"), 0o644),
		os.WriteFile(filepath.Join(dir, "e.log.FRAG-00001"), []byte("silon"), 0o644),
		os.WriteFile(filepath.Join(dir, "z.tgz"), []byte("no archive"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	visited, damaged, err := walk(dir, Options{Want: func(name string) bool { return strings.HasSuffix(name, ".log") }})
	want := []string{"in/a.log 5 alpha", "in/x.tgz/c.log 5 gamma", "in/y.zip/d.log 5 delta", "in/z.tgz 10 no archive", "in/e.log -1 epsilon"}
	slices.Sort(visited)
	slices.Sort(want)
	if err != nil || damaged != nil || !slices.Equal(visited, want) {
		t.Errorf("got  %q\nwant %q\ndamaged %q, %v", visited, want, damaged, err)
	}
}

// TestParts reads divided files whose parts come in any order.
func TestParts(t *testing.T) {
	f := func(n int, content string) member { return member{fmt.Sprintf("d/big.FRAG-%05d", n), content} }
	other := member{"d/other", "o"}
	for _, tt := range []struct {
		name    string
		in      []member
		want    []string
		damaged []string
	}{
		{"in order", []member{f(0, "a"), f(1, "b"), f(2, "c")}, []string{"in/d/big -1 abc"}, nil},
		{"with others between", []member{f(0, "a"), other, f(1, "b")}, []string{"in/d/other 1 o", "in/d/big -1 ab"}, nil},
		{"backwards", []member{f(2, "c"), f(1, "b"), f(0, "a")}, []string{"in/d/big -1 abc"}, nil},
		{"two files", []member{f(0, "a"), {"d/big2.FRAG-00000", "x"}, f(1, "b"), {"d/big2.FRAG-00001", "y"}}, []string{"in/d/big -1 ab", "in/d/big2 -1 xy"}, nil},
		{"an empty part", []member{f(0, ""), f(1, "b"), f(2, "")}, []string{"in/d/big -1 b"}, nil},
		{"a part is missing", []member{f(0, "a"), f(2, "c")}, []string{"in/d/big -1 a (in/d/big: part 00001 is missing: read to the end of the part before it)"}, nil},
		{"the first is missing", []member{f(1, "b")}, nil, []string{"in/d/big| in/d/big: part 00000 is missing: read to the end of the part before it"}},
		{"a part twice", []member{f(0, "a"), f(0, "a"), f(1, "b")}, []string{"in/d/big -1 ab"},
			[]string{"in/d/big.FRAG-00000| in/d/big: part 00000 is there twice: the second is left out"}},
		{"more than may wait", []member{f(1, strings.Repeat("b", 101)), f(0, "a")}, nil,
			[]string{"in/d/big| in/d/big: part 00001 comes before part 00000, and what waits is more than 100 bytes: unpack the archive and read the folder"}},
		{"no number", []member{{"d/big.FRAG-0000x", "a"}}, []string{"in/d/big.FRAG-0000x 1 a"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			visited, damaged, err := walk(put(t, "in", makeTar(t, tt.in...)), Options{Spool: 100})
			if err != nil || !slices.Equal(visited, tt.want) || !slices.Equal(damaged, tt.damaged) {
				t.Errorf("got  %q\nwant %q\ndamaged %q\nwant    %q\n%v", visited, tt.want, damaged, tt.damaged, err)
			}
		})
	}
}

func TestDamage(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 4096)
	whole := makeTar(t, member{"a.log", "alpha"}, member{"b.log", long}, member{"c.log", "gamma"})
	cut := whole[:2*512+512+1000]
	for _, tt := range []struct {
		name, content string
		visited       int
		damaged       []string
		err           string
	}{
		{"a tar cut off in a member", cut, 2, nil, "in: damaged or cut off at or behind b.log: unexpected EOF"},
		{"a tar cut off in the first header", whole[:300], 0, nil, "in: damaged or cut off at or behind the beginning: unexpected EOF"},
		{"a tgz cut off", packGzip(t, whole)[:100], 1, nil, "in: damaged or cut off at or behind a.log: unexpected EOF"},
		{"a zip cut off", makeZip(t, member{"a.log", "alpha"})[:60], 0, nil, "in: damaged or cut off: zip: not a valid zip file"},
		{"no gzip", gzipMagic + "soup soup soup", 0, nil, "in: not a gzip file: gzip: invalid header"},
		{"an inner archive cut off", makeTar(t, member{"x.tgz", packGzip(t, whole)[:100]}, member{"c.log", "gamma"}), 2,
			[]string{"in/x.tgz| in/x.tgz: damaged or cut off at or behind a.log: unexpected EOF"}, ""},
		{"an inner zip beyond the bound", makeTar(t, member{"x.zip", makeZip(t, member{"a.log", long})}, member{"c.log", "gamma"}), 1,
			[]string{"in/x.zip| in/x.zip: a zip of more than 100 bytes inside an archive: unpack the outer one and read the folder"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			visited, damaged, err := walk(put(t, "in", tt.content), Options{Spool: 100})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if len(visited) != tt.visited || got != tt.err || !slices.Equal(damaged, tt.damaged) {
				t.Errorf("visited %d, damaged %q, error %s\nwant    %d, damaged %q, error %s", len(visited), damaged, got, tt.visited, tt.damaged, tt.err)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	three := makeTar(t, member{"a", "1"}, member{"b", "2"}, member{"c", "3"})
	visited, _, err := walk(put(t, "in", three), Options{MaxEntries: 2})
	if len(visited) != 2 || err == nil || err.Error() != "in: more than 2 members: not read further" {
		t.Errorf("%q, %v", visited, err)
	}
	large := makeTar(t, member{"a", strings.Repeat("0123456789", 100_000)}, member{"b", "2"})
	visited, _, err = walk(put(t, "in", packGzip(t, large)), Options{MaxBytes: 300_000})
	const reached = "in: unpacks to more than 300000 bytes: not read further"
	if len(visited) != 1 || !strings.HasSuffix(visited[0], "("+reached+")") || err == nil || err.Error() != reached {
		t.Errorf("%d visited, %v", len(visited), err)
	}
	if testing.Short() {
		return
	}
	var bomb bytes.Buffer
	z, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var seen int64
	var failed error
	err = Walk(put(t, "in.log.gz", bomb.String()), Options{MaxRatio: 100}, func(_ string, _ int64, r io.Reader) error {
		seen, failed = io.Copy(io.Discard, r)
		return nil
	})
	if err != nil || failed == nil || !strings.HasSuffix(failed.Error(), "in.log.gz: unpacks to more than 100 times its size: not read further") || seen > ratioFrom+2*buffer {
		t.Errorf("%d bytes seen, %v, %v", seen, failed, err)
	}
}

func TestVisitError(t *testing.T) {
	stop := errors.New("enough")
	path := put(t, "in", makeTar(t, member{"a", "1"}, member{"b.FRAG-00000", "2"}, member{"b.FRAG-00001", "3"}, member{"c", "4"}))
	for _, at := range []string{"a", "b", "c"} {
		n := 0
		err := Walk(path, Options{Damaged: func(string, error) {}}, func(name string, _ int64, r io.Reader) error {
			n++
			if strings.HasSuffix(name, "/"+at) {
				return stop
			}
			_, err := io.Copy(io.Discard, r)
			return err
		})
		if err != stop || n == 0 {
			t.Errorf("at %s: %v", at, err)
		}
	}
	if err := Walk(filepath.Join(t.TempDir(), "nothing"), Options{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"../../a", `..\..\a`, "/etc/passwd", "a\x00b", "C:\\x", "", "..", strings.Repeat("ä", 2000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Clean(in)
		if got == ".." || strings.HasPrefix(got, "../") || strings.HasPrefix(got, "/") || strings.Contains(got, "/../") || strings.ContainsAny(got, "\\\n\x00\x1b") || len(got) > maxName {
			t.Fatalf("Clean(%q) = %q", in, got)
		}
		if base, _, ok := part(got); ok && !strings.HasPrefix(got, base+".FRAG-") {
			t.Fatalf("part(%q) = %q", got, base)
		}
	})
}

func FuzzWalk(f *testing.F) {
	f.Add([]byte(packGzip(f, makeTar(f, member{"a.FRAG-00001", "b"}, member{"a.FRAG-00000", "a"}, member{"x.zip", makeZip(f, member{"y", "z"})}))))
	f.Add([]byte(makeZip(f, member{"a.gz", packGzip(f, "a")})))
	f.Add([]byte(packZstd(f, "abc")))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, in []byte) {
		path := filepath.Join(dir, fmt.Sprintf("in%d", os.Getpid()))
		golden.Write(t, path, in)
		opt := Options{MaxBytes: 1 << 20, MaxEntries: 100, Spool: 1 << 16, Damaged: func(string, error) {}}
		if err := Walk(path, opt, func(name string, _ int64, r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			_ = err // damage is what the fuzzer makes
			return nil
		}); err != nil && err.Error() == "" {
			t.Fatal("an error without a text")
		}
	})
}
