package measure

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"homenode/ask"
	"homenode/cmd/homenode/flags"
	"homenode/internal/words"
	"homenode/measure/many"
	"homenode/output/format"
	answers "homenode/output/guest"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/source/measured"
	"homenode/source/open"
)

// A fleet is what the user asked for.
type fleet struct {
	out    flags.Output
	src    flags.Source
	choose flags.Choice
	config flags.Config
	source []string
	failOn string
}

// newFleet returns the command that reads the results of many guests.
func newFleet() *cobra.Command {
	c := &fleet{}
	cmd := described("fleet", &cobra.Command{Args: cobra.MinimumNArgs(1), RunE: c.run})
	c.out.Register(cmd, format.Tables...)
	c.src.Register(cmd)
	c.choose.Register(cmd)
	c.config.Register(cmd)
	cmd.Flags().StringArrayVar(&c.source, "source", nil, "also judge this SOURCE (homenode assess --help lists them) with the files as evidence, and show the findings of these VMs")
	cmd.Flags().StringVar(&c.failOn, "fail-on", "medium", "with --source, least severity that makes the exit code 1: info, low, medium, high")
	return cmd
}

func (c *fleet) run(cmd *cobra.Command, args []string) error {
	least, err := finding.ParseSeverity(c.failOn)
	if err != nil {
		return fmt.Errorf("--fail-on: %w", err)
	}
	if err := errors.Join(c.out.Check(cmd), c.check(cmd, args)); err != nil {
		return err
	}
	docs, good, bad := read(cmd, args)
	var judged *rules.Result
	if len(c.source) > 0 {
		if judged, err = c.judge(cmd, good); err != nil {
			return err
		}
	}
	r := many.Of(docs, judged)
	r.Broken = bad
	if err := c.out.Print(cmd, answers.Fleet(r)); err != nil {
		return err
	}
	switch {
	case len(bad) > 0:
		return fmt.Errorf("%s could not be read, or not to the end", words.Plural(len(bad), "file"))
	case r.Count(many.Untrusted) > 0 || r.AtLeast(least) > 0:
		return flags.ErrFindings
	}
	return c.src.Incomplete()
}

// check refuses what makes no sense without --source, and what can be read only once.
func (c *fleet) check(cmd *cobra.Command, args []string) error {
	switch {
	case len(c.source) == 0:
		return flags.Refuse(cmd, "only with --source", append([]string{"choose", "config", "fail-on"}, ask.SourceNames...)...)
	case slices.Contains(args, "-"):
		return errors.New("-: with --source the results are evidence and read twice: name files")
	}
	return nil
}

// read returns the results in all files, the arguments that have any, and what could not be read.
func read(cmd *cobra.Command, args []string) (docs []*measured.Document, good []string, bad []many.Broken) {
	for _, path := range args {
		found := len(docs)
		parts := open.Anything(path, cmd.InOrStdin())
		for _, p := range parts {
			for _, d := range p.Docs {
				if m, ok := d.(*measured.Document); ok {
					docs = append(docs, m)
				}
			}
			if p.Err != nil {
				if b := (many.Broken{File: p.Name, Why: p.Err.Error()}); !slices.Contains(bad, b) { // a folder and a file in it may be named
					bad = append(bad, b)
				}
			}
		}
		if len(docs) > found {
			good = append(good, path)
		} else if !slices.ContainsFunc(parts, func(p open.Part) bool { return p.Err != nil }) {
			bad = append(bad, many.Broken{File: path, Why: "found no result of homenode measure"})
		}
	}
	return docs, good, bad
}

// judge judges the fleet with the files as evidence, as homenode assess does.
func (c *fleet) judge(cmd *cobra.Command, files []string) (*rules.Result, error) {
	choices, err := c.choose.Choices()
	if err != nil {
		return nil, err
	}
	options, err := c.config.Options(choices)
	if err != nil {
		return nil, err
	}
	c.src.AddEvidence(files...)
	f, err := c.src.Read(cmd, c.source...)
	if err != nil {
		return nil, err
	}
	return rules.Run(f, options), nil
}
