package size

import (
	"context"
	"errors"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/change/upgrade"
	"example.org/homenode/numa"
	show "example.org/homenode/output/change"
)

// Upgrade asks which VMs change with another ESXi release or virtual hardware version.
type Upgrade struct {
	ask.Asked
	Fleet    []string `ask:"source,arg,need" label:"Fleet"`
	Release  string   `ask:"release" label:"ESXi release" example:"8.0U3" help:"release that the hosts get: 8.0U3"`
	Hardware int      `ask:"hardware" min:"4" max:"99" label:"Virtual hardware" example:"21" help:"virtual hardware version that the VMs get: 21"`
	Cluster  []string `ask:"cluster,list" label:"Cluster" example:"prod-a" help:"only hosts and VMs of these clusters; names may have * and ?"`
	ask.Choice
	ask.Source `only:"nodes-per-socket product evidence assume-host" group:"Source"`
}

// Answer answers the question.
func (q *Upgrade) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	if q.Release == "" && !q.Given("hardware") {
		return nil, errors.New("want the target of the upgrade: --release, --hardware, or both")
	}
	a := upgrade.Ask{Cluster: strings.Join(q.Cluster, ","), Hardware: q.Hardware}
	var err error
	if q.Release != "" {
		if a.Release, err = release(q.Release); err != nil {
			return nil, ask.Wrong("release", err)
		}
	}
	options, err := q.Choice.Options(e)
	if err != nil {
		return nil, err
	}
	fleet, err := q.ReadBy(ctx, e, options.Choices, false, q.Fleet...)
	if err != nil {
		return nil, err
	}
	r, err := upgrade.Study(ctx, e.Bare(ctx, options), fleet, a, options)
	if at, ok := errors.AsType[*numa.SyntaxError](err); ok { // its text is composed from the fields, the cluster first
		field := "hardware"
		if q.Cluster != nil && at.Col == 1 {
			field = "cluster"
		}
		err = ask.Wrong(field, errors.New(at.Msg))
	}
	if err != nil {
		return nil, err
	}
	reply, err := answered(show.Upgrade(r), nil)
	return ask.Partly(reply, err, q.Incomplete())
}
