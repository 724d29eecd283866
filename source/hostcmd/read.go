package hostcmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/source/fact"
	"homenode/source/text"
)

// Read reads all outputs of a file, in their order. Lines that belong to none are
// warnings of the output before them, or of the first. The error is a
// *fact.SyntaxError when there is no output at all.
func Read(name string, r io.Reader) ([]*Output, error) {
	p := &parser{all: fact.Outputs{Name: name, Want: "the output of sched-stats, esxtop, memstats, vsish, esxcli, vmware -v or uname"}}
	if err := p.all.Read(r, p.line); err != nil {
		return nil, err
	}
	p.finish()
	if len(p.outputs) == 0 {
		return nil, p.all.End(nil)
	}
	return p.outputs, p.all.End(&p.outputs[0].file)
}

// A parser cuts a file into outputs: at prompts, and at lines that begin an output.
type parser struct {
	all     fact.Outputs
	prompt  text.Prompt
	host    text.Line // in the last prompt
	command string    // format of the last prompt's command
	outputs []*Output
	open    bool        // the last output still takes lines
	lines   []text.Line // of the open output
	seen    map[string]bool
	json    nesting
}

func (p *parser) line(n int, raw string) {
	l := text.Trim(n, raw)
	if p.open && p.json.depth > 0 {
		p.take(l)
		return
	}
	if prompt, ok := text.CutPrompt(raw, commands...); ok {
		p.finish()
		p.prompt, p.command = prompt, formatOfCommand(prompt)
		p.host = text.Line{N: n, Col: 1 + strings.Index(raw, prompt.Host), Text: prompt.Host}
		return
	}
	if l.Text == "" {
		if p.open {
			p.lines = append(p.lines, l)
		}
		return
	}
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
		p.json.on = true
	}
	p.take(l)
}

// begins reports whether a line that may begin an output of this format does.
func (p *parser) begins(format string, many bool, l text.Line) bool {
	if !p.open {
		return true
	}
	if open := p.outputs[len(p.outputs)-1]; open.Format != format {
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
	if p.json.on {
		if p.json.add(l.Text); p.json.depth <= 0 {
			p.finish()
			p.command = ""
		}
	}
}

func (p *parser) begin(format string, l text.Line) {
	p.finish()
	o := &Output{Format: format, Line: l.N, Command: p.prompt.Command}
	o.file = fact.File{Name: p.all.Name, Format: format}
	if p.host.Text != "" {
		o.Host.Name = p.host.Text
		o.file.Add(p.host.N, p.host.Col, "host", "name", p.host.Text, "")
	}
	p.outputs, p.all.Last = append(p.outputs, o), &o.file
	p.open, p.lines, p.seen, p.json = true, nil, map[string]bool{}, nesting{}
}

// finish reads the lines of the open output.
func (p *parser) finish() {
	p.all.Known()
	if !p.open {
		return
	}
	p.open = false
	o := p.outputs[len(p.outputs)-1]
	if p.json.on {
		o.readJSON(p.lines)
	} else {
		o.read(p.lines)
	}
	o.Host.At = o.at(o.Line, 0)
	slices.SortStableFunc(o.file.Facts, func(a, b fact.Fact) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col)) })
	slices.SortStableFunc(o.file.Warnings, func(a, b fact.Warning) int { return cmp.Compare(a.Line, b.Line) })
}

func (o *Output) read(lines []text.Line) {
	switch o.Format {
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
	case VMwareVersion:
		o.readVersion(lines)
	case Uname:
		o.readUname(lines)
	default:
		o.readRecords(recordsOf(lines))
	}
}

func notUnderstood(l text.Line) string { return fmt.Sprintf("not understood: %q", text.Short(l.Text)) }

// strange warns of a line that the format does not have.
func (o *Output) strange(l text.Line) { o.file.Warn(l.N, l.Col, "%s", notUnderstood(l)) }

// whole reads a whole number between low and high and states it as a fact.
func (o *Output) whole(l text.Line, subject, name, unit string, low, high int64) (n int64, ok bool) {
	n, err := strconv.ParseInt(l.Text, 10, 64)
	if err != nil || n < low || n > high {
		o.file.Warn(l.N, l.Col, "%s of %s: found %q, want a number from %d to %d", name, subject, text.Short(l.Text), low, high)
		return 0, false
	}
	o.file.Add(l.N, l.Col, subject, name, n, unit)
	return n, true
}

// count reads a number of things of the host into f.
func (o *Output) count(f *numa.Fact[int], l text.Line, name string) {
	if n, ok := o.whole(l, "host", name, "", 1, numa.MaxNodes*numa.MaxCoresPerNode); ok {
		*f = numa.ReadAt(int(n), text.Where(l.N, l.Col))
	}
}
