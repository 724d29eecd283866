//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"example.org/homenode/capture/store"
)

// Load on pages.
const (
	pageSteps  = 15 * time.Second       // of each rate
	tooLate    = 500 * time.Millisecond // limit for the slowest 1 % of answers
	pastDays   = 30
	pageRounds = 15  // per page, without other load
	frontReads = 600 // of the first page, while new data arrives
	frontEvery = 200 * time.Millisecond
)

// pages sends requests to a homenode serve that collects from a simulated vCenter, with 30 days of the VMs of a host in its store: each page alone, viewers
// of live pages as browsers behave, and list pages at a rising rate. Server, vCenter and viewers share this machine: HOSTS VMS VIEWERS SECONDS HOMENODE.
func pages(args []string) error {
	n, err := numbers(args, 4)
	if err != nil {
		return err
	}
	if len(args) < 5 {
		return errors.New("found 4 arguments, want 5")
	}
	hosts, vms, viewers, length := n[0], n[1], n[2], time.Duration(n[3])*time.Second
	u, stop, err := startVCenter(hosts, vms)
	if err != nil {
		return err
	}
	defer stop()
	s, err := startServe(args[4], u, hosts, vms)
	if err != nil {
		return err
	}
	defer s.end()
	fmt.Printf("%s: homenode serve of %d hosts of %d VMs, one answer of a host a minute, %d days of %d VMs in the store\n", machine(), hosts, vms, pastDays, vms)
	if err := s.alone(hosts); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := s.watched(ctx, viewers, hosts, vms, length); err != nil {
		return err
	}
	if err := s.rising(hosts, vms); err != nil {
		return err
	}
	return s.goroutines(viewers)
}

// A served is a running homenode serve.
type served struct {
	cmd    *exec.Cmd
	at     string
	client *http.Client
	dir    string
	tail   []string // last lines of its output
	read   sync.WaitGroup
}

// startServe starts homenode serve and waits until every host has answered twice.
func startServe(program string, u *url.URL, hosts, vms int) (_ *served, err error) {
	dir, err := os.MkdirTemp("", "pagesbench-")
	if err != nil {
		return nil, err
	}
	s := &served{dir: dir, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}, Timeout: time.Minute}}
	defer func() {
		if err != nil {
			s.end()
		}
	}()
	data, account := filepath.Join(dir, "data"), filepath.Join(dir, "account")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	if err := fillPast(data, u.Host, vms); err != nil {
		return nil, err
	}
	password, _ := u.User.Password()
	if err := os.WriteFile(account, fmt.Appendf(nil, "%s %s %s\n", u.Host, u.User.Username(), password), 0o600); err != nil {
		return nil, err
	}
	bare := *u
	bare.User = nil
	s.cmd = exec.Command(program, "serve", bare.String(), "--insecure", "--credentials="+account, "--data="+data, "--retain=960h", "--listen=127.0.0.1:0", "--every=1m")
	out, err := s.cmd.StdoutPipe() // with the address
	if err != nil {
		return nil, err
	}
	s.cmd.Stderr = s.cmd.Stdout
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := make(chan string, 10)
	s.read.Go(func() {
		for in := bufio.NewScanner(out); in.Scan(); {
			select {
			case lines <- in.Text():
			default:
			}
			s.tail = append(s.tail, in.Text())
		}
		close(lines)
	})
	for line := range lines {
		if i := strings.Index(line, "http://"); i >= 0 {
			host := line[i+len("http://"):]
			s.at = "http://" + host[:strings.IndexAny(host+"/", "/, ")]
			break
		}
	}
	if s.at == "" {
		s.read.Wait()
		return nil, fmt.Errorf("it does not start: %q", s.tail)
	}
	for begin := time.Now(); ; time.Sleep(time.Second) {
		body, _, _, err := s.get("/status")
		if err == nil && strings.Contains(body, fmt.Sprintf("%d of %d hosts reporting.", hosts, hosts)) {
			break
		}
		if time.Since(begin) > 5*time.Minute {
			_, body, _ = strings.Cut(body, "<h1>")
			return nil, fmt.Errorf("the hosts are not seen: %.200s %w", body, err)
		}
	}
	time.Sleep(70 * time.Second) // rates need two answers
	return s, nil
}

