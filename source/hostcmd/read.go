package hostcmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// Read parses all outputs of a file, in their order. Lines that belong to none are warnings of the
// output before them, or of the first. The error is a *numa.SyntaxError when there is no output at all.
func Read(name string, r io.Reader) ([]*Output, error) {
	var outputs []*Output
	p := newParser(name, func(o *Output) error {
		outputs = append(outputs, o)
		return nil
	})
	if err := p.read(r); err != nil {
		return nil, err
	}
	return outputs, nil
}

// Each calls visit for each output of a file of any length, in their order, otherwise like Read. An
// error of visit ends it and is returned unchanged.
func Each(name string, r io.Reader, visit func(*Output) error) error {
	p := newParser(name, visit)
	p.all.Endless = true
	return p.read(r)
}

// A parser splits a file into outputs: at prompts, and at lines that begin an output.
type parser struct {
	all     fact.Outputs
	prompt  text.Prompt
	host    text.Line // in the last prompt
	command string    // format of the last prompt's command
	visit   func(*Output) error
	err     error // of visit
	last    *Output
	found   bool        // an output that is no date
	date    text.Line   // the first
	open    bool        // the last output can still get lines
	lines   []text.Line // of the open output
	size    int         // of lines, in bytes
	seen    map[string]bool
	json    text.Nesting
	inJSON  bool
}

func newParser(name string, visit func(*Output) error) *parser {
	return &parser{visit: visit, all: fact.Outputs{Name: name, Want: "the output of sched-stats, esxtop, memstats, vsish, esxcli, vmware -v or uname"}}
}

func (p *parser) read(r io.Reader) error {
	err := p.all.Read(unlessFailed{p, r}, p.line)
	if p.err != nil {
		return p.err
	}
	if err != nil {
		return err
	}
	p.finish()
	p.hand()
	if p.err == nil && !p.found {
		if p.date.N > 0 {
			p.all.Stray(p.date)
		}
		return p.all.End(nil)
	}
	return p.err
}

// unlessFailed stops reading after an error: the rest may be long.
type unlessFailed struct {
	p *parser
	r io.Reader
}

func (u unlessFailed) Read(b []byte) (int, error) {
	if u.p.err != nil {
		return 0, u.p.err
	}
	return u.r.Read(b)
}

// hand passes the last output to visit: it is complete when the next begins, as the lines after it
// can be warnings of it.
func (p *parser) hand() {
	if p.last == nil || p.err != nil {
		return
	}
	if p.found = p.found || p.last.Format != Date; p.found {
		_ = p.all.End(&p.last.file) // no error is possible, as there is an output
	}
	p.err = p.visit(p.last)
}

func (p *parser) line(n int, raw string) {
	if p.err != nil {
		return
	}
	l := text.Trim(n, raw)
	if p.open && p.json.Depth > 0 {
		p.take(l)
		return
	}
	if len(raw) > longLine {
		if p.open {
			p.take(l)
		} else {
			p.all.Stray(l)
		}
		return
	}
	if prompt, ok := text.CutPrompt(raw, commands...); ok {
		p.finish()
		p.prompt, p.command = prompt, formatOfCommand(prompt)
		p.host = prompt.Host
		p.host.N = n
		return
	}
	if l.Text == "" {
		if p.open {
			p.lines = append(p.lines, l)
		}
		return
	}
	if _, ok := momentOf(l.Text); ok {
		p.begin(Date, l)
		p.take(l)
		p.finish()
		if p.date.N == 0 {
			p.date = l
		}
		return
	}
	p.output(l)
}

// output takes a line that may begin an output.
func (p *parser) output(l text.Line) {
	format, many := formOf(l.Text)
	isJSON := l.Text[0] == '{' || l.Text[0] == '[' && len(l.Text) < 3
	switch {
	case format != "" && p.begins(format, many, l):
		p.begin(format, l)
	case !p.open && p.command != "":
		p.begin(p.command, l)
	case !p.open && isJSON:
		p.begin("JSON", l)
	}
	if !p.open {
		p.all.Stray(l)
		return
	}
	if format != "" {
		p.seen[startOf(l.Text)] = true
	}
	if len(p.lines) == 0 && (isJSON || l.Text[0] == '[') {
		p.inJSON = true
	}
	p.take(l)
}

