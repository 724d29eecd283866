package fix

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"example.org/homenode/change/gate"
	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
)

// patch prints the necessary changes of a file with planned VMs as a unified diff, or applies them.
func (c *command) patch(cmd *cobra.Command, file string) error {
	if c.plan != "" || c.resume != "" || c.rollback != "" || c.verify != "" || c.unlock {
		return fmt.Errorf("%s describes VMs that do not exist yet: --plan, --resume, --rollback, --verify and --unlock are for a vCenter", file)
	}
	env, err := c.asks.Env(cmd)
	if err != nil {
		return err
	}
	p, err := c.question.Patch(cmd.Context(), env)
	if err != nil {
		return err
	}
	for _, why := range p.Cannot {
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: not changed: %s\n", texttab.Clean(why))
	}
	if !c.doApply {
		return errors.Join(c.printPatch(cmd, p), c.question.Incomplete())
	}
	n := strings.Count(p.Diff, "\n@@ ")
	if n == 0 {
		return fmt.Errorf("%s: nothing to change", file)
	}
	question := fmt.Sprintf("%s\nChange %s at %s? Type %d to go on: ", shown(p.Diff), file, words.Plural(n, "place"), n)
	if err := c.do.agree(cmd, n, question); err != nil {
		return err
	}
	return atomicfile.Write(file, func(w io.Writer) error {
		_, err := w.Write(p.Changed())
		return err
	})
}

// printPatch prints the diff, or JSON.
func (c *command) printPatch(cmd *cobra.Command, p *gate.Patch) error {
	return c.asks.Output.Write(cmd, func(w io.Writer, terminal bool) error {
		switch {
		case c.asks.Output.Format == "json":
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(p)
		case p.Lines != nil:
			_, err := fmt.Fprintf(w, "# %s is made of files that are edited: change them there\n%s\n", texttab.Clean(p.File), shown(strings.Join(p.Lines, "\n")))
			return err
		case p.Diff == "":
			_, err := fmt.Fprintf(w, "# %s: nothing to change\n", texttab.Clean(p.File))
			return err
		case terminal:
			_, err := io.WriteString(w, shown(p.Diff))
			return err
		}
		_, err := io.WriteString(w, p.Diff)
		return err
	})
}

// shown returns a diff as a terminal shows it: nothing in the file is taken for its own.
func shown(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		b.WriteString(texttab.Clean(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}
