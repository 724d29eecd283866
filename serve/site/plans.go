package site

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/change/fix/apply"
	"homenode/output/answer"
	answers "homenode/output/fix"
	"homenode/serve/access"
	"homenode/serve/plans"
)

// An action is something that an operator can have done: a form that is posted.
type action struct {
	Path, Label, Note string
	Danger            bool
	Files             bool // a field of it sends a file
	Local             bool // this machine may, without signing in
	Fields            []field
	Hidden            []choice
}

// noWriter says how plans come to be carried out here.
const noWriter = "Plans are only shown here: start the server with --plans and --write-credentials to carry them out, or use the command line below."

// keepLongest is how long a plan may be made.
const keepLongest = 10 * time.Minute

// errNoPlans says that plans are not carried out here.
var errNoPlans = &unknownError{"no plans are kept here"}

// showPlans shows the plan that findings need now, and the plans that are kept.
func showPlans(x *request) (*view, error) {
	fields, flags := x.asked(
		field{Name: "rule", Label: "Rule", Hint: "N001"},
		field{Name: "cluster", Label: "Cluster", Hint: "prod*"},
		field{Name: "vm", Label: "VM", Hint: "sql*"},
		field{Name: "set", Label: "Instead: these settings", Hint: "hotAdd=off coresPerSocket=16", Long: true},
		field{Name: "better", flag: "allow=better", Label: "Also what is only better", Check: true},
		field{Name: "allow-host", flag: "allow=host", Label: "Also options of hosts", Check: true},
		field{Name: "allow-split", flag: "allow=split", Label: "Also what divides a VM for other hosts", Check: true},
		field{Name: "max-parallel", Label: "VMs at a time", Hint: "1"},
	)
	args := append([]string{"fix", Source}, flags...)
	a, err := x.site.recent.ask(x, args...)
	if err != nil {
		return &view{fields: fields}, err
	}
	v := &view{answer: a, fields: fields, command: args}
	if x.site.Plans == nil {
		out := *a
		out.Notes = append(slices.Clone(a.Notes), answer.Note{Text: noWriter})
		v.answer = &out
		return v, nil
	}
	kept, err := x.site.Plans.List()
	out := *a
	out.Tables = append([]answer.Table{keptPlans(kept)}, a.Tables...)
	if err != nil {
		out.Notes = append(slices.Clone(a.Notes), answer.Note{Text: err.Error()})
	}
	v.answer = &out
	if x.fleet.Live {
		keep := action{Path: "/plans/keep", Label: "Keep this plan", Note: "It is made anew of the vCenter as it is, and can then be reviewed and carried out. Nothing is written."}
		keep.Hidden = append(keep.Hidden, choice{"fleet", x.fleet.Name})
		for _, f := range fields {
			if f.Value != "" {
				keep.Hidden = append(keep.Hidden, choice{f.Name, f.Value})
			}
		}
		v.actions = append(v.actions, keep)
	}
	return v, nil
}

// keptPlans lists the plans that are kept.
func keptPlans(all []plans.Summary) answer.Table {
	t := answer.Table{Name: "plans", Title: "Kept plans", Columns: answer.Columns("Plan", "Made", ">Objects", "Of", "State", "By")}
	for i := range all {
		s := &all[i]
		state, by := "not carried out", ""
		if s.Journal != nil {
			_, by = s.Since()
			state = strings.TrimSuffix(answers.Progress(s.Journal, s.Running).Verdict[0], ".")
		}
		t.Rows = append(t.Rows, []answer.Cell{{Text: s.Plan.ID, To: answer.Object{Kind: "plan", ID: s.Plan.ID}}, {Text: s.Plan.Made}, {Text: strconv.Itoa(len(s.Plan.Changes)), Sort: strconv.Itoa(len(s.Plan.Changes))}, {Text: s.Plan.Source}, {Text: state}, {Text: by}})
	}
	if len(all) == 0 {
		t.Foot = []string{"None is kept."}
	}
	return t
}

// ways are the choices how VMs come to be off.
func ways() []choice {
	out := []choice{{"", "not at all: what needs it is left out"}}
	for _, w := range []struct {
		power apply.Power
		text  string
	}{{apply.PowerGuest, "shut the guest down, power on again"}, {apply.PowerHard, "power off where the guest takes too long"}, {apply.PowerReboot, "at the guest's next reboot (settings alone)"}, {apply.PowerWait, "wait until somebody powers it off"}} {
		out = append(out, choice{string(w.power), w.text})
	}
	return out
}

