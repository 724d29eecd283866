package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// Kinds of objects in the API.
const (
	kindVM   = "VirtualMachine"
	kindHost = "HostSystem"
)

// sh prints a script for a POSIX shell.
func (f *form) sh(b *bytes.Buffer) {
	b.WriteString("#!/bin/sh\n")
	comment(b, "", f.comments()...)
	comment(b, "", "", "Exit code 0: all VMs are as planned. 1: drift or an error. 2: some were left as they are, and named.")
	b.WriteString(part("compare.sh") + reading("govc.sh", &inJQ) + "\npower=" + map[bool]string{true: "yes", false: "no"}[f.power] + "\n")
	for i := range f.steps {
		s := &f.steps[i]
		commands := strings.Join(govcCommands(s), " &&\n\t\t")
		if s.byUUID {
			fmt.Fprintf(b, "\nid_%d=$(identify %s) || stop \"not one VM has the UUID %s. Nothing was changed\"\n", i+1, s.id, s.id)
			commands = strings.ReplaceAll(commands, kindVM+":"+s.id, fmt.Sprintf(`"%s:$id_%d"`, kindVM, i+1))
		}
		fmt.Fprintf(b, "\nwrite_%d() {\n\t%s\n}\n", i+1, commands)
	}
	b.WriteString("\nchanges() {\n\t:\n")
	for i := range f.steps {
		s := &f.steps[i]
		comment(b, "\t", title(s))
		kind := kindVM
		if s.host {
			kind = kindHost
		}
		id := words.Command(s.id)
		if s.byUUID {
			id = fmt.Sprintf(`"$id_%d"`, i+1)
		}
		fmt.Fprintf(b, "\t\"$1\" %s %s %s write_%d\n", kind, id, words.Command(s.wanted()), i+1)
	}
	b.WriteString("}\n\n")
	for _, l := range f.unmade {
		fmt.Fprintf(b, "say %s\n", words.Command("left as it is: "+l))
	}
	if f.unmade != nil {
		b.WriteString("status=2\n")
	}
	b.WriteString("changes check\n[ -z \"$drift\" ] || stop \"nothing was changed\"\nchanges apply\n")
	if f.cycles() {
		b.WriteString("say \"settings take effect at the next power cycle of their VM; a reboot of the guest is none\"\n")
	}
	b.WriteString("exit $status\n")
}

// title is the comment above a step.
func title(s *step) string {
	if s.why == "" {
		return s.title
	}
	return s.title + " (" + s.why + ")"
}

// wanted returns the rows of a step as JSON.
func (s *step) wanted() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	rows := s.rows
	if rows == nil {
		rows = []row{}
	}
	_ = e.Encode(struct {
		Off  bool  `json:"off,omitempty"`
		Rows []row `json:"rows"`
	}{s.needs == numa.NeedsOff, rows}) // encoding strings cannot fail
	return strings.TrimSpace(b.String())
}
