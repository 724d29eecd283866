package experiment

import (
	"context"
	"fmt"
	"strings"

	"example.org/homenode/internal/words"

	"example.org/homenode/esxi/vnuma"
)

// A Verdict is the outcome of a figure.
type Verdict uint8

// The verdicts.
const (
	Reproduced Verdict = iota
	Miss
	Input       // it is an input of the story
	NotModelled // the model does not compute it
)

// String returns the verdict as in reports.
func (v Verdict) String() string {
	return [...]string{"reproduced", "miss", "input", "not modelled"}[min(v, NotModelled)]
}

// MarshalText writes the verdict as String does.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// A Row is one figure compared with the model.
type Row struct {
	*Figure
	Kind      Kind     `json:"kind"`
	Measure   Measure  `json:"measure"`
	Published string   `json:"published"`       // as text: the source's words, or the wants
	Model     string   `json:"model,omitempty"` // "" if it is not computed
	Verdict   Verdict  `json:"verdict"`
	Notes     []string `json:"notes,omitempty"`    // explanations beside the numbers
	Others    []Other  `json:"variants,omitempty"` // of the variants, in their order
	// Worst is the worst verdict in any simulated world, In has the counts over the worlds.
	Worst Verdict `json:"worst"`
	In    Odds    `json:"in"`
}

// Odds count the worlds in which a figure is reproduced.
type Odds struct {
	Worlds     int    `json:"worlds"`
	Reproduced int    `json:"reproduced"`
	First      string `json:"first,omitempty"` // the first world with a verdict that differs from the case itself
}

// An Other is the result of a figure in a variant.
type Other struct {
	Variant string  `json:"variant"`
	Model   string  `json:"model"`
	Verdict Verdict `json:"verdict"`
}

// Against returns the variants with another verdict: there the figure depends on facts that no
// source states.
func (r *Row) Against() []Other {
	var out []Other
	for _, o := range r.Others {
		if o.Verdict != r.Verdict {
			out = append(out, o)
		}
	}
	return out
}

// notes returns the explanations of a figure.
func (r *Row) notes() []string {
	var out []string
	f := r.Figure
	for _, n := range []struct{ before, text string }{
		{"", f.Input}, {"", f.Unmodelled}, {"tolerance: ", f.Because}, {"fitted: ", f.Fitted}, {"restated: ", f.Restated}, {"", f.Why},
	} {
		if n.text != "" {
			out = append(out, n.before+n.text)
		}
	}
	for _, o := range r.Against() {
		out = append(out, fmt.Sprintf("if %s: %s, %s", o.Variant, o.Model, o.Verdict))
	}
	return out
}

// A Result is a case compared with the model.
type Result struct {
	*Case
	Rows []Row `json:"figures"`
	// Worlds counts the worlds simulated in addition to the case and its variants. Impossible
	// counts worlds that cannot be expressed as a story.
	Worlds     int `json:"worlds"`
	Impossible int `json:"impossible"`
}

// Judge simulates the stories of a case, in all its variants, and compares every figure. Errors
// are about a story, or a figure that refers to a missing object.
func Judge(ctx context.Context, c *Case, ch vnuma.Choices) (*Result, error) {
	out := &Result{Case: c, Rows: make([]Row, len(c.Figures))}
	for i := range c.Figures {
		out.Rows[i].take(c, &c.Figures[i])
	}
	if err := c.judge(ctx, ch, c.Runs, 1, func(i int, model string, v Verdict) {
		out.Rows[i].Model, out.Rows[i].Verdict = model, v
	}); err != nil {
		return nil, err
	}
	for _, variant := range c.Variants {
		if err := c.judge(ctx, ch, variant.Runs, 1, func(i int, model string, v Verdict) {
			out.Rows[i].Others = append(out.Rows[i].Others, Other{variant.Name, model, v})
		}); err != nil {
			return nil, fmt.Errorf("%w (%s)", err, variant.Name)
		}
	}
	for i := range out.Rows {
		row := &out.Rows[i]
		row.Notes, row.Worst = row.notes(), row.Verdict
		for _, o := range row.Others {
			row.count("if "+o.Variant, o.Verdict)
		}
	}
	return out, nil
}

func (r *Row) take(c *Case, f *Figure) {
	r.Figure, r.Published, r.Kind, r.Measure = f, f.published(), c.kind(f), f.measure()
	if f.Input != "" {
		r.Verdict = Input
	} else if f.Unmodelled != "" {
		r.Verdict = NotModelled
	}
}

// judge compares every figure that the model computes in one world.
func (c *Case) judge(ctx context.Context, ch vnuma.Choices, runs []Run, pace float64, say func(figure int, model string, v Verdict)) error {
	traces := make([]*trace, len(runs))
	for i := range runs {
		var err error
		if traces[i], err = play(ctx, runs[i].Story, ch, pace); err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
	}
	for i := range c.Figures {
		f := &c.Figures[i]
		if len(f.Wants) == 0 {
			continue
		}
		verdict := Reproduced
		var models []string
		for j := range f.Wants {
			w := &f.Wants[j]
			model, ok, err := w.judge(traces)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", c.File, w.Line, err)
			}
			if !ok {
				verdict = Miss
			}
			models = append(models, model)
		}
		say(i, strings.Join(models, "; "), verdict)
	}
	return nil
}

// judge returns the model's value as text, and whether it matches the published one.
func (w *Want) judge(traces []*trace) (model string, ok bool, err error) {
	left, err := w.Left.value(traces)
	if err != nil {
		return "", false, err
	}
	right, err := w.Right.value(traces)
	if err != nil {
		return "", false, err
	}
	left.gigabytes = left.gigabytes || right.gigabytes
	right.gigabytes = left.gigabytes
	model = left.String()
	if w.Right.A.quantity != nil || w.Right.B.quantity != nil {
		model += " and " + right.String()
	}
	return model, holds(left, w.Relation, right, w.Tolerance), nil
}

// published returns the figure as text.
func (f *Figure) published() string {
	if f.Shown != "" {
		return f.Shown
	}
	return strings.Join(words.Texts(f.Wants, func(one Want) string { return one.published() }), "; ")
}

// published returns the published side of a want; for a relation between two quantities the
// whole want.
func (w *Want) published() string {
	right := &w.Right.A
	if right.quantity != nil || w.Right.Op != "" {
		return w.Text
	}
	s := right.value.String()
	if w.Relation != "=" {
		s = w.Relation + " " + s
	}
	if w.Tolerance > 0 {
		s += " ± " + right.value.number(w.Tolerance)
	}
	return s
}

// Unexplained counts misses without a reason.
func Unexplained(results []*Result) int {
	n := 0
	for _, r := range results {
		for i := range r.Rows {
			if r.Rows[i].Verdict == Miss && r.Rows[i].Figure.Why == "" {
				n++
			}
		}
	}
	return n
}
