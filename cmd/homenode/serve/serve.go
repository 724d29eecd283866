// Package serve has the command that watches locality live.
package serve

import (
	"cmp"
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
	"homenode/rules/policy"
	"homenode/serve/accept"
	"homenode/serve/board"
	"homenode/serve/captures"
	"homenode/serve/collect"
	"homenode/serve/config"
	"homenode/serve/held"
	"homenode/serve/keep"
	"homenode/serve/metrics"
	"homenode/serve/notify"
	"homenode/serve/plans"
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
	name string
	url  string // as it was named; "" for the demo
	dial func(context.Context) (*vsphere.Live, error)
}

// New returns the command; newRoot makes the program anew for a question of a page.
func New(newRoot func() *cobra.Command) *cobra.Command {
	var (
		in           input
		judgement    flags.Config
		listen, data string
		check        bool
		keepOptions  store.Options
		retainBytes  string
		sendFile     string
		queryURL     string
		fleet        []string
		write        writing
		accepted     string
		door         door
		shelf        shelving
	)
	cmd := &cobra.Command{
		Use: "serve SOURCE...",
		Args: func(cmd *cobra.Command, args []string) error {
			if queryURL != "" || fleet != nil {
				return nil
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := judgement.Options(vnuma.Choices{})
			if err != nil {
				return err
			}
			if err := in.check(); err != nil {
				return err
			}
			if _, err := door.check(listen); err != nil {
				return err
			}
			var book *accept.Book
			if accepted != "" {
				if book, err = accept.Open(accepted, options.Policy); err != nil {
					return fmt.Errorf("--accepted: %w", err)
				}
				options.Policy = book.Policy()
			}
			judging := func() *policy.Policy { return options.Policy }
			if book != nil {
				judging = book.Policy
			}
			ask := asker(newRoot, judging)
			kept, err := shelf.open()
			if err != nil {
				return err
			}
			defer kept.Close()
			if fleet != nil {
				if len(args) > 0 || check || data != "" || sendFile != "" || queryURL != "" {
					return errors.New("--fleet shows a fleet without collecting: it takes no SOURCE, --check, --data, --send or --query-url")
				}
				return serveFleet(cmd, &in.src, fleet, &door, listen, options, book, kept, ask)
			}
			var send config.Config
			if sendFile != "" {
				b, err := vcenter.ReadSecret(sendFile)
				if err != nil {
					return fmt.Errorf("--send: %w", err)
				}
				read, err := config.Parse(sendFile, b)
				if err != nil {
					return fmt.Errorf("--send: %w", err)
				}
				send = *read
			}
			if keepOptions.Retain < time.Hour {
				return fmt.Errorf("--retain: found %v, want 1h or more", keepOptions.Retain)
			}
			if data != "" {
				if err := os.MkdirAll(data, 0o700); err != nil {
					return fmt.Errorf("--data: %w", err)
				}
			}
			if retainBytes != "" {
				size, err := unit.ParseSize(retainBytes)
				if err != nil {
					return fmt.Errorf("--retain-bytes: %w", err)
				}
				keepOptions.RetainBytes = int64(size)
			}
			if queryURL != "" {
				if len(args) > 0 || check || data != "" || sendFile != "" {
					return errors.New("--query-url shows what others collect: it takes no SOURCE, --check, --data or --send")
				}
				return read(cmd, queryURL, &door, listen, min(in.collect.Every, 15*time.Second), board.New(options, 3*in.collect.Every+10*time.Second), kept, ask)
			}
			lives, demo, err := in.targets(cmd, args)
			if err != nil {
				return err
			}
			if demo != nil {
				defer demo.close()
			}
			if check {
				return checkAll(cmd, lives, in.collect)
			}
			if data == "" && demo != nil {
				if data, err = os.MkdirTemp("", "homenode-demo-"); err != nil {
					return err
				}
				defer os.RemoveAll(data)
			}
			if data == "" && len(send.Samples) > 0 {
				return errors.New("--send: samples are sent from the store: give it a folder with --data")
			}
			desk, err := write.desk(cmd, &in.src, newRoot, judging, lives, demo, data)
			if err != nil {
				return err
			}
			if desk != nil {
				defer desk.Close()
			}
			return run(cmd, &server{desk: desk, book: book, captures: kept, board: board.New(options, 3*in.collect.Every+10*time.Second), lives: lives, options: in.collect, door: &door, listen: listen, demo: demo, data: data, keep: keepOptions, send: send, rules: options, ask: ask})
		},
	}
	in.register(cmd, "collect from")
	judgement.Register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&listen, "listen", "127.0.0.1:9275", "address and port of pages and metrics; one that others reach wants --tls-cert, --tls-key, --access and --url")
	fl.StringArrayVar(&fleet, "fleet", nil, "show the pages of this SOURCE, such as an RVTools export, instead of collecting (repeatable: as one fleet)")
	fl.StringVar(&data, "data", "", "folder to keep what is seen in, for queries by time; without one only the present is known (demo: a folder that is removed at the end)")
	fl.DurationVar(&keepOptions.Retain, "retain", 30*24*time.Hour, "how long --data keeps it")
	fl.StringVar(&retainBytes, "retain-bytes", "", "how large --data may become, such as 50GB: the oldest goes")
	fl.StringVar(&queryURL, "query-url", "", "Prometheus or another database with its query API: show what other collectors sent there, instead of collecting; env takes HOMENODE_QUERY_URL, for a URL with a password")
	fl.StringVar(&sendFile, "send", "", "file (mode 0600) that says where findings and samples are sent: webhooks, mail, remote write (docs/watch.md)")
	fl.StringVar(&accepted, "accepted", "", "file to which findings go that operators accept in a browser, in the form of the configuration; made where it is missing")
	write.register(cmd)
	shelf.register(cmd)
	fl.BoolVar(&check, "check", false, "log in, test the privileges, ask one host of each cluster, say how many bytes a day, and exit")
	door.register(fl)
	cmd.AddCommand(newPassword(), newToken())
	return cmd
}

