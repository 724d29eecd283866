package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/cmd/homenode/serve"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/privilege"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
	writing "example.org/homenode/source/vsphere/write"
)

// roleFleet has VMs that are given every kind of edit: off but for one, so that few have to be shut down.
const roleFleet = `release 8.0U3
cluster prod
host esx[01-02] nodes=2 cores=18 memory=512GB Numa.PreferHT=0
vm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on hw=20
vm sql02 host=esx02 power=off vcpus=8 memory=64GB hotAdd=on memoryHotAdd=on cpuAffinity=0,1,2,3,4,5,6,7 hw=20
vm web01 host=esx01 power=off vcpus=4 memory=16GB hw=20
vm app01 host=esx01 power=off vcpus=4 memory=16GB hw=20
`

// roleChanges are settings of every kind that fix writes.
var roleChanges = []string{"--set", "vm=sql01 hotAdd=off coresPerSocket=12", "--set", "vm=sql02 hotAdd=off memoryHotAdd=off cpuAffinity=",
	"--set", "vm=web01 vcpus=6 memory=32GB vnumaHotAdd=on hw=21 numa.vcpu.preferHT=TRUE latency=medium cpuReservation=100 memoryReservation=1GB", "--set", "vm=app01 reserveAll=on", "--set", "host=esx01 Numa.PreferHT=1",
	"--keep", "apart=sql01,sql02", "--allow", "host,resize,upgrade,split,better"}

// A roleSite is a simulated vCenter that commands are run on, with an account of theirs.
type roleSite struct {
	testing.TB
	vc      *lab.VCenter
	folder  string
	url     string
	changes []string
}

