package benchmark

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// dump prints all that was read, for a person to check.
func dump(res *Results) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "format %s\n", res.Format)
	warnings := func(list []fact.Warning) {
		for _, w := range list {
			fmt.Fprintf(&b, "  warning  %s  %s\n", numa.Place("", w.Line, w.Col), w.Text)
		}
	}
	warnings(res.Warnings)
	for _, r := range res.Runs {
		fmt.Fprintf(&b, "run %s  :%d\n", r.Label(), r.Line)
		for _, f := range r.Settings {
			fmt.Fprintf(&b, "  setting  %s  %s = %s\n", numa.Place("", f.Line, f.Col), f.Name, strings.TrimSpace(fmt.Sprint(f.Value, " ", f.Unit)))
		}
		for _, f := range r.Facts {
			fmt.Fprintf(&b, "  fact     %s  %s = %s\n", numa.Place("", f.Line, f.Col), f.Name, strings.TrimSpace(fmt.Sprint(f.Value, " ", f.Unit)))
		}
		for _, m := range r.Metrics {
			fmt.Fprintf(&b, "  metric   %s  %s = %v %s (%s)\n", numa.Place("", m.Line, m.Col), m.Name, m.Value, m.Unit, m.Better)
		}
		warnings(r.Warnings)
		if io, ok := r.IO(); ok {
			fmt.Fprintf(&b, "  I/O      %s\n", dumpIO(&io))
		}
	}
	return b.Bytes()
}

// dumpIO prints what a run says of its I/Os; what it does not say is a hyphen.
func dumpIO(io *IO) string {
	n := func(v *Number) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(v.Value)
	}
	return fmt.Sprintf("%q begun %q, block %s mixed %v, read %s random %s, did read %s, IOPS %s, B/s %s, CPU %s%% of %s, VMs %s disks %s limit %s",
		io.Test, io.Started, n(io.Block), io.Mixed, n(io.Read), n(io.Random), n(io.Reads), n(io.IOPS), n(io.Throughput), n(io.CPU), io.CPUOf, n(io.VMs), n(io.Disks), n(io.Limit))
}

func inputs(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, path := range all {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !strings.HasSuffix(path, ".want") {
			out = append(out, path)
		}
	}
	if len(out) < 18 {
		t.Fatalf("found %d inputs", len(out))
	}
	return out
}

// TestRead reads each file of testdata, with what it holds beside it.
func TestRead(t *testing.T) {
	for _, path := range inputs(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			in, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			res, err := Read(path, bytes.NewReader(in))
			if err != nil {
				t.Fatal(err)
			}
			want := dump(res)
			golden.Equal(t, want, path+".want")
			for name, form := range forms(string(in)) {
				res, err := Read(path, strings.NewReader(form))
				if err != nil {
					t.Errorf("%s: %v", name, err)
				} else if got := dump(res); !bytes.Equal(got, want) {
					t.Errorf("%s is read otherwise:\n%s", name, got)
				}
			}
		})
	}
}

// forms are the ways in which people save a text.
func forms(s string) map[string]string {
	units := utf16.Encode([]rune("\ufeff" + s))
	wide := make([]byte, 0, 2*len(units))
	for _, u := range units {
		wide = append(wide, byte(u), byte(u>>8))
	}
	return map[string]string{
		"CRLF":              strings.ReplaceAll(s, "\n", "\r\n"),
		"CR":                strings.ReplaceAll(s, "\n", "\r"),
		"UTF-8 with a mark": "\ufeff" + s,
		"UTF-16":            string(wide),
		"without last end":  strings.TrimSuffix(s, "\n"),
	}
}

