// Package plans keeps plans of changes in a folder and carries them out for operators, with the account that may write.
// What it knows of a run it reads from the journal, so that a page shows the same before and after the server was restarted.
package plans

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"homenode/change/fix"
	"homenode/change/fix/apply"
	"homenode/change/fix/journal"
	"homenode/internal/atomicfile"
	"homenode/output/answer"
	"homenode/serve/access"
)

// Do runs homenode fix on the vCenter of this name with the account that may write, and returns its answers. args follow
// the SOURCE.
type Do func(ctx context.Context, vcenter string, args ...string) ([]*answer.Answer, error)

// A Desk keeps plans. Its methods may be called at the same time.
type Desk struct {
	folder string
	do     Do

	all  sync.WaitGroup
	mu   sync.Mutex
	runs map[string]*run // those under way, by ID of the plan
	last map[string]error
}

// A run is one that is under way.
type run struct{ stop context.CancelFunc }

// New returns the Desk of a folder, which it makes.
func New(folder string, do Do) (*Desk, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return &Desk{folder: folder, do: do, runs: map[string]*run{}, last: map[string]error{}}, nil
}

// identity is the form of a plan's ID: nothing else becomes part of a path.
var identity = regexp.MustCompile(`^[0-9a-f]{6,64}$`)

// ErrUnknown says that there is no such plan.
var ErrUnknown = errors.New("no plan has this ID")

// path returns where a plan is kept.
func (d *Desk) path(id string) (string, error) {
	if !identity.MatchString(id) {
		return "", ErrUnknown
	}
	return filepath.Join(d.folder, id+".plan.json"), nil
}

// Keep makes a plan of the vCenter as it is now, with the flags of homenode fix, and keeps it.
func (d *Desk) Keep(ctx context.Context, vcenter string, flags []string) (id string, err error) {
	answers, err := d.do(ctx, vcenter, flags...)
	if err != nil {
		return "", err
	}
	if len(answers) == 0 {
		return "", errors.New("no plan was made")
	}
	p, ok := answers[0].Result.(*fix.Plan)
	if !ok {
		return "", errors.New("no plan was made")
	}
	if len(p.Changes) == 0 {
		return "", errors.New("the plan would change nothing")
	}
	path, err := d.path(p.ID)
	if err != nil {
		return "", fmt.Errorf("plan %q: %w", p.ID, err)
	}
	return p.ID, atomicfile.Write(path, p.Write)
}

// Plan returns the plan of this ID.
func (d *Desk) Plan(id string) (*fix.Plan, error) {
	path, err := d.path(id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return fix.Read(f)
}

// A Summary is a plan that is kept.
type Summary struct {
	Plan    *fix.Plan
	Running bool
	Journal []journal.Line // of its newest run; nil for a plan that was never carried out
}

// List returns the plans that are kept, the newest first. What cannot be read is left out and named in the error.
func (d *Desk) List() (all []Summary, err error) {
	files, err := os.ReadDir(d.folder)
	for _, file := range files {
		id, ok := strings.CutSuffix(file.Name(), ".plan.json")
		if !ok {
			continue
		}
		s, one := d.Show(id)
		if one != nil {
			err = errors.Join(err, fmt.Errorf("plan %s: %w", id, one))
			continue
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Summary) int {
		return cmp.Or(cmp.Compare(b.Plan.Made, a.Plan.Made), cmp.Compare(a.Plan.ID, b.Plan.ID))
	})
	return all, err
}

// Show returns a plan with its newest run.
func (d *Desk) Show(id string) (Summary, error) {
	d.mu.Lock()
	running := d.runs[id] != nil
	d.mu.Unlock()
	return d.show(id, running)
}

func (d *Desk) show(id string, running bool) (Summary, error) {
	p, err := d.Plan(id)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{Plan: p, Running: running}
	path := d.journal(id)
	if path == "" {
		return s, nil
	}
	s.Journal, err = journal.Read(path)
	if err != nil && s.Running { // its first line is being written
		s.Journal, err = nil, nil
	}
	return s, err
}

// journal returns the path of the newest journal of a plan; "" for none.
func (d *Desk) journal(id string) string {
	files, _ := os.ReadDir(d.folder) // the plan was read from it
	newest := ""
	for _, file := range files {
		name := file.Name()
		if strings.HasPrefix(name, id+"-") && strings.HasSuffix(name, ".journal") && (newest == "" || stem(name) > stem(newest)) {
			newest = name
		}
	}
	if newest == "" {
		return ""
	}
	return filepath.Join(d.folder, newest)
}

// stem orders journals of one second too.
func stem(name string) string {
	name = strings.TrimSuffix(name, ".journal")
	if i := strings.LastIndex(name, "Z-"); i >= 0 {
		if n, err := strconv.Atoi(name[i+2:]); err == nil {
			return fmt.Sprintf("%s%03d", name[:i+1], n)
		}
	}
	return name + "000"
}

// An Order says how a plan is carried out.
type Order struct {
	By      string // who asks for it
	Objects int    // that are changed, as the operator typed it: another number is refused
	Power   string // guest, hard, reboot, wait, or ""
	Most    int    // failures after which no further VM is begun
	Window  string // when VMs may be begun, such as "Sat 22:00-04:00"
}

// ErrRunning says that the plan is being carried out.
var ErrRunning = errors.New("the plan is being carried out already")

// The things that can be done with a plan.
const (
	Apply    = "apply"
	Resume   = "resume"
	Rollback = "rollback"
)

// Start carries out what of a plan in the background, after the request of ctx too. What can be refused at once is. The audit log has how
// it ended.
func (d *Desk) Start(ctx context.Context, vcenter, id, what string, o Order) error {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.mu.Lock()
	running := d.runs[id] != nil
	if !running { // from here on no other request begins it
		d.runs[id] = &run{stop}
	}
	d.mu.Unlock()
	if running {
		stop()
		return ErrRunning
	}
	end := func() {
		stop()
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.runs, id)
	}
	args, err := d.order(id, what, o)
	if err != nil {
		end()
		return err
	}
	d.all.Go(func() {
		defer end()
		answers, err := d.do(ctx, vcenter, args...)
		told := map[string]string{"plan": id, "what": what}
		if len(answers) > 0 && len(answers[0].Verdict) > 0 {
			told["outcome"] = answers[0].Verdict[0]
		}
		if err != nil {
			told["result"] = err.Error()
		}
		err = errors.Join(err, access.Log(ctx, "plan ended", told))
		d.mu.Lock()
		defer d.mu.Unlock()
		d.last[id] = err
	})
	return nil
}

