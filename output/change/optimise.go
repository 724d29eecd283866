package change

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/change/optimise"
	"example.org/homenode/change/propose"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
)

// Optimise returns the answer of a proposal: its benefit, its steps, and simulations of both
// distributions.
func Optimise(r *propose.Result) *answer.Answer {
	a := &answer.Answer{
		Command: "optimise", Format: "homenode-proposal", Version: 3, Verdict: worth(r), Result: r,
		Assumed: []answer.Assumption{{What: "estimated figures", Value: estimate, Origin: unit.Assumed}},
	}
	t := answer.Table{Name: "estimated", Title: "Estimated", Columns: answer.Columns("", ">remote", ">far", ">cores short", ">vMotions", ">power cycles", ">total")}
	moves, cycles := actions(r)
	for i, s := range []*optimise.Score{&r.Before, &r.After} {
		t.Add(sides[i], mib(s.Remote), mib(s.Far), fixed(s.CoresShort(), 2), strconv.Itoa(i*moves), strconv.Itoa(i*cycles), strconv.FormatInt(s.Total, 10))
	}
	t.Foot = []string{"TOTAL: the weighted cost, in MiB of remote memory (docs/evidence/optimise.md)."}
	if !r.Proven {
		t.Foot = append(t.Foot, fmt.Sprintf("No distribution costs less than %d: a lower bound, often a loose one.", r.Bound.Total))
	}
	a.Tables = append(a.Tables, t)
	if len(r.Steps) > 0 {
		a.Tables = append(a.Tables, stepsTable(r.Steps))
	}
	if r.Runs != nil {
		t := answer.Table{Name: "simulated", Title: fmt.Sprintf("Simulated for %s with the same loads, each VM powered on where it then is", words.Short(r.Length)), Columns: simulation}
		for i := range r.Runs {
			t.Add(append([]string{sides[i]}, figures(&r.Runs[i])...)...)
		}
		a.Tables = append(a.Tables, t)
	}
	if r.Runs != nil && r.EventsLeftOut > 0 {
		a.Note(fmt.Sprintf("without %s of the story: changes of load and talk alone are part of both runs", words.Plural(r.EventsLeftOut, "event")))
	}
	if r.Differs {
		a.Note(differ)
	}
	if r.Off > 0 {
		a.Note("not counted: " + words.Verb(r.Off, "VM that is off all the time", "VMs that are off all the time"))
	}
	a.NotesFrom("", r.Notes...)
	if len(r.Steps) > 0 {
		a.Note("homenode makes none of these steps: make them in vCenter in this order (Migrate, or Move-VM of PowerCLI), with DRS of the cluster on manual until the last one")
	}
	return a
}

// actions counts the vMotions and power cycles among the steps.
func actions(r *propose.Result) (moves, cycles int) {
	moves = words.Count(r.Steps, func(s propose.Step) bool { return s.From != "" })
	return moves, len(r.Steps) - moves
}

// sides are the names of the table rows.
var sides = [2]string{"now", "proposed"}

// estimate describes the assumptions of the estimated figures.
const estimate = "all configured memory touched, each VM's demand at its highest within the story, by node, without hyper-threading"

// differ explains why the two tables differ.
const differ = `why estimated and simulated figures differ: the estimate places every VM once, with all its memory and its highest demand, all at once; ` +
	`in the simulation VMs touch and ask for what their load says at the time, the scheduler moves clients and pages, memory beyond a host's is swapped ` +
	`and not remote, and hyper-threading adds to the cores of a node`

func stepsTable(steps []propose.Step) answer.Table {
	t := answer.Table{Name: "steps", Title: "Steps, in this order", Columns: answer.Columns(">step", "VM", "what", "where", "why")}
	for _, s := range steps {
		where := s.To
		if s.From != "" {
			where = s.From + " → " + s.To
		}
		if s.Temporary {
			where += " for a while"
		}
		t.Add(strconv.Itoa(s.Step), s.VM, s.What, where, strings.Join(append(s.Change, s.Why), "; "))
	}
	return t
}

