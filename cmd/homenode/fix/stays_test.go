package fix_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/whatif"
	command "example.org/homenode/cmd/homenode/fix"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/words"
)

// odd has what a rollback cannot bring back: cores per socket that divide the vCPUs unevenly, older virtual hardware, and an option without a value.
const odd = `release 8.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=512GB
vm odd01 host=esx01 vcpus=4 coresPerSocket=3 memory=16GB hw=20
vm old01 host=esx01 vcpus=4 memory=16GB hw=20
vm web01 host=esx01 vcpus=4 memory=16GB hw=21
`

// command runs homenode fix on the vCenter in this process, and returns both streams.
func (s *site) command(args ...string) (string, error) {
	s.Helper()
	return s.answered(nil, args...)
}

// answered is command with a standard input; nil for that of the process.
func (s *site) answered(in io.Reader, args ...string) (string, error) {
	s.Helper()
	password, _ := s.vc.URL.User.Password()
	s.Setenv("GOVC_USERNAME", s.vc.URL.User.Username())
	s.Setenv("GOVC_PASSWORD", password)
	var out bytes.Buffer
	cmd := command.New()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetIn(in)
	cmd.SetArgs(append([]string{"http://" + s.vc.URL.Host}, args...))
	err := cmd.ExecuteContext(s.Context())
	return out.String(), err
}

// wished plans these changes.
func (s *site) wished(wishes ...string) *fix.Plan {
	s.Helper()
	o := fix.Options{Now: now, Host: true, Upgrade: true}
	for _, text := range wishes {
		c, err := whatif.Parse(text)
		if err != nil {
			s.Fatal(err)
		}
		o.Set = append(o.Set, c)
	}
	p := s.plan(o)
	if len(p.Changes) == 0 {
		s.Fatalf("no changes: %+v", p.Left)
	}
	return p
}

// TestStays takes runs back that no rollback takes back whole: what stays is said in the plan, before the question, in text and JSON with its reason, and by
// --verify, also when it is asked for again; the exit code is not 0. A host option that had no value gets its default. The run names no rollback where none
// can do something.
func TestStays(t *testing.T) {
	const option = "Numa.LocalityWeightActionAffinity"
	for name, tt := range map[string]struct {
		wishes []string
		stays  map[string]string // the reason, by the object that stays
		back   int               // so many objects are taken back
	}{
		"cores per socket": {[]string{"vm=odd01 coresPerSocket=2"}, map[string]string{"odd01": "does not take 3 cores per socket for 4 vCPUs again"}, 0},
		"hardware":         {[]string{"vm=old01 hw=21"}, map[string]string{"old01": "cannot be lowered"}, 0},
		"mixed": {[]string{"vm=odd01 coresPerSocket=2", "vm=old01 hw=21", "vm=web01 cpuReservation=2000", option + "=0"},
			map[string]string{"odd01": "does not take", "old01": "cannot be lowered"}, 2},
		"of one VM":  {[]string{"vm=old01 hw=21 cpuReservation=2000", "vm=web01 cpuReservation=2000"}, map[string]string{"old01": "cannot be lowered"}, 2},
		"everything": {[]string{"vm=old01 cpuReservation=2000", "vm=web01 numa.vcpu.preferHT=TRUE"}, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveFleet(t, fleetOf(t, odd))
			before := s.settings()
			p := s.wished(tt.wishes...)
			for _, c := range p.Changes {
				if why := tt.stays[c.Target().Name]; !strings.Contains(strings.Join(c.Lost, "\n"), why) || c.Host != nil && c.Lost == nil {
					t.Errorf("the plan says of %s: %q, want %q", c.Target().Name, c.Lost, why)
				}
			}
			folder := t.TempDir()
			t.Chdir(folder)
			text, err := s.command("--plan", save(t, p), "--apply", "--yes", fmt.Sprint(len(p.Changes)), "--power", "guest")
			path := journalIn(folder)
			if err != nil || strings.Contains(text, "--rollback "+path) != (tt.back > 0) {
				t.Fatalf("%v\n%s", err, text)
			}
			copied := filepath.Join(t.TempDir(), "copy.journal")
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(copied, data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			args := []string{"--power", "guest"}
			if tt.back > 0 {
				args = append(args, "--yes", fmt.Sprint(tt.back))
			}
			text, err = s.command(append(args, "--rollback", path)...)
			if errors.Is(err, flags.ErrFindings) != (tt.stays != nil) || strings.Contains(text, "nothing to do") {
				t.Errorf("the rollback: %v\n%s", err, text)
			}
			for object, why := range tt.stays {
				if !strings.Contains(text, "homenode: a rollback does not take everything back: "+object) || !strings.Contains(text, why) || !strings.Contains(text, "NOT taken back") {
					t.Errorf("%s (%s) is not named in\n%s", object, why, text)
				}
			}
			written := differences(before, s.settings(), func(key string) bool {
				object, _, _ := strings.Cut(key, " ")
				return tt.stays[object] != "" || strings.HasSuffix(key, option) && s.settings()[key] == "130"
			})
			if written != nil {
				t.Errorf("after the rollback:\n%s", strings.Join(written, "\n"))
			}
			s.again(path, tt.stays, tt.back)
			if tt.back == 0 {
				s.stayed(copied, tt.stays)
			}
		})
	}
}

