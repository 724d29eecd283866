package story

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// A line is one line of a story.
type line struct {
	file   string
	number int // from 1
	text   string
	added  bool // not from the text that named the story
}

func (l *line) errorf(col int, format string, args ...any) error {
	return &numa.SyntaxError{File: l.file, Line: l.number, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// located adds the file and the line to an error of a word.
func (l *line) located(err error) error { return word.Located(err, l.file, l.number) }

// end returns the end of the last word of the text; only a comment may follow.
func end(text string, ws []word.Word) int {
	w := &ws[len(ws)-1]
	i := w.Col - 1 + len(w.Key)
	if w.HasValue {
		i++
		if i < len(text) && text[i] == '"' {
			i += 2
		}
		i += len(w.Value)
	}
	return i
}

// note returns the comment at the end of a line.
func note(text string, ws []word.Word) string {
	rest := strings.TrimSpace(text[end(text, ws):])
	return strings.TrimSpace(strings.TrimLeft(rest, "#"))
}

// A parser is the state between lines.
type parser struct {
	story  *numa.Story
	hosts  *names
	vms    *names
	ran    int        // line of run
	loads  []loadLine // of the start
	events []atLine
	fixed  []numa.Event // events without a line

}

func newParser(s *numa.Story) *parser {
	p := &parser{story: s, hosts: hostNames(s.Fleet)}
	p.vms = vmNames(s.Fleet, p.hosts)
	return p
}

// A loadLine is a load line of the start.
type loadLine struct {
	line
	words   []word.Word
	choices []choice
}

// An atLine is a line about one moment.
type atLine struct {
	line
	at    time.Duration
	words []word.Word // from the kind of event on
	rest  string      // the raw line
	note  string
	moved bool // the columns of words are not those of the line
}

// reopen converts the events of a story back to lines: their effect depends on the state before them.
func (p *parser) reopen(s *numa.Story) {
	for i := range s.Events {
		e := &s.Events[i]
		if e.Text == "" {
			p.fixed = append(p.fixed, *e)
			continue
		}
		if i > 0 { // a line about several VMs is several events
			if b := &s.Events[i-1]; b.At == e.At && b.Line == e.Line && b.Text == e.Text {
				continue
			}
		}
		ws, err := word.Split(e.Text)
		if err != nil || len(ws) == 0 {
			p.fixed = append(p.fixed, *e)
			continue
		}
		p.events = append(p.events, atLine{
			line: line{file: s.Name, number: e.Line, text: e.Text, added: e.Line == 0},
			at:   e.At, words: ws, rest: e.Text, note: e.Note, moved: true,
		})
	}
}

// take parses all lines: run first, because times depend on the start.
func (p *parser) take(lines []line) error {
	split := make([][]word.Word, len(lines))
	for i := range lines {
		l := &lines[i]
		ws, err := word.Split(l.text)
		if err != nil {
			return l.located(err)
		}
		split[i] = ws
		if ws[0].HasValue {
			return l.errorf(ws[0].Col, "found %s=, want %s and a blank", ws[0].Key, ws[0].Key)
		}
		if ws[0].Key == "run" {
			if err := l.located(p.run(l, ws)); err != nil {
				return err
			}
		}
	}
	for i := range lines {
		l := &lines[i]
		if err := l.located(p.lineOf(l, split[i])); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) lineOf(l *line, ws []word.Word) error {
	switch ws[0].Key {
	case "used":
		return p.used(l, ws)
	case "load":
		return p.load(l, ws)
	case "talk":
		return p.talkLine(l, ws)
	case "placed":
		return p.placed(l, ws)
	case "at":
		return p.at(l, ws)
	}
	return nil // run, already parsed
}

// run parses "run 3h every=20s start=2018-01-10T10:00:00Z seed=1".
func (p *parser) run(l *line, ws []word.Word) (err error) {
	if p.ran > 0 {
		return word.Errorf(ws[0].Col, "found run again, line %d has one", p.ran)
	}
	p.ran = l.number
	if len(ws) == 1 {
		return word.Errorf(ws[0].Col, "found run alone, want how long: run 24h")
	}
	s := p.story
	for i, w := range ws[1:] {
		switch {
		case i == 0 && !w.HasValue:
			s.Length, err = duration(w.Col, w.Key)
			if err == nil && s.Length == 0 {
				err = word.Errorf(w.Col, "found a length of 0, want more")
			}
		case w.Key == "every" && w.HasValue:
			s.Every, err = duration(w.Col, w.Value)
			if err == nil && s.Every == 0 {
				err = word.Errorf(w.Col, "found every=0, want more")
			}
		case w.Key == "start" && w.HasValue:
			if len(p.events)+len(p.fixed) > 0 {
				return word.Errorf(w.Col, "found start= for a story that has events")
			}
			s.Start, err = instant(w.Col, w.Value)
		case w.Key == "seed" && w.HasValue:
			s.Seed, err = strconv.ParseUint(w.Value, 10, 64)
			if err != nil {
				err = word.Errorf(w.Col, "found seed=%q, want a whole number", word.Short(w.Value))
			}
		default:
			err = w.Unknown("run", []string{"LENGTH", "every", "start", "seed"})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// value reports an error for a word without a value.
func value(w word.Word, kind string, known []string) error {
	if !w.HasValue {
		return w.Unknown(kind, known)
	}
	if w.Value == "" {
		return word.Errorf(w.Col, "found %s= without a value", word.Short(w.Key))
	}
	return nil
}

// each passes the words of a line to read; all must be known and have a value.
func each(ws []word.Word, kind string, known []string, read func(word.Word) error) error {
	for _, w := range ws {
		if err := value(w, kind, known); err != nil {
			return err
		}
		if !slices.Contains(known, w.Key) {
			return w.Unknown(kind, known)
		}
		if err := read(w); err != nil {
			return err
		}
	}
	return nil
}

// used parses "used esx01 node=1 memory=4GB"; node=* is every node.
func (p *parser) used(l *line, ws []word.Word) error {
	if len(ws) < 2 {
		return word.Errorf(ws[0].Col, "found used alone, want used HOST node=N memory=4GB")
	}
	choices, err := p.hosts.choose(ws[1])
	if err != nil {
		return err
	}
	node, col, memory := -2, 0, numa.Bytes(0)
	err = each(ws[2:], "used", []string{"node", "memory"}, func(w word.Word) (err error) {
		switch {
		case w.Key == "memory":
			memory, err = w.Bytes(w.Value, numa.MaxHostMemory)
		case w.Value == "*":
			col, node = w.Col, -1
		default:
			col = w.Col
			node, err = w.Number(0, numa.MaxNodes-1)
		}
		return err
	})
	if err != nil {
		return err
	}
	if node == -2 || memory == 0 {
		return word.Errorf(ws[0].Col, "found no node= or no memory=, want used HOST node=N memory=4GB")
	}
	for _, c := range choices {
		for _, i := range c.found {
			if err := p.useOn(l, &p.story.Fleet.Hosts[i], node, memory, col); err != nil {
				return err
			}
		}
	}
	return nil
}

// useOn marks memory of one node of a host as used, or of every node for -1.
func (p *parser) useOn(l *line, h *numa.Host, node int, memory numa.Bytes, col int) error {
	if !h.Nodes.Known() {
		return word.Errorf(col, "found host %s, whose nodes are unknown", h.Name)
	}
	found := false
	for _, n := range h.Nodes.Value {
		if node >= 0 && node != n.ID {
			continue
		}
		found = true
		if n.Memory.Known() && memory > n.Memory.Value {
			return word.Errorf(col, "found %s used of node %d of %s, which has %s", memory, n.ID, h.Name, n.Memory.Value)
		}
		use := numa.NodeUse{Host: h.ID, Node: n.ID, Memory: memory}
		switch i := slices.IndexFunc(p.story.Used, func(u numa.NodeUse) bool { return u.Host == h.ID && u.Node == n.ID }); {
		case i < 0:
			p.story.Used = append(p.story.Used, use)
		case !l.added:
			return word.Errorf(col, "found used memory of node %d of %s again", n.ID, h.Name)
		default:
			p.story.Used[i] = use
		}
	}
	if !found {
		return word.Errorf(col, "found node=%d, which %s does not have", node, h.Name)
	}
	return nil
}

// talk parses "talk cli cli3 rate=800".
func (p *parser) talk(ws []word.Word) (numa.Talk, error) {
	var t numa.Talk
	if len(ws) != 4 || ws[1].HasValue || ws[2].HasValue || ws[3].Key != "rate" || !ws[3].HasValue {
		return t, word.Errorf(ws[0].Col, "found no two VMs and a rate, want talk VM VM rate=800")
	}
	var pair [2]int
	for i, w := range ws[1:3] {
		var err error
		if pair[i], err = p.vms.one(w, w.Key, w.Col); err != nil {
			return t, err
		}
	}
	if pair[0] == pair[1] {
		return t, word.Errorf(ws[2].Col, "found %s talking to itself", word.Short(ws[2].Key))
	}
	rate, err := strconv.ParseFloat(ws[3].Value, 64)
	if err != nil || !(rate >= 0 && rate <= numa.MaxTalkRate) {
		return t, word.Errorf(ws[3].Col, "found rate=%q, want how often a second, such as 800", word.Short(ws[3].Value))
	}
	// A rate of -0 would be printed with its sign.
	return numa.Talk{A: p.story.Fleet.VMs[pair[0]].ID, B: p.story.Fleet.VMs[pair[1]].ID, Rate: math.Abs(rate)}, nil
}

// talkLine parses a communication from the start.
func (p *parser) talkLine(l *line, ws []word.Word) error {
	t, err := p.talk(ws)
	if err != nil {
		return err
	}
	if t.Rate == 0 {
		return word.Errorf(ws[0].Col, "found rate=0, want more; at TIME talk %s %s rate=0 ends it", ws[1].Key, ws[2].Key)
	}
	switch i := slices.IndexFunc(p.story.Talks, func(o numa.Talk) bool { return o.A == t.A && o.B == t.B || o.A == t.B && o.B == t.A }); {
	case i < 0:
		p.story.Talks = append(p.story.Talks, t)
	case !l.added:
		return word.Errorf(ws[0].Col, "found talk of %s and %s again", word.Short(ws[1].Key), word.Short(ws[2].Key))
	default:
		p.story.Talks[i] = t
	}
	return nil
}
