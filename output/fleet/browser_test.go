package fleet_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"example.org/homenode/internal/browser"
	"example.org/homenode/internal/formtest"
)

// Expressions that read the page.
const (
	visibleFindings = `[...document.querySelectorAll(".finding")].filter((f) => f.checkVisibility()).map((f) => f.querySelector("h3").textContent.split(" ")[0]).join(" ")`
	visibleRows     = `[...document.querySelectorAll("#table-vms tbody tr")].filter((r) => !r.hidden).map((r) => r.cells[0].textContent).join(" ")`
	hashIs          = `location.hash`
)

func TestHTMLInBrowser(t *testing.T) {
	address := browser.File(t, htmlPage(t, htmlResult(t, htmlFleet), ""))
	b := browser.Open(t, address)

	t.Run("filter", func(t *testing.T) {
		b.Do(t, chromedp.SendKeys(chromedp.CSS("#q"), "hana"))
		browser.Eval(t, b, visibleFindings, "prod/hana01")
		browser.Eval(t, b, hashIs, "#q=hana")
		b.Do(t, chromedp.Click(chromedp.CSS(`[name=sev][value=high]`)))
		browser.Eval(t, b, visibleFindings, "")
		browser.Eval(t, b, hashIs, "#q=hana&sev=medium%2Cinfo")
	})
	t.Run("state in the address", func(t *testing.T) {
		b.Go(t, address+"#place=mixed&vms.sort=-vCPUs&vms=prod")
		browser.Eval(t, b, visibleFindings, "mixed/erp01, mixed/esx11")
		browser.Eval(t, b, visibleRows, "sql01 hana01 web01 web02 web03")
		browser.Eval(t, b, `document.querySelector("[aria-sort=descending]").textContent`, "vCPUs")
	})
	t.Run("sort", func(t *testing.T) {
		b.Go(t, address)
		browser.Eval(t, b, visibleRows, "sql01 hana01 web01 web02 web03 erp01 erp02")
		memory := chromedp.Click(chromedp.CSS(`#table-vms th:nth-child(5) button`))
		b.Do(t, memory)
		browser.Eval(t, b, visibleRows, "web01 web02 web03 erp01 erp02 sql01 hana01")
		b.Do(t, memory)
		browser.Eval(t, b, visibleRows, "hana01 sql01 erp01 erp02 web01 web02 web03")
		browser.Eval(t, b, hashIs, "#vms.sort=-Memory")
		b.Do(t, memory)
		browser.Eval(t, b, visibleRows, "sql01 hana01 web01 web02 web03 erp01 erp02")
	})
	t.Run("links open what they lead to", func(t *testing.T) {
		b.Script(t, `document.getElementById("rule-N002").open = false; document.querySelector('#table-vms a[href="#rule-N002"]').click()`)
		browser.Eval(t, b, `document.getElementById("rule-N002").open`, true)
		browser.Eval(t, b, `document.activeElement.id`, "rule-N002")
	})
	t.Run("CSV of what is shown", func(t *testing.T) {
		b.Go(t, address+"#vms.sort=vCPUs&vms=web0")
		browser.Eval(t, b, `document.querySelector("#table-vms tbody tr:not([hidden]) th").textContent = ' ＝HYPERLINK("x")'`, ` ＝HYPERLINK("x")`)
		b.Script(t, `URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return "#"; };
			HTMLAnchorElement.prototype.click = () => {};`)
		b.Do(t, chromedp.Click(chromedp.CSS("#table-vms .filter button")))
		if _, err := chromedp.Run(b.Context, chromedp.Poll[bool](`window.saved !== undefined`)); err != nil {
			t.Fatal(err)
		}
		browser.Eval(t, b, `window.saved`, strings.Join([]string{
			`"Name","Cluster","Host","vCPUs","Memory","Guest sees","Carried by","Findings"`,
			`"' ＝HYPERLINK(""x"")","prod","esx01","4","16 GB","1 node","1 client","N002"`,
			`"web02","prod","esx02","4","16 GB","1 node","1 client","N002"`,
			`"web03","prod","esx01","4","16 GB","1 node","1 client","N002"`, "",
		}, "\r\n"))
	})
	b.Silent(t)
}

// Without scripts nothing is hidden but the controls that would need them.
func TestHTMLWithoutScripts(t *testing.T) {
	address := browser.File(t, htmlPage(t, htmlResult(t, htmlFleet), ""))
	b := browser.Open(t, address)
	if _, err := chromedp.Call(b.Context, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.Go(t, address)
	browser.Eval(t, b, `[...document.querySelectorAll("[hidden]")].map((e) => e.id || e.className).join(" ")`, "filter filter all")
	browser.Eval(t, b, `document.querySelectorAll("thead button").length`, 0)
	browser.Eval(t, b, visibleRows, "sql01 hana01 web01 web02 web03 erp01 erp02")
}

// Hostile names run nothing and load nothing.
func TestHTMLHostileInBrowser(t *testing.T) {
	b := browser.Open(t, browser.File(t, htmlPage(t, hostileResult(t), formtest.Hostile)))
	browser.Eval(t, b, `document.querySelectorAll("script").length`, 1)
	browser.Eval(t, b, `document.querySelectorAll("img").length`, 0)
	browser.Eval(t, b, `document.querySelector("#table-vms tbody th").textContent`, formtest.Hostile)
	b.Silent(t)
}

// The page's policy keeps it from loading anything, whatever would get into it; and
// the test sees it when it tries.
func TestHTMLPolicy(t *testing.T) {
	b := browser.Open(t, browser.File(t, htmlPage(t, htmlResult(t, htmlFleet), "")))
	b.Silent(t)
	b.Script(t, `document.body.insertAdjacentHTML("beforeend", "<img src='http://127.0.0.1:9/x.png'>")`)
	b.Script(t, `document.body.append(Object.assign(document.createElement("script"), {textContent: "window.ran = true"}))`)
	browser.Eval(t, b, `window.ran === undefined`, true)
	if complaints := b.Complaints(); len(complaints) != 2 {
		t.Errorf("complaints %q, want one about the image and one about the script", complaints)
	}
}
