//go:build linux

package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/stat"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/serve/access"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/metrics"
	"example.org/homenode/serve/query"
	"example.org/homenode/serve/routes"

	"github.com/prometheus/prometheus/storage"
)

type tick = numa.Tick

// exposition serves /metrics of VMS with gzip, and compares it with the Prometheus client library for the same samples:
// VMS ROUNDS.
func exposition(args []string) error {
	n, err := numbers(args, 2)
	if err != nil {
		return err
	}
	const perHost = 40
	f := fleetOf(n[0]/perHost, perHost)
	b := board.New(rules.Options{}, time.Hour)
	b.Fleet("bench", f)
	for i := range f.Hosts {
		for round := range 2 {
			b.Tick("bench", f.Hosts[i].ID, tickOf(f, i, perHost, round, time.Now()))
		}
	}
	own := (&routes.Server{Board: b, Gate: access.New(access.Options{Listen: "127.0.0.1:80"}), Status: func() []collect.Status { return nil }, Sending: nil}).Handler()
	fast := prometheus.NewRegistry()
	samples := 0
	vectors := map[string]*prometheus.GaugeVec{}
	b.Each(func(h *board.Host) {
		metrics.Each(h, func(s metrics.Sample) {
			labels := metrics.WithNode(metrics.Labels(h, s.VM), s.Node)
			var names, values []string
			for i := 0; i+1 < len(labels); i += 2 {
				names, values = append(names, labels[i]), append(values, labels[i+1])
			}
			name := metrics.Families[s.Family].Name
			v := vectors[name]
			if v == nil {
				v = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: metrics.Families[s.Family].Help}, names)
				vectors[name] = v
				fast.MustRegister(v)
			}
			v.WithLabelValues(values...).Set(s.Number)
			samples++
		})
	})
	library := promhttp.HandlerFor(fast, promhttp.HandlerOpts{})
	time1 := func(h http.Handler) (cpu, wall float64, size int) {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80/metrics", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		c0, _ := used()
		at := time.Now()
		h.ServeHTTP(w, r)
		wall = time.Since(at).Seconds() * 1000
		c1, _ := used()
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			return 0, 0, 0
		}
		text, _ := io.Copy(io.Discard, z)
		return (c1 - c0).Seconds() * 1000, wall, int(text)
	}
	var ownCPU, ownWall, libCPU, libWall []float64
	size := [2]int{}
	for range n[1] {
		c, w, s := time1(own)
		ownCPU, ownWall, size[0] = append(ownCPU, c), append(ownWall, w), s
		c, w, s = time1(library)
		libCPU, libWall, size[1] = append(libCPU, c), append(libWall, w), s
	}
	fmt.Printf("%s: /metrics of %d VMs, %d samples, with gzip; medians\n", machine(), n[0], samples)
	fmt.Printf("homenode %.0f ms wall, %.0f ms CPU (%.1f MB of text); client library %.0f ms wall, %.0f ms CPU (%.1f MB): %.1f times by CPU\n",
		stat.MedianOf(ownWall), stat.MedianOf(ownCPU), float64(size[0])/1e6, stat.MedianOf(libWall), stat.MedianOf(libCPU), float64(size[1])/1e6, stat.MedianOf(libCPU)/stat.MedianOf(ownCPU))
	return nil
}