// fillPast writes the past samples of the first host's VMs as a collector would have stored them.
func fillPast(dir, vcenter string, vms int) error {
	s, err := store.Open(dir, store.Options{Retain: 40 * 24 * time.Hour})
	if err != nil {
		return err
	}
	var all []store.Sample
	metrics := []string{"vcpus", "numa_local_bytes", "numa_remote_bytes", "numa_local_ratio", "numa_migrations_total", "cpu_ready_seconds_per_second", "cpu_costop_seconds_per_second", "memory_size_bytes", "numa_home_node", "numa_home_node"}
	for i := range vms {
		l := []string{"vcenter", vcenter, "cluster", "cluster-00", "host", "esx0000.example.com", "vm", fmt.Sprintf("app-0000-%02d", i), "vm_id", fmt.Sprintf("vm-0-%d", i)}
		for k, m := range metrics {
			labels := l
			if m == "numa_home_node" {
				labels = append(slices.Clone(l), "node", strconv.Itoa(k%2))
			}
			all = append(all, store.Sample{Series: s.Series("homenode_vm_"+m, labels...), Number: float64(k)})
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	end := time.Now().Add(-time.Hour)
	for at := end.Add(-pastDays * 24 * time.Hour); at.Before(end); at = at.Add(time.Minute) {
		for i := range all {
			switch i % len(metrics) {
			case 1, 2:
				all[i].Number = float64(r.Int64N(32 << 30))
			case 3, 5:
				all[i].Number = float64(r.IntN(1000)) / 1000
			}
		}
		if _, err := s.Append(context.Background(), at, all); err != nil {
			return err
		}
	}
	return s.Close()
}

func (s *served) end() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(os.Interrupt)
		s.read.Wait()
		_ = s.cmd.Wait() // its exit code after a signal is irrelevant
	}
	_ = os.RemoveAll(s.dir)
}

// get requests a page. first is the time to the first byte, whole the total time.
func (s *served) get(path string) (body string, first, whole time.Duration, err error) {
	at := time.Now()
	res, err := s.client.Get(s.at + path)
	if err != nil {
		return "", 0, 0, err
	}
	defer res.Body.Close()
	first = time.Since(at)
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, res.Status)
	}
	return string(b), first, time.Since(at), err
}

// rss returns the current and peak resident memory of the server, in MB.
func (s *served) rss() (now, most int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid)) // 0 if it has ended
	for line := range strings.Lines(string(b)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d", &now)
		_, _ = fmt.Sscanf(line, "VmHWM: %d", &most)
	}
	return now >> 10, most >> 10
}

// cpu returns the CPU time of the server.
func (s *served) cpu() time.Duration {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	_, after, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(after)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// times are the durations of answers.
type times struct {
	mu     sync.Mutex
	all    []time.Duration
	errors int
	failed error // the first one
}

func (t *times) add(d time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.errors++
		t.failed = err
		return
	}
	t.all = append(t.all, d)
}

// at returns the given quantile of the durations.
func (t *times) at(share float64) time.Duration {
	if len(t.all) == 0 {
		return 0
	}
	slices.Sort(t.all)
	return t.all[min(len(t.all)-1, int(share*float64(len(t.all))))]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()*1000) }

// alone requests each page repeatedly without other load.
func (s *served) alone(hosts int) error {
	fmt.Println("\n| page | first byte, median, ms | worst | whole, median, ms | worst | MB |\n|---|--:|--:|--:|--:|--:|")
	for _, page := range []string{"/", "/?severity=low", "/?rule=N001", "/cluster?cluster=cluster-00", "/host?host=host-0", "/vm?vm=vm-0-1&range=24h", "/vm?vm=vm-0-1&range=30d", "/host?host=host-0&range=30d",
		"/what-if?vm=app-%04d-00&vcpus=32", "/calculator?kind=fit", "/plans", "/search?q=app-0001", "/rules", "/status"} {
		var first, whole times
		size := 0
		for i := range pageRounds {
			path := page
			if strings.Contains(page, "%04d") { // another object each time, to avoid cached answers
				path = fmt.Sprintf(page, i%hosts)
			}
			body, f, w, err := s.get(path)
			if err != nil {
				return err
			}
			size = len(body)
			first.add(f, nil)
			whole.add(w, nil)
		}
		fmt.Printf("| `%s` | %s | %s | %s | %s | %.2f |\n", strings.Replace(page, "%04d", "0000", 1), ms(first.at(0.5)), ms(first.at(1)), ms(whole.at(0.5)), ms(whole.at(1)), float64(size)/1e6)
	}
	var first times
	cpu := s.cpu()
	for range frontReads {
		_, f, _, err := s.get("/")
		if err != nil {
			return err
		}
		first.add(f, nil)
		time.Sleep(frontEvery)
	}
	fmt.Printf("\n%d reads of the first page, %v apart, while hosts answer: first byte p50 %s, p99 %s, at most %s ms; %s ms of CPU each, collecting among it\n", frontReads, frontEvery, ms(first.at(0.5)), ms(first.at(0.99)), ms(first.at(1)), ms((s.cpu()-cpu)/frontReads))
	return nil
}

