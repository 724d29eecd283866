package fleet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"homenode/esxi/vnuma"
	answers "homenode/output/fleet"
	"homenode/rules"
	"homenode/rules/rule"
	"homenode/rules/verdict/matrix"
)

// clusters shows the VMs of the cluster with this name on each kind of its hosts; without a name those of every cluster.
func (x *explaining) clusters(cmd *cobra.Command, r *rules.Result, name string, event vnuma.Event) error {
	if event != vnuma.PowerCycle && event != vnuma.VMotionIn {
		return fmt.Errorf("--event: found %q, want %s or %s for a cluster", x.event, vnuma.PowerCycle, vnuma.VMotionIn)
	}
	c := clusterNamed(r, name)
	switch {
	case c == nil:
		return fmt.Errorf("no cluster is named %q; there are %s", name, strings.Join(clusterTitles(r), ", "))
	case len(c.Kinds) == 0:
		return fmt.Errorf("cluster %s: none of its hosts can be predicted: see the notes of assess", name)
	case len(c.VMs) == 0:
		return errors.New("found no VM of the cluster that can be judged: see the notes of assess")
	}
	o := matrix.Options{Choices: r.Choices, Event: event, Hosts: x.eachHost, All: x.all}
	if err := x.out.Print(cmd, answers.Matrix([]*matrix.Matrix{matrix.Of(c, o)}, r.Fleet.Source, r.Filter)); err != nil {
		return err
	}
	return x.src.Incomplete()
}

// clusterNamed returns the cluster with this name or ID; a standalone host has its own. It is nil when there is none.
func clusterNamed(r *rules.Result, name string) *rule.Cluster {
	for _, c := range r.Clusters {
		title := c.Title()
		short, _, _ := strings.Cut(title, " (")
		host, _, _ := strings.Cut(short, ".")
		if strings.EqualFold(name, title) || strings.EqualFold(name, short) || c.Name == "" && strings.EqualFold(name, host) ||
			c.Name != "" && len(c.Hosts) > 0 && c.Hosts[0].Cluster == name {
			return c
		}
	}
	return nil
}

func clusterTitles(r *rules.Result) (titles []string) {
	for _, c := range r.Clusters {
		titles = append(titles, c.Title())
	}
	return titles
}
