package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/capture/export/esxtop"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/source/demo"
)

// writeNight writes a tick a minute of the demo's night below dir, as esxtop files that follow
// each other: begins says whether a tick of a host begins a new one.
func writeNight(t *testing.T, dir string, begins func(*numa.Tick) bool) (files []string) {
	t.Helper()
	night, err := demo.Capture()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	var w *esxtop.Writer
	save := func() {
		if w == nil {
			return
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		write(t, files[len(files)-1], b.String())
	}
	host := ""
	if err := night.Ticks(func(tick *numa.Tick) error {
		if tick.Time.Second() != 0 {
			return nil
		}
		if tick.Host != host || begins(tick) {
			save()
			host = tick.Host
			files = append(files, filepath.Join(dir, host, fmt.Sprintf("%03d.csv", len(files))))
			b.Reset()
			w = esxtop.NewWriter(&b)
		}
		return w.Add(tick)
	}); err != nil {
		t.Fatal(err)
	}
	save()
	return files
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, path, []byte(text))
}

// captured returns what homenode capture writes as JSON.
func captured(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), append([]string{"capture", "--format", "json"}, args...), nil, &out, &errs)
	if code == exitError && out.Len() == 0 { // else a file could not be read, or not to its end
		t.Fatalf("%q: exit %d: %s", args, code, errs.String())
	}
	return out.String()
}

// TestMergeSplits cuts the demo's night at random into files, reads each of them on its own and
// merges the results, in random order and in files of several: the answer is the one about
// the folder. Some files are damaged, one is there twice, and results are about parts of them.
func TestMergeSplits(t *testing.T) {
	seeds := uint64(9)
	if testdeps.Proof() {
		seeds = 24
	}
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(28, seed))
		dir := t.TempDir()
		often := 20 + rnd.IntN(100)
		files := writeNight(t, filepath.Join(dir, "night"), func(*numa.Tick) bool { return rnd.IntN(often) == 0 })
		if rnd.IntN(2) == 0 { // ends within a row
			damage(t, files[rnd.IntN(len(files))], func(b []byte) []byte { return b[:len(b)-len(b)/8] })
		}
		if rnd.IntN(2) == 0 { // a cell that is no number
			damage(t, files[rnd.IntN(len(files))], func(b []byte) []byte {
				i := len(b) * 3 / 4
				return slices.Concat(b[:i], []byte("x"), b[i:])
			})
		}
		if rnd.IntN(3) == 0 {
			b := golden.Read(t, files[0])
			files = append(files, filepath.Join(dir, "night", "copy.csv"))
			write(t, files[len(files)-1], string(b))
		}
		rnd.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		text := ""
		for i, f := range files {
			one := []string{f}
			if rnd.IntN(4) == 0 {
				one = append(one, "--vm", "*0*") // the result is about a part, what it holds is whole
			}
			text += captured(t, one...)
			if i == len(files)-1 || rnd.IntN(3) > 0 {
				write(t, filepath.Join(dir, "results", fmt.Sprintf("%03d", i)), text)
				text = ""
			}
		}
		var also []string
		switch {
		case seed == 0:
			also = []string{"--fleet", "demo"}
		case seed%8 == 1:
			also = []string{"--vm", "app04", "--severity", "high"}
		}
		got := captured(t, append([]string{"--merge", filepath.Join(dir, "results")}, also...)...)
		want := captured(t, append([]string{filepath.Join(dir, "night")}, also...)...)
		if got != want {
			t.Fatalf("seed %d, %d files, %q: the merged answer is another one%s", seed, len(files), also, difference(got, want))
		}
	}
}

func damage(t *testing.T, path string, how func([]byte) []byte) {
	t.Helper()
	b := golden.Read(t, path)
	write(t, path, string(how(b)))
}

// difference returns the first line that differs.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf(": line %d is %.300s, want %.300s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf(": %d lines, want %d", len(g), len(w))
}

