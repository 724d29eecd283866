package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/measure/guest"
	"homenode/source/measured"
)

// A watch is what the user asked for.
type watch struct {
	command
	every, long time.Duration
	file        string
}

// newWatch returns the command that measures again and again.
func newWatch(helps fs.FS) *cobra.Command {
	c := &watch{}
	cmd := flags.Describe(helps, "measure-watch", &cobra.Command{Args: cobra.NoArgs, RunE: c.run})
	fl := cmd.Flags()
	fl.DurationVar(&c.every, "every", time.Minute, "time from one round to the next: 60s")
	fl.DurationVar(&c.long, "for", 24*time.Hour, "how long to watch: 24h")
	fl.StringVarP(&c.file, "output", "o", "", "add the lines to the end of this file")
	c.place(cmd)
	return cmd
}

func (c *watch) run(cmd *cobra.Command, _ []string) (err error) {
	if c.every < guest.LeastEvery {
		return fmt.Errorf("--every: found %v, want %v or more", c.every, guest.LeastEvery)
	}
	if c.long <= 0 {
		return fmt.Errorf("--for: found %v, want a time such as 24h", c.long)
	}
	if err := c.options([]string{string(guest.Hidden)}); err != nil {
		return err
	}
	plan, err := c.plan(cmd.Context())
	if err != nil {
		return err
	}
	var w io.Writer = cmd.OutOrStdout()
	if c.file != "" {
		f, failed := os.OpenFile(c.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
	}
	said := false
	return guest.Watch(cmd.Context(), plan, c.every, c.long, func(r *measured.WatchRound) error {
		if apart := guest.Apart(r); apart > c.every && !said {
			said = true
			fmt.Fprintf(cmd.ErrOrStderr(), "Rounds are %v apart, not %v: each takes %.2f s of CPU time, and watch takes 1 %% of one processor at most.\n", apart.Round(time.Second), c.every, r.CPUSeconds)
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = w.Write(append(line, '\n'))
		return err
	})
}