// keeping appends noisy samples of VMs with 20 series each, one tick a minute, prints speed and size, kills the writer,
// reopens the store, and runs the queries of a page: VMS DAYS DIR.
func keeping(args []string) error {
	n, err := numbers(args, 2)
	if err != nil {
		return err
	}
	dir := args[2]
	cmd := exec.Command(os.Args[0], "reopen", "write", args[0], args[1], dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output() // it ends as if killed: without Close
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d VMs × 20 series × %d days at 60 s\n%s", machine(), n[0], n[1], out)
	cmd = exec.Command(os.Args[0], "reopen", "read", args[0], args[1], dir)
	cmd.Stderr = os.Stderr
	out, err = cmd.Output()
	fmt.Print(string(out))
	return err
}

// burst appends SERIES for TICKS of 20 s, all in the memory of the store, is killed, and reopens the store: SERIES
// TICKS DIR.
func burst(args []string) error {
	if _, err := numbers(args, 2); err != nil {
		return err
	}
	for _, part := range []string{"fill", "open"} {
		cmd := exec.Command(os.Args[0], "reopen", part, args[0], args[1], args[2])
		cmd.Stderr = os.Stderr
		out, err := cmd.Output() // the first ends as if killed: without Close
		if err != nil {
			return err
		}
		fmt.Print(string(out))
	}
	return nil
}

// fill appends series with one value each.
func fill(s *store.Store, series, ticks int) error {
	samples := make([]store.Sample, series)
	for i := range samples {
		samples[i].Series = s.Series("homenode_vm_bench", "vcenter", "vc", "host", fmt.Sprint("esx", i/800), "vm", fmt.Sprint("vm", i/20), "k", fmt.Sprint(i%20))
	}
	at := time.Now().Add(-time.Duration(ticks) * 20 * time.Second)
	r := rand.New(rand.NewPCG(1, 2))
	c0, _ := used()
	for range ticks {
		for i := range samples {
			if i%3 == 0 {
				samples[i].Number = float64(r.IntN(10000)) / 10000
			}
		}
		if kept, err := s.Append(context.Background(), at, samples); err != nil || !kept {
			return fmt.Errorf("not kept: %w", err)
		}
		at = at.Add(20 * time.Second)
	}
	c1, rss := used()
	total := float64(series) * float64(ticks)
	fmt.Printf("%d series, %d ticks of 20 s: %.1f M samples, %.2f M a second of CPU; %d MB resident at most\n", series, ticks, total/1e6, total/1e6/(c1-c0).Seconds(), rss>>20)
	os.Exit(0) // as if killed
	return nil
}

// reopen is one process of keeping or burst.
func reopen(args []string) error {
	n, err := numbers(args[1:], 2)
	if err != nil {
		return err
	}
	dir := args[3]
	end := time.Now().Truncate(time.Minute)
	begin := end.Add(-time.Duration(n[1]) * 24 * time.Hour)
	c0, _ := used()
	at := time.Now()
	s, err := store.Open(dir, store.Options{Retain: 400 * 24 * time.Hour})
	if err != nil {
		return err
	}
	c1, _ := used()
	switch args[0] {
	case "write":
		return write(s, dir, n[0], begin, end)
	case "fill":
		return fill(s, n[0], n[1])
	case "open":
		_, rss := used()
		fmt.Printf("opened after a kill: %.1f s CPU, %.1f s wall: %.2f M samples a second of CPU; %d MB resident at most\n", (c1 - c0).Seconds(), time.Since(at).Seconds(),
			float64(n[0])*float64(n[1])/1e6/(c1-c0).Seconds(), rss>>20)
		return s.Close()
	}
	fmt.Printf("opened after a kill: %.1f s CPU, %.1f s wall\n", (c1 - c0).Seconds(), time.Since(at).Seconds())
	api := httptest.NewServer((&query.API{Store: func() (storage.Queryable, error) { return s.Queryable(), nil }, Version: "bench",
		Alerts: func() []query.Alert { return nil }, Metadata: func() map[string][]query.Metadata { return nil }}).Handler())
	defer api.Close()
	var walls []float64
	for i := range 15 {
		u := api.URL + "/api/v1/query_range?query=homenode_vm_bench%7Bvm%3D%22vm" + strconv.Itoa(i%n[0]) + "%22%7D&start=" + fmt.Sprint(begin.Unix()) + "&end=" + fmt.Sprint(end.Unix()) + "&step=" + fmt.Sprint(max(60, n[1]*86400/1000))
		at := time.Now()
		res, err := http.Get(u)
		if err != nil {
			return err
		}
		size, _ := io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if walls = append(walls, time.Since(at).Seconds()*1000); res.StatusCode != http.StatusOK || size < 10000 {
			return fmt.Errorf("query: %s, %d bytes", res.Status, size)
		}
	}
	fmt.Printf("20 series of a VM, 1,000 points each over all days: %.0f ms wall (median), %.0f ms at most\n", stat.MedianOf(walls), slices.Max(walls))
	return s.Close()
}

func write(s *store.Store, dir string, vms int, begin, end time.Time) error {
	var samples []store.Sample
	for v := range vms {
		for k := range 20 {
			samples = append(samples, store.Sample{Series: s.Series("homenode_vm_bench", "vcenter", "vc", "host", fmt.Sprint("esx", v/40), "vm", fmt.Sprint("vm", v), "k", fmt.Sprint(k))})
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	total := 0
	c0, _ := used()
	for at := begin; at.Before(end); at = at.Add(time.Minute) {
		for i := range samples {
			switch i % 20 {
			case 0, 1, 2, 3, 4, 5, 6, 7: // shares
				samples[i].Number = float64(r.IntN(10000)) / 10000
			case 8, 9, 10, 11, 12, 13: // sizes that are constant half of the time
				if r.IntN(2) == 0 {
					samples[i].Number = float64(r.IntN(1<<24)) * 4096
				}
			default: // counters that rarely change
				if r.IntN(30) == 0 {
					samples[i].Number++
				}
			}
		}
		kept, err := s.Append(context.Background(), at, samples)
		if err != nil || !kept {
			return fmt.Errorf("not kept: %w", err)
		}
		total += len(samples)
	}
	c1, rss := used()
	x := s.State()
	fmt.Printf("appended %.1f M samples with their making: %.2f M a second of CPU; %d MB resident at most; %.2f bytes a sample in blocks of %.1f MB\n",
		float64(total)/1e6, float64(total)/1e6/(c1-c0).Seconds(), rss>>20, float64(x.Bytes)/float64(total), float64(x.Bytes)/1e6)
	os.Exit(0) // as if killed
	return nil
}
