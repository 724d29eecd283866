package serve

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/glob"
	"example.org/homenode/numa"
	"example.org/homenode/serve/collect"
	"example.org/homenode/source/open"
	"example.org/homenode/source/vsphere"
)

// A target is a vCenter to collect from.
type target struct {
	name    string
	source  string // as typed
	address string // URL without an account
	dial    func(context.Context) (*vsphere.Live, error)
}

// An input has the flags about collecting that serve and record share.
type input struct {
	session         flags.Session
	collect         collect.Options
	clusters, hosts []string
}

// register adds the flags. verb describes what the command does with hosts.
func (in *input) register(cmd *cobra.Command, verb string) {
	flags.Group(cmd, "what is collected", func(cmd *cobra.Command) {
		fl := cmd.Flags()
		fl.DurationVar(&in.collect.Every, "every", time.Minute, "time between two answers of a host (demo: 20s)")
		fl.StringSliceVar(&in.clusters, "cluster", nil, verb+" these clusters; names may have * and ?")
		fl.StringSliceVar(&in.hosts, "host", nil, verb+" these hosts; names may have * and ?")
	})
	flags.Group(cmd, "account and certificates of the vCenters", in.session.Register)
}

// check rejects invalid values.
func (in *input) check() error {
	if in.collect.Every < 2*time.Second {
		return fmt.Errorf("--every: found %v, want 2s or more: hosts count no faster", in.collect.Every)
	}
	return nil
}

// targets returns the vCenters of the arguments, and completes the options.
func (in *input) targets(cmd *cobra.Command, args []string) (all []target, demo *demoLab, err error) {
	if len(in.clusters)+len(in.hosts) > 0 {
		c, h := glob.Compile(in.clusters, ""), glob.Compile(in.hosts, glob.Domain)
		in.collect.Wanted = func(m *numa.Host, cluster string) bool { return c.Allow(cluster) && h.Allow(m.Name) }
	}
	dialer := in.session.Dialer(cmd)
	seen := map[string]bool{}
	for _, arg := range args {
		t := target{source: arg}
		switch u, parse := url.Parse(arg); {
		case arg == open.Demo:
			if !cmd.Flags().Changed("every") {
				in.collect.Every = 20 * time.Second
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "homenode: simulating a day of history")
			if demo, err = startDemo(cmd.Context(), time.Now()); err != nil {
				return nil, nil, err
			}
			at := *demo.vc.URL
			at.User = nil
			t.name, t.address, t.dial = open.Demo, at.String(), demo.dial
		case arg == "vcenter" || parse == nil && (u.Scheme == "https" || u.Scheme == "http"):
			if t.name, t.dial, err = dialer.Live(arg); err != nil {
				return nil, nil, err
			}
			at, err := dialer.Address(arg)
			if err != nil {
				return nil, nil, err
			}
			t.address = at.String()
		default:
			if _, err := os.Stat(arg); err == nil {
				return nil, nil, fmt.Errorf("%s: found a file, but live data comes from vCenters and hosts: use homenode serve --fleet %[1]s for a fleet, or --captures for a folder of captures", arg)
			}
			return nil, nil, fmt.Errorf("%s: what is live comes from vCenters and hosts: want https://vc01.example.com, vcenter or demo", arg)
		}
		if seen[t.name] {
			return nil, nil, fmt.Errorf("%s is named twice", arg)
		}
		seen[t.name] = true
		all = append(all, t)
	}
	return all, demo, nil
}
