package main

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"example.org/homenode/internal/browser"
	"example.org/homenode/internal/formtest"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/snapshot"
)

// somePages returns what every change is tried with of pages; make prove tries all of them.
func somePages(few ...string) []string {
	if testdeps.Proof() {
		return sitePages
	}
	return few
}

// press types keys: runes, "\t" for Tab, "\r" for Enter, " " for Space.
func press(t *testing.T, b *browser.Page, keys string, modifiers ...chromedp.Modifier) {
	t.Helper()
	b.Do(t, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// media lets the browser say that its user wants something.
func media(t *testing.T, b *browser.Page, features ...*emulation.MediaFeature) {
	t.Helper()
	if _, err := chromedp.Call(b.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		t.Fatal(err)
	}
}

// evaluated returns what an expression gives on the page.
func evaluated[T any](t *testing.T, b *browser.Page, expression string) T {
	t.Helper()
	got, err := chromedp.Run(b.Context, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%.200s: %v", expression, err)
	}
	return got
}

// keyboardScript says of the element with the focus which one of all that take it by Tab it is, what it is called and what is wrong with how it shows that.
const keyboardScript = `
window.reached = () => [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]")].filter((el) => el.tabIndex >= 0 && !el.disabled && el.checkVisibility({ visibilityProperty: true }));
window.named = (el) => el.tagName.toLowerCase() + (el.name ? "[name=" + el.name + "]" : "") + (el.id ? "#" + el.id : "") + " " + (el.getAttribute("aria-label") || el.textContent || "").trim().slice(0, 40);
window.looks = (el) => [el, ...el.querySelectorAll("*")].map((one) => { const s = getComputedStyle(one); return [s.outlineStyle, s.outlineWidth, s.stroke, s.strokeWidth, s.display, s.textDecorationLine].join(); }).join("\n");
window.look = () => {
  const el = document.activeElement;
  if (!el || el === document.body) return { at: -1, name: "", wrong: "" };
  const style = getComputedStyle(el), box = el.getBoundingClientRect();
  let wrong = "";
  if (box.width < 1 || box.height < 1) wrong = "nothing to be seen";
  else if (box.bottom < 0 || box.top > innerHeight || box.right < 0 || box.left > innerWidth) wrong = "outside of the window";
  else if (el.closest("svg")) { // a drawing shows it in its own ways: a line, or its numbers
    const now = window.looks(el);
    el.blur();
    if (window.looks(el) === now) wrong = "looks as without it";
    el.focus({ preventScroll: true });
  } else if (style.outlineStyle === "none" || (style.outlineStyle !== "auto" && parseFloat(style.outlineWidth) < 2)) wrong = "no outline";
  return { at: window.reached().indexOf(el), name: window.named(el), wrong };
};`

type focused struct {
	At    int
	Name  string
	Wrong string
}

// next presses Tab until an element that a selector names has the focus.
func next(t *testing.T, b *browser.Page, selector string) {
	t.Helper()
	for range 400 {
		press(t, b, "\t")
		if evaluated[bool](t, b, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			return
		}
	}
	t.Fatalf("Tab does not come to %s", selector)
}

// TestSiteKeyboard goes through pages by Tab alone: everything that takes a click takes the focus, in the order of the page, shows it and lets it go.
func TestSiteKeyboard(t *testing.T) {
	t.Parallel()
	at := startSite(t, "--fleet=demo").URL
	var b *browser.Page
	pages, elements := somePages("/", "/?rule=N001&vm=sql*", "/what-if?vm=sql01&hotAdd=off", "/simulate?part=esx01.demo&hours=0.2", "/rules"), 0
	for i, page := range pages {
		if i%5 == 0 { // a browser is ended after two minutes
			b = browser.Open(t, at+"/status")
		}
		b.Go(t, at+page)
		if strings.HasPrefix(page, "/simulate?") {
			wait(t, b, `document.querySelector(".player") !== null`)
		}
		elements += tabThrough(t, b, page)
	}
	t.Logf("%d elements of %d pages take the focus, show it and let it go", elements, len(pages))
}

// tabThrough goes through a page by Tab alone and returns the number of elements that took the focus.
func tabThrough(t *testing.T, b *browser.Page, page string) int {
	t.Helper()
	b.Script(t, keyboardScript)
	all := evaluated[[]string](t, b, `window.reached().map(window.named)`)
	seen, last := map[int]bool{}, -1
	for range len(all) + 100 { // what scrolls sideways may take the focus too
		press(t, b, "\t")
		f := evaluated[focused](t, b, `window.look()`)
		if f.Name == "" || f.At >= 0 && seen[f.At] { // past the end
			break
		}
		if f.Wrong != "" {
			t.Errorf("%s: %s has the focus: %s", page, f.Name, f.Wrong)
		}
		if f.At < 0 {
			continue
		}
		if len(seen) == 0 && !strings.Contains(f.Name, "Skip to the content") {
			t.Errorf("%s: the first is %s", page, f.Name)
		}
		if f.At < last {
			t.Errorf("%s: %s has the focus after %s", page, f.Name, all[last])
		}
		seen[f.At], last = true, f.At
	}
	for i, name := range all {
		if !seen[i] {
			t.Errorf("%s: Tab does not come to %s", page, name)
		}
	}
	if len(seen) < 5 {
		t.Errorf("%s: only %d elements take the focus", page, len(seen))
	}
	return len(seen)
}

// TestSiteByKeys finds a VM, asks what if it had fewer vCPUs, and plays a simulation by keys alone.
func TestSiteByKeys(t *testing.T) {
	t.Parallel()
	at := startSite(t, "--fleet=demo").URL
	b := browser.Open(t, at+"/")
	browser.Eval(t, b, `document.querySelector(".bar").getBoundingClientRect().height < 60`, true) // one line at 1280 px
	press(t, b, "\t\r")                                                                            // skips to the content
	browser.Eval(t, b, `location.hash`, "#main")
	press(t, b, "\t")
	browser.Eval(t, b, `document.activeElement.closest("main") !== null`, true)
	b.Go(t, at+"/")
	next(t, b, "input[name=q]")
	press(t, b, "sql01\r")
	wait(t, b, `location.pathname === "/vm" && document.querySelector("h1") !== null`)
	next(t, b, `main a[href^="/what-if?"]`)
	press(t, b, "\r")
	wait(t, b, `location.pathname === "/what-if" && document.querySelector("input[name=vcpus]") !== null`)
	before := evaluated[string](t, b, `document.querySelector("h1").textContent`)
	next(t, b, "input[name=vcpus]")
	press(t, b, "a", chromedp.ModifierCtrl)
	press(t, b, "8")
	wait(t, b, fmt.Sprintf(`document.querySelector("h1").textContent !== %q && document.querySelectorAll("#drawings svg").length === 2 && !document.querySelector("[aria-busy]")`, before))
	browser.Eval(t, b, `document.activeElement.name + " " + document.activeElement.value + " " + new URLSearchParams(location.search).get("vcpus")`, "vcpus 8 8")
	findings := evaluated[string](t, b, `document.querySelector("main").innerText.match(/N0\d\d/g).join(" ")`)
	if !strings.Contains(findings, "N001") {
		t.Errorf("no finding has changed: %s", findings)
	}
	// A list is chosen from by arrows, a part is opened and closed by Space and Enter.
	next(t, b, "select[name=hotAdd]")
	chosen := evaluated[string](t, b, `document.activeElement.value`)
	press(t, b, "o") // on, off
	wait(t, b, fmt.Sprintf(`document.activeElement.name === "hotAdd" && document.activeElement.value !== %q && new URLSearchParams(location.search).get("hotAdd") === document.activeElement.value`, chosen))
	next(t, b, "main summary")
	opened := evaluated[bool](t, b, `document.activeElement.parentElement.open`)
	press(t, b, " ")
	browser.Eval(t, b, `document.activeElement.parentElement.open`, !opened)
	press(t, b, "\r")
	browser.Eval(t, b, `document.activeElement.parentElement.open`, opened)
	// The player: Space plays and stops, arrows turn the time.
	b.Go(t, at+"/simulate?part=esx01.demo&hours=2")
	wait(t, b, `document.querySelector(".player button") !== null`)
	next(t, b, ".player button")
	press(t, b, " ")
	wait(t, b, `+document.querySelector(".player input").value >= 1`)
	press(t, b, " ")
	stopped := evaluated[string](t, b, `document.querySelector(".player input").value`)
	next(t, b, ".player input")
	press(t, b, "\u0304") // arrow to the right, as package kb writes it
	browser.Eval(t, b, fmt.Sprintf(`+document.querySelector(".player input").value === %s + 1`, stopped), true)
	if c := b.Complaints(); len(c) > 0 {
		t.Errorf("the browser complains: %q", c)
	}
}

// reflowScript says what of a page is cut off, or scrolls sideways where no key comes.
const reflowScript = `(() => {
  const wide = document.documentElement.clientWidth, wrong = [];
  if (document.documentElement.scrollWidth > wide) wrong.push("the page is " + document.documentElement.scrollWidth + " px wide");
  const scrolls = (el) => /auto|scroll/.test(getComputedStyle(el).overflowX);
  const inside = (el) => { for (let up = el.parentElement; up; up = up.parentElement) if (scrolls(up)) return true; return false; };
  const name = (el) => el.tagName.toLowerCase() + "." + (el.getAttribute("class") || "") + " " + el.textContent.trim().slice(0, 40);
  for (const el of document.querySelectorAll("body *")) {
    if (!el.checkVisibility() || el.closest(".hide, .skip, option, svg *")) continue;
    if (scrolls(el) && el.scrollWidth > el.clientWidth + 1 && el.tabIndex < 0 && !/input|select|textarea/i.test(el.tagName)) wrong.push("no key scrolls " + name(el));
    const box = el.getBoundingClientRect(), style = getComputedStyle(el);
    if (box.width && !inside(el) && (box.right > wide + 1 || box.left < -1)) wrong.push("outside: " + name(el));
    if (/hidden|clip/.test(style.overflowX) && el.scrollWidth > el.clientWidth + 1 && !/input|select|svg/i.test(el.tagName)) wrong.push("cut: " + name(el));
  }
  return wrong.slice(0, 5).join("; ");
})()`

// TestSiteReflow looks at pages as enlarged to 200 % and 400 % of a window of 1280 px: nothing is cut, and nothing but tables and drawings, in
// parts that keys reach, is wider than the window.
func TestSiteReflow(t *testing.T) {
	t.Parallel()
	at := startSite(t, "--fleet=demo").URL
	b := browser.Open(t, at+"/status")
	pages := 0
	for _, zoom := range []int64{2, 4} {
		b.Do(t, chromedp.EmulateViewport(1280/zoom, 1024/zoom, chromedp.EmulateScale(float64(zoom))))
		for _, page := range somePages("/", "/?rule=N001", "/vm?vm=sql01", "/what-if?vm=sql01&hotAdd=off", "/calculator?kind=fit", "/simulate?hours=0.1", "/plans?vm=sql*", "/rule?rule=N001") {
			b.Go(t, at+page)
			pages++
			if wrong := evaluated[string](t, b, reflowScript); wrong != "" {
				t.Errorf("%s at %d %%: %s", page, 100*zoom, wrong)
			}
		}
	}
	t.Logf("%d pages at 200 and 400 %%", pages)
}

// TestSiteStill looks for motion that is not wanted: where the browser asks for little, none is there, and a simulation never plays by itself.
func TestSiteStill(t *testing.T) {
	t.Parallel()
	at := startSite(t, "--fleet=demo").URL
	b := browser.Open(t, at+"/what-if?vm=sql01")
	moving := `(() => { const m = document.getElementById("main"); m.setAttribute("aria-busy", "true"); getComputedStyle(m).opacity; const n = document.getAnimations().length; m.removeAttribute("aria-busy"); return n; })()`
	for _, want := range []struct {
		value  string
		moving bool
	}{{"no-preference", true}, {"reduce", false}} {
		media(t, b, &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: want.value})
		b.Go(t, at+"/what-if?vm=sql01")
		browser.Eval(t, b, moving+` > 0`, want.moving)
	}
	b.Go(t, at+"/simulate?part=esx01.demo&hours=1")
	wait(t, b, `document.querySelector(".player button") !== null`)
	time.Sleep(time.Second)
	browser.Eval(t, b, `document.querySelector(".player input").value + " " + document.querySelector(".player button").textContent`, "0 Play")
	b.Script(t, `document.querySelector(".player button").click()`)
	wait(t, b, `+document.querySelector(".player input").value >= 1`)
	browser.Eval(t, b, `document.getAnimations().length`, 0)
}

// hostileNames are what strangers call their VMs.
var hostileNames = append([]string{
	`<script>window.hacked=1</script>`, `"><img src=x onerror="window.hacked=1">`, `' onfocus='window.hacked=1' autofocus='`, `</title></style><svg onload=window.hacked=1>`, `javascript:window.hacked=1`, "\u202egnp.exe\u2066", "two\nlines\r\x1b[31m\x00",
	strings.Repeat("long", 200), "-rf", "--help", "@/etc/passwd", "../../etc", `=cmd|'/c calc'!A1`, "sql*,?", "a b\"c#d&vm=sql01", "%3Cscript%3E%00", "{{.Title}}", "SOURCE", " ",
}, formtest.HostileNames...)

// hostileFleet writes a snapshot of the demo whose VMs, hosts and clusters are called so.
func hostileFleet(t *testing.T) string {
	t.Helper()
	f := given.Demo(t)
	for i := range f.VMs {
		v := &f.VMs[i]
		v.Name = hostileNames[i%len(hostileNames)]
		v.Folder, v.Tags = "/"+v.Name, []string{v.Name}
		v.ID = fmt.Sprintf("vm-%d", i)
	}
	for i := range f.Hosts {
		f.Hosts[i].Name = fmt.Sprintf("%s%d", hostileNames[i%len(hostileNames)], i)
	}
	for i := range f.Clusters {
		f.Clusters[i].Name = hostileNames[i%len(hostileNames)]
	}
	var out bytes.Buffer
	if err := snapshot.Write(&out, f); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "fleet.json")
	golden.Write(t, file, out.Bytes())
	return file
}

