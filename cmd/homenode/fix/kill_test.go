package fix_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/source/vsphere/lab"
)

// A child is a run of the program.
type child struct {
	*exec.Cmd
	out  bytes.Buffer // both streams
	ends chan struct{}
}

// begin starts homenode fix on the vCenter.
func (s *site) begin(folder string, args ...string) *child {
	c := s.prepare(folder, args...)
	c.start(s)
	return c
}

// prepare makes the child that begin starts.
func (s *site) prepare(folder string, args ...string) *child {
	s.Helper()
	path, err := testdeps.Homenode()
	if err != nil {
		s.Fatal(err)
	}
	// A guest goes off at once or not at all: one that was asked before a kill is waited for so long.
	config := filepath.Join(folder, "homenode.yaml")
	golden.Write(s, config, fmt.Appendf(nil, "fix: {journal: %q, shutdown: 0.02 min}\n", folder))
	args = append([]string{"fix", "http://" + s.vc.URL.Host, "--config", config}, args...)
	c := &child{Cmd: exec.Command(path, args...), ends: make(chan struct{})}
	password, _ := s.vc.URL.User.Password()
	c.Env = append(os.Environ(), "GOVC_USERNAME="+s.vc.URL.User.Username(), "GOVC_PASSWORD="+password)
	c.Stdout, c.Stderr = &c.out, &c.out
	return c
}

func (c *child) start(t testing.TB) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait() // its code is in ProcessState
		close(c.ends)
	}()
}

// code waits for the end and returns the exit code; -1 for one that was killed.
func (c *child) code() int {
	<-c.ends
	return c.ProcessState.ExitCode()
}

// kill ends it as kill -9 does, and returns when it is gone.
func (c *child) kill() {
	_ = c.Process.Kill() // it may have ended
	<-c.ends
}

// A cut says where a process is killed.
type cut struct {
	line   int    // after so many lines of the journal; 0 is at a call
	method string // at the nth call of this method
	moment lab.Moment
	nth    int
	drop   bool // the call is not carried out: the vCenter never saw it
}

func (c cut) String() string {
	if c.line > 0 {
		return fmt.Sprintf("after line %d", c.line)
	}
	when := [...]string{"arrives", "runs", "answers"}[c.moment]
	if c.drop {
		when = "never arrives"
	}
	return fmt.Sprintf("%s %d %s", c.method, c.nth, when)
}

// strike runs the program and kills it there. It reports whether it came so far, and the run's journal.
func (s *site) strike(at cut, folder string, args ...string) (killed bool, path string) {
	s.Helper()
	var n atomic.Int64
	var struck atomic.Bool
	c := make(chan *child, 1)
	s.vc.On(func(call lab.Call) types.BaseMethodFault {
		if at.line > 0 {
			time.Sleep(time.Millisecond) // it is killed before its next call
			return nil
		}
		if call.Method != at.method || call.Moment != at.moment || n.Add(1) != int64(at.nth) {
			return nil
		}
		one := <-c
		c <- one
		struck.Store(true)
		one.kill()
		switch {
		case at.drop:
			return lab.Drop
		case at.moment == lab.Runs: // the task runs on, into the next process
			time.Sleep(30 * time.Millisecond)
		}
		return nil
	})
	one := s.begin(folder, args...)
	c <- one
	begun := lines(folder)
	for done := false; !done; {
		select {
		case <-one.ends:
			done = true
		case <-time.After(100 * time.Microsecond):
			if at.line > 0 && lines(folder) >= begun+at.line {
				struck.Store(true)
				one.kill()
			}
		}
	}
	s.vc.On(nil)
	return struck.Load(), journalIn(folder)
}

