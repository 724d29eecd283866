// Package browser opens pages in a headless Chromium, to test their scripts.
package browser

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Page is a page in a headless Chromium, with its complaints and requests.
type Page struct {
	Context    context.Context
	mu         sync.Mutex
	complaints []string // of the console and the content security policy
	requests   []string // except for the page itself
}

// Open starts Chromium on the page at address, or skips the test. The scripts run in every page before its own.
func Open(t *testing.T, address string, scripts ...string) *Page {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no chromium-headless-shell, chromium, chromium-browser or google-chrome in PATH")
	}
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	t.Cleanup(cancelAlloc)
	// The first context owns the browser: a timeout on it would end the browser, so the timeout is on a second one.
	first, cancelFirst := chromedp.NewContext(alloc)
	t.Cleanup(cancelFirst)
	b := &Page{}
	if err := chromedp.Listen(first, b.listen(address)); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	ctx, cancel := context.WithTimeout(first, 6*time.Minute)
	t.Cleanup(cancel)
	b.Context = ctx
	for _, script := range scripts {
		if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
			t.Fatal(err)
		}
	}
	b.Go(t, address)
	return b
}

// listen returns a listener that records complaints and requests.
func (b *Page) listen(address string) func(any) {
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

// Go reloads the page at address.
func (b *Page) Go(t *testing.T, address string) {
	t.Helper()
	b.Do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(address))
}

// Do performs steps on the page.
func (b *Page) Do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.Context, steps...); err != nil {
		t.Fatal(err)
	}
}

// Eval checks the value of an expression on the page.
func Eval[T comparable](t *testing.T, b *Page, expression string, want T) {
	t.Helper()
	got, err := chromedp.Run(b.Context, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	if got != want {
		t.Errorf("%s = %v, want %v", expression, got, want)
	}
}

// Script runs statements on the page.
func (b *Page) Script(t *testing.T, statements string) {
	t.Helper()
	if _, err := chromedp.Run(b.Context, chromedp.Evaluate[bool]("(() => { "+statements+"; return true })()")); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

// Complaints returns the complaints of the browser.
func (b *Page) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.complaints)
}

// Silent checks that there were no complaints and no requests.
func (b *Page) Silent(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 || len(b.requests) > 0 {
		t.Errorf("the browser complains %q and asked for %q", b.complaints, b.requests)
	}
}

// File writes a page to a file and returns its address.
func File(t *testing.T, page []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
}