// An input is what is collected, and how: the flags that serve and record share.
type input struct {
	src             flags.Source
	collect         collect.Options
	clusters, hosts []string
}

// register adds the flags; verb is what the command does with hosts.
func (in *input) register(cmd *cobra.Command, verb string) {
	in.src.Register(cmd)
	fl := cmd.Flags()
	fl.DurationVar(&in.collect.Every, "every", time.Minute, "time between two answers of a host (demo: 20s)")
	fl.StringSliceVar(&in.clusters, "cluster", nil, verb+" these clusters; names may have * and ?")
	fl.StringSliceVar(&in.hosts, "host", nil, verb+" these hosts; names may have * and ?")
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
	in.collect.Amend = in.src.Options(cmd).Apply
	if len(in.clusters)+len(in.hosts) > 0 {
		c, h := glob.Compile(in.clusters, ""), glob.Compile(in.hosts, glob.Domain)
		in.collect.Wanted = func(m *numa.Host, cluster string) bool { return c.Allow(cluster) && h.Allow(m.Name) }
	}
	dialer := in.src.Dialer(cmd)
	seen := map[string]bool{}
	for _, arg := range args {
		t := target{}
		switch u, parse := url.Parse(arg); {
		case arg == open.Demo:
			if !cmd.Flags().Changed("every") {
				in.collect.Every = 20 * time.Second
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "homenode: simulating a day of history")
			if demo, err = startDemo(cmd.Context(), time.Now()); err != nil {
				return nil, nil, err
			}
			t = target{name: open.Demo, dial: demo.dial}
		case arg == "vcenter" || parse == nil && (u.Scheme == "https" || u.Scheme == "http"):
			t.url = arg
			if t.name, t.dial, err = dialer.Live(arg); err != nil {
				return nil, nil, err
			}
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
	door    *door // nil for one without flags
	listen  string
	demo    *demoLab
	data    string // folder of the store; empty for none
	keep    store.Options
	send    config.Config
	rules   rules.Options
	ask     site.Ask
	desk    *plans.Desk   // nil where plans are not kept
	book    *accept.Book  // nil where nothing can be accepted
	apart   time.Duration // between events of a page; 0 for the default

	captures *captures.Shelf // that pages may open
}

// judging is how fleets are judged now.
func (s *server) judging() rules.Options {
	o := s.rules
	o.Today, o.Ticks = time.Now(), board.SeenAt
	if s.book != nil {
		o.Policy = s.book.Policy()
	}
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
	if s.door == nil {
		s.door = &door{}
	}
	l, err := s.door.open(cmd, s.listen)
	if err != nil {
		return err
	}
	defer l.audit.Close()
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
	var collectors []*collect.Collector
	for _, t := range s.lives {
		c := collect.New(t.name, t.dial, s.board, s.options)
		collectors = append(collectors, c)
		all.Go(func() { c.Run(ctx) })
	}
	pages := &web.Server{Board: s.board, Listen: l.Addr().String(), URL: l.outside, Gate: l.gate, Version: version.String(), Started: time.Now(), Status: func() (out []collect.Status) {
		for _, c := range collectors {
			out = append(out, c.Status())
		}
		return out
	}}
	live := held.Live{Inventory: s.board.Inventory, Options: s.judging, Collected: true, Fresh: judgedFresh, Judged: s.board.Touch,
		Sources: func(vcenter string) []string {
			i := slices.IndexFunc(s.lives, func(t target) bool { return t.name == vcenter })
			return []string{cmp.Or(s.lives[max(i, 0)].url, vcenter)}
		}}
	pages.Site = &site.Site{Fleets: live.Fleets, Ask: s.ask, Status: pages.StatusAnswer, Version: version.String(), Plans: s.desk, Accepted: s.book, Captures: s.captures,
		Accept: func() { s.board.Judging(s.book.Policy()); live.Again() },
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