func newRoleSite(t testing.TB) *roleSite {
	t.Helper()
	f, err := scenario.Read("fleet.txt", []byte(roleFleet))
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vc.Close)
	vc.AtPowerOn(serve.AtPowerOn)
	var mu sync.Mutex
	writers := map[string]*fetchstats.Writer{}
	begun := time.Now()
	for i := range f.Hosts {
		writers[f.Hosts[i].ID] = &fetchstats.Writer{Machine: &f.Hosts[i], Boot: begun.Add(-time.Hour)}
	}
	err = vc.ServeEsxtop(func(host, command string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if command == "CounterInfo" {
			return writers[host].Info(), nil
		}
		return writers[host].Answer(&numa.Tick{Time: time.Now(), Since: time.Minute, Has: numa.HasFree, Free: numa.GiB}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &roleSite{TB: t, vc: vc, folder: t.TempDir(), url: "http://" + vc.URL.Host, changes: roleChanges}
	s.file("homenode.yaml", fmt.Sprintf("fix: {journal: %q, shutdown: 0.1 min, start: 0.1 min}\n", s.folder))
	return s
}

func (s *roleSite) file(name, text string) string {
	s.Helper()
	path := filepath.Join(s.folder, name)
	golden.Write(s, path, []byte(text))
	return path
}

// as lets the commands that follow log in with this account.
func (s *roleSite) as(may func(string, types.ManagedObjectReference) bool) {
	u := s.vc.Add(lab.Account{User: "homenode", Password: "secret", May: may})
	s.TB.(*testing.T).Setenv("GOVC_USERNAME", u.User.Username())
	s.TB.(*testing.T).Setenv("GOVC_PASSWORD", "secret")
}

// tell runs a command and returns what it says.
func (s *roleSite) tell(args ...string) string {
	var out bytes.Buffer
	if args[0] == "fix" {
		args = append(args, "--config", filepath.Join(s.folder, "homenode.yaml"))
	}
	run(s.Context(), args, strings.NewReader(""), &out, &out)
	return out.String()
}

// plan makes the plan of all kinds of edits, as the administrator.
func (s *roleSite) plan() *fix.Plan {
	s.Helper()
	s.as(lab.AllBut())
	if out := s.tell(append([]string{"fix", s.url, "-o", filepath.Join(s.folder, "plan.json")}, s.changes...)...); strings.HasPrefix(out, "homenode:") {
		s.Fatal(out)
	}
	return s.planned()
}

// planned reads the plan.
func (s *roleSite) planned() *fix.Plan {
	s.Helper()
	data, err := os.ReadFile(filepath.Join(s.folder, "plan.json"))
	p := &fix.Plan{}
	if err == nil {
		err = json.Unmarshal(data, p)
	}
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// carry returns the arguments that carry the plan out, or another run of it.
func (s *roleSite) carry(how ...string) []string {
	return slices.Concat([]string{"fix", s.url}, []string{"--power", "hard"}, how, []string{"--yes", fmt.Sprint(len(s.planned().Changes))})
}

func (s *roleSite) journal() string {
	s.Helper()
	list, _ := filepath.Glob(filepath.Join(s.folder, "*.journal")) // the pattern is well formed
	if len(list) != 1 {
		s.Fatalf("journals: %v", list)
	}
	return list[0]
}

// applied carries the plan out, as the administrator.
func (s *roleSite) applied() {
	s.Helper()
	s.plan()
	if out := s.tell(s.carry("--plan", filepath.Join(s.folder, "plan.json"), "--apply")...); strings.Contains(out, "Nothing was changed") || strings.Contains(out, "failed") {
		s.Fatal(out)
	}
}

// interrupted leaves the journal of a run that was killed before its first step, and its lock.
func (s *roleSite) interrupted() {
	s.Helper()
	p := s.plan()
	j, err := journal.Create(s.folder, p, time.Now)
	if err == nil {
		err = j.Append(journal.Line{Step: journal.StepPlan, Plan: p.ID, Whole: p, Power: "hard"})
	}
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		s.Fatal(err)
	}
}

// locked leaves the lock of a run that was killed.
func (s *roleSite) locked() {
	s.Helper()
	live, err := vsphere.Open(s.Context(), s.vc.URL, vsphere.Options{})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := (writing.Writer{Live: live}).Lock(s.Context(), "a run that was killed", false); err != nil {
		s.Fatal(err)
	}
	_ = live.Close(s.Context()) // the vCenter goes too
}

// served runs serve until the hosts were asked, and returns what its status says.
func (s *roleSite) served() string {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	out, in := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx, []string{"serve", s.url, "--every", "2s", "--listen", "127.0.0.1:0"}, strings.NewReader(""), in, in)
		_ = in.Close()
	}()
	defer func() { cancel(); go io.Copy(io.Discard, out); <-done }()
	text, at := "", ""
	for lines := bufio.NewScanner(out); at == "" && lines.Scan(); text += lines.Text() + "\n" {
		at = regexp.MustCompile(`http://127[0-9.:]+`).FindString(lines.Text())
	}
	go io.Copy(io.Discard, out)
	for end := time.Now().Add(15 * time.Second); at != "" && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		res, err := http.Get(at + "/api/homenode/v1/status")
		if err != nil {
			return err.Error()
		}
		data, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		text = string(data)
		if strings.Contains(text, "lacks") || regexp.MustCompile(`"ticks": ?[1-9]`).MatchString(text) {
			break
		}
	}
	return text
}

// A deed is a command that talks to a vCenter.
type deed struct {
	name  string
	ready func(*roleSite)        // makes what it needs, as the administrator
	do    func(*roleSite) string // returns what is said
	done  string                 // is said when it worked
}

