package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"homenode/ask"
	"homenode/internal/words"
	"homenode/measure/many"
	answers "homenode/output/guest"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/source/measured"
	"homenode/source/open"
)

// A fleet asks for a summary of the measurements of many guests.
type fleet struct {
	ask.Asked
	Files      []string `ask:"file,arg,need"`
	Fleet      []string `ask:"source" help:"also judge this SOURCE (homenode assess --help lists them) with the files as evidence, and show the findings of these VMs"`
	FailOn     string   `ask:"fail-on" default:"medium" group:"Judge" help:"with --source, least severity that makes the exit code 1: info, low, medium, high"`
	ask.Choice `group:"Judge"`
	ask.Source `only:"nodes-per-socket product evidence assume-host" group:"Source"`
}

// fleetEntry is the question.
var fleetEntry = &ask.Entry{Name: "measure fleet", Configured: true, New: func() ask.Question { return &fleet{} }}

// Answer answers the question.
func (c *fleet) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	least, err := finding.ParseSeverity(c.FailOn)
	switch {
	case err != nil:
		return nil, ask.Wrong("fail-on", err)
	case len(c.Fleet) == 0:
		if err := c.Refuse("only with --source", append([]string{"choose", "config", "fail-on"}, ask.SourceNames...)...); err != nil {
			return nil, err
		}
	case slices.Contains(c.Files, "-"):
		return nil, errors.New("-: with --source the results are evidence and read twice: name files")
	}
	docs, good, bad := read(c.Files, e.In)
	var judged *rules.Result
	if len(c.Fleet) > 0 {
		o, err := c.Choice.Options(e)
		if err != nil {
			return nil, err
		}
		c.Evidence = append(c.Evidence, good...)
		if judged, _, err = c.Judged(ctx, e, false, o, c.Fleet...); err != nil {
			return nil, err
		}
	}
	all := many.Of(docs, judged)
	all.Broken = bad
	r, err := ask.Answered(answers.Fleet(all), nil)
	if len(bad) > 0 {
		r.Partly = fmt.Errorf("%s could not be read, or not to the end", words.Plural(len(bad), "file"))
		return r, err
	}
	r.Found = all.Count(many.Untrusted) > 0 || all.AtLeast(least) > 0
	return ask.Partly(r, err, c.Incomplete())
}

// read returns the results in all files, the arguments that contain any, and the unreadable
// files.
func read(paths []string, in io.Reader) (docs []*measured.Document, good []string, bad []many.Broken) {
	for _, path := range paths {
		found := len(docs)
		parts := open.Anything(path, in)
		for _, p := range parts {
			for _, d := range p.Docs {
				if m, ok := d.(*measured.Document); ok {
					docs = append(docs, m)
				}
			}
			if p.Err != nil {
				if b := (many.Broken{File: p.Name, Why: open.Way(p.Err, path).Error()}); !slices.Contains(bad, b) { // the arguments can name a folder and a file in it
					bad = append(bad, b)
				}
			}
		}
		if len(docs) > found {
			good = append(good, path)
		} else if !slices.ContainsFunc(parts, func(p open.Part) bool { return p.Err != nil }) {
			bad = append(bad, many.Broken{File: path, Why: words.Join("; ", "found no result of homenode measure", open.Elsewhere(path))})
		}
	}
	return docs, good, bad
}
