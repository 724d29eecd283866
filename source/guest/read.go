package guest

import (
	"cmp"
	"io"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// A section reads the lines of one output into its view.
type section interface {
	// take reads a line; false if it does not belong to the output.
	take(l text.Line) bool
	// again reports whether a line of the same form begins another output.
	again(l text.Line) bool
	// end completes the view after the last line.
	end()
}

// Read reads all outputs of a file, in their order. Lines that belong to none are warnings of
// the previous output, or of the first. It returns a *numa.SyntaxError if there is no output.
func Read(name string, r io.Reader) ([]*View, error) {
	p := &parser{room: maxList, lines: fact.Outputs{Name: name, Want: "the output of lscpu, numactl -H or Coreinfo"}}
	if err := p.lines.Read(r, p.line); err != nil {
		return nil, err
	}
	p.finish()
	if len(p.views) == 0 {
		return nil, p.lines.End(nil)
	}
	return p.views, p.lines.End(&p.views[0].file)
}

// A parser finds the outputs of a file.
type parser struct {
	lines   fact.Outputs
	guest   text.Line // from the last prompt
	views   []*View
	section section // of the last view while it is open
	room    int     // see View
}

func (p *parser) line(n int, raw string) {
	l := text.Trim(n, raw)
	if _, inJSON := p.section.(*jsonSection); inJSON && p.section.take(l) {
		return
	}
	if prompt, ok := text.CutPrompt(raw, "lscpu", "numactl", "coreinfo", "coreinfo64"); ok {
		p.finish()
		p.guest = prompt.Host
		p.guest.N = n
		return
	}
	if form := formOf(l.Text); form != "" && (p.section == nil || p.views[len(p.views)-1].Form != form || p.section.again(l)) {
		p.begin(form, l)
	}
	switch {
	case p.section != nil && p.section.take(l):
		p.lines.Known()
	case l.Text != "":
		p.lines.Stray(l)
	}
}

func (p *parser) begin(form string, l text.Line) {
	p.finish()
	v := &View{Form: form, Line: l.N, Guest: p.guest.Text, room: &p.room}
	v.file = fact.File{Name: p.lines.Name, Format: form}
	if p.guest.Text != "" {
		v.file.Add(p.guest.N, p.guest.Col, "guest", "name", p.guest.Text, "")
	}
	p.views, p.lines.Last = append(p.views, v), &v.file
	p.section = sectionOf(v)
}

func sectionOf(v *View) section {
	switch v.Form {
	case LscpuJSON:
		return &jsonSection{v: v}
	case LscpuColumns, LscpuParse:
		return &columns{v: v}
	case Numactl:
		return &numactl{v: v, matrix: distances()}
	case Coreinfo:
		return &coreinfo{v: v, cost: costs()}
	}
	return &lscpu{v: v}
}

func (p *parser) finish() {
	if p.section != nil {
		p.section.end()
		v := p.views[len(p.views)-1]
		slices.SortFunc(v.CPUs, func(a, b CPU) int { return cmp.Compare(a.Number, b.Number) })
		v.file.Sort()
	}
	p.section = nil
	p.lines.Known()
}

// count parses a number between 0 and most into f.
func (v *View) count(f *numa.Fact[int], l text.Line, name string, most int) bool {
	n, ok := number(l.Text, most)
	if !ok {
		v.file.Warn(l.N, l.Col, "%s: found %q, want a number up to %d", name, text.Short(l.Text), most)
		return false
	}
	*f = numa.ReadAt(n, text.Where(l.N, l.Col))
	v.file.Add(l.N, l.Col, "guest", name, n, "")
	return true
}
