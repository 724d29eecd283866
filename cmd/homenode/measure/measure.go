// Package measure has the command that measures the machine it runs on.
package measure

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/cmd/homenode/measure/here"
	"example.org/homenode/measure/guest"
	"example.org/homenode/measure/guest/beside"
	"example.org/homenode/measure/guest/steps/request"
	"example.org/homenode/output/format"
	answers "example.org/homenode/output/measure"
	"example.org/homenode/source/measured"
)

// A command has the flags of the user.
type command struct {
	out       flags.Output
	here      here.Asked
	dry       bool
	predicted string // file
}

// New returns the command. helps has the help of its subcommands.
func New(helps fs.FS) *cobra.Command {
	c := &command{here: withRequests()}
	cmd := &cobra.Command{Args: cobra.OnlyValidArgs, RunE: c.run}
	cmd.AddCommand(newPlaybook(helps), newWatch(helps))
	for _, p := range guest.Parts {
		cmd.ValidArgs = append(cmd.ValidArgs, string(p))
	}
	c.here.Register(cmd.Flags())
	c.here.Place(cmd.Flags())
	cmd.Flags().StringVar(&c.predicted, "predicted", "", "compare with this prediction: the JSON of homenode explain SOURCE VM --format json")
	completeHuge(cmd)
	c.out.Register(cmd, format.Names...)
	cmd.Flags().BoolVar(&c.dry, "dry-run", false, "print what would be allocated, pinned and run, and for how long")
	return cmd
}

// withRequests returns that everything is measured that homenode can.
func withRequests() here.Asked { return here.Asked{Options: guest.Options{Requests: request.Steps()}} }

// completeHuge completes the flag of a measurement that has few values.
func completeHuge(cmd *cobra.Command) {
	flags.Complete(cmd, "huge", flags.Among([]string{string(guest.PagingAuto), string(guest.PagingHuge), string(guest.PagingNone)}))
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	if err := errors.Join(c.out.Check(cmd), c.here.Read(args)); err != nil {
		return err
	}
	if c.out.File != "" {
		// Fail before a minute of measuring, not after it.
		if _, err := os.Stat(filepath.Dir(c.out.File)); err != nil {
			return fmt.Errorf("%s: %w", c.out.File, err)
		}
	}
	predicted, err := c.prediction(cmd.Context())
	if err != nil {
		return err
	}
	plan, err := c.here.Plan(cmd.Context())
	if err != nil {
		return err
	}
	if c.dry {
		return c.out.Print(cmd, answers.Planned(plan))
	}
	var progress io.Writer
	if w := cmd.ErrOrStderr(); flags.IsTerminal(w) {
		progress = w
	}
	r, err := here.Measure(cmd.Context(), plan, progress)
	if err != nil {
		return err
	}
	if predicted != nil {
		r.Compared = beside.Of(r, predicted)
	}
	if err := c.print(cmd, r); err != nil {
		return err
	}
	if !r.Trust.OK || differs(r) {
		return flags.ErrFindings
	}
	return nil
}

// print writes the result: as JSON the file itself, otherwise an answer.
func (c *command) print(cmd *cobra.Command, r *measured.Result) error {
	if c.out.Format == "json" {
		return c.out.Write(cmd, func(w io.Writer, _ bool) error { return measured.Write(w, r) })
	}
	return c.out.Print(cmd, answers.Answer(r))
}