func deeds() []deed {
	say := func(args ...string) func(*roleSite) string {
		return func(s *roleSite) string {
			args := slices.Clone(args)
			for i := range args {
				args[i] = strings.NewReplacer("URL", s.url, "FOLDER", s.folder).Replace(args[i])
			}
			return s.tell(args...)
		}
	}
	again := func(flag string) func(*roleSite) string {
		return func(s *roleSite) string {
			args := s.carry(flag, s.journal())
			text := s.tell(args...)
			if m := regexp.MustCompile(`does not fit: it is (\d+)`).FindStringSubmatch(text); m != nil { // not all is taken back
				args[len(args)-1] = m[1]
				text = s.tell(args...)
			}
			return text
		}
	}
	return []deed{
		{"assess", nil, say("assess", "URL"), `VMs|findings`},
		{"explain", nil, say("explain", "URL", "sql01"), `guest sees`},
		{"snapshot", nil, say("snapshot", "URL", "-o", "FOLDER/fleet.json"), ``},
		{"record", nil, say("record", "URL", "-o", "FOLDER/night", "--every", "2s", "--hours", "0.0009"), `recording`},
		{"serve --check", nil, say("serve", "URL", "--check"), `counters: yes`},
		{"serve", nil, (*roleSite).served, `"ticks": ?[1-9]`},
		{"fix", nil, func(s *roleSite) string { return s.tell(append([]string{"fix", s.url}, roleChanges...)...) }, `sql01`},
		{"fix --apply", func(s *roleSite) { s.plan() }, func(s *roleSite) string {
			return s.tell(s.carry("--plan", filepath.Join(s.folder, "plan.json"), "--apply")...)
		}, `--rollback`},
		{"fix --apply --power vmotion", func(s *roleSite) {
			s.changes = []string{"--set", "host=esx* Numa.PreferHT=1", "--allow", "host"}
			s.plan()
		}, func(s *roleSite) string {
			return s.tell(s.carry("--plan", filepath.Join(s.folder, "plan.json"), "--apply", "--power", "vmotion")...)
		}, `--rollback`},
		{"fix --resume", (*roleSite).interrupted, again("--resume"), `--rollback`},
		{"fix --verify", (*roleSite).applied, func(s *roleSite) string { return s.tell("fix", s.url, "--verify", s.journal()) }, `in effect|not known`},
		{"fix --rollback", (*roleSite).applied, again("--rollback"), `taken back|done`},
		{"fix --unlock", (*roleSite).locked, say("fix", "URL", "--unlock", "--yes", "1"), `was removed`},
	}
}

// begin makes a vCenter in which the command can be run.
func (d *deed) begin(t *testing.T) *roleSite {
	t.Helper()
	s := newRoleSite(t)
	if d.ready != nil {
		d.ready(s)
	}
	return s
}

// lacks is said by a command whose account lacks a privilege.
var lacks = regexp.MustCompile(`the account (lacks|needs)|lacks the privilege|no privilege|Nothing was changed`)

// TestRoles records which privileges the calls of each command need, runs it with a role of exactly these, and with one of them less: then it
// fails and names that one. docs/security.md has the table of them and the commands that make the roles, docs/fix.md the privileges of changes.
func TestRoles(t *testing.T) {
	used := map[string]map[string][]string{} // commands, by privilege and type of object
	for _, d := range deeds() {
		t.Run(d.name, func(t *testing.T) {
			var mu sync.Mutex
			role := map[string]string{}
			s := d.begin(t)
			s.as(lab.AllBut())
			s.vc.On(func(c lab.Call) types.BaseMethodFault {
				mu.Lock()
				defer mu.Unlock()
				for _, n := range c.Needs {
					role[n.Privilege] = n.On.Type
				}
				return nil
			})
			text := d.do(s)
			s.vc.On(nil)
			if lacks.MatchString(text) || !regexp.MustCompile(d.done).MatchString(text) {
				t.Fatalf("as administrator:\n%s", text)
			}
			if d.name == "fix --apply" {
				checkNeeds(t, s.planned(), role)
			}
			s = d.begin(t)
			names := slices.Sorted(maps.Keys(role))
			for _, name := range names {
				s.as(only(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })))
				if text := d.do(s); !strings.Contains(text, name) {
					t.Errorf("without %s:\n%s", name, text)
				}
			}
			s.as(only(names))
			if text := d.do(s); lacks.MatchString(text) || !regexp.MustCompile(d.done).MatchString(text) {
				t.Errorf("with %v:\n%s", names, text)
			}
			for name, on := range role {
				if used[name] == nil {
					used[name] = map[string][]string{}
				}
				used[name][on] = append(used[name][on], d.name)
			}
		})
	}
	if !t.Failed() {
		checkRoles(t, used)
	}
}

