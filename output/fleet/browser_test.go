package fleet_test

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A browser is a headless Chromium with what it complained about and asked for.
type browser struct {
	ctx        context.Context
	mu         sync.Mutex
	complaints []string // of the console and the content security policy
	requests   []string // but for the page itself
}

// openBrowser starts Chromium on the page at address, or skips the test.
func openBrowser(t *testing.T, address string) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no chromium, chromium-browser or google-chrome in PATH")
	}
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	t.Cleanup(cancelAlloc)
	// The first context owns the browser: a timeout on it would end the browser, so
	// the timeout stands on a second one.
	first, cancelFirst := chromedp.NewContext(alloc)
	t.Cleanup(cancelFirst)
	b := &browser{}
	if err := chromedp.Listen(first, b.listen(address)); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	ctx, cancel := context.WithTimeout(first, 2*time.Minute)
	t.Cleanup(cancel)
	b.ctx = ctx
	b.open(t, address)
	return b
}

// listen returns what notes complaints and requests.
func (b *browser) listen(address string) func(any) {
	return func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.complaints = append(b.complaints, e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			b.complaints = append(b.complaints, "console."+string(e.Type))
		case *log.EventEntryAdded:
			b.complaints = append(b.complaints, e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if page, _, _ := strings.Cut(e.Request.URL, "#"); page != address && !strings.HasPrefix(page, "blob:") {
				b.requests = append(b.requests, e.Request.URL)
			}
		}
	}
}

func (b *browser) open(t *testing.T, address string) {
	t.Helper()
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(address))
}

func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// eval checks what an expression gives on the page.
func eval[T comparable](t *testing.T, b *browser, expression string, want T) {
	t.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	if got != want {
		t.Errorf("%s = %v, want %v", expression, got, want)
	}
}

// script runs statements on the page.
func (b *browser) script(t *testing.T, statements string) {
	t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("(() => { "+statements+"; return true })()")); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

// silent checks that nothing was complained about or asked for.
func (b *browser) silent(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 || len(b.requests) > 0 {
		t.Errorf("the browser complains %q and asked for %q", b.complaints, b.requests)
	}
}

// htmlFile writes the page and returns its address.
func htmlFile(t *testing.T, page []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
}

// Expressions that read the page.
const (
	visibleFindings = `[...document.querySelectorAll(".finding")].filter((f) => f.checkVisibility()).map((f) => f.querySelector("h4").textContent.split(" ")[0]).join(" ")`
	visibleRows     = `[...document.querySelectorAll("#table-vms tbody tr")].filter((r) => !r.hidden).map((r) => r.cells[0].textContent).join(" ")`
	hashIs          = `location.hash`
)

