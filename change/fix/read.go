package fix

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/jsontree"
	"example.org/homenode/source/strict"
)

// The bounds of a plan that is read.
const (
	MaxPlan    = 64 << 20 // in bytes; a change takes about 2 kB, and reading ten times as much
	maxChanges = 200_000
)

// Read reads a plan and checks it. Errors name the line.
func Read(r io.Reader) (*Plan, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxPlan+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > MaxPlan:
		return nil, fmt.Errorf("the plan is larger than %d MB", MaxPlan>>20)
	}
	p := &Plan{}
	if err := strict.Unmarshal("plan", "plan", data, p); err != nil {
		return nil, located(data, err)
	}
	if err := p.Check(); err != nil {
		return nil, located(data, err)
	}
	if err := p.asWritten(data); err != nil {
		return nil, err
	}
	if p.Undoes != "" {
		return nil, fmt.Errorf("it takes the plan %.40q back, which --rollback of a journal does", p.Undoes)
	}
	return p, nil
}

// asWritten reports the first line where a text differs, apart from blanks, from the plan as Write writes it: a derived field was edited, or is missing.
func (p *Plan) asWritten(data []byte) error {
	var written bytes.Buffer
	if err := p.Write(&written); err != nil {
		return err
	}
	is, want := jsontext.NewDecoder(bytes.NewReader(data)), jsontext.NewDecoder(&written)
	for {
		found, err := is.ReadToken()
		wanted, end := want.ReadToken()
		if err == io.EOF && end == io.EOF {
			return nil
		}
		if err = cmp.Or(err, end); err != nil || found.Kind() != wanted.Kind() || found.String() != wanted.String() {
			line := 1 + bytes.Count(data[:is.InputOffset()], []byte("\n"))
			return fmt.Errorf("line %d: the plan was edited after it was made: %.200s: found %.80q, want %.80q", line, is.StackPointer(), found, wanted)
		}
	}
}

// A fault is about one change of a plan or, unless edit is -1, one of its edits, both from 0.
type fault struct {
	change, edit int
	name         string
	err          error
}

func (f *fault) Error() string {
	at := fmt.Sprintf("change %d", f.change+1)
	if f.name != "" {
		at += fmt.Sprintf(" (%q)", f.name)
	}
	if f.edit >= 0 {
		at += fmt.Sprintf(", edit %d", f.edit+1)
	}
	return at + ": " + f.err.Error()
}

func (f *fault) Unwrap() error { return f.err }

// located puts the line before an error about a plan in JSON.
func located(data []byte, err error) error {
	if wrong, ok := errors.AsType[*numa.SyntaxError](err); ok {
		return fmt.Errorf("line %d: it is no plan: %s", wrong.Line, wrong.Msg)
	}
	tree, _ := jsontree.Parse(data, 1)
	line := tree.Line
	if f, ok := errors.AsType[*fault](err); ok {
		at := tree.At("changes", strconv.Itoa(f.change))
		line = max(line, at.Line, at.At("edits", strconv.Itoa(f.edit)).Line)
	}
	return fmt.Errorf("line %d: %w", line, err)
}

// Check says why homenode does not carry the plan out, whoever wrote it: nil when its form, version and ID are right, each change is of one
// VM, host or cluster, and each edit is Writable.
func (p *Plan) Check() error {
	if p.Format != Format || p.Version != Version {
		return fmt.Errorf("found the format %q, version %d, want %s, version %d", p.Format, p.Version, Format, Version)
	}
	made := *p
	if err := made.Identify(); err != nil {
		return err
	} else if made.ID != p.ID || made.Sum != p.Sum {
		return errors.New("the plan was edited after it was made: its ID does not fit. Make it again, with --vm and --rule to narrow it")
	}
	if p.Unjudged < 0 {
		return fmt.Errorf("found %d VMs that could not be judged", p.Unjudged)
	}
	if p.Asked.AtOnce < 1 || p.Asked.AtOnce > maxChanges {
		return fmt.Errorf("found %d VMs at a time, want at least 1", p.Asked.AtOnce)
	}
	if len(p.Changes) > maxChanges {
		return fmt.Errorf("found %d changes, want at most %d", len(p.Changes), maxChanges)
	}
	seen, batch := map[string]bool{}, 0
	for i := range p.Changes {
		c := &p.Changes[i]
		err := c.check(seen)
		if err == nil && c.VM != nil && p.Undoes == "" { // a rollback needs no prediction
			err = c.based(p.Hosts)
		}
		if err != nil {
			return &fault{i, -1, c.name(), err}
		}
		if c.Batch < max(1, batch) || c.Batch > maxChanges {
			return &fault{i, -1, c.name(), fmt.Errorf("found batch %d after batch %d", c.Batch, batch)}
		}
		batch = c.Batch
		settings := map[string]bool{}
		for k, e := range c.Edits {
			err := c.takes(e, p.Undoes != "")
			if name := setting(e); err == nil && settings[name] {
				err = fmt.Errorf("%s is changed twice", e.Name())
			} else {
				settings[name] = true
			}
			if err != nil {
				return &fault{i, k, c.name(), err}
			}
		}
	}
	return nil
}

