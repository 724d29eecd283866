// Package script prints a plan of changes as scripts for the tools that people use, and the scripts that take it back.
//
//	fix.Plan ──► form ──► govc (sh), powercli, ansible, terraform
//	   └─ Undo ──► form ──► the same
//
// The form decides once what is compared and what is written: a script reads every VM first and writes nothing when one of
// them is neither as the plan saw it nor as the plan wants it. What is so already is skipped. Names are in comments alone;
// everything else goes through the one quoting function of its language.
package script

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"homenode/change/fix"
	"homenode/internal/texttab"
	"homenode/numa"
)

// Options say what a script does. The zero value writes what needs no power cycle and what VMs that are off can take.
type Options struct {
	Undo  bool // take the plan back
	Power bool // shut down guests that run, and power their VMs on afterwards
}

// A tool is a language of scripts.
type tool struct {
	// cannot says why the tool does not make the edit; "" when it does.
	cannot func(e numa.Edit) string
	// reads reports whether the tool can compare the setting.
	reads func(r *row) bool
	print func(b *bytes.Buffer, f *form)
	about []string // lines of the head
}

var tools = map[string]*tool{"ansible": ansible, "govc": govc, "powercli": powercli, "terraform": terraform}

// Tools are the names that Write knows.
var Tools = []string{"ansible", "govc", "powercli", "terraform"}

// runtime holds the parts of scripts that no plan changes.
//
//go:embed runtime
var runtime embed.FS

// part returns a part of a script, without the comment at its beginning that is for readers of this folder.
func part(name string) string {
	data, err := runtime.ReadFile("runtime/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// The forms of a plan beside scripts, and of the scripts that take it back.
const (
	undone    = "-undo"
	templates = "templates"
)

// Formats are the names that Print knows: of each tool, with -undo of what takes the plan back, and templates.
var Formats = formats()

func formats() []string {
	out := slices.Clone(Tools)
	for _, name := range Tools {
		out = append(out, name+undone)
	}
	return append(out, templates)
}

// Print prints the plan in one of Formats; power is that of Options.
func Print(w io.Writer, format string, p *fix.Plan, power bool) error {
	if format == templates {
		return Profile(w, p)
	}
	name, undo := strings.CutSuffix(format, undone)
	return Write(w, name, p, Options{Undo: undo, Power: power})
}

// Write prints the plan as a script for the tool. The same plan gives the same bytes.
func Write(w io.Writer, name string, p *fix.Plan, o Options) error {
	t := tools[name]
	if t == nil {
		return fmt.Errorf("no scripts for %q: there are %s", name, strings.Join(Tools, ", "))
	}
	if o.Undo {
		undone, err := p.Undo(func(id string) []numa.Edit {
			i := slices.IndexFunc(p.Changes, func(c fix.Change) bool { return c.Target().ID == id })
			return p.Changes[i].Edits
		})
		if err != nil {
			return err
		}
		undone.ID = p.ID // the plan that people have
		p = undone
	}
	var b bytes.Buffer
	t.print(&b, newForm(p, name, o))
	_, err := w.Write(b.Bytes())
	return err
}

// comment prints lines of comments. Names are in them: each stays one line.
func comment(b *bytes.Buffer, indent string, lines ...string) {
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+"# "+texttab.Line(line), " ") + "\n")
	}
}
