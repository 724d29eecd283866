package dist

import (
	"os"
	"path/filepath"
	"testing"

	"example.org/homenode/internal/browser"
	"example.org/homenode/internal/testdeps"
)

// TestSite opens the site of make site as files and searches in it: it needs no server, and nothing is refused by its policy.
func TestSite(t *testing.T) {
	testdeps.Proving(t)
	index, err := filepath.Abs("../../dist/site/index.html")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(index); err != nil {
		t.Skip("no site: make site writes it")
	}
	b := browser.Open(t, "file://"+index)
	b.Script(t, `const box = document.getElementById("search"); box.value = "hot add N001"; box.dispatchEvent(new Event("input"))`)
	browser.Eval(t, b, `document.getElementById("found").hidden`, false)
	browser.Eval(t, b, `[...document.querySelectorAll("#found a")].some(a => a.href.includes("/docs/reference/rules/N001.html"))`, true)
	browser.Eval(t, b, `document.images.length > 2 && [...document.images].every(i => i.complete && i.naturalWidth > 0)`, true)
	browser.Eval(t, b, `getComputedStyle(document.querySelector("header")).position`, "sticky")
	b.Script(t, `const box = document.getElementById("search"); box.value = "zzzz<b>"; box.dispatchEvent(new Event("input"))`)
	browser.Eval(t, b, `document.getElementById("found").textContent`, "nothing found")
	if said := b.Complaints(); len(said) > 0 {
		t.Errorf("the browser complains %q", said)
	}
}
