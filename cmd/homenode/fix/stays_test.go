package fix_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"homenode/change/fix"
	"homenode/change/fix/apply"
	"homenode/change/whatif"
	command "homenode/cmd/homenode/fix"
	"homenode/cmd/homenode/flags"
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
	password, _ := s.vc.URL.User.Password()
	s.Setenv("GOVC_USERNAME", s.vc.URL.User.Username())
	s.Setenv("GOVC_PASSWORD", password)
	var out bytes.Buffer
	cmd := command.New()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetErr(&out)
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
// --verify; the exit code is not 0. A host option that had no value gets its default.
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
			results, path, err := s.apply(p, quick(apply.PowerGuest))
			if err != nil {
				t.Fatal(err)
			}
			outcomes(t, results, apply.Done)
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
			text, err := s.command(append(args, "--rollback", path)...)
			if !errors.Is(err, flags.ErrFindings) || strings.Contains(text, "nothing to do") {
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
			if s.unverified(path, tt.back > 0); tt.back == 0 {
				s.stayed(copied, tt.stays)
			}
		})
	}
}

// unverified fails when --verify says that nothing was changed or, of a run that was taken back in part, does not say that the rest stays.
func (s *site) unverified(path string, partly bool) {
	s.Helper()
	if text, err := s.command("--verify", path); strings.Contains(text, "nothing was changed") || strings.Contains(text, "the rollback does not take it back") != partly {
		s.Errorf("--verify: %v\n%s", err, text)
	}
}

// stayed takes a run back of which nothing can be, and reads the answer in JSON.
func (s *site) stayed(path string, stays map[string]string) {
	s.Helper()
	file := filepath.Join(s.TempDir(), "result.json")
	if text, err := s.command("--rollback", path, "-o", file); !errors.Is(err, flags.ErrFindings) {
		s.Errorf("in JSON: %v\n%s", err, text)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		s.Fatal(err)
	}
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