// showPlan shows a plan that is kept: for review, while it is carried out, and how it came out.
func showPlan(x *request) (*view, error) {
	if x.site.Plans == nil {
		return nil, errNoPlans
	}
	id := x.query.Get("plan")
	s, err := x.site.Plans.Show(id)
	if errors.Is(err, plans.ErrUnknown) {
		return nil, &unknownError{err.Error()}
	}
	if err != nil {
		return nil, err
	}
	review := answers.Plan(s.Plan, id+".plan.json", true, s.Plan.Source)
	a := review
	if s.Journal != nil {
		a = answers.Progress(s.Journal, s.Running)
		a.Tables = append(a.Tables, review.Tables...)
		a.Facts = append(a.Facts, review.Facts...)
		if err := x.site.Plans.Failed(id); err != nil && !s.Running {
			a.Notes = append(a.Notes, answer.Note{Text: err.Error()})
		}
	}
	a.Next = nil
	v := &view{answer: a, live: s.Running, title: "Plan " + id}
	hidden := []choice{{"plan", id}}
	if x.fleet != nil {
		hidden = append(hidden, choice{"fleet", x.fleet.Name})
	}
	if s.Running {
		v.actions = []action{{Path: "/plan/stop", Label: "Stop", Note: "The VMs under way come to their end, and no further one is begun.", Danger: true, Hidden: hidden}}
		return v, nil
	}
	for _, what := range s.Can() {
		n := s.Objects(what)
		one := action{Path: "/plan/" + what, Hidden: hidden, Danger: true}
		power := field{Name: "power", Label: "VMs that have to be off", Choices: ways()}
		number := field{Name: "objects", Label: "Type the number of objects, " + strconv.Itoa(n) + ", to confirm"}
		switch what {
		case plans.Apply:
			one.Label, one.Note = "Carry it out", "Every VM is compared with the plan before it is touched. Each change can be taken back."
			one.Fields = []field{power, {Name: "window", Label: "Only then", Hint: "Sat 22:00-04:00"}, {Name: "failures", Label: "Failures that end the run", Hint: "1"}, number}
		case plans.Rollback:
			one.Label, one.Note = "Take it back", "Every setting that was written gets its former value, or goes."
			one.Fields = []field{power, number}
		case plans.Resume:
			one.Label, one.Note = "Go on", "What was done already is not done again."
			one.Fields = []field{power}
		}
		v.actions = append(v.actions, one)
	}
	return v, nil
}

// keepPlan keeps the plan that a form asks for.
func (s *Site) keepPlan(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, func(x *request) (string, error) {
		if s.Plans == nil {
			return "/plans", errNoPlans
		}
		var flags []string
		for _, name := range []string{"rule", "cluster", "vm", "set", "max-parallel"} {
			if v := strings.TrimSpace(r.PostForm.Get(name)); v != "" {
				flags = append(flags, "--"+name+"="+v)
			}
		}
		for _, name := range []string{"better", "allow-host", "allow-split"} {
			if r.PostForm.Get(name) != "" {
				flags = append(flags, "--allow="+strings.TrimPrefix(name, "allow-"))
			}
		}
		if x.fleet == nil {
			return "", errNoFleet
		}
		// A large vCenter is read in minutes. A test's writer has no deadline.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(keepLongest))
		id, err := s.Plans.Keep(r.Context(), x.fleet.Name, flags)
		return "/plan?plan=" + id, err
	})
}

// doPlan carries out, resumes, takes back or stops a plan.
func (s *Site) doPlan(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, func(x *request) (string, error) {
		if s.Plans == nil {
			return "/plans", errNoPlans
		}
		id, what := r.PostForm.Get("plan"), r.PathValue("what")
		to := "/plan?" + url.Values{"plan": {id}}.Encode()
		if what == "stop" {
			return to, s.Plans.Stop(id)
		}
		if x.fleet == nil {
			return to, errNoFleet
		}
		u := access.Of(r.Context())
		o := plans.Order{By: u.Name + " (" + u.Via + ")", Power: r.PostForm.Get("power"), Window: strings.TrimSpace(r.PostForm.Get("window"))}
		var err error
		if text := strings.TrimSpace(r.PostForm.Get("objects")); text != "" {
			if o.Objects, err = strconv.Atoi(text); err != nil {
				return to, errors.New("the number of objects: found " + strconv.Quote(text) + ", want a number")
			}
		}
		if text := strings.TrimSpace(r.PostForm.Get("failures")); text != "" {
			if o.Most, err = strconv.Atoi(text); err != nil {
				return to, errors.New("failures: found " + strconv.Quote(text) + ", want a number")
			}
		}
		return to, s.Plans.Start(r.Context(), x.fleet.Name, id, what, o)
	})
}

// act does what a posted form asks and shows the page that it leads to, or why it was not done.
func (s *Site) act(w http.ResponseWriter, r *http.Request, do func(*request) (string, error)) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	x := &request{Request: r, site: s, page: &screen{path: r.URL.Path, title: "Not done"}, query: url.Values{}}
	err := r.ParseForm()
	if err == nil {
		name := r.PostForm.Get("fleet")
		for _, f := range s.Fleets() {
			if f.Name == name || name == "" {
				x.fleet = f
				break
			}
		}
		for _, values := range r.PostForm {
			if slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(strings.TrimSpace(v), "@") }) {
				err = errors.New("a page reads no files")
			}
		}
	}
	told := map[string]string{}
	for name := range r.PostForm {
		told[name] = r.PostForm.Get(name)
	}
	x.do(w, told, err, do)
}

// do does what was asked, unless there is an error already, and shows the page that it leads to, or why it was not done. The audit log
// has what is told of it, before and after.
func (x *request) do(w http.ResponseWriter, told map[string]string, err error, do func(*request) (string, error)) {
	if err == nil {
		err = access.Log(x.Context(), x.URL.Path, told) // what is not logged is not done
	}
	to := ""
	if err == nil {
		to, err = do(x)
		told["to"], told["result"] = to, "ok"
		if err != nil {
			told["result"] = err.Error()
		}
		err = cmp.Or(err, access.Log(x.Context(), x.URL.Path, told))
	}
	if err != nil {
		x.write(w, statusOf(err), &view{answer: &answer.Answer{Title: "Not done", Verdict: []string{sentence(err.Error())}}, back: to})
		return
	}
	http.Redirect(w, x.Request, to, http.StatusSeeOther)
}
