package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/change/fix"
	"example.org/homenode/change/gate"
	"example.org/homenode/change/whatif"
	"example.org/homenode/output/answer"
	show "example.org/homenode/output/fix"
	"example.org/homenode/source/open"
	"example.org/homenode/source/text"
)

// Plan asks for the changes that fix findings.
type Plan struct {
	ask.Asked
	Fleet      string   `ask:"source,arg,need"`
	Beside     []string `ask:"beside,arg,local"`
	ask.Filter `only:"vm cluster rule select" group:"Which VMs and findings"`
	Set        []string `ask:"set" group:"Plan" label:"Instead: these settings" example:"hotAdd=off coresPerSocket=16" help:"instead of the edits that findings need, give the shown VMs and hosts these settings: 'numa.vcpu.preferHT=TRUE hotAdd=off', for hosts 'host=esx* Numa.PreferHT=1' (the words of --what-if; repeatable)"`
	Keep       []string `ask:"keep" help:"a rule of DRS: apart=sql01,sql02 (never two on one host), together=app01,db01, or the soft 'prefer=kafka*=esx01*,esx02*' (repeatable)"`
	Allow      []string `ask:"allow,list" choices:"better,host,resize,split,upgrade" label:"Allow" labels:"optional improvements,changes to host options,changes to vCPUs and memory,splitting VMs so that they fit other hosts,newer virtual hardware" help:"changes beyond the default: better, host, upgrade, resize, split (better: cures of low findings that need downtime, and what makes VMs tidier), host (options of hosts), upgrade (the virtual hardware, which cannot be taken back), resize (vCPUs and memory, with --set), split (what divides a VM further on its own hosts, so that it fits hosts that it may move to)"`
	AtOnce     int      `ask:"max-parallel" default:"1" min:"1" label:"VMs at a time" help:"VMs that are changed at the same time"`
	ask.Choice
	ask.Source `group:"Source"`
}

// PlanNames are the fields that determine a plan.
var PlanNames = []string{"set", "keep", "allow", "max-parallel", "vm", "cluster", "rule", "select", "nodes-per-socket", "product", "assume-host"}

// Answer answers the question. The result in the answer is the *fix.Plan.
func (q *Plan) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	p, err := q.Make(ctx, e)
	if err != nil {
		return nil, err
	}
	return ask.Partly(&ask.Reply{Answers: []*answer.Answer{q.Show(p, "")}}, nil, q.Incomplete())
}

// Patch makes the changes of a file that describes planned VMs. It writes nothing anywhere.
func (q *Plan) Patch(ctx context.Context, e *ask.Env) (*gate.Patch, error) {
	o, err := q.Choice.Options(e)
	if err != nil {
		return nil, err
	}
	if err := q.Refuse("it is for VMs that exist", "set", "keep", "allow", "max-parallel"); err != nil {
		return nil, err
	}
	shown, err := q.Compile()
	if err != nil {
		return nil, err
	}
	r, _, err := q.Judged(ctx, e, false, o, append([]string{q.Fleet}, q.Beside...)...)
	if err != nil {
		return nil, err
	}
	if r, err = shown.Fleet(ctx, r); err != nil {
		return nil, err
	}
	data, err := text.File(q.Fleet)
	if err != nil {
		return nil, err
	}
	return gate.PatchOf(r, q.Fleet, data)
}

// Make computes the plan. It writes nothing.
func (q *Plan) Make(ctx context.Context, e *ask.Env) (*fix.Plan, error) {
	sources := append([]string{q.Fleet}, q.Beside...)
	if !open.Whole(sources) || q.Models != nil {
		return nil, fmt.Errorf("%s holds no planned VMs: want one SOURCE, and no host models", q.Fleet)
	}
	o, err := q.options(e)
	if err != nil {
		return nil, err
	}
	fleet, err := q.ReadBy(ctx, e, o.Rules.Choices, false, sources...)
	if err != nil {
		return nil, err
	}
	return fix.Make(ctx, fleet, o)
}

// Show returns the answer for a plan from Make or from a file. The commands that apply it have more as additional words.
func (q *Plan) Show(p *fix.Plan, file string, more ...string) *answer.Answer {
	words := q.Words(append([]string{q.Fleet}, q.Beside...), slices.Concat(PlanNames, []string{"evidence"})...)
	return ask.Mark(show.Plan(p, file, open.VCenter(q.Fleet), append(words, more...)...), q.Incomplete())
}

// options reads the fields of the plan.
func (q *Plan) options(e *ask.Env) (o fix.Options, err error) {
	careful := e.Policy.Fixing()
	o = fix.Options{Owned: careful.Owned, Apart: careful.Apart, AtOnce: q.AtOnce, By: "homenode " + e.Version, Now: e.Today}
	if o.Rules, err = q.Choice.Options(e); err != nil {
		return o, err
	}
	if o.Filter, err = q.Compile(); err != nil {
		return o, err
	}
	for _, word := range q.Allow {
		*o.Allow(word) = true
	}
	for i, text := range q.Set {
		change, err := whatif.ParseAt("--set", i+1, text)
		if err != nil {
			return o, err
		}
		o.Set = append(o.Set, change)
	}
	for _, text := range q.Keep {
		r, err := fix.ParseDRS(text)
		if err != nil {
			return o, ask.Wrong("keep", err)
		}
		o.DRS = append(o.DRS, r)
	}
	slices.SortFunc(o.DRS, func(a, b fix.DRSRule) int { return strings.Compare(a.String(), b.String()) })
	return o, nil
}
