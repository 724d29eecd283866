package fleet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	answers "homenode/output/fleet"
	"homenode/output/format"
	"homenode/rules"
	"homenode/rules/rule"
	"homenode/rules/verdict/matrix"
)

// NewMatrix returns the command.
func NewMatrix() *cobra.Command {
	var (
		src    flags.Source
		out    flags.Output
		choose flags.Choice
		part   flags.Filter
		event  string
		o      matrix.Options
	)
	cmd := &cobra.Command{
		Use:   "matrix SOURCE [CLUSTER]",
		Short: "Shows the VMs of a cluster on each kind of its hosts",
		Long: `matrix shows what each VM gets on each kind of host of its cluster, and where that differs from its own
host: VMs that change first, then wide ones. VMs that are alike share a row. Without CLUSTER it shows every
cluster.

` + flags.SourceHelp,
		Example: `  homenode matrix demo mixed
  homenode matrix demo mixed --event vmotion
  homenode matrix fleet.json --each-host --all
  homenode matrix demo mixed --format svg -o mixed.svg`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.Choices, err = choose.Choices(); err != nil {
				return err
			}
			if err := out.Check(cmd); err != nil {
				return err
			}
			var ok bool
			if o.Event, ok = vnuma.ParseEvent(event); !ok || o.Event != vnuma.PowerCycle && o.Event != vnuma.VMotionIn {
				return fmt.Errorf("--event: found %q, want %s or %s", event, vnuma.PowerCycle, vnuma.VMotionIn)
			}
			shown, err := part.Compile()
			if err != nil {
				return err
			}
			whole, _, err := src.Judged(cmd, rules.Options{Choices: o.Choices}, args[0])
			if err != nil {
				return err
			}
			result, err := shown.Fleet(whole)
			if err != nil {
				return err
			}
			clusters, err := clustersNamed(shown.Found(result), args[1:])
			if err != nil {
				return err
			}
			var all []*matrix.Matrix
			for _, c := range clusters {
				all = append(all, matrix.Of(c, o))
			}
			if out.Format == "svg" && len(all) != 1 {
				return errors.New("an SVG file holds one drawing: name a CLUSTER")
			}
			err = out.Print(cmd, answers.Matrix(all, whole.Fleet.Source, result.Filter))
			if err != nil {
				return err
			}
			return src.Incomplete()
		},
	}
	src.Register(cmd)
	out.Register(cmd, format.Names...)
	choose.Register(cmd)
	part.Register(cmd)
	cmd.Flags().BoolVar(&o.Hosts, "each-host", false, "a column for each host instead of each kind")
	cmd.Flags().BoolVar(&o.All, "all", false, "every VM, each in a row of its own")
	cmd.Flags().StringVar(&event, "event", vnuma.PowerCycle.String(), "how the VM comes to the host: power-cycle or vmotion")
	return cmd
}

// clustersNamed returns the clusters with hosts that are predicted, or the one with
// this name; a standalone host has its own.
func clustersNamed(r *rules.Result, names []string) ([]*rule.Cluster, error) {
	var all []*rule.Cluster
	var titles []string
	for _, c := range r.Clusters {
		title := c.Title()
		titles = append(titles, title)
		short, _, _ := strings.Cut(title, " (")
		host, _, _ := strings.Cut(short, ".")
		switch {
		case len(names) == 0 && len(c.Kinds) > 0 && len(c.VMs) > 0:
			all = append(all, c)
		case len(names) == 1 && (strings.EqualFold(names[0], title) || strings.EqualFold(names[0], short) || c.Name == "" && strings.EqualFold(names[0], host)):
			all = append(all, c)
		}
	}
	switch {
	case len(all) == 0 && len(names) > 0:
		return nil, fmt.Errorf("no cluster is named %q; there are %s", names[0], strings.Join(titles, ", "))
	case len(all) == 0:
		return nil, errors.New("found no cluster with hosts and VMs that can be judged: see the notes of assess")
	case len(names) == 1 && len(all[0].Kinds) == 0:
		return nil, fmt.Errorf("cluster %s: none of its hosts can be predicted: see the notes of assess", names[0])
	}
	return all, nil
}
