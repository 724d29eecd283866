package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/serve/collect"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/vsphere"
)

// checkAll reports for each vCenter whether it can be collected from.
func checkAll(cmd *cobra.Command, lives []target, o collect.Options) error {
	failed := false
	for _, t := range lives {
		if err := checkOne(cmd.Context(), cmd.OutOrStdout(), t, o); err != nil {
			failed = true
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", texttab.Clean(t.name), texttab.Clean(strings.TrimPrefix(err.Error(), t.name+": ")))
		}
	}
	if failed {
		return errors.New("not everything can be collected")
	}
	return nil
}

// mostTried is the maximum number of hosts to try per cluster.
const mostTried = 3

func checkOne(ctx context.Context, w io.Writer, t target, o collect.Options) error {
	l, err := t.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close(ctx) }() // an idle session expires
	f, err := l.Fleet(ctx)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) {
		fmt.Fprintf(w, "%s: %s\n", texttab.Clean(t.name), texttab.Clean(fmt.Sprintf(format, args...)))
	}
	say("session: yes; inventory: %d hosts, %d VMs", len(f.Hosts), len(f.VMs))
	names := map[string]string{}
	for _, c := range f.Clusters {
		names[c.ID] = c.Name
	}
	done, failed := map[string]bool{}, map[string]int{}
	var hosts, asked, total int
	var wrong error
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if o.Wanted != nil && !o.Wanted(h, names[h.Cluster]) {
			continue
		}
		hosts++
		key := cmp.Or(h.Cluster, h.ID)
		if done[key] {
			continue
		}
		size, took, err := askOnce(ctx, l, h)
		switch {
		case errors.Is(err, vsphere.ErrPrivilege):
			say("%s: %v; grant it on the root folder with", h.Name, err)
			fmt.Fprintln(w, collect.GrantEsxtop)
			return err
		case err != nil:
			say("%s: %v", h.Name, err)
			wrong = cmp.Or(wrong, fmt.Errorf("%s: %w", h.Name, err))
			if failed[key]++; failed[key] == mostTried {
				done[key] = true
			}
		default:
			done[key] = true
			asked++
			total += size
			say("%s: esxtop's counters: yes, %v in %v", h.Name, numa.Bytes(size), took.Round(time.Millisecond))
		}
	}
	if hosts == 0 && len(f.Hosts) > 0 {
		return errors.New(collect.NoneSelected(f))
	}
	if asked > 0 {
		say("%d hosts every %v: about %v a day, as those that answered", hosts, o.Every, numa.Bytes(float64(total)/float64(asked)*float64(hosts)*float64(24*time.Hour/o.Every)))
	}
	return wrong
}

// askOnce fetches the counters of one host.
func askOnce(ctx context.Context, l *vsphere.Live, h *numa.Host) (size int, took time.Duration, err error) {
	s, err := l.Esxtop(ctx, h.Name)
	if err != nil {
		return 0, 0, err
	}
	begun := time.Now()
	series := fetchstats.Series{Host: h.Name, Known: true, Machine: h}
	n, err := l.Execute(ctx, s, "CounterInfo", func(text []byte) error { return series.Learn("CounterInfo", bytes.NewReader(text)) })
	if err != nil {
		return 0, 0, err
	}
	size = n
	ticks := 0
	n, err = l.Execute(ctx, s, "FetchStats", func(text []byte) error {
		warnings, err := series.Read("FetchStats", bytes.NewReader(text), func(*numa.Tick) error { ticks++; return nil })
		if err == nil && ticks == 0 {
			err = errors.New("an answer that cannot be read")
			if len(warnings) > 0 {
				err = errors.New(warnings[0].Text)
			}
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	size = max(size, n)
	if _, err := l.Execute(ctx, s, "FreeStats", func([]byte) error { return nil }); err != nil {
		return 0, 0, err
	}
	return size, time.Since(begun), nil
}
