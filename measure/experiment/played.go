package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
)

// Played is the outcome of the worlds of a case. Simulating all cases takes a minute, so the
// outcomes are recorded in a file beside them.
type Played struct {
	Case       string // its ID
	State      string // fingerprint of the case and of the model's values, from State
	Impossible int    // worlds that cannot be expressed as a story, or that the simulation rejects
	Worlds     []PlayedWorld
}

// A PlayedWorld is one simulated world.
type PlayedWorld struct {
	Name     string
	Verdicts string // for each figure: R reproduced, M missed, - not computed
}

// State returns a fingerprint of the case and the model: of the text of the case and of the
// model's value for every figure.
func (r *Result) State() string {
	h := fnv.New64a()
	for i := range r.Case.Runs {
		_, _ = h.Write([]byte(strings.TrimLeft(r.Case.Runs[i].text, "\n"))) // independent of its position
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		fmt.Fprintln(h, row.What, row.Model, row.Verdict)
		for _, w := range row.Wants {
			fmt.Fprintln(h, w.Text)
		}
	}
	fmt.Fprintln(h, r.Case.Stated, r.Case.Ranges)
	return fmt.Sprintf("%016x", h.Sum64())
}

// Play simulates worlds of the case; impossible is the number of worlds that Worlds could not
// express.
func (r *Result) Play(ctx context.Context, ch vnuma.Choices, worlds []World, impossible int) (*Played, error) {
	p := &Played{Case: r.Case.ID, State: r.State(), Impossible: impossible}
	for i := range worlds {
		w := &worlds[i]
		verdicts := []byte(strings.Repeat("-", len(r.Rows)))
		err := r.Case.judge(ctx, ch, w.runs, w.pace, func(figure int, _ string, v Verdict) {
			verdicts[figure] = "RM"[min(v, Miss)]
		})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil: // a VM that does not run then, a host that is not simulated
			p.Impossible++
		default:
			p.Worlds = append(p.Worlds, PlayedWorld{w.Name, string(verdicts)})
		}
	}
	return p, nil
}

// Record adds the outcomes of worlds; it reports false if they belong to another state of the
// case or of the model.
func (r *Result) Record(p *Played) bool {
	if p.Case != r.Case.ID || p.State != r.State() {
		return false
	}
	r.Worlds, r.Impossible = len(p.Worlds), p.Impossible
	for i := range r.Rows {
		for _, w := range p.Worlds {
			r.Rows[i].count(w.Name, map[byte]Verdict{'R': Reproduced, 'M': Miss}[w.Verdicts[i]])
		}
	}
	return true
}

// count adds one world to the odds of a figure.
func (r *Row) count(world string, v Verdict) {
	if r.Verdict > Miss {
		return
	}
	r.In.Worlds++
	if v == Reproduced {
		r.In.Reproduced++
	}
	if v != r.Verdict {
		r.In.First = cmp.Or(r.In.First, world)
	}
	r.Worst = max(r.Worst, v)
}

var errPlayed = errors.New("the record of worlds has another form: make prove writes it")

// ReadPlayed reads a record of worlds: for each case a line, and a line for each of its worlds.
func ReadPlayed(data []byte) (out []*Played, err error) {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		p := &Played{}
		if n, _ := fmt.Sscanf(line, "case %s state %s impossible %d", &p.Case, &p.State, &p.Impossible); n == 3 {
			out = append(out, p)
			continue
		}
		verdicts, name, ok := strings.Cut(line, " ")
		if !ok || len(out) == 0 || strings.Trim(verdicts, "RM-") != "" {
			return nil, errPlayed
		}
		last := out[len(out)-1]
		last.Worlds = append(last.Worlds, PlayedWorld{name, verdicts})
	}
	return out, nil
}

// Recall adds the recorded outcomes to each result. It returns the IDs of the results without a
// record of their present state.
func Recall(results []*Result, record []*Played) (stale []string) {
	for _, r := range results {
		if !slices.ContainsFunc(record, r.Record) {
			stale = append(stale, r.Case.ID)
		}
	}
	return stale
}
