package published

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/measure/experiment"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/rules/confront"
)

// A Comparison is a case with the prediction.
type Comparison struct {
	Case   *Case
	Fields []confront.Field // the comparable fields, by name
	Open   []OpenField
	// Trivial means that the prediction cannot be wrong: one vCPU, or a host of one node.
	Trivial bool
}

// An OpenField is a field that could not be compared.
type OpenField struct{ Name, Why string }

// Comparable reports whether at least one field could be compared.
func (c *Comparison) Comparable() bool { return len(c.Fields) > 0 }

// Proves returns how much the case proves. A case with only comparable fields of its host is
// arithmetic. A case whose source is cited by a statement of the rule book was known to the
// model.
func (c *Comparison) Proves() experiment.Kind {
	hostsOnly := !slices.ContainsFunc(c.Fields, func(f confront.Field) bool { return fieldOf[f.Name] != nil })
	switch {
	case c.Trivial, hostsOnly:
		return experiment.Restated
	case c.Case.Gave != "" || len(citing(c.Case.Source)) > 0:
		return experiment.Fitted
	}
	return experiment.Blind
}

var article = pattern.Of(`/article/([0-9]+)`)

// citing returns the statements of the rule book that cite the source.
func citing(source string) (ids []string) {
	_, address, ok := strings.Cut(source, "://")
	if m := article.FindStringSubmatch(source); m != nil {
		address = "KB " + m[1]
	}
	for _, s := range rulebook.Statements {
		if ok && strings.Contains(s.Source, strings.TrimSuffix(address, "/")) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// Reproduced reports whether every comparable field agrees.
func (c *Comparison) Reproduced() bool {
	return c.Comparable() && confront.Agree(c.Fields)
}

// Compare predicts the case and compares every stated field. ch are the choices where sources
// disagree.
func Compare(c *Case, ch vnuma.Choices) *Comparison {
	out := &Comparison{Case: c}
	names := make([]string, 0, len(c.Observed))
	for name := range c.Observed {
		names = append(names, name)
	}
	slices.Sort(names)
	vs, err := c.variants(ch)
	out.Trivial = err == nil && !slices.ContainsFunc(vs, func(v variant) bool { return v.layout.Nodes > 1 && v.vm.VCPUs.Value > 1 })
	for _, name := range names {
		if c.Observed[name] == nil {
			out.open(name, fmt.Errorf("null: not stated"))
			continue
		}
		if host, ok := hostFields[name]; ok {
			out.add(c, name, host, nil)
			continue
		}
		if err != nil {
			out.open(name, err)
			continue
		}
		predict, ok := fieldOf[name]
		if !ok {
			out.open(name, fmt.Errorf("a measurement, not a topology: not predicted"))
			continue
		}
		out.add(c, name, predict, vs)
	}
	return out
}

func (c *Comparison) open(name string, why error) {
	c.Open = append(c.Open, OpenField{name, why.Error()})
}

// add compares one field over all variants.
func (c *Comparison) add(cs *Case, name string, p predictor, vs []variant) {
	predicted, agrees, err := p.over(cs, name, vs)
	if err != nil {
		c.open(name, err)
		return
	}
	c.Fields = append(c.Fields, confront.Field{Name: name, Predicted: predicted, Observed: show(cs.Observed[name]), Agrees: agrees})
}

// over returns the prediction if all variants give the same one.
func (p predictor) over(c *Case, name string, vs []variant) (predicted string, agrees bool, err error) {
	if vs == nil {
		return p(c, nil, c.Observed[name])
	}
	for i := range vs {
		got, ok, err := p(c, &vs[i], c.Observed[name])
		if err != nil {
			return "", false, err
		}
		if i > 0 && got != predicted {
			return "", false, fmt.Errorf("depends on what the case does not state: %s or %s", predicted, got)
		}
		predicted, agrees = got, ok
	}
	return predicted, agrees, nil
}

// reason returns the choice of section F that would make the field agree.
func reason(c *Case, name string, ch vnuma.Choices) string {
	predict, ok := fieldOf[name]
	if !ok {
		return "" // a field about the host
	}
	for choice, other := range ch.Others() {
		vs, err := c.variants(other)
		if err != nil {
			continue
		}
		if _, ok, err := predict.over(c, name, vs); err == nil && ok {
			return fmt.Sprintf("%s, sources disagree: %s; the case follows: %s", choice.ID, choice.Default, choice.Alternative)
		}
	}
	return ""
}

// A predictor predicts one field for a variant and reports whether the observation agrees. The
// error is the reason if the two cannot be compared.
type predictor func(c *Case, v *variant, observed any) (predicted string, agrees bool, err error)
