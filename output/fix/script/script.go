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
	// cannot says why the tool does not make the edit of the change; "" when it does.
	cannot func(c *fix.Change, e numa.Edit) string
	// off reports whether the tool makes the edit while the VM is off alone, although vSphere does not need that; nil for none.
	off   func(e numa.Edit) bool
	print func(b *bytes.Buffer, f *form)
	about []string // lines of the head
}

var tools = map[string]*tool{"ansible": ansible, "govc": govc, "powercli": powercli, "terraform": terraform}

// Tools are the names that Write knows.
var Tools = []string{"ansible", "govc", "powercli", "terraform"}

// Best returns the tool whose script makes the most changes of the plan, and how its files end; "" where none makes any.
func Best(p *fix.Plan) (name, ending string) {
	most := 0
	for _, one := range [][2]string{{"powercli", "ps1"}, {"govc", "sh"}, {"ansible", "yml"}, {"terraform", "tf"}} {
		if n := len(newForm(p, one[0], Options{}).steps); n > most {
			most, name, ending = n, one[0], one[1]
		}
	}
	return name, ending
}

// runtime holds the parts of scripts that no plan changes.
//
//go:embed runtime
var runtime embed.FS

// part returns a part of a script.
func part(name string) string {
	data, err := runtime.ReadFile("runtime/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// reading returns a part of a script with the readers of its language.
func reading(name string, r *reader) string {
	return strings.Replace(part(name), "@read@", r.read(), 1)
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
