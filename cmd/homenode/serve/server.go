package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/version"
	"example.org/homenode/rules"
	"example.org/homenode/rules/check/headroom"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/captures"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/config"
	"example.org/homenode/serve/held"
	"example.org/homenode/serve/keep"
	"example.org/homenode/serve/metrics"
	"example.org/homenode/serve/notify"
	"example.org/homenode/serve/query"
	"example.org/homenode/serve/remote"
	"example.org/homenode/serve/routes"
	"example.org/homenode/serve/site"
)

// A server is the complete state of serve.
type server struct {
	board   *board.Board
	lives   []target
	options collect.Options
	door    *door
	demo    *demoLab
	data    string // folder of the store; empty for no store
	keep    store.Options
	send    config.Config
	rules   rules.Options
	apart   time.Duration // minimum interval between events of a page; 0 for the default

	captures *captures.Shelf // captures that pages can open
}

// judging returns the current options of an assessment.
func (s *server) judging() rules.Options {
	o := s.rules
	o.Today, o.Ticks = time.Now(), board.SeenAt
	return o
}

// gcPercent runs the GC more often than the default: large fleets are memory-bound, not CPU-bound.
const gcPercent = 40

// judgedFresh is the maximum age of an assessment shown beside live data.
const judgedFresh = 2 * time.Second

// judgeEvery is the interval between assessments of the last hour.
const judgeEvery = time.Minute

// run collects, stores, assesses, exports and shows data until the command ends.
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
	keeper, broken := s.startKeeper(ctx, cmd, &all)
	collectors, err := s.startCollectors(ctx, &all)
	if err != nil {
		return err
	}
	pages := s.pages(ctx, l, keeper, collectors)
	tell, err := s.startSenders(ctx, l, keeper, pages, &all)
	if err != nil {
		return err
	}
	// Last, because it reads the state set above.
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

// startKeeper starts to store samples; it returns nil without a store. The channel receives the error that ends
// it.
func (s *server) startKeeper(ctx context.Context, cmd *cobra.Command, all *sync.WaitGroup) (*keep.Keeper, chan error) {
	broken := make(chan error, 1)
	if s.data == "" {
		return nil, broken
	}
	keeper := keep.New(func(x store.Loss) {
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: the store: %s\n", texttab.Clean(x.String()))
	})
	s.board.Keep = keeper.Take
	s.board.Peaks = func(now time.Time) map[board.Node]headroom.Peak {
		peaks, err := keeper.Peaks(ctx, now)
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "homenode: load peaks: %s\n", texttab.Clean(err.Error()))
		}
		return peaks
	}
	all.Go(func() { broken <- keeper.Run(ctx, s.data, s.keep) })
	return keeper, broken
}

// startCollectors starts a collector for every vCenter, and the simulation of the demo.
func (s *server) startCollectors(ctx context.Context, all *sync.WaitGroup) (collectors []*collect.Collector, err error) {
	sink := collect.Sink(s.board)
	if s.demo != nil {
		s.demo.prime(s.board)
		all.Go(func() { s.demo.run(ctx) })
		if sink, err = newDemoSink(sink); err != nil {
			return nil, err
		}
	}
	for _, t := range s.lives {
		c := collect.New(t.name, t.dial, sink, s.options)
		collectors = append(collectors, c)
		all.Go(func() { c.Run(ctx) })
	}
	return collectors, nil
}

// pages returns the web pages of the server.
func (s *server) pages(ctx context.Context, l *opened, keeper *keep.Keeper, collectors []*collect.Collector) *routes.Server {
	pages := &routes.Server{Board: s.board, Gate: l.gate, Version: version.String(), Started: time.Now(), Status: func() (out []collect.Status) {
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
	pages.Site = &site.Site{Fleets: live.Fleets, Policy: s.rules.Policy, Status: pages.StatusAnswer, Version: version.String(), Captures: s.captures, OneFile: oneFile(),
		Live: &site.Live{Board: s.board, Status: pages.Status, Keeper: keeper, Every: s.options.Every, Apart: s.apart, Ended: ctx.Done(), Closely: func(_ context.Context, vcenter, host string) (time.Duration, time.Time, error) {
			for i, c := range collectors {
				if s.lives[i].name == vcenter {
					return c.Closely(host)
				}
			}
			return 0, time.Time{}, collect.ErrUnknownHost
		}}}
	if keeper != nil {
		pages.Keeping = keeper.State
		api := query.API{Store: keeper.Queryable, Version: version.String(),
			Alerts: func() []query.Alert { return routes.Alerts(s.board) }, Metadata: routes.Metadata}
		pages.More = map[string]http.Handler{"/api/v1/": api.Handler()}
	}
	return pages
}

// startSenders starts the exporters of findings and samples. tell must be called with findings that begin and
// end.
func (s *server) startSenders(ctx context.Context, l *opened, keeper *keep.Keeper, pages *routes.Server, all *sync.WaitGroup) (tell func(begun, ended []board.Alarm), err error) {
	var senders []*remote.Sender
	pages.Sending = func() (out []remote.State) {
		for _, r := range senders {
			out = append(out, r.State())
		}
		return out
	}
	tell = func(_, _ []board.Alarm) {}
	if s.send.Findings != nil {
		n := notify.New(s.send.Findings, l.address())
		tell, pages.Notified = n.Take, n.State
		all.Go(func() { n.Run(ctx) })
	}
	for _, t := range s.send.Samples {
		r, err := remote.New(t, s.data, 3*s.options.Every+10*time.Second, time.Now().Add(-24*time.Hour), keeper.Lose)
		if err != nil {
			return nil, err
		}
		senders = append(senders, r)
		all.Go(func() {
			r.Run(ctx, func() *store.Store { x, _ := keeper.Store(); return x }, min(s.options.Every, 15*time.Second))
		})
	}
	return tell, nil
}

// kept returns the error of the store. The process must end after a failed write.
func kept(cmd *cobra.Command, err error) error {
	if errors.Is(err, store.ErrBroken) {
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s: the process ends, and what was kept is safe: start it again\n", texttab.Clean(err.Error()))
		os.Exit(exitBroken)
	}
	return err
}

// exitBroken is the exit code after a failed write: EX_TEMPFAIL, so that a supervisor restarts the process.
const exitBroken = 75

// judge assesses every minute, first shortly after the first answers, and then calls then.
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
