package report_test

import (
	"io"
	"testing"

	"github.com/chromedp/chromedp"

	"homenode/output/report"
)

// The page of a capture filters, sorts, links and shows numbers as that of a fleet does.
func TestCaptureHTMLInBrowser(t *testing.T) {
	w := watchedNight(t)
	address := htmlFile(t, written(t, func(b io.Writer) error { return report.CaptureHTML(b, w, report.HTMLOptions{}) }))
	b := openBrowser(t, address)
	t.Run("filter", func(t *testing.T) {
		b.do(t, chromedp.SendKeys(chromedp.CSS("#q"), "app02"))
		eval(t, b, visibleFindings, "app02")
		eval(t, b, hashIs, "#q=app02")
	})
	t.Run("host", func(t *testing.T) {
		b.open(t, address+"#cluster=esx07")
		eval(t, b, visibleFindings, "sql01 esx07 sql01")
	})
	t.Run("sort", func(t *testing.T) {
		b.open(t, address)
		eval(t, b, visibleRows, "sql01 (gid 4711) app02 sql01 (gid 4799) web01 app01")
		b.do(t, chromedp.Click(chromedp.CSS(`[data-key=least] button`)))
		eval(t, b, visibleRows, "app01 sql01 (gid 4711) app02 sql01 (gid 4799) web01")
	})
	t.Run("drawing", func(t *testing.T) {
		b.script(t, `document.querySelector('#vmtable a[href="#capture-esx07__vm-sql01__gid-4711"]').click()`)
		eval(t, b, `document.activeElement.id`, "capture-esx07__vm-sql01__gid-4711")
		const hidden = `getComputedStyle(document.querySelector("#capture-esx07__vm-sql01__gid-4711__memory .numbers")).display === "none"`
		eval(t, b, hidden, true)
		b.open(t, address) // away from where the pointer is
		b.script(t, `document.getElementById("capture-esx07__vm-sql01__gid-4711__memory").focus({preventScroll: true})`)
		eval(t, b, hidden, false)
	})
	b.silent(t)
}

// Hostile names run nothing and load nothing.
func TestCaptureHTMLHostileInBrowser(t *testing.T) {
	w := hostileWatched(t)
	b := openBrowser(t, htmlFile(t, written(t, func(b io.Writer) error { return report.CaptureHTML(b, w, report.HTMLOptions{Version: hostile}) })))
	eval(t, b, `document.querySelectorAll("script").length`, 1)
	eval(t, b, `document.querySelectorAll("img").length`, 0)
	b.silent(t)
}