// order returns the flags of homenode fix for what is asked of a plan that does not run, or why it is refused.
func (d *Desk) order(id, what string, o Order) ([]string, error) {
	path, err := d.path(id)
	if err != nil {
		return nil, err
	}
	s, err := d.show(id, false)
	if err != nil {
		return nil, err
	}
	args := []string{"--by=" + o.By, "--power=" + o.Power, "--max-failures=" + strconv.Itoa(max(1, o.Most))}
	if o.Window != "" {
		args = append(args, "--window="+o.Window)
	}
	want := len(s.Plan.Changes)
	switch what {
	case Apply:
		if s.Journal != nil && !undone(s.Journal) {
			return nil, errors.New("the plan was carried out before: resume it, or take it back")
		}
		args = append(args, "--apply", "--plan="+path, "--journal="+d.folder, "--yes="+strconv.Itoa(o.Objects))
	case Resume, Rollback:
		if s.Journal == nil {
			return nil, errors.New("the plan was never carried out")
		}
		if what == Rollback {
			if want, err = toTakeBack(s.Journal); err != nil {
				return nil, err
			}
			args = append(args, "--yes="+strconv.Itoa(o.Objects))
		}
		args = append(args, "--"+what+"="+d.journal(id))
	default:
		return nil, fmt.Errorf("found %q, want one of %s, %s, %s", what, Apply, Resume, Rollback)
	}
	if what != Resume && o.Objects != want {
		return nil, fmt.Errorf("the number of objects that are changed is %d: type it to go on. Nothing was changed", want)
	}
	return args, nil
}

// undone reports whether the last run of the journal took the plan back.
func undone(lines []journal.Line) bool {
	for _, l := range slices.Backward(lines) {
		if l.Step == journal.StepPlan {
			return l.Undo
		}
	}
	return false
}

// toTakeBack returns how many objects a rollback changes.
func toTakeBack(lines []journal.Line) (int, error) {
	forward, back, err := apply.Forward(lines)
	if err != nil {
		return 0, err
	}
	n := 0
	for id := range apply.Begun(forward) {
		if !back[id] {
			n++
		}
	}
	return n, nil
}

// Failed returns why the last run of a plan ended early; nil when it did not, or since the server was started none ran.
func (d *Desk) Failed(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last[id]
}

// Stop lets the VMs under way end and begins no further one.
func (d *Desk) Stop(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.runs[id]
	if r == nil {
		return errors.New("the plan is not being carried out")
	}
	r.stop()
	return nil
}

// Close stops everything that is under way, and waits until it has ended.
func (d *Desk) Close() {
	d.mu.Lock()
	for _, r := range d.runs {
		r.stop()
	}
	d.mu.Unlock()
	d.all.Wait()
}

// Objects returns how many objects are changed by what is asked of a plan.
func (s *Summary) Objects(what string) int {
	if what == Rollback {
		n, _ := toTakeBack(s.Journal) // Start says why not
		return n
	}
	return len(s.Plan.Changes)
}

// Can reports what can be asked of the plan now.
func (s *Summary) Can() (what []string) {
	switch {
	case s.Running:
	case s.Journal == nil:
		what = []string{Apply}
	default:
		if ended(s.Journal) {
			if s.Objects(Rollback) > 0 {
				what = append(what, Rollback)
			}
			if undone(s.Journal) {
				what = append(what, Apply)
			}
			break
		}
		what = []string{Resume}
		if s.Objects(Rollback) > 0 {
			what = append(what, Rollback)
		}
	}
	return what
}

// ended reports whether every change of the last run came to an end.
func ended(lines []journal.Line) bool {
	p, _ := apply.Remember(lines)
	results := apply.Ended(lines)
	for i := range p.Changes {
		if r, ok := results[p.Changes[i].Target().ID]; !ok || r.Outcome == apply.NotBegun || r.Bad() {
			return false
		}
	}
	return true
}

// Since returns when the newest run was begun, and by whom.
func (s *Summary) Since() (at time.Time, by string) {
	for _, l := range slices.Backward(s.Journal) {
		if l.Step == journal.StepPlan {
			return l.Time, ""
		}
	}
	return time.Time{}, ""
}
