package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/output/answer"
	"homenode/rules/policy"
	"homenode/serve/board"
	"homenode/serve/held"
	"homenode/serve/site"
)

// Of the questions of pages.
const (
	askedLongest = 45 * time.Second // a question is given up, while its reader can still be told so
	askedAtOnce  = 4                // the others wait
)

// asker returns what answers the questions of pages: each is a command of the program, run inside of it and judging as the server does.
func asker(newRoot func() *cobra.Command, judging *policy.Policy) site.Ask {
	turns := make(chan struct{}, askedAtOnce)
	return func(ctx context.Context, f *held.Fleet, args []string) ([]*answer.Answer, error) {
		ctx, cancel := context.WithTimeout(ctx, askedLongest)
		defer cancel()
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		h := flags.Held{Source: site.Source, Policy: judging}
		if f != nil {
			if h.Result, h.Bare = f.Result, f.Bare; f.Live {
				h.Ticks = board.SeenAt
			}
		}
		root := newRoot()
		cmd, _, err := root.Find(args)
		if err != nil {
			return nil, err
		}
		if name := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" "); !slices.Contains(askable, name) {
			return nil, fmt.Errorf("%s: no command that pages ask", name)
		}
		for _, a := range args {
			if _, value, ok := strings.Cut(a, "="); strings.HasPrefix(a, "@") || ok && strings.HasPrefix(a, "--") && strings.HasPrefix(value, "@") {
				return nil, errors.New("a page reads no files")
			}
		}
		root.SetArgs(args)
		root.SetIn(strings.NewReader(""))
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		err = root.ExecuteContext(flags.Holding(ctx, &h))
		if errors.Is(err, flags.ErrFindings) || errors.Is(err, flags.ErrNotKnown) {
			err = nil
		}
		return h.Answers, err
	}
}

// askable are the commands that pages ask. Each reads what is held, through package flags, or nothing.
var askable []string