func journalIn(folder string) string {
	list, _ := filepath.Glob(filepath.Join(folder, "*.journal")) // the pattern is well formed
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// lines counts the lines of the journal in a folder.
func lines(folder string) int {
	data, err := os.ReadFile(journalIn(folder))
	if err != nil {
		return 0
	}
	return bytes.Count(data, []byte("\n"))
}

// cuts returns where a run of so many lines, and so many calls of each method, can be killed.
func cuts(lines int, calls map[string]int) (out []cut) {
	for n := 1; n <= lines; n++ {
		out = append(out, cut{line: n})
	}
	for _, method := range []string{"AddCustomFieldDef", "SetField", "RemoveCustomFieldDef"} { // of the lock
		out = append(out, cut{method: method, moment: lab.Arrives, nth: 1, drop: true}, cut{method: method, moment: lab.Answers, nth: 1})
	}
	for _, method := range slices.Sorted(maps.Keys(calls)) {
		for nth := 1; nth <= calls[method]; nth++ {
			out = append(out, cut{method: method, moment: lab.Arrives, nth: nth, drop: true}, cut{method: method, moment: lab.Answers, nth: nth})
			if strings.HasSuffix(method, "_Task") {
				out = append(out, cut{method: method, moment: lab.Runs, nth: nth})
			}
		}
	}
	return append(out, cut{method: "WaitForUpdatesEx", moment: lab.Answers, nth: 2}, cut{method: "RetrievePropertiesEx", moment: lab.Answers, nth: 12})
}

// someCuts returns a few cuts and, in make prove, all others as cuts does.
func someCuts(few []cut, lines int, calls map[string]int) []cut {
	if testdeps.KillRounds(0) > 0 {
		few = append(few, cuts(lines, calls)...)
	}
	return few
}

// TestKill kills the program with kill -9 while it changes VMs. In turn it then goes on, takes back, or takes back, is killed again and
// goes on: all VMs are as the plan leaves them, or as they were, none is off, and no lock stays. make prove does it at every line of the journal and
// between call and line.
func TestKill(t *testing.T) {
	all := cuts(24, map[string]int{"ShutdownGuest": 3, "ReconfigVM_Task": 3, "PowerOnVM_Task": 3})
	rounds, hit := 0, 0
	round := func(first, second cut, then string) {
		t.Helper()
		rounds++
		if killOnce(t, first, second, then) {
			hit++
		}
	}
	if testdeps.KillRounds(0) == 0 {
		// The lock has no name; edits were announced and never sent.
		for _, c := range []cut{{method: "AddCustomFieldDef", moment: lab.Answers, nth: 1}, {method: "ReconfigVM_Task", moment: lab.Arrives, nth: 1, drop: true}} {
			round(c, cut{}, "--rollback")
		}
		for i := range 20 {
			c := all[(5*i+3)%len(all)]
			round(c, all[(7*i)%len(all)], []string{"--resume", "--rollback", "again"}[i%3])
		}
	} else {
		for i, c := range all {
			round(c, cut{}, "--resume")
			round(c, cut{}, "--rollback")
			for k := range 4 {
				round(c, all[(7*i+11*k)%len(all)], "again")
			}
		}
	}
	if hit*2 < rounds {
		t.Errorf("of %d rounds %d were killed", rounds, hit)
	}
	t.Logf("%d rounds, %d of them killed under way: no VM half changed, none left off", rounds, hit)
}

// killOnce is one round.
func killOnce(t *testing.T, first, second cut, then string) bool {
	t.Helper()
	s := serveFleet(t, small(t))
	defer s.vc.Close()
	folder := t.TempDir()
	before := s.settings()
	p := s.plan(fix.Options{Now: now})
	if len(p.Changes) < 4 {
		t.Fatalf("%d changes", len(p.Changes))
	}
	yes := fmt.Sprint(len(p.Changes))
	killed, path := s.strike(first, folder, "--plan", save(t, p), "--apply", "--yes", yes, "--power", "guest")
	name := fmt.Sprintf("%v, then %s", first, then)
	if lines(folder) == 0 { // killed before its first line
		s.same(name, before)
		return killed
	}
	written := writtenIn(t, path)
	finish := func(args ...string) *child {
		calls := s.watch(nil)
		c := s.begin(folder, args...)
		if code := c.code(); code != 0 {
			t.Errorf("%s: exit %d:\n%s", name, code, c.out.String())
		}
		s.vc.On(nil)
		if args[0] == "--resume" && then == "--resume" {
			for id := range written {
				if n := calls.count("ReconfigVM_Task", id); n > 0 {
					t.Errorf("%s: %s was written before, and %d times again", name, id, n)
				}
			}
		}
		return c
	}
	switch then {
	case "--resume":
		finish("--resume", path, "--yes", confirmed(s, path), "--power", "guest")
		if again := s.plan(fix.Options{Now: now}); len(again.Changes) > 0 {
			t.Errorf("%s: %d changes are left: %+v", name, len(again.Changes), again.Changes[0].Edits)
		}
		for key, v := range s.settings() {
			if strings.HasSuffix(key, " power") && v != before[key] {
				t.Errorf("%s: %s is %s, was %s", name, key, v, before[key])
			}
		}
		// What was made by the two runs together is taken back by one.
		finish("--rollback", path, "--yes", yes, "--power", "guest")
	case "--rollback":
		s.takeBack(finish, path)
	default:
		n := len(undo(t, path).Changes)
		if n > 0 {
			s.strike(second, folder, "--rollback", path, "--yes", fmt.Sprint(n), "--power", "guest")
		}
		if last := read(t, path); lastPlan(last).Undo {
			finish("--resume", path, "--yes", confirmed(s, path), "--power", "guest")
		} else { // killed before the first line of the rollback
			s.takeBack(finish, path)
		}
		name += fmt.Sprintf(", killed %v", second)
	}
	s.same(name, before)
	read(t, path) // a journal is one to the end
	if holder := s.holder(); holder != "" {
		t.Errorf("%s: the lock of %s stays", name, holder)
	}
	return killed
}

// takeBack rolls back what there is.
func (s *site) takeBack(finish func(...string) *child, path string) {
	s.Helper()
	finish("--rollback", path, "--yes", fmt.Sprint(len(undo(s, path).Changes)), "--power", "guest")
}

// writtenIn returns the VMs whose edits the journal says were read back.
func writtenIn(t testing.TB, path string) map[string]bool {
	out := map[string]bool{}
	for _, l := range read(t, path) {
		if l.Step == journal.StepDone && l.Do == "reconfigure" {
			out[l.Target] = true
		}
	}
	return out
}

// confirmed returns the number that confirms going on with a journal.
func confirmed(t testing.TB, path string) string {
	return fmt.Sprint(len(lastPlan(read(t, path)).Whole.Changes))
}

func read(t testing.TB, path string) []journal.Line {
	t.Helper()
	list, err := journal.Read(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return list
}

func lastPlan(lines []journal.Line) (out journal.Line) {
	for _, l := range lines {
		if l.Step == journal.StepPlan {
			out = l
		}
	}
	return out
}

// undo returns the plan of a rollback.
func undo(t testing.TB, path string) *fix.Plan {
	t.Helper()
	r, err := apply.RollbackOf(read(t, path), nil)
	if err == nil {
		var rest *fix.Plan
		if rest, err = r.Rest(); err == nil {
			return rest
		}
	}
	t.Fatal(err)
	return nil
}
