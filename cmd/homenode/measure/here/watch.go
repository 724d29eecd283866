package here

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"example.org/homenode/measure/guest"
	"example.org/homenode/source/measured"
)

// A Watch measures again and again.
type Watch struct {
	Asked
	every, long time.Duration
	file        string
}

// Register adds the flags.
func (c *Watch) Register(fl *pflag.FlagSet) {
	fl.DurationVar(&c.every, "every", time.Minute, "time from one round to the next: 60s")
	fl.DurationVar(&c.long, "for", 24*time.Hour, "how long to watch: 24h")
	fl.StringVarP(&c.file, "output", "o", "", "add the lines to the end of this file")
	c.Place(fl)
}

// Run measures until it has watched for long enough, or ctx ends. It writes to the file, else to out; told gets what the user is to know.
func (c *Watch) Run(ctx context.Context, out, told io.Writer) (err error) {
	if c.every < guest.LeastEvery {
		return fmt.Errorf("--every: found %v, want %v or more", c.every, guest.LeastEvery)
	}
	if c.long <= 0 {
		return fmt.Errorf("--for: found %v, want a time such as 24h", c.long)
	}
	if err := c.Read([]string{string(guest.Hidden)}); err != nil {
		return err
	}
	plan, err := c.Plan(ctx)
	if err != nil {
		return err
	}
	w := out
	if c.file != "" {
		f, failed := os.OpenFile(c.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
	}
	said := false
	return guest.Watch(ctx, plan, c.every, c.long, func(r *measured.WatchRound) error {
		if apart := guest.Apart(r); apart > c.every && !said {
			said = true
			fmt.Fprintf(told, "Rounds are %v apart, not %v: each takes %.2f s of CPU time, and watch takes 1 %% of one processor at most.\n", apart.Round(time.Second), c.every, r.CPUSeconds)
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = w.Write(append(line, '\n'))
		return err
	})
}
