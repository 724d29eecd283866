package experiment

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A Want is the statement of a figure: a relation between two sides, such as
//
//	remote cli3 at 2m = 7278MB ±500MB
//	locality cli3 at 1h42m - locality cli3 at 42m > 90%
//	ready vm* over 0s..1h @4.1 > ready vm* over 0s..1h @4.0
type Want struct {
	Line        int
	Text        string // source text
	Left, Right Side
	Relation    string  // = != < > <= >=
	Tolerance   float64 // for =, in the unit of the sides; percent are points
}

// A Side is a term, or the difference (-) or the quotient (/) of two.
type Side struct {
	A  Term
	Op string // "" for none
	B  Term
}

// A Term is a quantity at a moment or over a stretch of time, or a value.
type Term struct {
	col      int
	literal  string // "" for a quantity
	value    value  // of the literal
	quantity *quantity
	node     int // for quantities of a node; -1 for none
	name     string
	subjects []int // VMs of the fleet, or hosts
	run      int   // index in the case
	from, to time.Duration
	over     bool
}

// A token is one word of a want.
type token struct {
	text string
	col  int
}

func (r *reader) want(l entry) (Want, error) {
	p := &wantParser{r: r, line: l.line, end: l.textCol + len(l.text)}
	for i, rest := 0, l.text; rest != ""; {
		n := strings.IndexByte(rest, ' ')
		if n < 0 {
			n = len(rest)
		}
		if n > 0 {
			p.tokens = append(p.tokens, token{rest[:n], l.textCol + i})
		}
		n = min(n+1, len(rest))
		rest, i = rest[n:], i+n
	}
	w := Want{Line: l.line, Text: l.text}
	err := p.relation(&w)
	return w, err
}

type wantParser struct {
	r      *reader
	line   int
	tokens []token
	end    int // column after the last
}

func (p *wantParser) errorf(col int, format string, args ...any) error {
	return p.r.errorf(p.line, col, format, args...)
}

// next returns the next token; an empty one at the end.
func (p *wantParser) next() token {
	if len(p.tokens) == 0 {
		return token{"", p.end}
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *wantParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0].text
}

var relations = []string{"=", "!=", "<", ">", "<=", ">="}

func (p *wantParser) relation(w *Want) (err error) {
	if w.Left, err = p.side(); err != nil {
		return err
	}
	t := p.next()
	if !slices.Contains(relations, t.text) {
		return p.errorf(t.col, "found %q, want one of %s", t.text, strings.Join(relations, " "))
	}
	w.Relation = t.text
	if w.Right, err = p.side(); err != nil {
		return err
	}
	k, ok := w.kind()
	if !ok {
		return p.errorf(w.Left.A.col, "found values alone, want a quantity: one of %s", strings.Join(quantityNames(), ", "))
	}
	for _, t := range w.terms() {
		if t.quantity != nil {
			if t.quantity.kind != k {
				return p.errorf(t.col, "found %s, which is %s, beside %s", t.quantity.name, t.quantity.kind, k)
			}
			continue
		}
		of := k
		if k == kindBytes && w.shares() && !slices.Contains([]*Term{&w.Left.A, &w.Left.B}, t) {
			of = kindPercent // of the whole, like A / B
		}
		if t.value, ok = parseValue(t.literal, of); !ok {
			return p.errorf(t.col, "found %q, want %s", t.literal, of.example())
		}
	}
	if k == kindNodes && (w.Left.Op+w.Right.Op != "" || w.Relation != "=" && w.Relation != "!=") {
		return p.errorf(w.Left.A.col, "found a calculation with nodes, want = or != alone")
	}
	return p.tolerance(w, k)
}

func (p *wantParser) tolerance(w *Want, k kind) error {
	t := p.next()
	if t.text == "" {
		return nil
	}
	if w.shares() {
		k = kindPercent
	}
	text, ok := strings.CutPrefix(t.text, "±")
	v, good := parseValue(text, k)
	if !ok || !good || k == kindNodes || w.Relation != "=" || v.low <= 0 {
		return p.errorf(t.col, "found %q, want a tolerance after = such as ±%s, or nothing more", t.text, k.example())
	}
	w.Tolerance = v.low
	if more := p.next(); more.text != "" {
		return p.errorf(more.col, "found %q, want nothing more", more.text)
	}
	return nil
}

func (p *wantParser) side() (s Side, err error) {
	if s.A, err = p.term(); err != nil {
		return s, err
	}
	if op := p.peek(); op == "-" || op == "/" {
		p.next()
		s.Op = op
		s.B, err = p.term()
	}
	return s, err
}

