package site

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"homenode/rules"
	"homenode/serve/held"
)

// TestCatalogues checks that each language has the same texts, and among them every page and the title of every rule.
func TestCatalogues(t *testing.T) {
	var want []string
	for _, p := range pages() {
		want = append(want, p.title)
	}
	for _, r := range rules.All {
		want = append(want, r.Title)
	}
	for lang, words := range catalogue() {
		for _, text := range want {
			if words[text] == "" {
				t.Errorf("%s: %q is missing", lang, text)
			}
		}
		for other, more := range catalogue() {
			for text := range more {
				if words[text] == "" {
					t.Errorf("%s: %q is missing, %s has it", lang, text, other)
				}
			}
		}
	}
}

func TestTranslate(t *testing.T) {
	in := `<html lang="en"><title>Fleet · homenode</title><nav><a href="/">Fleet</a></nav><main id="main"><h1>Fleet</h1><h2>Findings</h2><table><thead><tr><th scope="col"><a href="#">Value</a></th></tr></thead><tbody><tr><th scope="row"><a href="/vm">Fleet</a></th><td>Host</td></tr></tbody></table><p>2 &lt; 3</p><input placeholder="VM, host, rule …"></main></html>`
	want := `<html lang="de"><title>Fleet · homenode</title><nav><a href="/">Bestand</a></nav><main id="main" lang="en"><h1 lang="de">Bestand</h1><h2 lang="de">Befunde</h2><table><thead><tr><th scope="col"><a href="#" lang="de">Wert</a></th></tr></thead><tbody><tr><th scope="row"><a href="/vm">Fleet</a></th><td>Host</td></tr></tbody></table><p>2 &lt; 3</p><input placeholder="VM, Host, Regel …"></main></html>`
	var b strings.Builder
	if err := translate(&b, []byte(in), "de"); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	b.Reset()
	if err := translate(&b, []byte(in), "en"); err != nil || b.String() != in {
		t.Errorf("English has changed: %v\n%s", err, b.String())
	}
}

func TestLanguage(t *testing.T) {
	s := &Site{Fleets: func() []*held.Fleet { return nil }, Ask: none}
	for accept, want := range map[string]string{"": "en", "fr-CH, en;q=0.5": "fr", "ja": "en", "de": "de", "ru-RU": "ru", ";;": "en", "*": "en"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Language", accept)
		if got := languageOf(r); got != want {
			t.Errorf("%q: %s, want %s", accept, got, want)
		}
	}
	for _, tt := range []struct{ form, to string }{
		{"to=de&back=/vm?vm=a", "/vm?vm=a"}, {"to=de&back=//evil.example", "/"}, {"to=de&back=/%09/evil.example", "/"}, {"to=de&back=https://evil.example", "/"}, {`to=de&back=/\evil.example`, "/"},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/language", strings.NewReader(tt.form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		s.choose(w, r)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != tt.to || !slices.ContainsFunc(w.Result().Cookies(), func(c *http.Cookie) bool { return c.Value == "de" }) {
			t.Errorf("%s: %d to %q", tt.form, w.Code, w.Header().Get("Location"))
		}
	}
	w := httptest.NewRecorder()
	s.choose(w, httptest.NewRequest(http.MethodPost, "/language?to=xx", nil))
	if w.Code != http.StatusBadRequest {
		t.Errorf("an unknown language: %d", w.Code)
	}
}