func mib(n int64) string { return (numa.Bytes(n) * numa.MiB).String() }

// points returns a share as a percentage with one decimal.
func points(share float64) string { return fixed(share*100, 1) + " %" }

// worth describes the benefit of the proposal, the constraints that it violates, and its
// maximum distance from the optimum.
func worth(r *propose.Result) []string {
	where := fmt.Sprintf("%s: %s on %s", r.Cluster, words.Plural(r.VMs, "VM"), words.Plural(r.Hosts, "host"))
	a, b := &r.Before, &r.After
	var first, last []string // about constraints
	if text := fmt.Sprintf("Constraints broken now: %s; then: %s.", r.Broken[0], r.Broken[1]); b.Broken > 0 {
		first = append(first, text)
	} else if a.Broken > 0 {
		last = append(last, text)
	}
	if r.Proven {
		last = append(last, "Proven: no distribution costs less.")
	}
	if r.Unsurvived != nil {
		first = append(first, "N+1 is not met, now or afterwards, even if memory may be remote: "+words.Few(r.Unsurvived)+".")
	} else if r.NPlus1 {
		last = append(last, "N+1 is met: the VMs of any one host find room on the others, if their memory may be remote.")
	}
	if len(r.Steps) == 0 {
		return slices.Concat(first, []string{where + ". No better distribution was found that is worth its moves."}, last)
	}
	var gains, prices []string
	for _, one := range []struct {
		name      string
		now, then int64
		text      func(int64) string
	}{{"remote memory", a.Remote, b.Remote, mib}, {"far memory", a.Far, b.Far, mib}, {"cores short", a.Ready, b.Ready, func(n int64) string { return fixed((&optimise.Score{Ready: n}).CoresShort(), 2) }}} {
		text := one.name + " " + one.text(one.now) + " → " + one.text(one.then)
		switch {
		case one.then > one.now:
			prices = append(prices, text)
		case one.then < one.now:
			gains = append(gains, text)
		default:
			gains = append(gains, fmt.Sprintf("%s stays %s", one.name, one.text(one.now)))
		}
	}
	out := fmt.Sprintf("%s. %s, estimated: %s", where, steps(r), strings.Join(gains, ", "))
	switch {
	case gains == nil:
		out += "at the price of " + strings.Join(prices, ", ")
	case prices != nil:
		out += "; the price: " + strings.Join(prices, ", ")
	}
	out += "."
	if r.Runs != nil {
		out += " " + simulated(r.Runs)
	}
	return slices.Concat(first, []string{out}, last)
}

// steps says what an administrator does: "3 vMotions and 1 power cycle".
func steps(r *propose.Result) string {
	moves, cycles := actions(r)
	text := []string{words.Plural(moves, "vMotion"), words.Plural(cycles, "power cycle")}
	if cycles == 0 {
		text = text[:1]
	} else if moves == 0 {
		text = text[1:]
	}
	return strings.Join(text, " and ")
}

// figures returns the figures of a simulation, as the table prints them.
func figures(o *propose.Outcome) []string {
	return []string{optional(o.Locality, points), points(o.Far), points(o.Ready), points(o.CoStop), points(o.Swapped), optional(o.Speed, func(v float64) string { return fixed(v, 3) }), strconv.Itoa(o.Findings)}
}

// simulation has the columns of the figures of a simulation, behind those of the sides.
var simulation = answer.Columns("", ">N%L", ">far", ">ready", ">co-stop", ">swapped", ">speed", ">findings")

// simulated says which figures differ between the simulations.
func simulated(runs *[2]propose.Outcome) string {
	var changed []string
	now, then := figures(&runs[0]), figures(&runs[1])
	for i, one := range simulation[1:] {
		if now[i] != then[i] {
			changed = append(changed, one.Name+" "+now[i]+" → "+then[i])
		}
	}
	if changed == nil {
		return "The simulation shows no difference."
	}
	return "Simulated: " + strings.Join(changed, ", ") + "."
}

// optional formats a figure that can be unknown.
func optional(v *float64, write func(float64) string) string {
	if v == nil {
		return "–"
	}
	return write(*v)
}
