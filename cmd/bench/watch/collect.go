//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/stat"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/keep"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/vsphere"
)

// collecting watches a fleet for some minutes as serve --data does: HOSTS VMS EVERY (s) MINUTES.
func collecting(args []string) error {
	n, err := numbers(args, 4)
	if err != nil {
		return err
	}
	debug.SetGCPercent(40) // as serve does
	hosts, vms, every, length := n[0], n[1], time.Duration(n[2])*time.Second, time.Duration(n[3])*time.Minute
	u, stop, err := startVCenter(hosts, vms)
	if err != nil {
		return err
	}
	defer stop()
	dir, err := os.MkdirTemp("", "watchbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := board.New(rules.Options{}, 3*every)
	k := keep.New(nil)
	b.Keep = k.Take
	var all sync.WaitGroup
	all.Go(func() {
		if err := k.Run(ctx, dir, store.Options{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
	c := collect.New("bench", dial(u), b, collect.Options{Every: every, Bytes: 1 << 30})
	all.Go(func() { c.Run(ctx) })
	sum := func() (ticks, skipped, failed int, size int64) {
		for _, h := range c.Status().Hosts {
			ticks, skipped, failed, size = ticks+h.Ticks, skipped+h.Skipped, failed+h.Failed, size+h.Bytes
		}
		return ticks, skipped, failed, size
	}
	// Measuring begins when every host has answered twice.
	for begin := time.Now(); ; time.Sleep(time.Second) {
		if t, _, _, _ := sum(); t >= 2*hosts {
			break
		}
		if time.Since(begin) > 10*time.Minute {
			return fmt.Errorf("the hosts do not answer: %+v", c.Status().Error)
		}
	}
	cpu, _ := used()
	t0, s0, f0, b0 := sum()
	begin := time.Now()
	judged := time.Duration(0)
	for time.Since(begin) < length {
		time.Sleep(min(time.Minute, length))
		at, _ := used()
		b.Judge(time.Now())
		after, _ := used()
		judged += after - at
	}
	wall := time.Since(begin)
	now, rss := used()
	t1, s1, f1, b1 := sum()
	state := k.State()
	cancel()
	all.Wait()
	fmt.Printf("%s: %d hosts of %d VMs every %v for %v\n", machine(), hosts, vms, every, wall.Round(time.Second))
	fmt.Printf("collecting and keeping: %.2f cores; judging once a minute: %.2f cores more; %d MB resident at most\n", (now-cpu-judged).Seconds()/wall.Seconds(), judged.Seconds()/wall.Seconds(), rss>>20)
	fmt.Printf("answers: %d (%.1f a second), %.1f MB a second; turns skipped: %d; failed: %d; %d series, %.0f samples a second kept\n", t1-t0, float64(t1-t0)/wall.Seconds(), float64(b1-b0)/1e6/wall.Seconds(), s1-s0, f1-f0,
		state.Series, float64(state.Appended)/time.Since(begin).Seconds())
	return nil
}

func dial(u *url.URL) func(context.Context) (*vsphere.Live, error) {
	return func(ctx context.Context) (*vsphere.Live, error) {
		return vsphere.Open(ctx, u, vsphere.Options{Insecure: true})
	}
}

// call requests the counters of a host repeatedly with homenode's and govmomi's client, in separate processes that
// alternate: ROUNDS.
func call(args []string) error {
	n, err := numbers(args, 1)
	if err != nil {
		return err
	}
	u, stop, err := startVCenter(1, 40)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Println(machine() + ": CPU of one answer of a host of 40 VMs, read into a tick; median of the rounds")
	times := map[string][]float64{}
	for range n[0] {
		for _, by := range []string{"homenode", "govmomi"} {
			out, err := exec.Command(os.Args[0], "fetch", by, u.String()).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%s: %w: %s", by, err, out)
			}
			var ms float64
			if _, err := fmt.Sscan(string(out), &ms); err != nil {
				return err
			}
			times[by] = append(times[by], ms)
		}
	}
	own, other := stat.MedianOf(times["homenode"]), stat.MedianOf(times["govmomi"])
	fmt.Printf("homenode %.1f ms, govmomi's call with the same reader %.1f ms: %.1f times\n", own, other, other/own)
	return nil
}

// fetch sends 60 requests and prints the CPU time of one answer in milliseconds.
func fetch(args []string) error {
	u, err := url.Parse(args[1])
	if err != nil {
		return err
	}
	const times = 60
	ctx := context.Background()
	series := fetchstats.Series{Host: "esx0000.example.com", Known: true}
	read := func(text []byte) error {
		_, err := series.Read("FetchStats", bytes.NewReader(text), func(*tick) error { return nil })
		return err
	}
	var ask func(command string, f func([]byte) error) error
	switch args[0] {
	case "homenode":
		l, err := dial(u)(ctx)
		if err != nil {
			return err
		}
		defer l.Close(ctx)
		s, err := l.Esxtop(ctx, "esx0000.example.com")
		if err != nil {
			return err
		}
		ask = func(command string, f func([]byte) error) error {
			_, err := l.Execute(ctx, s, command, f)
			return err
		}
	default:
		c, err := govmomi.NewClient(ctx, u, true)
		if err != nil {
			return err
		}
		defer c.Logout(ctx)
		list, err := methods.QueryServiceList(ctx, c.Client, &types.QueryServiceList{This: *c.ServiceContent.ServiceManager, Location: []string{"vmware.host.esx0000.example.com"}})
		if err != nil {
			return err
		}
		ask = func(command string, f func([]byte) error) error {
			res, err := methods.ExecuteSimpleCommand(ctx, c.Client, &types.ExecuteSimpleCommand{This: list.Returnval[0].Service, Arguments: []string{command}})
			if err != nil {
				return err
			}
			return f([]byte(res.Returnval))
		}
	}
	if err := ask("CounterInfo", func(b []byte) error { return series.Learn("CounterInfo", strings.NewReader(string(b))) }); err != nil {
		return err
	}
	begin, _ := used()
	for range times {
		if err := ask("FetchStats", read); err != nil {
			return err
		}
	}
	end, _ := used()
	fmt.Println((end - begin).Seconds() * 1000 / times)
	return nil
}