// again takes back a run that was taken back, whole or in part: that does nothing, and names what stays once more. Afterwards --verify says how many objects are
// as before and which are not.
func (s *site) again(path string, stays map[string]string, back int) {
	s.Helper()
	before := s.settings()
	for range 2 {
		text, err := s.command("--rollback", path)
		if (err == nil) != (len(stays) == 0) || err != nil && !errors.Is(err, flags.ErrFindings) {
			s.Errorf("again: %v\n%s", err, text)
		}
		for object, why := range stays {
			if !strings.Contains(text, object) || !strings.Contains(text, why) {
				s.Errorf("again %s (%s) is not named in\n%s", object, why, text)
			}
		}
		if want := fmt.Sprintf("was taken back before: %s. Nothing more can be", words.Plural(back, "object")); strings.Contains(text, want) != (back > 0) {
			s.Errorf("again it does not say %q:\n%s", want, text)
		}
	}
	s.same("again", before)
	text, err := s.command("--verify", path)
	if want := map[bool]error{true: flags.ErrFindings}[len(stays) > 0]; back > 0 && !errors.Is(err, want) || strings.Contains(text, "nothing was changed") {
		s.Errorf("--verify: %v, want %v\n%s", err, want, text)
	}
	for object, why := range stays {
		if !strings.Contains(text, object) || back > 0 && (!strings.Contains(text, "Not all is taken back") || !strings.Contains(text, "does not take it back") || !strings.Contains(text, why)) {
			s.Errorf("--verify does not name %s (%s):\n%s", object, why, text)
		}
	}
	if len(stays) == 0 && !strings.Contains(text, "Taken back: "+words.Verb(back, "object is", "objects are")+" as before the run") {
		s.Errorf("--verify: %s", text)
	}
}

// TestPartBack takes one of two VMs back, and then the other: --verify names the one that is not taken back, and then tells of both.
func TestPartBack(t *testing.T) {
	s := serveFleet(t, fleetOf(t, odd))
	before := s.settings()
	_, path, err := s.apply(s.wished("vm=old01 cpuReservation=2000", "vm=web01 cpuReservation=2000"), quick(apply.PowerNone))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		vm, want string
		err      error
	}{{"web01", "no rollback has taken it back", flags.ErrFindings}, {"old01", "2 objects are as before the run", nil}} {
		if text, err := s.command("--rollback", path, "--vm", step.vm, "--yes", "1"); err != nil {
			t.Errorf("%s: %v\n%s", step.vm, err, text)
		}
		if text, err := s.command("--verify", path); !errors.Is(err, step.err) || !strings.Contains(text, step.want) {
			t.Errorf("%s: --verify: %v, want %v and %q\n%s", step.vm, err, step.err, step.want, text)
		}
	}
	s.same("taken back in two parts", before)
}

// TestRefusedStaysNot says of an option that the host has not, which was refused, not that it stays: nothing of the run is left.
func TestRefusedStaysNot(t *testing.T) {
	s := serveFleet(t, fleetOf(t, odd))
	p := s.wished("Numa.LocalityWeightActionAffinity=0")
	p.Changes[0].Edits[0].Key = "Mem.ShareForceSalting"
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	results, path, err := s.apply(p, quick(apply.PowerNone))
	if r := results[p.Changes[0].Target().Name]; err != nil || r.Outcome != apply.Refused {
		t.Fatalf("%+v, %v", results, err)
	}
	if text, err := s.command("--rollback", path); err != nil || strings.Contains(text, "stays") {
		t.Errorf("the rollback: %v\n%s", err, text)
	}
}

// stayed takes a run back of which nothing can be, and reads the answer in JSON.
func (s *site) stayed(path string, stays map[string]string) {
	s.Helper()
	file := filepath.Join(s.TempDir(), "result.json")
	if text, err := s.command("--rollback", path, "-o", file); !errors.Is(err, flags.ErrFindings) {
		s.Errorf("in JSON: %v\n%s", err, text)
	}
	data := golden.Read(s, file)
	var answer struct {
		Result struct{ Left []fix.Left }
		Left   []fix.Left
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		s.Fatal(err)
	}
	for object, why := range stays {
		if !slices.ContainsFunc(append(answer.Left, answer.Result.Left...), func(l fix.Left) bool { return l.VM == object && strings.Contains(l.Why, why) }) {
			s.Errorf("%s (%s) is not left in\n%s", object, why, data)
		}
	}
}
