package recording_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"example.org/homenode/internal/browser"
	"example.org/homenode/output/format"
	"example.org/homenode/output/recording"
)

// A name in a table leads to its drawing, which shows its numbers. The rest of the page is tested with that of a fleet.
func TestCaptureHTMLInBrowser(t *testing.T) {
	w := watchedNight(t)
	address := browser.File(t, written(t, "html", recording.Capture(w, recording.Options{Details: true}), format.Options{}))
	b := browser.Open(t, address)
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