func TestErrors(t *testing.T) {
	const none = "found no result of homenode measure, fio (JSON), Intel MLC, multichase, HCIBench, Iometer, HammerDB, sp_BlitzFirst or PassMark in the beginning of the file"
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "f: " + none},
		{"text", "Dear all,\nthe memory latency was fine.\n", "f: " + none},
		{"a number", "78.5\n", "f: " + none},
		{"JSON of another", "{\n \"jobs\": []\n}\n", "f: " + none},
		{"JSON cut", "{\n \"fio version\" : \"fio-3.1\",\n \"jobs\" : [\n  { \"jobname\" : \"a\"", "f:4:20: fio JSON: unexpected EOF"},
		{"JSON damaged", "x\n{\n \"fio version\" : \"fio-3.1\",\n \"jobs\" : [\n  { \"jobname\" : nan }]}", "f:5:17: fio JSON: invalid character 'a' in literal null (expecting 'u')"},
		{"JSON deep", `{ "fio version" : ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}", "f:1:83: fio JSON: found more than 64 levels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := Read("f", strings.NewReader(tt.in))
			var syntax *numa.SyntaxError
			if res != nil || err == nil || err.Error() != tt.want || !errors.As(err, &syntax) {
				t.Errorf("Read = %v, %v; want %s", res, err, tt.want)
			}
		})
	}
	disk := errors.New("disk on fire")
	head := "Measuring Loaded Latencies for the system\n"
	for in, want := range map[string]string{"": "f: disk on fire", head: "f: disk on fire"} {
		_, err := Read("f", io.MultiReader(strings.NewReader(in), iotest.ErrReader(disk)))
		if err == nil || err.Error() != want || !errors.Is(err, disk) {
			t.Errorf("Read after %q = %v, want %s", in, err, want)
		}
	}
	late := io.MultiReader(strings.NewReader(head+strings.Repeat(" 00000\t1.00\t 2.0\n", 8<<10)), iotest.ErrReader(disk))
	if _, err := Read("f", late); !errors.Is(err, disk) {
		t.Errorf("Read = %v, want %v", err, disk)
	}
}

func TestNumber(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want float64
		ok   bool
	}{
		{"0", 0, true}, {"78.5", 78.5, true}, {"1.5e3", 1500, true}, {"721,317.28", 721317.28, true}, {"1,234,567", 1234567, true},
		{"", 0, false}, {"-", 0, false}, {"-1", 0, false}, {"+1", 0, false}, {"nan", 0, false}, {"inf", 0, false}, {"0x10", 0, false},
		{"1e999", 0, false}, {"12,5", 0, false}, {"1234,567", 0, false}, {",123", 0, false}, {"1.2.3", 0, false}, {"1_000", 0, false},
	} {
		if got, ok := number(tt.in); got != tt.want || ok != tt.ok {
			t.Errorf("number(%q) = %v, %v; want %v, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

// TestFile checks what the read command prints: settings, facts and metrics of each
// run, numbered where labels repeat, and warnings in the order of lines.
func TestFile(t *testing.T) {
	in := "Vuser 1:TEST RESULT : System achieved 10 NOPM from 20 Oracle TPM\nodd\nVuser 1:TEST RESULT : System achieved 11 NOPM from 21 Oracle TPM\n"
	res, err := Read("h.log", strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	f := res.File()
	for _, x := range f.Facts {
		got = append(got, fmt.Sprintf("%s %s: %s = %v %s", f.At(x.Line, x.Col), x.Subject, x.Name, x.Value, x.Unit))
	}
	for _, w := range f.Warnings {
		got = append(got, f.At(w.Line, w.Col)+" "+w.Text)
	}
	want := `h.log:1:39 HammerDB TPROC-C Oracle, run 1 of 2: NOPM = 10 1/min
h.log:1:52 HammerDB TPROC-C Oracle, run 1 of 2: TPM = 20 1/min
h.log:1:55 HammerDB TPROC-C Oracle, run 1 of 2: database = Oracle 
h.log:3:39 HammerDB TPROC-C Oracle, run 2 of 2: NOPM = 11 1/min
h.log:3:52 HammerDB TPROC-C Oracle, run 2 of 2: TPM = 21 1/min
h.log:3:55 HammerDB TPROC-C Oracle, run 2 of 2: database = Oracle 
h.log:2 found "odd", which is no line of HammerDB`
	if strings.Join(got, "\n") != want {
		t.Errorf("File = \n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if one := res.Runs[1].File(); len(one.Facts) != 3 || one.Name != "h.log" || one.Format != "HammerDB" {
		t.Errorf("File of a run = %+v", one)
	}
}

// shared is the folder of real samples beside the checkout.
func shared(t testing.TB) string {
	t.Helper()
	const dir = "../../../shared/samples"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared samples: %v", err)
	}
	return dir
}

// TestDetect checks which of all samples are results of benchmarks, and that no
// other is taken for one.
func TestDetect(t *testing.T) {
	dir := shared(t)
	want := map[string]string{
		"fio/fio-3.42.json":                                                 "fio JSON",
		"hammerdb/result_lines_current.txt":                                 "HammerDB",
		"hcibench/hcibench283_res_from_seed.txt":                            "HCIBench",
		"iometer/results_header_1.1.0.csv":                                  "Iometer results.csv",
		"mlc/fdio_csit_skx_calibration.rst":                                 "Intel MLC",
		"mlc/mlc_loaded_latency_denneman2016_numa.txt":                      "Intel MLC",
		"mlc/mlc_loaded_latency_denneman2016_suma_node_interleaving_on.txt": "Intel MLC",
		"mlc/mlc_v3.9a_2node_smt_off.txt":                                   "Intel MLC",
		"mlc/mlc_v3.9a_2node_smt_on.txt":                                    "Intel MLC",
		"passmark/performancetest_linux_cpu_memory.txt":                     "PassMark",
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if got, _ := Detect(text.Decoded(b[:min(len(b), text.HeadSize)])); got != want[name] {
			t.Errorf("Detect(%s) = %q, want %q", name, got, want[name])
		}
		delete(want, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) > 0 || files < 40 {
		t.Errorf("%d files, not found: %v", files, want)
	}
}

// TestDetectNearMisses: text that speaks of benchmarks is no result.
func TestDetectNearMisses(t *testing.T) {
	for _, in := range []string{
		"JOB_NAME=nightly\nBUILD=7\n",
		"installed: PassMark PerformanceTest 11, Iometer, fio 3.36\n",
		"we ran Intel(R) Memory Latency Checker and fio --output-format=json\n",
		"Memory Latency was fine, CPU Mark too\n",
		"Compression: 5\nSorting: 7\n",
		"Vuser 1 is a virtual user\n",
		"{ \"version\": 1, \"jobs\": [] }\n",
		"'quoted',csv\n",
		"samples, one per thread\n",
		"       0  78.5  134.8\n",
	} {
		if format, ok := Detect([]byte(in)); ok {
			t.Errorf("Detect(%q) = %s", in, format)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, path := range inputs(f) {
		b := golden.Read(f, path)
		f.Add(b)
	}
	f.Add([]byte("Measuring Loaded Latencies for the system\n")) // a heading alone
	f.Fuzz(func(t *testing.T, in []byte) {
		res, err := Read("f", bytes.NewReader(in))
		if err != nil {
			if res != nil {
				t.Fatal("both a result and an error")
			}
			return
		}
		for _, run := range res.Runs {
			io, ok := run.IO()
			for _, n := range []*Number{io.Block, io.Read, io.Random, io.Reads, io.IOPS, io.Throughput, io.CPU, io.VMs, io.Disks, io.Limit} {
				if n != nil && (!ok || !(n.Value >= 0) || n.Line < 0) {
					t.Fatalf("%+v of %s", n, run.Label())
				}
			}
		}
		lines := bytes.Count(in, []byte("\n")) + bytes.Count(in, []byte("\r")) + 1
		if bytes.HasPrefix(in, []byte("\xff\xfe")) || bytes.HasPrefix(in, []byte("\xfe\xff")) {
			lines = len(in) // the bytes of a line end may belong to two characters
		}
		place := func(line, col int, what string) {
			if line < 0 || line > lines || col < 0 {
				t.Fatalf("%s at %d:%d of %d lines", what, line, col, lines)
			}
		}
		for _, run := range res.Runs {
			if len(run.Metrics) == 0 || run.Tool == "" {
				t.Fatalf("run without metrics or tool: %+v", run)
			}
			names := map[string]bool{}
			for _, m := range run.Metrics {
				place(m.Line, m.Col, m.Name)
				if names[m.Name] || !(m.Value >= 0) || m.Line == 0 {
					t.Fatalf("metric %+v", m)
				}
				names[m.Name] = true
			}
		}
		for _, x := range res.File().Facts {
			place(x.Line, x.Col, x.Name)
		}
		for _, w := range res.File().Warnings {
			place(w.Line, w.Col, w.Text)
		}
		if len(res.Runs) == 0 && len(res.Warnings) == 0 {
			t.Fatal("neither run nor warning")
		}
	})
}