func TestHTMLInBrowser(t *testing.T) {
	address := htmlFile(t, htmlPage(t, htmlResult(t, htmlFleet), ""))
	b := openBrowser(t, address)

	t.Run("filter", func(t *testing.T) {
		b.do(t, chromedp.SendKeys(chromedp.CSS("#q"), "hana"))
		eval(t, b, visibleFindings, "prod/hana01")
		eval(t, b, hashIs, "#q=hana")
		b.do(t, chromedp.Click(chromedp.CSS(`[name=sev][value=high]`)))
		eval(t, b, visibleFindings, "")
		eval(t, b, hashIs, "#q=hana&sev=medium%2Cinfo")
	})
	t.Run("state in the address", func(t *testing.T) {
		b.open(t, address+"#place=mixed&vms.sort=-vCPUs&vms=prod")
		eval(t, b, visibleFindings, "mixed/erp01 mixed/erp02 mixed/esx11")
		eval(t, b, visibleRows, "sql01 hana01 web01 web02 web03")
		eval(t, b, `document.querySelector("[aria-sort=descending]").textContent`, "vCPUs")
	})
	t.Run("sort", func(t *testing.T) {
		b.open(t, address)
		eval(t, b, visibleRows, "sql01 hana01 web01 web02 web03 erp01 erp02")
		memory := chromedp.Click(chromedp.CSS(`#table-vms th:nth-child(5) button`))
		b.do(t, memory)
		eval(t, b, visibleRows, "web01 web02 web03 erp01 erp02 sql01 hana01")
		b.do(t, memory)
		eval(t, b, visibleRows, "hana01 sql01 erp01 erp02 web01 web02 web03")
		eval(t, b, hashIs, "#vms.sort=-Memory")
		b.do(t, memory)
		eval(t, b, visibleRows, "sql01 hana01 web01 web02 web03 erp01 erp02")
	})
	t.Run("links open what they lead to", func(t *testing.T) {
		b.script(t, `document.getElementById("N002-info").open = false; document.querySelector('#table-vms a[href="#N002-info"]').click()`)
		eval(t, b, `document.getElementById("N002-info").open`, true)
		eval(t, b, `document.activeElement.id`, "N002-info")
	})
	t.Run("CSV of what is shown", func(t *testing.T) {
		b.open(t, address+"#vms.sort=vCPUs&vms=web0")
		eval(t, b, `document.querySelector("#table-vms tbody tr:not([hidden]) th").textContent = ' ＝HYPERLINK("x")'`, ` ＝HYPERLINK("x")`)
		b.script(t, `URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return "#"; };
			HTMLAnchorElement.prototype.click = () => {};`)
		b.do(t, chromedp.Click(chromedp.CSS("#table-vms .filter button")))
		if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](`window.saved !== undefined`)); err != nil {
			t.Fatal(err)
		}
		eval(t, b, `window.saved`, strings.Join([]string{
			`"Name","Cluster","Host","vCPUs","Memory","Guest sees","Carried by","Findings"`,
			`"' ＝HYPERLINK(""x"")","prod","esx01","4","16 GB","1 node","1 client","N002"`,
			`"web02","prod","esx02","4","16 GB","1 node","1 client","N002"`,
			`"web03","prod","esx01","4","16 GB","1 node","1 client","N002"`, "",
		}, "\r\n"))
	})
	b.silent(t)
}

// Without scripts nothing is hidden but the controls that would need them.
func TestHTMLWithoutScripts(t *testing.T) {
	address := htmlFile(t, htmlPage(t, htmlResult(t, htmlFleet), ""))
	b := openBrowser(t, address)
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.open(t, address)
	eval(t, b, `[...document.querySelectorAll("[hidden]")].map((e) => e.id).join(" ")`, "filter ")
	eval(t, b, `document.querySelectorAll("thead button").length`, 0)
	eval(t, b, visibleRows, "sql01 hana01 web01 web02 web03 erp01 erp02")
}

// Hostile names run nothing and load nothing.
func TestHTMLHostileInBrowser(t *testing.T) {
	b := openBrowser(t, htmlFile(t, htmlPage(t, hostileResult(t), hostile)))
	eval(t, b, `document.querySelectorAll("script").length`, 1)
	eval(t, b, `document.querySelectorAll("img").length`, 0)
	eval(t, b, `document.querySelector("#table-vms tbody th").textContent`, hostile)
	b.silent(t)
}

// The page's policy keeps it from loading anything, whatever would get into it; and
// the test sees it when it tries.
func TestHTMLPolicy(t *testing.T) {
	b := openBrowser(t, htmlFile(t, htmlPage(t, htmlResult(t, htmlFleet), "")))
	b.silent(t)
	b.script(t, `document.body.insertAdjacentHTML("beforeend", "<img src='http://127.0.0.1:9/x.png'>")`)
	b.script(t, `document.body.append(Object.assign(document.createElement("script"), {textContent: "window.ran = true"}))`)
	eval(t, b, `window.ran === undefined`, true)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) != 2 {
		t.Errorf("complaints %q, want one about the image and one about the script", b.complaints)
	}
}
