// Package move has the command that converts VMs for other platforms.
package move

import (
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/ask/change"
	"example.org/homenode/change/move"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/version"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/format"
	answers "example.org/homenode/output/move"
	"example.org/homenode/output/move/target"
)

// A command has the flags of the user.
type command struct {
	asks flags.Asking
	move *change.Move
}

// endings are the file extensions of pages, by format.
var endings = map[string]string{"table": "txt", "json": "json", "html": "html", "csv": "csv", "markdown": "md"}

// read are the formats with one page per VM: the others have all VMs in one file.
var read = []string{"table", "html", "markdown"}

// New returns the command.
func New() *cobra.Command {
	c := &command{move: change.MoveEntry.Ask().(*change.Move)}
	cmd := &cobra.Command{Args: cobra.ArbitraryArgs, RunE: c.run}
	c.asks.Register(cmd, c.move)
	flags.Group(cmd, "Output", func(cmd *cobra.Command) { c.asks.Output.Register(cmd, "table", "json", "html", "csv", "markdown") })
	flags.Group(cmd, "Source", c.asks.Session.Register)
	cmd.Flags().Lookup("output").Usage = "write the files, and a page for each VM with losses of its own, into this folder, which is new or empty"
	return cmd
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	out := &c.asks.Output
	if err := out.Check(cmd); err != nil {
		return err
	}
	folder := out.File
	if out.File = ""; folder == "-" {
		folder = ""
	}
	if err := c.asks.Take(c.move, args); err != nil {
		return err
	}
	e, err := c.asks.Env(cmd)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return errors.New("want a SOURCE: homenode move --help")
	}
	m, err := c.move.Make(cmd.Context(), e)
	if err != nil {
		return err
	}
	files := target.Files(m.Moves)
	answer := c.move.Show(m, files, folder, flags.Typed(cmd, flags.SessionNames)...)
	if folder != "" {
		if err := c.write(folder, m, answer, files); err != nil {
			return err
		}
	}
	if err := out.Print(cmd, answer); err != nil {
		return err
	}
	if m.Refused {
		return flags.ErrFindings
	}
	return c.move.Incomplete()
}

// write writes the files, the table of all VMs, and a page for each VM with losses of its own, into a folder, and nothing outside of it.
func (c *command) write(folder string, m *change.Moved, all *answer.Answer, files []target.File) error {
	moves, form, named := m.Moves, c.asks.Output.Format, change.NamesOf(files)
	out, err := open(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		out.write(f.Name, func(w io.Writer) error { _, err := w.Write(f.Data); return err })
	}
	for first := 0; first < len(moves); {
		next := first + 1
		for next < len(moves) && moves[next].Name == moves[first].Name {
			next++
		}
		if of := moves[first:next]; slices.Contains(read, form) && slices.ContainsFunc(of, func(m *move.Move) bool { return len(m.Own()) > 0 }) {
			page := ask.Mark(answers.VM(of, m.Planned, named), c.move.Incomplete())
			out.write(of[0].Name+"."+endings[form], func(w io.Writer) error { return writePage(w, form, page) })
		}
		first = next
	}
	out.write(move.TableName+"."+endings[form], func(w io.Writer) error { return writePage(w, form, all) })
	for _, d := range all.Drawings {
		out.write(move.TableName+"."+d.ID+".svg", func(w io.Writer) error { return picture.Write(w, d.Picture(), false) })
	}
	return out.close()
}

func writePage(w io.Writer, form string, a *answer.Answer) error {
	return format.Write(w, form, a, format.Options{Version: version.String()})
}
