package fix

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/measure/effect"
	"example.org/homenode/numa"
	answers "example.org/homenode/output/fix"
	"example.org/homenode/serve/reader"
	"example.org/homenode/serve/verify"
	"example.org/homenode/source/vsphere/write"
)

// judge checks whether the changes of a run are present, in effect, and successful.
func (c *command) judge(cmd *cobra.Command, source string) error {
	lines, err := journal.Read(c.verify)
	if err != nil {
		return err
	}
	in := verify.Input{Lines: lines, Journal: c.verify, Zone: time.Local}
	if err := c.history(&in); err != nil {
		return err
	}
	o, err := c.question.Choice.Options(c.env)
	if err != nil {
		return err
	}
	if in.Fleet, _, err = c.question.Judged(cmd.Context(), c.env, false, o, source); err != nil {
		return err
	}
	var v *effect.Verdict
	err = c.session(cmd.Context(), cmd, source, func(w write.Writer, host string) error {
		in.VCenter = host
		p := lines[0].Whole
		if err := sameServer(p, w, host); err != nil {
			return err
		}
		var ids []string
		for _, cl := range in.Fleet.Clusters { // including their power-ons
			for _, one := range cl.VMs {
				ids = append(ids, one.ID)
			}
		}
		if in.States, err = w.States(cmd.Context(), ids); err != nil {
			return err
		}
		in.Now = time.Now()
		if in.Server, err = w.Clock(cmd.Context()); err != nil {
			return err
		}
		in.Options = func(id string) (numa.Settings, error) {
			keys, cluster := keysOf(p, id)
			if cluster {
				return w.DRSRules(cmd.Context(), id, keys)
			}
			return w.HostOptions(cmd.Context(), id, keys)
		}
		v, err = verify.Run(cmd.Context(), in)
		return err
	})
	if err != nil {
		return err
	}
	if err := c.asks.Output.Print(cmd, answers.Verdict(v)); err != nil {
		return err
	}
	switch v.Helped {
	case effect.Helped, effect.AsPredicted, effect.TakenBack:
		return nil
	case effect.Worse, effect.PartlyBack:
		return flags.ErrFindings
	}
	return flags.ErrNotKnown
}

// history sets the reader of the counters that --query-url names, if any.
func (c *command) history(in *verify.Input) error {
	if c.query == "" {
		return nil
	}
	address := c.query
	if address == "env" {
		if address = os.Getenv("HOMENODE_QUERY_URL"); address == "" {
			return errors.New("--query-url env: HOMENODE_QUERY_URL is not set")
		}
	}
	r, err := reader.New(address, nil)
	if err != nil {
		return fmt.Errorf("--query-url: %w", err)
	}
	in.History = r.History
	return nil
}

// keysOf returns the host options or cluster rules that the plan changes.
func keysOf(p *fix.Plan, id string) (keys []string, cluster bool) {
	for i := range p.Changes {
		if c := &p.Changes[i]; c.VM == nil && c.Target().ID == id {
			cluster = c.Cluster != nil
			for _, e := range c.Edits {
				keys = append(keys, e.Key)
			}
		}
	}
	return keys, cluster
}
