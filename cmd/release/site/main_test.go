package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// small returns a project of few documents; more adds to its README.
func small(more string) fstest.MapFS {
	all := fstest.MapFS{
		"README.md":          {Data: []byte("# homenode\n\n[start](docs/start.md#the-first-step), [page](docs), [code](Makefile), [out](https://example.com/x)\n\n![night](docs/img/night.svg)\n" + more)},
		"docs/img/night.svg": {Data: []byte("<svg/>")}, "Makefile": {Data: []byte("all:\n")}, "dist/homenode.html": {Data: []byte("page")}, "docs/README.md": {Data: []byte("# All\n")},
	}
	for _, g := range guides[1:] {
		all[g] = &fstest.MapFile{Data: []byte("# " + g + "\n\n## The first step\n\nhot <b>add</b> `a < b`\n\n[back](" + strings.Repeat("../", strings.Count(g, "/")) + "README.md)\n")}
	}
	return all
}

// TestSite writes a site and looks at its links, its search and its files.
func TestSite(t *testing.T) {
	s := &site{root: small(""), out: t.TempDir(), version: "1.2.3", home: "example.org/homenode", pages: map[string]*page{}}
	if err := s.read(); err != nil {
		t.Fatal(err)
	}
	if err := s.write(); err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"index.html":                      {`<a href="docs/start.html#the-first-step">start</a>`, `<a href="docs/index.html">page</a>`, `<img src="docs/img/night.svg"`, `>out</a>`, `, code, `, "homenode 1.2.3"},
		"docs/reference/rules/index.html": {`<a href="../../../index.html">back</a>`, `<script defer src="../../../search.js">`},
		"search.js":                       {`["docs/start.html#the-first-step","docs/start.md","The first step hot add a \u003c b`},
		"docs/img/night.svg":              {"<svg/>"}, "homenode.html": {"page"}, "site.css": {"body"},
	} {
		b, err := os.ReadFile(filepath.Join(s.out, name))
		for _, want := range wants {
			if err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%s lacks %s: %v\n%.900s", name, want, err, b)
			}
		}
	}
}

// TestLinks names every link that leads nowhere.
func TestLinks(t *testing.T) {
	s := &site{root: small("[a](none.md) [b](docs/start.md#none) [c](#none)"), out: t.TempDir(), home: "github.com/owner/homenode", pages: map[string]*page{}}
	if err := s.read(); err != nil {
		t.Fatal(err)
	}
	err := s.write()
	if want := "README.md: none.md leads nowhere\nREADME.md: docs/start.md#none: no such heading\nREADME.md: #none: no such heading"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if b, err := os.ReadFile(filepath.Join(s.out, "index.html")); err != nil || !strings.Contains(string(b), `<a href="https://github.com/owner/homenode/blob/HEAD/Makefile">code</a>`) {
		t.Errorf("%v: %s", err, b)
	}
}