// begins reports whether a line that may begin an output of this format does so.
func (p *parser) begins(format string, many bool, l text.Line) bool {
	if !p.open {
		return true
	}
	if p.last.Format != format {
		return format != NUMAMigration // vsish prints the same words
	}
	return !many && p.seen[startOf(l.Text)]
}

// startOf returns the part of a starting line that is the same in each output.
func startOf(l string) string {
	if strings.Contains(l, " worlds,") {
		return "up"
	}
	word, _, _ := strings.Cut(l, " ")
	return word
}

// take adds a line to the open output. JSON ends where its brackets close.
func (p *parser) take(l text.Line) {
	p.lines = append(p.lines, l)
	if p.size += len(l.Text) + 1; p.size > maxOutput {
		p.err = &numa.SyntaxError{File: p.all.Name, Line: p.last.Line, Msg: fmt.Sprintf("found an output of more than %d MB", maxOutput>>20)}
		return
	}
	if p.inJSON {
		if p.json.Add(l.Text); p.json.Depth <= 0 {
			p.finish()
			p.command = ""
		}
	}
}

// longLine is longer than any first line of an output, in bytes.
const longLine = 4 << 10

// maxOutput bounds one output in bytes.
const maxOutput = 8 << 20

func (p *parser) begin(format string, l text.Line) {
	p.finish()
	p.hand()
	o := &Output{Format: format, Line: l.N, Command: p.prompt.Command}
	o.file = fact.File{Name: p.all.Name, Format: format}
	if p.host.Text != "" {
		o.Host.Name = p.host.Text
		o.file.Add(p.host.N, p.host.Col, "host", "name", p.host.Text, "")
	}
	p.last, p.all.Last = o, &o.file
	p.open, p.lines, p.size, p.seen, p.json, p.inJSON = true, nil, 0, map[string]bool{}, text.Nesting{}, false
}

// finish parses the lines of the open output.
func (p *parser) finish() {
	p.all.Known()
	if !p.open {
		return
	}
	p.open = false
	o := p.last
	if p.inJSON {
		o.readJSON(p.lines)
	} else {
		o.read(p.lines)
	}
	o.Host.At = o.at(o.Line, 0)
	o.file.Sort()
}

func (o *Output) read(lines []text.Line) {
	switch o.Format {
	case Date:
		o.readDate(lines)
	case NUMAClients, NUMAPNode, NUMACNode:
		o.readSchedStats(lines)
	case NCPUs:
		o.readCounts(lines)
	case NUMAMigration:
		o.readLoose(lines)
	case EsxtopMemory:
		o.readScreen(lines)
	case Memstats:
		o.readMemstats(lines)
	case Vsish:
		o.readVsish(lines)
	case CoredumpFiles:
		o.readDumpFiles(lines)
	case KernelList:
		o.readKernelList(lines)
	case Vmdumper:
		o.readVmdumper(lines)
	case Volumes:
		o.readVolumes(lines)
	case VMwareVersion:
		o.readVersion(lines)
	case Uname:
		o.readUname(lines)
	default:
		o.readRecords(recordsOf(lines))
	}
}

func notUnderstood(l text.Line) string { return fmt.Sprintf("not understood: %q", text.Short(l.Text)) }

// strange warns of a line that does not belong to the format.
func (o *Output) strange(l text.Line) { o.file.Warn(l.N, l.Col, "%s", notUnderstood(l)) }

// whole parses a whole number between low and high and adds it as a fact.
func (o *Output) whole(l text.Line, subject, name, unit string, low, high int64) (n int64, ok bool) {
	n, err := strconv.ParseInt(l.Text, 10, 64)
	if err != nil || n < low || n > high {
		o.file.Warn(l.N, l.Col, "%s of %s: found %q, want a number from %d to %d", name, subject, text.Short(l.Text), low, high)
		return 0, false
	}
	o.file.Add(l.N, l.Col, subject, name, n, unit)
	return n, true
}

// count parses a count of the host into f.
func (o *Output) count(f *numa.Fact[int], l text.Line, name string) {
	if n, ok := o.whole(l, "host", name, "", 1, numa.MaxNodes*numa.MaxCoresPerNode); ok {
		*f = numa.ReadAt(int(n), text.Where(l.N, l.Col))
	}
}
