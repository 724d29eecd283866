package openmetrics

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
)

// step is how far the ticks of oddTicks are apart: they fall on the steps of the subqueries of
// docs/reference/openmetrics.md.
const step = 5 * time.Second

// oddTicks yields 75 minutes on two sides of an even hour, which are two blocks of Prometheus,
// of two hosts in turn. The same ticks come every time.
func oddTicks(yield func(*numa.Tick)) {
	rng := rand.New(rand.NewPCG(4, 7))
	for i := range 900 {
		for h, host := range []string{"esx01.example.com", `esx "02" \n` + "\n{é}"} {
			t := &numa.Tick{Host: host, Time: start.Add(90*time.Minute + time.Duration(i)*step)}
			for k := range 5 {
				v := numa.VMTick{GID: int64(100*h + k), Name: fmt.Sprintf("vm\t%d '\"\\é", k), Has: numa.HasMemory | numa.HasReady | numa.HasMoves, Ready: rng.Float64()}
				v.Local, v.Remote = numa.Bytes(rng.IntN(8000))*numa.MiB, numa.Bytes(rng.IntN(2000))*numa.MiB/100
				v.Moves.All = int64(rng.IntN(20) / 19)
				switch {
				case k == 1:
					v.Local, v.Remote = 8*numa.GiB, 2*numa.GiB // 0.8 is not below 0.8
				case k == 2 && i%3 == 0:
					v.Local, v.Remote = 0, 0 // locality unknown
				case k == 3:
					v.GID, v.Local = -1, v.Local/1000
				case k == 4 && i%2 == 0:
					v.Has = numa.HasReady // memory unknown
				case k == 0 && i >= 100 && i < 300:
					continue // not there
				}
				t.VMs = append(t.VMs, v)
			}
			yield(t)
		}
	}
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%d lines, want %d; the first difference:\n%q\nwant\n%q", len(got), len(want), g, w)
		}
	}
}

// TestStrictParser has the reference parser of the format read every point back; it refuses
// families and metrics that are not together.
func TestStrictParser(t *testing.T) {
	python := testdeps.Python(t)
	path := filepath.Join(t.TempDir(), "out.om")
	write(t, path, 5000, oddTicks)
	cmd := exec.CommandContext(t.Context(), python, "testdata/parse.py", path)
	cmd.Env = append(os.Environ(), "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	var want []string
	moves := map[string]int64{}
	oddTicks(func(tick *numa.Tick) {
		for i := range tick.VMs {
			v := &tick.VMs[i]
			labels := map[string]string{"host": tick.Host, "vm": v.Name}
			if v.GID >= 0 {
				labels["gid"] = fmt.Sprint(v.GID)
			}
			var b strings.Builder
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if err := e.Encode(labels); err != nil {
				t.Fatal(err)
			}
			of := strings.TrimSuffix(b.String(), "\n")
			add := func(kind, unit, name string, number float64) {
				want = append(want, fmt.Sprintf("%s\t%s\thomenode_vm_%s\t%s\t%d\t%d.000000000", kind, unit, name, of, math.Float64bits(number), tick.Time.Unix()))
			}
			add("gauge", "seconds_per_second", "cpu_ready_seconds_per_second", v.Ready)
			if v.Has&numa.HasMemory != 0 {
				moves[of] += v.Moves.All
				add("gauge", "bytes", "numa_local_bytes", float64(v.Local))
				add("gauge", "bytes", "numa_remote_bytes", float64(v.Remote))
				add("counter", "", "numa_migrations_total", float64(moves[of]))
			}
		}
	})
	compare(t, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), want)
}

