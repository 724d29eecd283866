package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"example.org/homenode/ask"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	answers "example.org/homenode/output/fleet"
	"example.org/homenode/output/format"
	"example.org/homenode/rules"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/open"
)

// file prints the facts parsed from a file. If the file describes exactly one VM, it also explains the VM.
func (x *Explain) file(ctx context.Context, e *ask.Env, path string) (*ask.Reply, error) {
	if e.Open == nil {
		return nil, ask.ErrFiles
	}
	if _, err := os.Stat(path); path != "-" && errors.Is(err, fs.ErrNotExist) {
		return nil, cmp.Or(hostAlone(path), fmt.Errorf("%w: want a file, or a SOURCE and a name in it, as in: homenode explain demo %s", err, path))
	}
	if slices.ContainsFunc(append([]string{"product"}, ask.SourceNames...), x.Given) {
		if _, err := x.Read(ctx, e, path); err != nil {
			return nil, err
		}
	}
	files, broken := readFacts(path, e.In)
	r := &ask.Reply{Answers: []*answer.Answer{answers.Read(files, x.only(ctx, e, path))}, Form: format.Options{Details: true}}
	if broken {
		r.Partly = fmt.Errorf("%s could not be read, or not to the end", path)
	}
	return r, nil
}

// only explains the VM of a file that describes exactly one; nil for other files, and if its host is unknown.
func (x *Explain) only(ctx context.Context, e *ask.Env, path string) *answer.Answer {
	if path == "-" {
		return nil
	}
	fleet, unread, err := e.Open(ctx, []string{path}, x.Source.Options())
	if err != nil || len(unread) > 0 || len(fleet.VMs) != 1 || fleet.Hypervisor == numa.KVM {
		return nil
	}
	choices, err := x.Choices()
	if err != nil {
		return nil
	}
	vnuma.AssumeStored(fleet, choices)
	one, err := explain(rules.Run(fleet, rules.Options{Choices: choices}), &fleet.VMs[0], "", "", vnuma.PowerCycle)
	if err != nil {
		return nil
	}
	return answers.Explain(one)
}

// readFacts returns the facts in a file, folder or archive.
func readFacts(path string, in io.Reader) (files []fact.File, failed bool) {
	for _, p := range open.Anything(path, in) {
		for _, d := range p.Docs {
			files = append(files, *d.File())
		}
		if p.Fleet != nil {
			files = append(files, fact.OfFleet(p.Name, p.Format, p.Fleet))
		}
		if p.Note != "" {
			files = append(files, fact.File{Name: p.Name, Facts: []fact.Fact{}, Warnings: []fact.Warning{{Text: p.Note}}})
		}
		if p.Err != nil {
			failed = true
			files = append(files, fact.File{Name: p.Name, Facts: []fact.Fact{}, Error: words.Error(open.Way(p.Err, path))})
		}
	}
	return files, failed
}
