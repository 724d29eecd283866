package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/change/move"
	"example.org/homenode/internal/outside"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	show "example.org/homenode/output/move"
	"example.org/homenode/output/move/target"
	"example.org/homenode/rules"
)

// Move asks how VMs are defined on other platforms.
type Move struct {
	ask.Asked
	Fleet      []string `ask:"source,arg,need"`
	ask.Filter `only:"vm cluster host folder tag select" group:"Which VMs"`
	To         []string `ask:"to,list" default:"libvirt" likely:"libvirt,qemu,proxmox,kubevirt,nova,hyperv,ahv" group:"Target" help:"platforms: libvirt, qemu, proxmox, kubevirt, nova, hyperv, ahv"`
	Shape      string   `ask:"shape" default:"clients" choices:"clients,same,fit,flat" help:"shape of guests: as on vSphere, with the nodes that hot add hides (clients), the same, hidden too, fit for --hosts, or flat"`
	ask.Choice
	Hosts      `group:"Hosts"`
	ask.Source `only:"evidence" group:"Source"`
}

// MoveNames are the fields that select VMs and targets.
var MoveNames = slices.Concat([]string{"evidence", "vm", "cluster", "host", "folder", "tag", "select", "choose", "to", "shape"}, hostNames)

// A Moved is the migration of VMs before anything is written.
type Moved struct {
	Moves   []*move.Move
	Planned *show.Planned // placement on hosts; nil without --hosts
	Refused bool          // a VM cannot be migrated as requested
	Rests   []string      // the platform facts that the result is based on
}

// Answer answers the question.
func (q *Move) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	m, err := q.Make(ctx, e)
	if err != nil {
		return nil, err
	}
	r := &ask.Reply{Answers: []*answer.Answer{q.Show(m, target.Files(m.Moves), "")}, Found: m.Refused}
	return ask.Partly(r, nil, q.Incomplete())
}

// Make computes the migration. It writes nothing.
func (q *Move) Make(ctx context.Context, e *ask.Env) (*Moved, error) {
	platforms, err := q.platforms()
	if err != nil {
		return nil, err
	}
	hosts, sizing, err := q.read(e.Shared)
	o := move.Options{Shape: q.Shape, Hosts: sizing}
	if err == nil && o.Shape == move.Fit && len(o.Hosts) == 0 {
		err = errors.New("--shape fit wants --hosts: the hosts of the target, or what each has, such as 2x32c/1TB")
	}
	choices, wrong := q.Choices()
	shown, unknown := q.Compile()
	if err = cmp.Or(err, q.refuse(&hosts), wrong, unknown); err != nil {
		return nil, err
	}
	whole, _, err := q.Judged(ctx, e, false, rules.Options{Choices: choices, Today: e.Today}, q.Fleet...)
	if err != nil {
		return nil, err
	}
	result, err := shown.Fleet(ctx, whole)
	if err != nil {
		return nil, err
	}
	m := &Moved{}
	if m.Planned, err = hosts.plan(ctx, result, platforms, &o); err != nil {
		return nil, err
	}
	if m.Planned != nil {
		m.Planned.Whole = whole
	}
	if m.Moves, err = move.Fleet(ctx, result, platforms, o); err != nil {
		return nil, err
	}
	if len(m.Moves) == 0 {
		text := strings.Join(q.Fleet, ", ") + ": no VM is shown that could be judged: there is nothing to move"
		if len(result.Fleet.Hosts) == 0 {
			text += fmt.Sprintf("; no host is known: homenode snapshot %s --assume-host '2x18c/1TB release=8.0U3' -o fleet.json states one, and homenode move fleet.json reads that", words.Command(q.Fleet...))
		}
		return nil, errors.New(text)
	}
	moved := map[string]bool{}
	for vm := range move.VMs(result) {
		moved[vm.ID] = true
	}
	var left []string
	for i := range result.Fleet.VMs {
		if vm := &result.Fleet.VMs[i]; !moved[vm.ID] {
			left = append(left, vm.Name)
		}
	}
	if left != nil {
		m.Rests = append(m.Rests, fmt.Sprintf("%s not moved: %s, which is a template or cannot be judged; homenode assess says why.", words.Verb(len(left), "VM is", "VMs are"), words.Few(left)))
	}
	for _, to := range platforms {
		fact := outside.Of(to.Name)
		m.Rests = append(m.Rests, fact.Cite(e.Today)+".")
	}
	m.Refused = slices.ContainsFunc(m.Moves, func(m *move.Move) bool { return m.Refused != nil })
	return m, nil
}

// Show returns the answer for m. folder is where its files were written, "" for nowhere. The next command has more as additional words.
func (q *Move) Show(m *Moved, files []target.File, folder string, more ...string) *answer.Answer {
	a := show.Fleet(m.Moves, m.Planned, folder, NamesOf(files), append(q.Words(q.Fleet, MoveNames...), more...)...)
	a.Note(m.Rests...)
	return ask.Mark(a, q.Incomplete())
}

// NamesOf returns a function that lists the file names of a move.
func NamesOf(files []target.File) func(m *move.Move) []string {
	of := map[*move.Move][]string{}
	for _, f := range files {
		for _, m := range f.Of {
			of[m] = append(of[m], f.Name)
		}
	}
	return func(m *move.Move) []string { return of[m] }
}

// platforms parses the target platforms.
func (q *Move) platforms() (to []*move.Platform, err error) {
	for _, name := range q.To {
		p := move.PlatformOf(name)
		switch {
		case p == nil:
			return nil, ask.Wrong("to", fmt.Errorf("found %q, want one of %s", name, strings.Join(move.Names(), ", ")))
		case slices.Contains(to, p):
			return nil, ask.Wrong("to", fmt.Errorf("found %s twice", name))
		}
		to = append(to, p)
	}
	return to, nil
}

// refuse returns an error for an empty --hosts, or for a capacity limit without hosts.
func (q *Move) refuse(t *targets) error {
	switch {
	case t.list != nil:
		return nil
	case len(q.Names) == 0 && q.Given("hosts"):
		return ask.Wrong("hosts", errors.New("found nothing, want hosts such as 2x32c/1TB*6, or files of them"))
	}
	return q.Refuse("it is about the plan of hosts: name them with --hosts, such as 2x32c/1TB*6", hostNames[1:]...)
}