func (c *Change) name() string {
	if t := c.Target(); t != nil {
		return t.Name
	}
	return ""
}

// check checks the object of the change; seen are the IDs of earlier changes.
func (c *Change) check(seen map[string]bool) error {
	n := words.Count([]*Target{c.VM, c.Host, c.Cluster}, func(t *Target) bool { return t != nil })
	switch t := c.Target(); {
	case n != 1 || t.ID == "":
		return errors.New("want one VM, host or cluster with its moref")
	case !printable(t.ID) || !printable(t.UUID):
		return fmt.Errorf("found %q, which is no ID", t.ID)
	case seen[t.ID]:
		return fmt.Errorf("%s is changed by an earlier change too", t.ID)
	case len(c.Edits) == 0:
		return errors.New("want edits")
	default:
		seen[t.ID] = true
	}
	for _, k := range slices.Concat(c.Basis, c.Stored) {
		if err := k.check(); err != nil {
			return err
		}
	}
	return nil
}

// based says why a change of a VM that is no rollback is not carried out: nothing says for which VM it was made, or no VM can be so.
func (c *Change) based(hosts []HostBasis) error {
	if len(c.Basis) == 0 {
		return errors.New("found no predictedFrom: whether the VM is as the plan saw it cannot be checked")
	}
	for _, l := range c.Layout {
		for _, name := range l.Hosts {
			if !slices.ContainsFunc(hosts, func(h HostBasis) bool { return h.Name == name }) {
				return fmt.Errorf("predictedOn lacks %q: whether the host is as the plan saw it cannot be checked", name)
			}
		}
	}
	if said := downtimes[c.Needs()]; c.VM.Runs && !slices.Contains(said, c.Downtime) {
		return fmt.Errorf("found the downtime %.80q, the edits of a VM that runs need %q", c.Downtime, said[0])
	}
	if err := c.predicted(); err != nil {
		return err
	}
	return c.possible()
}

// predicted says which number of a prediction no VM can have; nil for none. What is expected follows from the layouts.
func (c *Change) predicted() error {
	wrong := func(sizes []int) bool {
		return len(sizes) > numa.MaxVCPUs || slices.ContainsFunc(sizes, func(n int) bool { return n < 1 || n > numa.MaxVCPUs })
	}
	for i := range c.Layout {
		for _, l := range []Layout{c.Layout[i].Now, c.Layout[i].After} {
			if wrong(l.VPDs) || wrong(l.PPDs) || l.FarShare < 0 || l.FarShare > 1 || l.Stores < 0 || l.Stores > numa.MaxVCPUs {
				return fmt.Errorf("found a layout that no VM has: nodes of %.40s, clients of %.40s vCPUs, farShare %v, stores %d", fmt.Sprint(l.VPDs), fmt.Sprint(l.PPDs), l.FarShare, l.Stores)
			}
		}
	}
	if x, want := c.Expects, expects(c.Layout); (x == nil) != (want == nil) || x != nil && *x != *want {
		return errors.New("what it expects does not follow from its layouts")
	}
	return nil
}

// takes says why an edit is none of its object, or not Plannable, or for a rollback not Writable.
func (c *Change) takes(e numa.Edit, undo bool) error {
	of := map[numa.EditKind]bool{numa.EditHostOption: c.Host != nil, numa.EditDRSRule: c.Cluster != nil}
	if fits, keyed := of[e.Kind]; keyed && !fits || !keyed && c.VM == nil {
		return fmt.Errorf("%s is no edit of this object", e.Kind)
	}
	if undo {
		return Writable(e)
	}
	return Plannable(e)
}

// setting names what an edit changes, so that two edits of one setting have one name.
func setting(e numa.Edit) string { return string(e.Kind) + " " + strings.ToLower(e.Key) }
