package recording_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"homenode/internal/browser"
	"homenode/internal/formtest"
	"homenode/output/format"
	"homenode/output/recording"
)

// The page of a capture filters, sorts, links and shows numbers as that of a fleet does.
func TestCaptureHTMLInBrowser(t *testing.T) {
	w := watchedNight(t)
	address := browser.File(t, written(t, "html", recording.Capture(w, recording.Options{Details: true}), format.Options{}))
	b := browser.Open(t, address)
	t.Run("filter", func(t *testing.T) {
		b.Do(t, chromedp.SendKeys(chromedp.CSS("#q"), "app02"))
		browser.Eval(t, b, visibleFindings, "app02")
		browser.Eval(t, b, hashIs, "#q=app02")
	})
	t.Run("host", func(t *testing.T) {
		b.Go(t, address+"#place=esx07")
		browser.Eval(t, b, visibleFindings, "sql01 esx07 sql01")
	})
	t.Run("drawing", func(t *testing.T) {
		b.Script(t, `document.querySelector('#table-VMs a[href="#capture-esx07__vm-sql01__gid-4711"]').click()`)
		browser.Eval(t, b, `document.activeElement.id`, "capture-esx07__vm-sql01__gid-4711")
		const hidden = `getComputedStyle(document.querySelector("#capture-esx07__vm-sql01__gid-4711__memory .numbers")).display === "none"`
		browser.Eval(t, b, hidden, true)
		b.Go(t, address) // away from where the pointer is
		b.Do(t, chromedp.Click(chromedp.CSS(`h1`)))
		b.Script(t, `document.querySelectorAll("details.more").forEach((more) => { more.open = true; }); document.getElementById("capture-esx07__vm-sql01__gid-4711__memory").focus({preventScroll: true})`)
		browser.Eval(t, b, hidden, false)
	})
	b.Silent(t)
}

// A long table sorts by numbers.
func TestCaptureHTMLSortsInBrowser(t *testing.T) {
	b := browser.Open(t, browser.File(t, written(t, "html", recording.Capture(demoWatched(t), recording.Options{}), format.Options{})))
	browser.Eval(t, b, firstRows, "kafka01 app36 web044")
	const click = `[...document.querySelectorAll("#table-VMs thead button")].find((e) => e.textContent === "remote max").click();`
	b.Script(t, click+click)
	browser.Eval(t, b, firstRows, "kafka01 app04 kafka05")
}

// Hostile names run nothing and load nothing.
func TestCaptureHTMLHostileInBrowser(t *testing.T) {
	w := hostileWatched(t)
	b := browser.Open(t, browser.File(t, written(t, "html", recording.Capture(w, recording.Options{}), format.Options{Version: formtest.Hostile})))
	browser.Eval(t, b, `document.querySelectorAll("script").length`, 1)
	browser.Eval(t, b, `document.querySelectorAll("img").length`, 0)
	b.Silent(t)
}

// Expressions that read the page.
const (
	visibleFindings = `[...document.querySelectorAll(".finding")].filter((f) => f.checkVisibility()).map((f) => f.querySelector("h3").textContent.split(" ")[0]).join(" ")`
	firstRows       = `[...document.querySelectorAll("#table-VMs tbody tr")].slice(0, 3).map((r) => r.cells[0].textContent).join(" ")`
	hashIs          = `location.hash`
)