// What is no result of one capture is refused, with its place.
func TestMergeErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.csv"), captureOf("esx01", "11/21/2026 10:00:00", 3))
	good := captured(t, filepath.Join(dir, "a.csv"))
	whole := regexp.MustCompile(`"whole": "[^"]*"`)
	const wanted = "what homenode capture FILE --format json writes of one file"
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "1:1: found no text, want " + wanted},
		{"no JSON", "N%L was fine\n", "1:1: found no JSON (found the character 'N' where a value begins), want " + wanted},
		{"no JSON behind a result", good + "\n  oops", fmt.Sprintf("%d:3: found no JSON (found the character 'o' where a value begins), want "+wanted, strings.Count(good, "\n")+2)},
		{"cut", good[:len(good)/2], "found the end within JSON, want " + wanted},
		{"a list", "[1]", "1:1: found JSON of another kind (array), want " + wanted},
		{"of another program", "{\n  \"name\": \"x\"\n}\n", `1:1: found the format "", want "homenode-capture": ` + wanted},
		{"of another command", strings.Replace(good, "homenode-capture", "homenode-assessment", 1), `2:3: found the format "homenode-assessment", want "homenode-capture": ` + wanted},
		{"of another form", strings.Replace(good, `"version": 2`, `"version": 3`, 1), "3:3: found version 3 of homenode-capture, want version 2"},
		{"of another homenode", regexp.MustCompile(`"homenode": "[^"]*"`).ReplaceAllString(good, `"homenode": "0.0.1"`), `4:3: found a result of homenode "0.0.1", want one of this version, `},
		{"a number as whole", whole.ReplaceAllString(good, `"whole": 7`), "found a number as result.whole, want " + wanted},
		{"without whole", whole.ReplaceAllString(good, `"more": 7`), "found no result.whole, want " + wanted + ": answers about the demo, about several files and of --merge have none"},
		{"damaged base64", whole.ReplaceAllString(good, `"whole": "KLUv/Q+?"`), "found result.whole damaged (illegal base64 data at input byte 7), want it as it was written"},
		{"damaged", whole.ReplaceAllString(good, `"whole": "KLUv"`), "found result.whole damaged (unpack: "},
		{"other thresholds", good, "found two sets of limits, want one: the configuration of this command and " + filepath.Join(dir, "a.csv") + " have other thresholds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(dir, "result.json")
			write(t, file, tt.text)
			args := []string{"capture", "--merge", file}
			if tt.name == "other thresholds" {
				config := filepath.Join(dir, "homenode.yaml")
				write(t, config, "thresholds:\n  M001.locality: 0.9\n")
				args = append(args, "--config", config)
			}
			var out, errs bytes.Buffer
			code := run(t.Context(), args, nil, &out, &errs)
			got := strings.TrimSpace(errs.String())
			if code != exitError || !strings.HasPrefix(got, "homenode: "+file+":") || !strings.Contains(got, tt.want) {
				t.Errorf("exit %d, %s\nwant %s", code, got, tt.want)
			}
		})
	}
	for _, tt := range []struct{ args, want string }{
		{"--merge nowhere.json", "nowhere.json: no such file or directory"},
		{"--merge x --from 2026-11-03", "--from: give it to the runs whose results are merged"},
		{"--merge", "--merge: want a FILE to merge"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"capture"}, strings.Fields(tt.args)...), nil, &out, &errs); code != exitError || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%s: exit %d, %s\nwant %s", tt.args, code, errs.String(), tt.want)
		}
	}
}

// TestMergeEngines runs the examples of docs/captures.md for xargs, for the shell of a pod and for Spark: each
// answer is the one about the folder. make prove runs it.
func TestMergeEngines(t *testing.T) {
	testdeps.Proving(t)
	dir, done := t.TempDir(), 0
	t.Chdir(dir)
	files := writeNight(t, "night", func(tick *numa.Tick) bool { return tick.Time.Minute() == 0 })
	want := captured(t, "night")
	path := program(t, dir) + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, tt := range []struct {
		name    string
		command func(t *testing.T) []*exec.Cmd
	}{
		{"xargs", func(t *testing.T) []*exec.Cmd {
			script := strings.ReplaceAll(example(t, "sh", "xargs"), "homenode capture --merge results\n", "")
			return []*exec.Cmd{exec.Command("sh", "-ec", script)}
		}},
		{"pods", func(t *testing.T) (all []*exec.Cmd) {
			_, script, _ := strings.Cut(example(t, "yaml", "kind: Job"), "            - |\n")
			script, _, _ = strings.Cut(script, "          volumeMounts")
			for i := range 16 {
				cmd := exec.Command("sh", "-ec", script)
				cmd.Env = []string{fmt.Sprint("JOB_COMPLETION_INDEX=", i)}
				all = append(all, cmd)
			}
			return all
		}},
		{"Spark", func(t *testing.T) []*exec.Cmd {
			python := testdeps.ProvePython(t)
			testdeps.Program(t, "java")
			cmd := exec.CommandContext(t.Context(), python, "-c", example(t, "python", "pyspark"))
			cmd.Env = []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1", "SPARK_LOCAL_IP=127.0.0.1", "PYSPARK_PYTHON=" + python}
			return []*exec.Cmd{cmd}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.RemoveAll("results"); err != nil {
				t.Fatal(err)
			}
			for _, cmd := range tt.command(t) {
				cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), cmd.Env, []string{"PATH=" + path})
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			if got := captured(t, "--merge", "results"); got != want {
				t.Errorf("the merged answer is another one%s", difference(got, want))
			}
			done++
		})
	}
	t.Logf("%d files by %d engines", len(files), done)
}

// program puts a homenode into a folder, which it returns: this test is one by that name.
func program(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "homenode")); err != nil {
		t.Fatal(err)
	}
	return bin
}

// example returns the code of docs/captures.md in a language that holds a word.
func example(t *testing.T, language, word string) string {
	t.Helper()
	b := golden.Read(t, captureDocs)
	for _, code := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(b), -1) {
		if strings.Contains(code[1], word) {
			return code[1]
		}
	}
	t.Fatalf("docs/captures.md has no example in %s with %s", language, word)
	return ""
}

// captureDocs is absolute, as tests change their folder.
var captureDocs = func() string {
	path, err := filepath.Abs("../../docs/captures.md")
	if err != nil {
		panic(err)
	}
	return path
}()
