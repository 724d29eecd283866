// Package serve has the command that watches locality live.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"homenode/capture/store"
	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/internal/glob"
	"homenode/internal/texttab"
	"homenode/internal/version"
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/rules"
	"homenode/rules/headroom"
	"homenode/serve/board"
	"homenode/serve/captures"
	"homenode/serve/collect"
	"homenode/serve/config"
	"homenode/serve/held"
	"homenode/serve/keep"
	"homenode/serve/metrics"
	"homenode/serve/notify"
	"homenode/serve/query"
	"homenode/serve/remote"
	"homenode/serve/site"
	"homenode/serve/web"
	"homenode/source/open"
	"homenode/source/open/vcenter"
	"homenode/source/vsphere"
)

// A target is one vCenter to collect from.
type target struct {
	name    string
	source  string // as it was named
	address string // URL without an account
	dial    func(context.Context) (*vsphere.Live, error)
}

// A command is what the flags of serve say.
type command struct {
	in          input
	judgement   flags.Config
	data        string
	check       bool
	keep        store.Options
	retainBytes string
	sendFile    string
	queryURL    string
	fleet       []string
	door        door
	folder      string // of captures
}

// New returns the command.
func New() *cobra.Command {
	c := &command{}
	cmd := &cobra.Command{
		Use: "serve SOURCE...",
		Args: func(cmd *cobra.Command, args []string) error {
			if c.queryURL != "" || c.fleet != nil {
				return nil
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: c.run,
	}
	c.register(cmd)
	return cmd
}

func (c *command) register(cmd *cobra.Command) {
	c.in.register(cmd, "collect from")
	fl := cmd.Flags()
	flags.Group(cmd, "what is collected", func(*cobra.Command) {
		fl.BoolVar(&c.check, "check", false, "log in, test the privileges, ask one host of each cluster, say how many bytes a day, and exit")
	})
	flags.Group(cmd, "pages", func(cmd *cobra.Command) {
		fl.StringArrayVar(&c.fleet, "fleet", nil, "show the pages of this SOURCE, such as an RVTools export, instead of collecting (repeatable: as one fleet)")
		fl.StringVar(&c.queryURL, "query-url", "", "Prometheus or another database with its query API: show what other collectors sent there, instead of collecting; env takes HOMENODE_QUERY_URL, for a URL with a password")
		fl.StringVar(&c.folder, "captures", "", "folder of captures that pages list and open; nothing outside of it is read")
		c.judgement.Register(cmd)
	})
	flags.Group(cmd, "what is kept and sent", func(*cobra.Command) {
		fl.StringVar(&c.data, "data", "", "folder to keep what is seen in, for queries by time; without one only the present is known (demo: a folder that is removed at the end)")
		fl.DurationVar(&c.keep.Retain, "retain", 30*24*time.Hour, "how long --data keeps it")
		fl.StringVar(&c.retainBytes, "retain-bytes", "", "how large --data may become, such as 50GB: the oldest goes")
		fl.StringVar(&c.sendFile, "send", "", "file (mode 0600) that says where findings and samples are sent: webhooks, remote write (docs/watch.md)")
	})
	flags.Group(cmd, "who may look", c.door.register)
}

// run shows a fleet, what others collect, or what it collects itself.
func (c *command) run(cmd *cobra.Command, args []string) error {
	options, err := c.judgement.Options(vnuma.Choices{})
	if err != nil {
		return err
	}
	if err := c.in.check(); err != nil {
		return err
	}
	if _, err := c.door.check(); err != nil {
		return err
	}
	kept, err := captures.Open(c.folder, uploadLimit)
	if err != nil {
		return fmt.Errorf("--captures: %w", err)
	}
	defer kept.Close()
	every := c.in.collect.Every
	switch shown := len(args) > 0 || c.check || c.data != "" || c.sendFile != ""; {
	case c.fleet != nil && (shown || c.queryURL != ""):
		return errors.New("--fleet shows a fleet without collecting: it takes no SOURCE, --check, --data, --send or --query-url")
	case c.fleet != nil:
		return serveFleet(cmd, &c.in.src, c.fleet, &c.door, options, kept)
	case c.queryURL != "" && shown:
		return errors.New("--query-url shows what others collect: it takes no SOURCE, --check, --data or --send")
	case c.queryURL != "":
		return read(cmd, c.queryURL, &c.door, min(every, 15*time.Second), board.New(options, 3*every+10*time.Second), kept)
	}
	s := &server{captures: kept, door: &c.door, rules: options}
	return c.collect(cmd, args, s)
}

// collect completes the server and runs it.
func (c *command) collect(cmd *cobra.Command, args []string, s *server) (err error) {
	if s.send, err = readSend(c.sendFile); err != nil {
		return fmt.Errorf("--send: %w", err)
	}
	if c.keep.Retain < time.Hour {
		return fmt.Errorf("--retain: found %v, want 1h or more", c.keep.Retain)
	}
	if c.data != "" {
		if err := os.MkdirAll(c.data, 0o700); err != nil {
			return fmt.Errorf("--data: %w", err)
		}
	}
	if c.retainBytes != "" {
		size, err := unit.ParseSize(c.retainBytes)
		if err != nil {
			return fmt.Errorf("--retain-bytes: %w", err)
		}
		c.keep.RetainBytes = int64(size)
	}
	if s.lives, s.demo, err = c.in.targets(cmd, args); err != nil {
		return err
	}
	if s.demo != nil {
		defer s.demo.close()
		account := s.demo.vc.URL.User
		password, _ := account.Password()
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: to carry out a plan on the simulated vCenter: export GOVC_USERNAME=%s GOVC_PASSWORD=%s\n", account.Username(), password)
	}
	if c.check {
		return checkAll(cmd, s.lives, c.in.collect)
	}
	if c.data == "" && s.demo != nil {
		if c.data, err = os.MkdirTemp("", "homenode-demo-"); err != nil {
			return err
		}
		defer os.RemoveAll(c.data)
	}
	if c.data == "" && len(s.send.Samples) > 0 {
		return errors.New("--send: samples are sent from the store: give it a folder with --data")
	}
	s.options, s.data, s.keep = c.in.collect, c.data, c.keep
	s.board = board.New(s.rules, 3*s.options.Every+10*time.Second)
	return run(cmd, s)
}

// readSend reads the file of --send; "" sends nothing.
func readSend(path string) (config.Config, error) {
	if path == "" {
		return config.Config{}, nil
	}
	b, err := vcenter.ReadSecret(path)
	if err != nil {
		return config.Config{}, err
	}
	c, err := config.Parse(path, b)
	if err != nil {
		return config.Config{}, err
	}
	return *c, nil
}

// uploadLimit is how large a capture may be that is uploaded, in bytes.
const uploadLimit = 200 << 20

// An input is what is collected, and how: the flags that serve and record share.
type input struct {
	src             flags.Source
	collect         collect.Options
	clusters, hosts []string
}

// register adds the flags; verb is what the command does with hosts.
func (in *input) register(cmd *cobra.Command, verb string) {
	flags.Group(cmd, "what is collected", func(cmd *cobra.Command) {
		fl := cmd.Flags()
		fl.DurationVar(&in.collect.Every, "every", time.Minute, "time between two answers of a host (demo: 20s)")
		fl.StringSliceVar(&in.clusters, "cluster", nil, verb+" these clusters; names may have * and ?")
		fl.StringSliceVar(&in.hosts, "host", nil, verb+" these hosts; names may have * and ?")
	})
	flags.Group(cmd, "account and certificates of the vCenters", func(cmd *cobra.Command) { in.src.RegisterOnly(cmd, flags.SourceSession...) })
}

// check refuses values that cannot be.
func (in *input) check() error {
	if in.collect.Every < 2*time.Second {
		return fmt.Errorf("--every: found %v, want 2s or more: hosts count no faster", in.collect.Every)
	}
	return nil
}

// targets returns the vCenters that the arguments name, and completes the options.
func (in *input) targets(cmd *cobra.Command, args []string) (all []target, demo *demoLab, err error) {
	if len(in.clusters)+len(in.hosts) > 0 {
		c, h := glob.Compile(in.clusters, ""), glob.Compile(in.hosts, glob.Domain)
		in.collect.Wanted = func(m *numa.Host, cluster string) bool { return c.Allow(cluster) && h.Allow(m.Name) }
	}
	dialer := in.src.Dialer(cmd)
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

// A server is everything that runs.
type server struct {
	board   *board.Board
	lives   []target
	options collect.Options
	door    *door
	demo    *demoLab
	data    string // folder of the store; empty for none
	keep    store.Options
	send    config.Config
	rules   rules.Options
	apart   time.Duration // between events of a page; 0 for the default

	captures *captures.Shelf // that pages may open
}

// judging is how fleets are judged now.
func (s *server) judging() rules.Options {
	o := s.rules
	o.Today, o.Ticks = time.Now(), board.SeenAt
	return o
}

// gcPercent lets memory be collected oftener than Go does: of a large fleet memory is scarce, not the processor.
const gcPercent = 40

// judgedFresh is how old the judgement may be that pages show, so that it fits what they show of the present.
const judgedFresh = 2 * time.Second

// judgeEvery is how often the last hour is judged.
const judgeEvery = time.Minute

func run(cmd *cobra.Command, s *server) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	l, err := s.door.open(cmd)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	var keeper *keep.Keeper
	broken := make(chan error, 1)
	if s.data != "" {
		keeper = keep.New()
		keeper.Damaged = func(x store.Loss) {
			fmt.Fprintf(cmd.ErrOrStderr(), "homenode: the store: %s\n", texttab.Clean(x.String()))
		}
		s.board.Keep = keeper.Take
		s.board.Peaks = func(now time.Time) map[board.Node]headroom.Peak {
			peaks, err := keeper.Peaks(ctx, now)
			if err != nil && ctx.Err() == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "homenode: load peaks: %s\n", texttab.Clean(err.Error()))
			}
			return peaks
		}
		all.Go(func() { broken <- keeper.Run(ctx, s.data, s.keep) })
	}
	if s.demo != nil {
		s.demo.prime(s.board)
		all.Go(func() { s.demo.run(ctx) })
	}
	sink := collect.Sink(s.board)
	if s.demo != nil {
		if sink, err = newDemoSink(sink); err != nil {
			return err
		}
	}
	var collectors []*collect.Collector
	for _, t := range s.lives {
		c := collect.New(t.name, t.dial, sink, s.options)
		collectors = append(collectors, c)
		all.Go(func() { c.Run(ctx) })
	}
	pages := &web.Server{Board: s.board, Gate: l.gate, Version: version.String(), Started: time.Now(), Status: func() (out []collect.Status) {
		for _, c := range collectors {
			out = append(out, c.Status())
		}
		return out
	}}
	named := func(vcenter string) target {
		return s.lives[max(0, slices.IndexFunc(s.lives, func(t target) bool { return t.name == vcenter }))]
	}
	live := held.Live{Inventory: s.board.Inventory, Options: s.judging, Collected: true, Fresh: judgedFresh, Judged: s.board.Touch,
		Sources: func(vcenter string) []string { return []string{named(vcenter).source} }, Address: func(vcenter string) string { return named(vcenter).address }}
	pages.Site = &site.Site{Fleets: live.Fleets, Policy: s.rules.Policy, Status: pages.StatusAnswer, Version: version.String(), Captures: s.captures,
		Live: &site.Live{Board: s.board, Status: pages.Status, Keeper: keeper, Every: s.options.Every, Apart: s.apart, Ended: ctx.Done(), Closely: func(_ context.Context, vcenter, host string) (time.Duration, time.Time, error) {
			for i, c := range collectors {
				if s.lives[i].name == vcenter {
					return c.Closely(host)
				}
			}
			return 0, time.Time{}, collect.ErrUnknownHost
		}}}
	var senders []*remote.Sender
	pages.Sending = func() (out []remote.State) {
		for _, r := range senders {
			out = append(out, r.State())
		}
		return out
	}
	tell := func(_, _ []board.Alarm) {}
	if s.send.Findings != nil {
		n := notify.New(s.send.Findings, l.address())
		tell, pages.Notified = n.Take, n.State
		all.Go(func() { n.Run(ctx) })
	}
	for _, t := range s.send.Samples {
		r, err := remote.New(t, s.data, 3*s.options.Every+10*time.Second, time.Now().Add(-24*time.Hour))
		if err != nil {
			return err
		}
		senders = append(senders, r)
		all.Go(func() {
			r.Run(ctx, func() *store.Store { x, _ := keeper.Store(); return x }, min(s.options.Every, 15*time.Second))
		})
	}
	if keeper != nil {
		pages.Keeping = keeper.State
		api := query.API{Store: keeper.Queryable, Version: version.String(),
			Alerts: func() []query.Alert { return web.Alerts(s.board) }, Metadata: web.Metadata}
		pages.More = map[string]http.Handler{"/api/v1/": api.Handler()}
	}
	// Last, for it reads all that stands above.
	all.Go(func() {
		s.judge(ctx, func(begun, ended []board.Alarm) {
			tell(begun, ended)
			if keeper != nil {
				keeper.TakeOwn(time.Now(), func(add metrics.Add) { pages.Own("", add) })
			}
		})
	})
	ended := make(chan error, 1)
	go func() { ended <- listenUntil(ctx, cmd, l, pages.Handler(), &all) }()
	select {
	case err := <-ended:
		if !errors.Is(err, http.ErrServerClosed) {
			return err
		}
	case err := <-broken:
		return kept(cmd, err)
	}
	stop()
	all.Wait()
	if keeper == nil {
		return nil
	}
	return kept(cmd, <-broken)
}

// kept returns how keeping ended. After a write that failed the process ends.
func kept(cmd *cobra.Command, err error) error {
	if errors.Is(err, store.ErrBroken) {
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s: the process ends, and what was kept is safe: start it again\n", texttab.Clean(err.Error()))
		os.Exit(exitBroken)
	}
	return err
}

// exitBroken is the exit code after a write that failed: EX_TEMPFAIL, a supervisor starts the
// process again.
const exitBroken = 75

// judge judges every minute, first a little after the first answers, and calls then after it.
func (s *server) judge(ctx context.Context, then func(begun, ended []board.Alarm)) {
	wait := min(judgeEvery, s.options.Every+5*time.Second)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		then(s.board.Judge(time.Now()))
		wait = min(judgeEvery, s.options.Every)
	}
}