// TestPrometheus makes blocks with promtool, starts a Prometheus on them and asks what
// docs/reference/openmetrics.md asks, which Go answers from the ticks.
func TestPrometheus(t *testing.T) {
	promtool, prometheus := testdeps.Program(t, "promtool"), testdeps.Program(t, "prometheus")
	dir := t.TempDir()
	path, blocks := filepath.Join(dir, "text", "out.om"), filepath.Join(dir, "blocks")
	if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, path, 0, oddTicks)
	if out, err := exec.CommandContext(t.Context(), promtool, "tsdb", "create-blocks-from", "openmetrics", path, blocks).CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v\n%s", err, out)
	}
	address := serve(t, prometheus, blocks, filepath.Join(dir, "prometheus.yml"))

	docs := golden.Read(t, "../../../docs/reference/openmetrics.md")
	queries := strings.Split(string(docs), "\n```promql\n")[1:]
	whats := []string{"low", "most", "since", "moves"}
	if len(queries) != len(whats) {
		t.Fatalf("docs/reference/openmetrics.md has %d queries, want %d", len(queries), len(whats))
	}
	var got []string
	for i, what := range whats {
		query, _, _ := strings.Cut(queries[i], "\n```")
		got = append(got, ask(t, address, what, query, start.Add(6*time.Hour).Unix())...)
	}
	compare(t, got, answer())
}

// answer returns what the queries of docs/reference/openmetrics.md ask, from the ticks.
func answer() []string {
	type vm struct {
		host, name string
		gid        int64
	}
	type result struct{ low, most, since, moves int64 }
	results := map[vm]*result{}
	oddTicks(func(t *numa.Tick) {
		for i := range t.VMs {
			v := &t.VMs[i]
			if v.Has&numa.HasMemory == 0 {
				continue
			}
			r := results[vm{t.Host, v.Name, v.GID}]
			if r == nil {
				r = &result{most: -1}
				results[vm{t.Host, v.Name, v.GID}] = r
			}
			if share, ok := v.Locality(); ok && share < 0.8 {
				r.low++
			}
			if int64(v.Remote) > r.most {
				r.most, r.since = int64(v.Remote), t.Time.Unix()
			}
			r.moves += v.Moves.All
		}
	})
	var out []string
	for k, r := range results {
		gid := ""
		if k.gid >= 0 {
			gid = fmt.Sprint(k.gid)
		}
		add := func(what string, n int64) {
			out = append(out, fmt.Sprintf("%s\t%s\t%s\t%s\t%d", what, k.host, k.name, gid, n))
		}
		if r.low > 0 { // PromQL has no row for none
			add("low", r.low)
		}
		add("most", r.most)
		add("since", r.since)
		add("moves", r.moves)
	}
	return out
}

// serve starts a Prometheus over the blocks and returns its address.
func serve(t *testing.T, prometheus, blocks, config string) string {
	t.Helper()
	golden.Write(t, config, []byte("global: {}\n"))
	ctx, cancel := context.WithCancel(context.Background())
	// A point counts at its own time only: nothing is known about the time after it.
	cmd := exec.CommandContext(ctx, prometheus, "--config.file="+config, "--storage.tsdb.path="+blocks, "--storage.tsdb.retention.time=100y",
		"--query.lookback-delta=1s", "--web.listen-address=127.0.0.1:0")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel() // kills this process
		cmd.Wait()
	})
	late := time.AfterFunc(time.Minute, cancel)
	defer late.Stop()
	listening := regexp.MustCompile(`msg="?Listening on"?.* address=(127\.0\.0\.1:\d+)`)
	address, ready := "", false // their lines come in either order
	lines := bufio.NewScanner(log)
	var all strings.Builder
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
		ready = ready || strings.Contains(lines.Text(), "Server is ready")
		if ready && address != "" {
			go func() { // else it stops when the pipe is full
				for lines.Scan() {
				}
			}()
			return address
		}
	}
	t.Fatalf("prometheus did not become ready:\n%s", all.String())
	return ""
}

// ask returns the answer of an instant query as lines.
func ask(t *testing.T, address, what, query string, at int64) []string {
	t.Helper()
	resp, err := http.Get("http://" + address + "/api/v1/query?" + url.Values{"query": {query}, "time": {fmt.Sprint(at)}}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || body.Error != "" {
		t.Fatalf("%s: %v %s", query, err, body.Error)
	}
	var out []string
	for _, r := range body.Data.Result {
		text, _ := r.Value[1].(string)
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s\t%s\t%s\t%s\t%s", what, r.Metric["host"], r.Metric["vm"], r.Metric["gid"], strconv.FormatFloat(n, 'f', -1, 64)))
	}
	return out
}