func (p *wantParser) term() (Term, error) {
	t := p.next()
	out := Term{col: t.col, node: -1}
	name, node, hasNode := strings.Cut(t.text, ":")
	out.quantity = quantityNamed(name)
	if out.quantity == nil {
		if t.text == "" || t.text[0] >= 'a' && t.text[0] <= 'z' {
			return out, p.errorf(t.col, "found %q, want a value or one of %s", t.text, strings.Join(quantityNames(), ", "))
		}
		out.literal = t.text
		return out, nil
	}
	if hasNode != out.quantity.ofNode {
		return out, p.errorf(t.col, "found %s, want %s", t.text, out.quantity.usage())
	}
	if hasNode {
		n, err := strconv.Atoi(node)
		if err != nil || n < 0 || n >= numa.MaxNodes {
			return out, p.errorf(t.col, "found %s, want a node such as %s:0", t.text, name)
		}
		out.node = n
	}
	subject := p.next()
	if err := p.when(&out); err != nil {
		return out, err
	}
	return out, p.subject(&out, subject)
}

// when parses "at 2m", "over 0s..15m" and "@RUN".
func (p *wantParser) when(t *Term) error {
	word := p.next()
	if word.text != "at" && word.text != "over" {
		return p.errorf(word.col, "found %q, want at 42m or over 0s..15m", word.text)
	}
	when := p.next()
	if name, ok := strings.CutPrefix(p.peek(), "@"); ok {
		at := p.next()
		t.run = slices.IndexFunc(p.r.c.Runs, func(r Run) bool { return r.Name == name })
		if t.run < 0 {
			return p.errorf(at.col, "found no story %q", name)
		}
	} else if len(p.r.c.Runs) == 0 {
		return p.errorf(word.col, "found no story, want one in a section -- in --")
	}
	from, to, stretch := strings.Cut(when.text, "..")
	t.over = word.text == "over"
	if stretch != t.over {
		return p.errorf(when.col, "found %s %s, want at 42m or over 0s..15m", word.text, when.text)
	}
	if !t.over {
		to = from
	}
	for _, one := range []struct {
		text string
		to   *time.Duration
	}{{from, &t.from}, {to, &t.to}} {
		if err := p.moment(one.text, when.col, t.run, one.to); err != nil {
			return err
		}
	}
	switch q := t.quantity; {
	case t.over && t.from >= t.to:
		return p.errorf(when.col, "found %s, want the earlier first", when.text)
	case q.stretch && !t.over:
		return p.errorf(when.col, "found %s at a moment, want over 0s..15m", q.name)
	}
	return nil
}

// moment parses a time since the start or a time of day; it must be the time of a tick.
func (p *wantParser) moment(text string, col, run int, to *time.Duration) error {
	r := &p.r.c.Runs[run]
	start, every := r.times()
	d, err := time.ParseDuration(text)
	if clock, bad := time.Parse("15:04", text); bad == nil {
		d, err = time.Duration(clock.Hour())*time.Hour+time.Duration(clock.Minute())*time.Minute-start.Sub(start.Truncate(24*time.Hour)), nil
		if d < 0 {
			d += 24 * time.Hour
		}
	}
	switch {
	case err != nil:
		return p.errorf(col, "found %q, want a time such as 42m, 1h42m or 14:30", text)
	case d < 0 || d > r.Story.Length:
		return p.errorf(col, "found %s, want a time in the %s of the story", text, r.Story.Length)
	case d%every != 0:
		return p.errorf(col, "found %s, want a multiple of %s, the time between ticks", text, every)
	}
	*to = d
	return nil
}

// subject resolves the subject of a term: VMs by name, pattern or list, or one host.
func (p *wantParser) subject(t *Term, s token) error {
	t.name = s.text
	fleet := p.r.c.Runs[t.run].Story.Fleet
	if t.quantity.ofHost {
		t.subjects = []int{slices.IndexFunc(fleet.Hosts, func(h numa.Host) bool { return h.Name == s.text })}
		if t.subjects[0] < 0 {
			return p.errorf(s.col, "found no host %q", s.text)
		}
		if t.node >= len(fleet.Hosts[t.subjects[0]].Nodes.Value) {
			return p.errorf(t.col, "found node %d, which %s does not have", t.node, s.text)
		}
		return nil
	}
	for pattern := range strings.SplitSeq(s.text, ",") {
		found := false
		for i := range fleet.VMs {
			if ok, _ := path.Match(pattern, fleet.VMs[i].Name); ok {
				found = true
				t.subjects = words.Once(t.subjects, i)
			}
		}
		if !found {
			return p.errorf(s.col, "found no VM %q", pattern)
		}
	}
	if len(t.subjects) > 1 && t.quantity.one {
		return p.errorf(s.col, "found %d VMs, want one", len(t.subjects))
	}
	return nil
}

// terms returns the terms of a want.
func (w *Want) terms() []*Term {
	var out []*Term
	for _, s := range []*Side{&w.Left, &w.Right} {
		out = append(out, &s.A)
		if s.Op != "" {
			out = append(out, &s.B)
		}
	}
	return out
}

// kind returns the kind of the first quantity.
func (w *Want) kind() (kind, bool) {
	for _, t := range w.terms() {
		if t.quantity != nil {
			return t.quantity.kind, true
		}
	}
	return 0, false
}

// shares reports whether the left side is a quotient of two quantities.
func (w *Want) shares() bool { return w.Left.Op == "/" }
