// Package serve has the command that watches locality live.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/internal/glob"
	"homenode/internal/version"
	"homenode/numa"
	"homenode/serve/board"
	"homenode/serve/collect"
	"homenode/serve/web"
	"homenode/source/open"
	"homenode/source/vsphere"
)

// A target is one vCenter to collect from.
type target struct {
	name string
	dial func(context.Context) (*vsphere.Live, error)
}

// New returns the command.
func New() *cobra.Command {
	var (
		src             flags.Source
		config          flags.Config
		listen          string
		o               collect.Options
		clusters, hosts []string
		check           bool
	)
	cmd := &cobra.Command{
		Use:  "serve SOURCE...",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := config.Options(vnuma.Choices{})
			if err != nil {
				return err
			}
			if o.Every < 2*time.Second {
				return fmt.Errorf("--every: found %v, want 2s or more: hosts count no faster", o.Every)
			}
			if err := onlyLoopback(listen); err != nil {
				return err
			}
			o.Wanted = wanted(clusters, hosts)
			lives, demo, err := targets(cmd, &src, args, &o, cmd.Flags().Changed("every"))
			if err != nil {
				return err
			}
			if demo != nil {
				defer demo.close()
			}
			if check {
				return checkAll(cmd, lives, o)
			}
			return run(cmd, &server{board: board.New(options, 3*o.Every+10*time.Second), lives: lives, options: o, listen: listen, demo: demo})
		},
	}
	src.Register(cmd)
	config.Register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&listen, "listen", "127.0.0.1:9275", "address and port of pages and metrics; of this machine alone")
	fl.DurationVar(&o.Every, "every", time.Minute, "time between two answers of a host (demo: 20s)")
	fl.StringSliceVar(&clusters, "cluster", nil, "collect from these clusters; names may have * and ?")
	fl.StringSliceVar(&hosts, "host", nil, "collect from these hosts; names may have * and ?")
	fl.BoolVar(&check, "check", false, "log in, test the privileges, ask one host of each cluster, say how many bytes a day, and exit")
	return cmd
}

// onlyLoopback refuses an address that others reach: there is no access control.
func onlyLoopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("--listen: found %q, want host:port", listen)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen: found %s, want an address of this machine alone, such as 127.0.0.1: there is no access control; let a proxy with one stand before it", listen)
	}
	return nil
}

// wanted returns which hosts are collected from; nil for all.
func wanted(clusters, hosts []string) func(*numa.Host, string) bool {
	if len(clusters)+len(hosts) == 0 {
		return nil
	}
	c, h := glob.Compile(clusters, ""), glob.Compile(hosts, glob.Domain)
	return func(m *numa.Host, cluster string) bool { return c.Allow(cluster) && h.Allow(m.Name) }
}

// targets returns the vCenters that the arguments name.
func targets(cmd *cobra.Command, src *flags.Source, args []string, o *collect.Options, every bool) (all []target, demo *demoLab, err error) {
	dialer := src.Dialer(cmd)
	seen := map[string]bool{}
	for _, arg := range args {
		t := target{}
		switch u, parse := url.Parse(arg); {
		case arg == open.Demo:
			if !every {
				o.Every = 20 * time.Second
			}
			if demo, err = startDemo(cmd.Context(), time.Now()); err != nil {
				return nil, nil, err
			}
			t = target{open.Demo, demo.dial}
		case arg == "vcenter" || parse == nil && (u.Scheme == "https" || u.Scheme == "http"):
			if t.name, t.dial, err = dialer.Live(arg); err != nil {
				return nil, nil, err
			}
		default:
			return nil, nil, fmt.Errorf("%s: serve collects from vCenters and hosts: want https://vc01.example.com, vcenter or demo", arg)
		}
		if seen[t.name] {
			return nil, nil, fmt.Errorf("%s is named twice", arg)
		}
		seen[t.name] = true
		all = append(all, t)
	}
	return all, demo, nil
}

// A server is everything that runs.
type server struct {
	board   *board.Board
	lives   []target
	options collect.Options
	listen  string
	demo    *demoLab
}

// judgeEvery is how often the last hour is judged.
const judgeEvery = time.Minute

func run(cmd *cobra.Command, s *server) error {
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	if s.demo != nil {
		s.demo.prime(s.board)
		all.Go(func() { s.demo.run(ctx) })
	}
	var collectors []*collect.Collector
	for _, t := range s.lives {
		c := collect.New(t.name, t.dial, s.board, s.options)
		collectors = append(collectors, c)
		all.Go(func() { c.Run(ctx) })
	}
	all.Go(func() { s.judge(ctx) })
	pages := web.Server{Board: s.board, Listen: l.Addr().String(), Version: version.String(), Started: time.Now(), Status: func() (out []collect.Status) {
		for _, c := range collectors {
			out = append(out, c.Status())
		}
		return out
	}}
	h := http.Server{Handler: pages.Handler(), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute}
	fmt.Fprintf(cmd.OutOrStdout(), "homenode: http://%s, metrics at /metrics, until Ctrl-C\n", l.Addr())
	all.Go(func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = h.Shutdown(end) // what still runs then is cut off
	})
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// judge judges every minute, first a little after the first answers.
func (s *server) judge(ctx context.Context) {
	wait := min(judgeEvery, s.options.Every+5*time.Second)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		s.board.Judge(time.Now())
		wait = min(judgeEvery, s.options.Every)
	}
}
