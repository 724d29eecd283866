package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"example.org/homenode/internal/browser"
	"example.org/homenode/internal/testdeps"
)

// sitePages are pages of every kind, with what is asked on them.
var sitePages = []string{
	"/", "/?rule=N001", "/cluster?cluster=mixed", "/host?host=esx01.demo", "/vm?vm=sql01", "/what-if?vm=sql01&hotAdd=off", "/calculator", "/calculator?kind=fit&vm=24x192GB*40&hosts=2x32c/1TB,2x48c/1.5TB",
	"/calculator?kind=io&iops=100k&block=32k", "/calculator?kind=latency", "/calculator?kind=speed&vcpu-speed=1GHz&vm=8x64GB&host=2x18c/1TB@3GHz", "/calculator?kind=dump&ram=1.5TB", "/calculator?kind=pages&memory=1.5TB", "/simulate?hours=0.1", "/plans?vm=sql*", "/rules", "/rules?kind=statements", "/rules?kind=conflicts", "/rules?kind=settings", "/rules?kind=experiments", "/rules?kind=truth", "/rule?rule=N001", "/rule?rule=B-15", "/rule?rule=numa.vcpu.min", "/rule?rule=a-sockets", "/captures", "/capture?capture=demo", "/capture?capture=demo&vm=app04", "/compare?a=demo&at=2026-11-03+02:00", "/compare", "/status", "/search?q=sql", "/vm?vm=none",
}

// reports are files that commands write, by their names.
var reports = map[string][]string{"assess": {"assess", "demo", "--cluster=mixed"}, "explain": {"explain", "demo", "sql01"}, "simulate": {"simulate", "testdata/corpus/inputs/small.txtar", "--hours=0.5"}, "fix": {"fix", "demo"}, "whatif": {"assess", "demo", "--what-if=vm=sql01 hotAdd=off"}}

// TestSiteAccessible opens every page in a browser: axe finds nothing, and the browser complains about nothing. Every second page is light and wide, the others are
// dark and narrow; make prove opens each in both ways.
func TestSiteAccessible(t *testing.T) {
	t.Parallel()
	axe := testdeps.Axe(t)
	s := startSite(t, "--fleet=demo")
	pages := map[string]string{}
	for _, page := range sitePages {
		pages[page] = s.URL + page
	}
	folder := t.TempDir()
	for name, args := range reports {
		file := filepath.Join(folder, name+".html")
		if code := run(t.Context(), append(args, "--format=html", "--output="+file), strings.NewReader(""), io.Discard, io.Discard); code == exitError {
			t.Fatalf("%v: exit %d", args, code)
		}
		pages[name+" --format html"] = "file://" + filepath.ToSlash(file)
	}
	for _, mode := range []struct {
		width  int64
		scheme string
	}{{1400, "light"}, {320, "dark"}} {
		all := slices.Sorted(maps.Keys(pages))
		for half := range 2 { // a browser is ended after six minutes
			if !testdeps.Proof() && (half == 0) != (mode.scheme == "light") {
				continue
			}
			t.Run(fmt.Sprintf("%d px, %s, %d", mode.width, mode.scheme, half), func(t *testing.T) {
				b := browser.Open(t, s.URL+"/status")
				b.Do(t, chromedp.EmulateViewport(mode.width, 900))
				if _, err := chromedp.Call(b.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode.scheme}}}); err != nil {
					t.Fatal(err)
				}
				for i, page := range all {
					if i%2 == half {
						accessible(t, b, axe, page, pages[page], mode.width)
					}
				}
			})
		}
	}
}

