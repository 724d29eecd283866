package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
)

// viewed are addresses of every kind of page. Those that ask a question are asked of the API too.
var viewed = []string{
	"/", "/?severity=low&select=vcpus+%3E+2", "/cluster?cluster=prod", "/host?host=esx01", "/vm?vm=sql01", "/search?q=sql", "/status",
	"/rules", "/rules?kind=statements", "/rules?kind=conflicts", "/rules?kind=settings", "/rules?kind=experiments", "/rules?kind=truth", "/rule?rule=N001",
	"/plans?vm=sql01", "/what-if?vm=sql01&hotAdd=off", "/what-if?lose-host=esx01", "/simulate?part=esx01&hours=1",
	"/captures", "/capture?capture=night", "/capture?capture=night%2Fesx02.demo.csv", "/compare?a=night%2Fesx02.demo.csv&at=2026-11-03+02:00",
	"/calculator?vcpus=24&memory=512GB&sockets=2&cores=16&host-memory=768GB",
	"/calculator?kind=fit&vm=24x192GB*40&hosts=2x32c/1TB", "/calculator?kind=fit&source=SOURCE&cluster=all&vm=24x192GB", "/calculator?kind=io&iops=100k&block=32k",
	"/calculator?kind=latency&calls=20", "/calculator?kind=speed&vcpu-speed=1GHz&vm=8x64GB&host=2x18c/1TB@3GHz", "/calculator?kind=dump&ram=1TB", "/calculator?kind=pages&memory=1TB",
	"/calculator?kind=upgrade&source=SOURCE&release=9.0",
}

// api is where the API answers the questions of the pages.
const api = "/api/homenode/v1/"

// everyView returns the addresses of pages and of the API, and checks that they are of every kind that the server describes.
func everyView(t *testing.T, at string) (views []string) {
	t.Helper()
	var described struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Name   string
					Schema struct{ Enum []string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(sitePage(t, at+api+"openapi.json", http.StatusOK)), &described); err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for path, p := range described.Paths {
		missing[path] = true
		for _, q := range p.Get.Parameters {
			for _, kind := range q.Schema.Enum {
				if q.Name == "kind" && kind != "topology" {
					missing[kind] = true
				}
			}
		}
	}
	for _, own := range []string{"status", "findings", "vms", "inventory"} { // of what is collected
		delete(missing, api+own)
	}
	for _, page := range viewed {
		u, err := url.Parse(page)
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, page)
		path := api + strings.TrimPrefix(u.Path, "/")
		if u.Path == "/" {
			path = api + "fleet"
		}
		delete(missing, u.Query().Get("kind"))
		if _, ok := described.Paths[path]; ok && path != api+"status" {
			delete(missing, path)
			views = append(views, path+strings.TrimPrefix(page, u.Path))
		}
	}
	for name := range missing {
		t.Errorf("%s is not asked", name)
	}
	for _, name := range []string{"/status", "/captures", "/capture", "/compare", "/rules", "/rule", "/search"} { // what no question of the API is
		if !slices.ContainsFunc(views, func(v string) bool { return v == name || strings.HasPrefix(v, name+"?") }) {
			t.Errorf("%s is not looked at", name)
		}
	}
	return views
}

// TestHeapStaysFlat looks at every kind of page, and asks every question of the API, again and again: the server keeps nothing of an answer that it gave.
func TestHeapStaysFlat(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "small.txtar")
	golden.Write(t, file, []byte("release 8.0U3\ncluster prod\nhost esx[01-02] nodes=2 cores=16 memory=512GB\nvm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=192GB hotAdd=on\nvm web01 host=esx02 vcpus=4 memory=16GB\n"))
	demoCaptures(t, filepath.Join(dir, "captures", "night"))
	at := startSite(t, "--fleet="+file, "--captures="+filepath.Join(dir, "captures")).URL
	all := everyView(t, at)
	views := 0
	ask := func(until int) {
		for ; views < until; views++ {
			sitePage(t, at+all[views%len(all)], http.StatusOK)
		}
	}
	crowd := func(length time.Duration) (n int64) { // 50 readers; some come when too many wait
		var readers sync.WaitGroup
		var asked atomic.Int64
		end := time.Now().Add(length)
		for range 50 {
			readers.Go(func() {
				for time.Now().Before(end) {
					res, err := http.Get(at + all[int(asked.Add(1))%len(all)])
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
					if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusServiceUnavailable {
						t.Errorf("%s: status %d", res.Request.URL, res.StatusCode)
					}
				}
			})
		}
		readers.Wait()
		return asked.Load()
	}
	live := func() float64 {
		var m runtime.MemStats
		for range 2 { // what a finalizer frees is gone after the second
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / 1e6
	}
	first, last := 2*len(all), 5*len(all)
	if testdeps.Proof() { // 1,000 and 10,000, in whole rounds: the same answers are kept for later askers then
		first, last = (1000/len(all)+1)*len(all), (10_000/len(all)+1)*len(all)
	}
	length := time.Second
	if testdeps.Proof() {
		length = 10 * time.Minute
	}
	ask(first)
	crowd(length / 10)
	before := live()
	ask(last)
	asked := crowd(length)
	http.DefaultClient.CloseIdleConnections()
	// A command that is kept takes 350 KB: of 1,000 questions that is 350 MB.
	after := live()
	t.Logf("%d addresses, %d views, and %d of 50 readers in %s: %.1f MB live after the first %d, %.1f MB in the end", len(all), views, asked, length, before, first, after)
	if after > before*1.1 {
		t.Error("want at most a tenth more")
	}
}
