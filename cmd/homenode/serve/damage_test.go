package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/internal/testdeps"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/config"
	"example.org/homenode/serve/post"
	"example.org/homenode/serve/remote"
)

// A keeping runs serve on a folder of data.
type keeping struct {
	lab  *demoLab
	demo *demoLab // that a day is kept of; nil for none
	to   remote.Target
}

// run serves until stop, which returns what was logged.
func (k *keeping) run(t *testing.T, dir string) (at string, stop func() string) {
	t.Helper()
	s := &server{board: board.New(rules.Options{}, time.Minute), lives: []target{{name: "demo", dial: k.lab.dial}}, options: collect.Options{Every: time.Second}, door: &door{listen: "127.0.0.1:0"},
		demo: k.demo, data: dir, send: config.Config{Samples: []remote.Target{k.to}}}
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var log bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetOut(in)
	cmd.SetErr(&log)
	done := make(chan error, 1)
	go func() { done <- run(cmd, s); in.Close() }()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatalf("it does not start: %v", <-done)
	}
	at = regexp.MustCompile(`http://[0-9.:]+`).FindString(string(line[:n]))
	go func() { _, _ = io.Copy(io.Discard, out) }()
	end := time.Now().Add(3 * time.Minute)
	for text := ""; !strings.Contains(text, "homenode_store_open{} 1"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the store is not opened: %v", regexp.MustCompile("(?m)^homenode_store.*").FindAllString(text, -1))
		}
		_, text = get(t, at+"/metrics")
	}
	return at, func() string {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("it ends with %v", err)
		}
		return log.String()
	}
}

// filesOf returns the files of a folder of data by their kind.
func filesOf(t *testing.T, dir string) map[string][]string {
	t.Helper()
	kinds := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "lock" { // a lock has no content
			rel, _ := filepath.Rel(dir, path)
			kind := filepath.Join(filepath.Dir(rel), "*"+filepath.Ext(rel))
			kinds[kind] = append(kinds[kind], rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// TestDamagedData damages the folder of data that serve demo left, in files of any kind: serve starts, says which file it lost on
// the status page, in the metrics and in the log, has set it aside, answers queries, and has nothing to say when it starts again.
func TestDamagedData(t *testing.T) {
	lab, err := startDemo(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer lab.close()
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer sink.Close()
	k := &keeping{lab: lab, demo: lab, to: remote.Target{Address: post.Address{URL: sink.URL}, Name: "sink"}}
	if err := k.to.Check(); err != nil {
		t.Fatal(err)
	}
	origin := t.TempDir()
	at, stop := k.run(t, origin)
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		_, text := get(t, at+"/api/v1/query?query="+url.QueryEscape(`count(count_over_time(homenode_vm_hour_migrations[30h]))`))
		marks, _ := filepath.Glob(filepath.Join(origin, "remote-*.json"))
		blocks, _ := filepath.Glob(filepath.Join(origin, "*.block"))
		if len(marks) > 0 && len(blocks) > 0 && !strings.Contains(text, `"result":[]`) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s, marks %v, blocks %v", text, marks, blocks)
		}
	}
	stop()
	k.demo = nil
	kinds := filesOf(t, origin)
	names := slices.Sorted(maps.Keys(kinds))
	if len(names) < 6 {
		t.Fatalf("found files of the kinds %v alone", names)
	}
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := 3 // of kinds that differ from run to run: TestDamage of capture/store damages each kind every time
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if testdeps.Proof() {
		rounds = 40 * len(names)
	}
	t.Logf("seed %d, %d rounds, kinds %v", seed, rounds, names)
	for n := range rounds {
		kind := names[n%len(names)]
		t.Run(fmt.Sprint(n, " ", kind), func(t *testing.T) {
			file, dir := kinds[kind][r.IntN(len(kinds[kind]))], t.TempDir()
			how := &testdeps.Damages[r.IntN(len(testdeps.Damages))]
			for strings.HasSuffix(file, ".json") && how.Name == testdeps.Gone { // marks that are missing are those of a new target
				how = &testdeps.Damages[r.IntN(len(testdeps.Damages))]
			}
			if err := errors.Join(os.CopyFS(dir, os.DirFS(origin)), how.Do(r, filepath.Join(dir, file))); err != nil {
				t.Fatal(err)
			}
			k.damaged(t, dir, file, how.Name)
		})
	}
}

// damaged serves a folder with a damaged file, and then again.
func (k *keeping) damaged(t *testing.T, dir, file, what string) {
	t.Helper()
	at, stop := k.run(t, dir)
	_, metrics := get(t, at+"/metrics")
	_, page := get(t, at+"/status")
	for _, query := range []string{`sum(count_over_time(homenode_vm_numa_local_ratio[30h]))`, `count(last_over_time({__name__=~"homenode_vm_.+"}[30h]))`} {
		res, text := get(t, at+"/api/v1/query?query="+url.QueryEscape(query))
		for try := 0; res.StatusCode == http.StatusServiceUnavailable && try < 5; try++ { // a machine with much else to do takes longer than a query may
			res, text = get(t, at+"/api/v1/query?query="+url.QueryEscape(query))
		}
		if res.StatusCode != http.StatusOK || !strings.Contains(text, `"success"`) || strings.Contains(text, `"result":[]`) {
			t.Errorf("%s, %s: %s: status %d, %.300s", file, what, query, res.StatusCode, text)
		}
	}
	log := stop()
	base := filepath.Base(file)
	for where, text := range map[string]string{"the metrics": metrics, "the status page": page, "the log": log} {
		if !strings.Contains(text, base) {
			t.Errorf("%s, %s: %s does not name it", file, what, where)
		}
	}
	aside, err := os.ReadDir(filepath.Join(dir, filepath.Dir(file), "damaged"))
	switch {
	case what == testdeps.Gone:
		if len(aside) > 0 {
			t.Errorf("%s, %s: %v lies aside", file, what, aside)
		}
	case err != nil || len(aside) != 1 || aside[0].Name() != base:
		t.Errorf("%s, %s: aside lies %v, %v", file, what, aside, err)
	}
	at, stop = k.run(t, dir)
	if _, text := get(t, at+"/metrics"); !strings.Contains(text, "homenode_store_lost_files{} 0") {
		t.Errorf("%s, %s: again something is lost", file, what)
	}
	if log := stop(); log != "" {
		t.Errorf("%s, %s: started again it says %s", file, what, log)
	}
}
