package fix_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
)

// TestAsks begins, goes on with and takes back a run without an answer, and with the wrong number: nothing is changed. The same goes for a plan and a journal of
// another vCenter, whatever the answer.
func TestAsks(t *testing.T) {
	s := serveFleet(t, small(t))
	t.Chdir(t.TempDir())
	silent, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	stdin := os.Stdin
	os.Stdin = silent
	defer func() { os.Stdin = stdin }()
	p := s.plan(fix.Options{Now: now})
	yes := fmt.Sprint(len(p.Changes))
	_, path, err := s.apply(p, quick(apply.PowerNone)) // some VMs need to be off
	if err != nil {
		t.Fatal(err)
	}
	back := fmt.Sprint(len(undo(t, path).Changes))
	other := *p
	other.VCenter = "another"
	plan := save(t, &other)
	elsewhere := *p
	elsewhere.Source = "https://vc.example/" + strings.TrimPrefix(p.Source, "http:")
	named := *p
	named.Changes = slices.Clone(p.Changes)
	target := *named.Changes[0].VM
	target.Named, named.Changes[0].VM = true, &target
	_, journal, err := s.apply(&other, quick(apply.PowerNone))
	if err != nil {
		t.Fatal(err)
	}
	before := s.settings()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--plan", save(t, p), "--apply"}, "confirm with --yes " + yes},
		{[]string{"--resume", path}, "confirm with --yes " + yes},
		{[]string{"--rollback", path}, "confirm with --yes " + back},
		{[]string{"--plan", save(t, p), "--apply", "--yes", "99"}, "--yes 99 does not fit: it is " + yes},
		{[]string{"--resume", path, "--yes", "99"}, "--yes 99 does not fit: it is " + yes},
		{[]string{"--rollback", path, "--yes", "99"}, "--yes 99 does not fit: it is " + back},
		{[]string{"--rollback", path, "--vm", "nosuch", "--yes", "1"}, `no VM ["nosuch"]`},
		{[]string{"--plan", plan, "--apply", "--yes", yes}, `the vCenter instance "another"`},
		{[]string{"--plan", save(t, &named), "--apply", "--yes", yes}, `knows "` + target.Name + `" by its name alone`},
		{[]string{"--plan", save(t, &elsewhere), "--apply", "--yes", yes}, "the plan was made of https://vc.example/"},
		{[]string{"--resume", journal, "--yes", yes}, `the vCenter instance "another"`},
		{[]string{"--rollback", journal, "--yes", back}, `the vCenter instance "another"`},
		{[]string{"--verify", journal}, `the vCenter instance "another"`},
	} {
		if text, err := s.command(tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "Nothing was changed") {
			t.Errorf("%v: %v, want %q\n%s", tt.args, err, tt.want, text)
		}
		s.same(strings.Join(tt.args, " "), before)
	}
	// The plan is shown before its question, without a command that would change more than was asked about.
	if text, err := s.command("--rule", "N001", "--apply"); err == nil || !strings.Contains(text, "The plan changes") || strings.Contains(text, "--apply") {
		t.Errorf("%v, %s", err, text)
	}
	// So are the edits of a journal, whatever the names in it say.
	if text, err := s.command("--rollback", path); err == nil || !strings.Contains(text, "The rollback of plan "+p.ID+" changes") || !strings.Contains(text, "cores per socket 12 → 2") {
		t.Errorf("%v, %s", err, text)
	}
	if text, err := s.command("--resume", path); err == nil || !strings.Contains(text, "cores per socket 2 → 12") {
		t.Errorf("%v, %s", err, text)
	}
}

// TestPlanOfOthers carries out no plan whose file others may write.
func TestPlanOfOthers(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("no owners of the Unix kind")
	}
	s := serveFleet(t, small(t))
	before := s.settings()
	path := save(t, s.plan(fix.Options{Now: now}))
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := s.command("--plan", path, "--apply", "--yes", "1", "--power", "guest"); err == nil || !strings.Contains(err.Error(), "others may write it") {
		t.Errorf("%v\n%s", err, text)
	}
	s.same("after a plan of others", before)
}