// accessible checks that axe finds nothing on a page, that the browser complains about nothing, that the headline is on the first screen of a phone, and that nothing is wider than it.
func accessible(t *testing.T, b *browser.Page, axe, page, address string, width int64) {
	t.Helper()
	before := len(b.Complaints())
	b.Go(t, address)
	b.Script(t, axe)
	context := `{exclude: [["tbody > tr:nth-child(n+9)"]]}` // the rows of a table are alike
	if testdeps.Proof() {
		context = "document"
	}
	b.Script(t, `window.axeResult = ""; axe.run(`+context+`, {resultTypes: ["violations"]}).then((r) => { window.axeResult = JSON.stringify(r.violations.map((v) => v.id + " (" + v.impact + "): " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | "))); })`)
	if _, err := chromedp.Run(b.Context, chromedp.Poll[bool](`window.axeResult !== ""`)); err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	found, err := chromedp.Run(b.Context, chromedp.Evaluate[string](`window.axeResult`))
	if err != nil {
		t.Fatal(err)
	}
	if found != "[]" {
		t.Errorf("%s: axe finds %s", page, found)
	}
	// A browser says on its console that an answer is none of success: the page is asked for what is not there.
	for _, c := range b.Complaints()[before:] {
		if !strings.Contains(c, "404") || page != "/vm?vm=none" {
			t.Errorf("%s: the browser complains: %s", page, c)
		}
	}
	// On a phone the content begins on the first screen.
	if top, err := chromedp.Run(b.Context, chromedp.Evaluate[float64](`document.querySelector("h1").getBoundingClientRect().top + scrollY`)); err != nil || top > 300 {
		t.Errorf("%s: the headline is %.0f px below the top: %v", page, top, err)
	}
	if wide, err := chromedp.Run(b.Context, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); err != nil || wide > width {
		t.Errorf("%s: %d px wide in %d: %v", page, wide, width, err)
	}
}

// TestOpenAPI lets Schemathesis ask the API what its document says that it can be asked, and more. Which words a change or a shape may have is a grammar of its own that
// no schema says, so that a value of the right type may be refused.
func TestOpenAPI(t *testing.T) {
	python := testdeps.ProvePython(t)
	program := filepath.Join(filepath.Dir(python), "schemathesis")
	if _, err := os.Stat(program); err != nil {
		t.Skip("no schemathesis beside the Python of the tests: scripts/test-deps installs it")
	}
	s := startSite(t, "--fleet=demo")
	cmd := exec.CommandContext(t.Context(), program, "run", s.URL+"/api/homenode/v1/openapi.json", "--max-examples=15", "--seed=1", "--phases=examples,coverage,fuzzing", "--exclude-checks=positive_data_acceptance", "--no-color")
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " generated, ") {
		t.Errorf("%v\n%.8000s", err, out)
	}
}

// TestAPI compares what the API and a page say.
func TestAPI(t *testing.T) {
	t.Parallel()
	s := startSite(t, "--fleet=demo")
	for _, at := range []string{"vm?vm=sql01", "calculator?kind=fit&vm=24x192GB*40&hosts=2x32c/1TB", "what-if?vm=sql01&hotAdd=off", "plans?vm=sql*", "host?host=esx01.demo"} {
		var a struct {
			Format  string
			Verdict []string
		}
		if err := json.Unmarshal([]byte(s.get(t, "/api/homenode/v1/"+at, http.StatusOK)), &a); err != nil {
			t.Fatal(err)
		}
		if page := s.get(t, "/"+at, http.StatusOK); len(a.Verdict) == 0 || !strings.HasPrefix(a.Format, "homenode-") || !says(page, a.Verdict[0]) {
			t.Errorf("%s: %s says %q, the page %q", at, a.Format, a.Verdict, headline(page))
		}
	}
	for at, want := range map[string]int{"vm": 400, "vm?vm=none": 404, "vm?vm=sql01&event=never": 400, "vm?vm=sql01&nosuch=1": 400, "calculator?kind=none": 400, "what-if?what-if=@/etc/passwd": 400, "fleet?fleet=none": 404} {
		if body := s.get(t, "/api/homenode/v1/"+at, want); !strings.HasPrefix(body, `{"error":`) {
			t.Errorf("%s: %s", at, body)
		}
	}
}