// live returns the page of a viewer.
func live(viewer, hosts, vms int) string {
	switch host := viewer % hosts; viewer % 4 {
	case 0:
		return "/"
	case 1:
		return fmt.Sprintf("/host?host=host-%d", host)
	case 2:
		return fmt.Sprintf("/vm?vm=vm-%d-%d", host, viewer%vms)
	}
	return "/status"
}

// watched simulates viewers until ctx ends. They listen to events and reload their page a moment after each, as the script of the pages does.
func (s *served) watched(ctx context.Context, viewers, hosts, vms int, length time.Duration) error {
	var t times
	var streams, events int
	var mu sync.Mutex
	for i := range viewers {
		go func() {
			page := live(i, hosts, vms)
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.at+"/events", nil)
			if err != nil {
				t.add(0, err)
				return
			}
			res, err := (&http.Client{}).Do(r)
			if err != nil {
				t.add(0, err)
				return
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.add(0, errors.New(res.Status))
				return
			}
			mu.Lock()
			streams++
			mu.Unlock()
			for in := bufio.NewScanner(res.Body); in.Scan(); {
				if in.Text() != "event: changed" {
					continue
				}
				mu.Lock()
				events++
				mu.Unlock()
				time.Sleep(time.Duration(rand.Float64() * float64(time.Second)))
				_, _, whole, err := s.get(page)
				t.add(whole, err)
			}
		}()
	}
	begin, cpu := time.Now(), s.cpu()
	time.Sleep(length)
	used := (s.cpu() - cpu).Seconds() / time.Since(begin).Seconds()
	t.mu.Lock()
	defer t.mu.Unlock()
	mu.Lock()
	defer mu.Unlock()
	now, most := s.rss()
	fmt.Printf("\n%d viewers of live pages for %v: %d streams, %d events; %d pages fetched again, %.1f a second: p50 %s, p95 %s, p99 %s, at most %s ms; %d errors; %.2f cores; %d MB resident, %d at most\n", viewers, length, streams, events,
		len(t.all), float64(len(t.all))/length.Seconds(), ms(t.at(0.5)), ms(t.at(0.95)), ms(t.at(0.99)), ms(t.at(1)), t.errors, used, now, most)
	if t.errors > 0 {
		fmt.Println("the last error:", t.failed)
	}
	return nil
}

// rising requests list pages at a rising rate until 1 % of the answers are too slow. The time of an answer starts when its request was due, so that a slow
// server does not reduce the rate.
func (s *served) rising(hosts, vms int) error {
	fmt.Println("\n| list pages a second | answers | p50, ms | p95 | p99 | errors | server, cores | resident, MB |\n|--:|--:|--:|--:|--:|--:|--:|--:|")
	for rate := 2; rate <= 4096; rate *= 2 {
		var t times
		var all sync.WaitGroup
		cpu, begin := s.cpu(), time.Now()
		for i := range rate * int(pageSteps.Seconds()) {
			due := begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
			time.Sleep(time.Until(due))
			all.Go(func() {
				_, _, _, err := s.get(list(i, hosts, vms))
				t.add(time.Since(due), err)
			})
		}
		all.Wait()
		used := (s.cpu() - cpu).Seconds() / time.Since(begin).Seconds()
		now, _ := s.rss()
		fmt.Printf("| %d | %d | %s | %s | %s | %d | %.2f | %d |\n", rate, len(t.all), ms(t.at(0.5)), ms(t.at(0.95)), ms(t.at(0.99)), t.errors, used, now)
		if t.at(0.99) > tooLate || t.errors > len(t.all)/100 {
			if t.failed != nil {
				fmt.Println("\nthe last error:", t.failed)
			}
			return nil
		}
	}
	return nil
}

// list returns a page with a long table: another page of it, sorted, or filtered.
func list(i, hosts, vms int) string {
	switch page := 1 + i%(hosts*vms/50); i % 4 {
	case 0:
		return fmt.Sprintf("/?vms.page=%d", page)
	case 1:
		return fmt.Sprintf("/?vms.sort=-vCPUs&vms.page=%d", page)
	case 2:
		return fmt.Sprintf("/?vms.q=app-%04d", i%hosts)
	}
	return fmt.Sprintf("/search?q=app-%04d", i%hosts)
}

// goroutines ends the server with a signal that makes it print the stacks of its goroutines, while the viewers listen.
func (s *served) goroutines(viewers int) error {
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		return err
	}
	s.read.Wait()
	n := 0
	for _, line := range s.tail {
		if strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:") {
			n++
		}
	}
	fmt.Printf("\n%d goroutines at the end, with %d viewers\n", n, viewers)
	return nil
}
