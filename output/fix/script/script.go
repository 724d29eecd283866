// Package script prints a plan of changes as scripts for common tools, and the scripts that roll it back.
//
//	fix.Plan ──► form ──► govc (sh), powercli, ansible, terraform
//	   └─ Undo ──► form ──► the same
//
// The form determines the settings to compare and to write. A script first reads every VM. It writes nothing if a setting has
// neither its old nor its planned value, and skips settings that already have the planned value. Names are only in comments;
// everything else is quoted by the only quoting function of the language.
package script

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
)

// Options are the options of a script. The zero value writes settings that need no power cycle, and settings of VMs that are
// powered off.
type Options struct {
	Undo  bool // roll the plan back
	Power bool // shut down running guests, and power on their VMs afterwards
}

// A tool is a script language.
type tool struct {
	// cannot returns why the tool does not support the edit; "" if it does.
	cannot func(c *fix.Change, e numa.Edit) string
	// off reports whether the tool can only make the edit while the VM is off, although vSphere has no such restriction; nil
	// for none.
	off   func(e numa.Edit) bool
	finds bool // it changes a VM without a MoRef, whose UUID only one VM has
	print func(b *bytes.Buffer, f *form)
	about []string // lines in the head of the script
}

var tools = map[string]*tool{"ansible": ansible, "govc": govc, "powercli": powercli, "terraform": terraform}

// Tools are the valid names for Write.
var Tools = []string{"ansible", "govc", "powercli", "terraform"}

// Best returns the tool whose script contains the most changes of the plan, and its file ending; "" if no tool supports any.
func Best(p *fix.Plan) (name, ending string) {
	most := 0
	for _, one := range [][2]string{{"powercli", "ps1"}, {"govc", "sh"}, {"ansible", "yml"}, {"terraform", "tf"}} {
		if n := len(newForm(p, one[0], Options{}).steps); n > most {
			most, name, ending = n, one[0], one[1]
		}
	}
	return name, ending
}

// runtime has the fixed parts of scripts.
//
//go:embed runtime
var runtime embed.FS

// part returns a fixed part of a script.
func part(name string) string {
	data, err := runtime.ReadFile("runtime/" + name)
	if err != nil {
		panic(err) // the file is embedded
	}
	return string(data)
}

// reading returns a fixed part of a script with the readers of its language inserted.
func reading(name string, r *reader) string {
	return strings.Replace(part(name), "@read@", r.read(), 1)
}

// Forms of a plan other than the tools' scripts; undone is a suffix for rollback scripts.
const (
	undone    = "-undo"
	templates = "templates"
)

// Formats are the valid names for Print: each tool, with -undo for the rollback, and templates.
var Formats = formats()

func formats() []string {
	out := slices.Clone(Tools)
	for _, name := range Tools {
		out = append(out, name+undone)
	}
	return append(out, templates)
}

// Print prints the plan in one of Formats. power is Options.Power.
func Print(w io.Writer, format string, p *fix.Plan, power bool) error {
	if format == templates {
		return Profile(w, p)
	}
	name, undo := strings.CutSuffix(format, undone)
	return Write(w, name, p, Options{Undo: undo, Power: power})
}

// Write prints the plan as a script for the tool. The output is deterministic.
func Write(w io.Writer, name string, p *fix.Plan, o Options) error {
	t := tools[name]
	if t == nil {
		return fmt.Errorf("no scripts for %q: there are %s", name, strings.Join(Tools, ", "))
	}
	if o.Undo {
		undone, err := p.Undo(func(c *fix.Change) []numa.Edit { return c.Edits })
		if err != nil {
			return err
		}
		undone.ID = p.ID // the ID of the plan that the user knows
		p = undone
	}
	var b bytes.Buffer
	t.print(&b, newForm(p, name, o))
	_, err := w.Write(b.Bytes())
	return err
}

// Missing returns the changes of the plan that the script in one of Formats lacks, each with the reason.
func Missing(format string, p *fix.Plan) []string {
	name := strings.TrimSuffix(format, undone)
	if tools[name] == nil {
		return nil
	}
	return newForm(p, name, Options{}).unmade
}

// comment prints comment lines. Each stays on one line, even if it contains a name with line breaks.
func comment(b *bytes.Buffer, indent string, lines ...string) {
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+"# "+texttab.Line(line), " ") + "\n")
	}
}
