package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/version"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/captures"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/held"
	"example.org/homenode/serve/reader"
	"example.org/homenode/serve/routes"
	"example.org/homenode/serve/site"
	"example.org/homenode/source/open"
)

// read shows the data of other collectors from their shared database. The URL "env" means HOMENODE_QUERY_URL.
func read(cmd *cobra.Command, address string, d *door, every time.Duration, b *board.Board, kept *captures.Shelf) error {
	if address == "env" {
		if address = os.Getenv("HOMENODE_QUERY_URL"); address == "" {
			return errors.New("--query-url env: HOMENODE_QUERY_URL is not set")
		}
	} else if strings.Contains(address, "@") {
		return errors.New("--query-url: a password in an argument is seen by others: set HOMENODE_QUERY_URL, and --query-url env")
	}
	r, err := reader.New(address, b)
	if err != nil {
		return fmt.Errorf("--query-url: %w", err)
	}
	l, err := d.open(cmd)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { r.Run(ctx, every) })
	pages := &routes.Server{Board: b, Gate: l.gate, Version: version.String(), Started: time.Now(), Status: r.Status,
		More: map[string]http.Handler{"/api/v1/": r.Proxy()}}
	pages.Site = &site.Site{Fleets: func() []*held.Fleet { return nil }, Status: pages.StatusAnswer, Version: version.String(), Captures: kept, OneFile: oneFile(),
		Live: &site.Live{Board: b, Status: r.Status, Every: every, Ended: ctx.Done()}}
	if err := listenUntil(ctx, cmd, l, pages.Handler(), &all); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// serveFleet shows the pages of a fleet that is read once.
func (c *command) serveFleet(cmd *cobra.Command, o rules.Options, kept *captures.Shelf) error {
	session, d := &c.in.session, &c.door
	if err := c.asks.Take(&c.reading, nil); err != nil {
		return err
	}
	sources := slices.Clone(c.fleet) // as pages print them
	for flags := range slices.Chunk(c.reading.Words(nil, readingNames...), 2) {
		sources = append(sources, strings.Join(flags, "="))
	}
	fleet, err := c.reading.ReadBy(cmd.Context(), session.Env(cmd), o.Choices, false, c.fleet...)
	if err != nil {
		return err
	}
	live := held.Live{Inventory: func(string) (*numa.Fleet, []string) { return fleet, []string{fleet.Source} }, Options: func() rules.Options { return o },
		Sources: func(string) []string { return sources }, Address: func(string) string { return addressOf(cmd, session, sources) }}
	l, err := d.open(cmd)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	pages := routes.Server{Board: board.New(o, time.Minute), Gate: l.gate, Version: version.String(), Started: time.Now(), Status: func() []collect.Status { return nil },
		Site: &site.Site{Fleets: live.Fleets, Policy: o.Policy, Version: version.String(), Captures: kept, OneFile: oneFile()}}
	if err := listenUntil(ctx, cmd, l, pages.Handler(), &all); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// addressOf returns the URL of the vCenter if that is the only source; otherwise "".
func addressOf(cmd *cobra.Command, session *flags.Session, sources []string) string {
	if len(sources) != 1 || !open.VCenter(sources[0]) {
		return ""
	}
	at, err := session.Dialer(cmd).Address(sources[0])
	if err != nil {
		return ""
	}
	return at.String()
}

// newServer returns a server with timeouts against slow clients. Long-running handlers, such as events and uploads, set their own
// deadlines. The content of a page repeats its address many times, so addresses must be short.
func newServer(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
}

// listenUntil serves until ctx ends. It prints its address.
func listenUntil(ctx context.Context, cmd *cobra.Command, l *opened, handler http.Handler, all *sync.WaitGroup) error {
	h := newServer(handler)
	l.tell(cmd)
	all.Go(func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), time.Second) // browsers open connections in advance
		defer cancel()
		_ = h.Shutdown(end)
		_ = h.Close() // ends the remaining requests
	})
	if h.TLSConfig = l.tls; l.tls != nil {
		return h.ServeTLS(l, "", "")
	}
	return h.Serve(l)
}
