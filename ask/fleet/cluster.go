package fleet

import (
	"errors"
	"fmt"
	"strings"

	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/words"

	"example.org/homenode/ask"
	"example.org/homenode/esxi/vnuma"
	answers "example.org/homenode/output/fleet"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/verdict/matrix"
)

// clusters shows the VMs of the named cluster, or of every cluster without a name, on each kind of its hosts.
func (x *Explain) clusters(r *rules.Result, name string, event vnuma.Event) (*ask.Reply, error) {
	if event != vnuma.PowerCycle && event != vnuma.VMotionIn {
		return nil, ask.Wrong("event", fmt.Errorf("found %q, want %s or %s for a cluster", x.Event, vnuma.PowerCycle, vnuma.VMotionIn))
	}
	c := clusterNamed(r, name)
	switch {
	case c == nil:
		return nil, fmt.Errorf("no cluster is named %q%s", name, alike.After(name, clusterTitles(r)))
	case len(c.Kinds) == 0:
		return nil, fmt.Errorf("cluster %s: none of its hosts can be predicted: see the notes of assess", name)
	case len(c.VMs) == 0:
		return nil, errors.New("found no VM of the cluster that can be judged: see the notes of assess")
	}
	o := matrix.Options{Choices: r.Choices, Event: event, Hosts: x.EachHost, All: x.All}
	return ask.Answered(answers.Matrix([]*matrix.Matrix{matrix.Of(c, o)}, r.Fleet.Source, r.Filter), nil)
}

// clusterNamed returns the cluster with this name or ID; nil if there is none. A standalone host is a cluster of its
// own.
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

func clusterTitles(r *rules.Result) []string {
	return words.Texts(r.Clusters, func(c *rule.Cluster) string { return c.Title() })
}
