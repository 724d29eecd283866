package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"example.org/homenode/internal/golden"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/vsphere/lab"
)

// TestScripts runs the program as a user does, against a simulated vCenter.
func TestScripts(t *testing.T) {
	fleet, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(fleet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vc.Close) // scripts run in parallel, after this function
	params := testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			password, _ := vc.URL.User.Password()
			env.Setenv("VC", "http://"+vc.URL.Host)
			env.Setenv("VC_USER", vc.URL.User.Username())
			env.Setenv("VC_PASSWORD", password)
			return nil
		},
		RequireExplicitExec: true,
		UpdateScripts:       golden.Updating(),
	}
	if !golden.Updating() {
		inProcess(t, &params)
	}
	testscript.Run(t, params)
}

var (
	// starts matches a line of a script that starts the program and waits for it.
	starts = regexp.MustCompile(`^(\[\S+\] )?(! )?exec homenode( .*[^&])?$`)
	// apart matches a command that needs a process of its own.
	apart = regexp.MustCompile(`^(\[\S+\] )?(! )?exec homenode (completion|measure) `)
	// sets matches the environment variables that a line of a script sets.
	sets = regexp.MustCompile(`(?m)^env ([A-Z_]+)=| ([A-Z_]+)=`)
)

// inProcess lets scripts call the program in the process of the test: to start it takes longer than most commands run. Commands that
// read standard input or run in the background are started, and so are completion, which cobra writes to that of the process, and measure, which
// reads the processors of its main thread: other tests bind threads of this process.
func inProcess(t *testing.T, params *testscript.Params) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(params.Dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	params.Dir = t.TempDir()
	before := map[string]string{"HOME": os.Getenv("HOME"), "TMPDIR": os.Getenv("TMPDIR")}
	for _, path := range paths {
		b := golden.Read(t, path)
		files := txtar.Parse(b)
		lines := strings.Split(string(files.Comment), "\n")
		for i, line := range lines {
			switch {
			case apart.MatchString(line) || i > 0 && (strings.HasPrefix(lines[i-1], "stdin ") || strings.HasPrefix(lines[i-1], "ttyin ")):
			case starts.MatchString(line):
				lines[i] = strings.Replace(line, "exec homenode", "run", 1)
			case strings.HasPrefix(line, "env "):
				for _, m := range sets.FindAllStringSubmatch(line, -1) {
					before[m[1]+m[2]] = os.Getenv(m[1] + m[2])
				}
			}
		}
		files.Comment = []byte(strings.Join(lines, "\n"))
		golden.Write(t, filepath.Join(params.Dir, filepath.Base(path)), txtar.Format(files))
	}
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Collect(maps.Keys(before))
	environ := func(value func(name string) string) {
		for _, name := range names {
			if v := value(name); v == "" {
				_ = os.Unsetenv(name)
			} else {
				_ = os.Setenv(name, v)
			}
		}
	}
	var one sync.Mutex // the folder and the environment are those of the process
	params.Cmds = map[string]func(*testscript.TestScript, bool, []string){"run": func(ts *testscript.TestScript, neg bool, args []string) {
		one.Lock()
		defer one.Unlock()
		defer func() { _ = os.Chdir(back) }()
		defer environ(func(name string) string { return before[name] })
		ts.Check(os.Chdir(ts.MkAbs(".")))
		environ(ts.Getenv)
		if code := run(context.Background(), args, strings.NewReader(""), ts.Stdout(), ts.Stderr()); (code != exitClean) != neg {
			ts.Fatalf("exit code %d", code)
		}
	}}
}