// unharmed says what of a page ran, or could.
const unharmed = `(() => {
  const wrong = [];
  if (window.hacked) wrong.push("it ran");
  for (const el of document.querySelectorAll("*")) {
    if (el.tagName === "IMG" || el.tagName === "IFRAME" || el.tagName === "SCRIPT" && location.protocol === "http:" && !/^\/static\//.test(el.getAttribute("src"))) wrong.push(el.outerHTML.slice(0, 80));
    for (const a of el.attributes) if (/^on|^autofocus$/i.test(a.name) || /^\s*javascript:/i.test(a.value) && /^(href|src|action|formaction)$/i.test(a.name)) wrong.push(a.name + "=" + a.value.slice(0, 60));
  }
  if (/[\u202a-\u202e\u2066-\u2069\u0000\u001b]/.test(document.documentElement.textContent)) wrong.push("characters that hide others");
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) wrong.push(document.documentElement.scrollWidth + " px wide");
  return wrong.slice(0, 5).join("; ");
})()`

// TestSiteHostileNames opens the pages and reports of a fleet whose owner hates whoever reads it: nothing runs, nothing is refused by the policy, and every
// link leads to a page.
func TestSiteHostileNames(t *testing.T) {
	t.Parallel()
	file := hostileFleet(t)
	at := startSite(t, "--fleet="+file).URL
	most := 30
	if testdeps.Proof() {
		most = 400
	}
	// Links are followed, one of each page and name at first.
	pages, kinds := []string{"/", "/simulate?hours=0.1&part=" + strings.Repeat("long", 200) + "7"}, map[string]int{}
	link := regexp.MustCompile(` href="(/[^"]*)"`)
	// No page takes a value that a command could read as a flag or a file, and no field one that begins with a blank or has lines.
	refused := regexp.MustCompile(`=(--|%40|@)|/simulate\?part=|/what-if\?`)
	no := map[string]bool{} // refused indeed
	var addresses []string
	for len(pages) > 0 && len(addresses) < most {
		page := pages[0]
		pages = pages[1:]
		if slices.Contains(addresses, page) {
			continue
		}
		addresses = append(addresses, page)
		want := statusOf(t, at+page)
		if want != http.StatusOK {
			no[page] = true
			if !refused.MatchString(page) {
				t.Errorf("%.200s: status %d", page, want)
			}
		}
		for _, m := range link.FindAllStringSubmatch(sitePage(t, at+page, want), -1) {
			to, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			u, err := url.Parse(to)
			if err != nil {
				t.Errorf("%s: the link %q: %v", page, to, err)
				continue
			}
			kind := u.Path
			if kinds[kind]++; strings.HasPrefix(to, "/static/") || u.Query().Has("format") || strings.HasPrefix(kind, "/rule") || kinds[kind] > most/6 {
				continue
			}
			pages = append(pages, to)
		}
	}
	for _, name := range hostileNames { // and what a reader types
		for _, to := range []string{"/search?q=", "/?vm=", "/simulate?hours=0.05&part="} {
			if most > 100 {
				sitePage(t, at+to+url.QueryEscape(name), statusOf(t, at+to+url.QueryEscape(name)))
			}
		}
	}
	folder := t.TempDir()
	for name, args := range map[string][]string{"explain": {"explain", file, "vm-17"}, "fix": {"fix", file}, "whatif": {"assess", file, "--what-if=vm=* hotAdd=off"}} {
		report := filepath.Join(folder, name+".html")
		var said strings.Builder
		if code := run(t.Context(), append(args, "--format=html", "--output="+report), strings.NewReader(""), &said, &said); code == exitError {
			t.Errorf("%v: exit %d: %.300s", args, code, said.String())
			continue
		}
		addresses = append(addresses, "file://"+filepath.ToSlash(report))
	}
	var b *browser.Page
	for i, page := range addresses {
		if i%100 == 0 { // a browser is ended after two minutes
			b = browser.Open(t, at+"/status")
		}
		address := at + page
		if strings.HasPrefix(page, "file:") {
			address = page
		}
		before := len(b.Complaints())
		b.Go(t, address)
		if wrong := evaluated[string](t, b, unharmed); wrong != "" {
			t.Errorf("%.200s: %s", page, wrong)
		}
		if c := b.Complaints()[before:]; len(c) > 0 && !no[page] {
			t.Errorf("%.200s: the browser complains: %.300q", page, c)
		}
	}
	t.Logf("%d pages and reports", len(addresses))
}

// statusOf returns the status of a page, which must be one of a page and never one of a server that broke.
func statusOf(t *testing.T, address string) int {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode >= 500 {
		t.Errorf("%.200s: %s", address, res.Status)
	}
	return res.StatusCode
}