// only is an account that has these privileges and no other, not even those of Read-only.
func only(names []string) func(string, types.ManagedObjectReference) bool {
	return func(name string, _ types.ManagedObjectReference) bool { return slices.Contains(names, name) }
}

// checkNeeds compares the privileges that a plan asks for with those that its calls needed.
func checkNeeds(t *testing.T, p *fix.Plan, role map[string]string) {
	t.Helper()
	kinds := map[numa.EditKind]bool{}
	for i := range p.Changes {
		for _, e := range p.Changes[i].Edits {
			kinds[e.Kind] = true
		}
	}
	for kind := range fix.Privileges {
		if kind == numa.EditCoresPerNUMANode { // a cure alone has it: it is written with vnumaHotAdd
			kind = numa.EditVNUMAHotAdd
		}
		if !kinds[kind] {
			t.Errorf("the plan has no edit %s", kind)
		}
	}
	var asked []string
	for _, n := range p.Needs(true) {
		asked = append(asked, n.Privilege)
	}
	needed := slices.DeleteFunc(slices.Sorted(maps.Keys(role)), func(n string) bool { return slices.Contains(privilege.ReadOnly, n) })
	if !slices.Equal(asked, needed) {
		t.Errorf("a plan asks for %v, its calls need %v", asked, needed)
	}
}

// checkRoles compares docs/security.md and docs/fix.md with what was recorded.
func checkRoles(t *testing.T, used map[string]map[string][]string) {
	t.Helper()
	var table strings.Builder
	table.WriteString("| privilege | on | needed by |\n|---|---|---|\n")
	reads, writes := slices.Clone(privilege.ReadOnly), slices.Clone(privilege.ReadOnly)
	for _, name := range slices.Sorted(maps.Keys(used)) {
		var commands []string
		for _, on := range slices.Sorted(maps.Keys(used[name])) {
			commands = used[name][on]
			by := "every command"
			if !slices.Contains(privilege.ReadOnly, name) {
				by = "`" + strings.Join(commands, "`, `") + "`"
			}
			fmt.Fprintf(&table, "| `%s` | %s | %s |\n", name, map[string]string{"Folder": "root folder", "VirtualMachine": "VM", "HostSystem": "host",
				"ClusterComputeResource": "cluster"}[on], by)
		}
		switch {
		case slices.Contains(privilege.ReadOnly, name):
		case strings.HasPrefix(commands[0], "fix"):
			writes = append(writes, name)
		default:
			reads = append(reads, name)
		}
	}
	fmt.Fprintf(&table, "\n```\ngovc role.create homenode %s\ngovc role.create homenode-fix %s\n```\n", strings.Join(reads, " "), strings.Join(writes, " "))
	const path, begin, end = "../../docs/security.md", "<!-- roles -->\n", "<!-- end of roles -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(data), begin)
	was, tail, found := strings.Cut(rest, end)
	switch {
	case !found:
		t.Errorf("%s has no roles", path)
	case golden.Updating():
		golden.Write(t, path, []byte(head+begin+table.String()+end+tail))
	case was != table.String():
		t.Errorf("%s is not what commands need (go test ./cmd/homenode -run TestRoles -update rewrites it):\n%s", path, table.String())
	}
	guide := golden.Read(t, "../../docs/fix.md")
	_, section, _ := strings.Cut(string(guide), "\n## Privileges\n")
	named := slices.Sorted(maps.Keys(setOf(regexp.MustCompile(`(VirtualMachine|Host|Global|Resource)(\.\w+)+`).FindAllString(section, -1))))
	if want := writes[len(privilege.ReadOnly):]; !slices.Equal(named, want) {
		t.Errorf("docs/fix.md names %v, changes need %v", named, want)
	}
	watch, err := os.ReadFile("../../docs/watch.md")
	if err != nil || !strings.Contains(string(watch), "govc role.create homenode "+strings.Join(reads, " ")+"\n") {
		t.Errorf("docs/watch.md has another role than %v (%v)", reads, err)
	}
}

func setOf(list []string) map[string]bool {
	set := map[string]bool{}
	for _, one := range list {
		set[one] = true
	}
	return set
}
