package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"

	"homenode/output/draw/svg"
	"homenode/rules"
)

// HTMLOptions say how HTML writes.
type HTMLOptions struct {
	Version string // of homenode; empty leaves it out
	// Bounds of what is shown, so that a page of a large fleet opens; the page says
	// what it leaves out. 0 means the default.
	MostHosts    int // drawings of hosts; 24
	MostVMs      int // drawings of VMs; 20
	MostFindings int // findings listed for a rule and severity; 200
}

func (o HTMLOptions) withDefaults() HTMLOptions {
	for _, d := range []struct {
		field *int
		value int
	}{{&o.MostHosts, 24}, {&o.MostVMs, 20}, {&o.MostFindings, 200}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return o
}

var (
	//go:embed html_parts.tmpl
	htmlParts string
	//go:embed html.tmpl
	htmlTemplate string
	//go:embed html.css
	htmlStyle string
	//go:embed html.js
	htmlScript string

	htmlPage = pageTemplate("report", htmlTemplate)
)

// pageTemplate returns the template of a page, with the parts that pages share.
func pageTemplate(name, text string) *template.Template {
	t := template.New(name).Funcs(template.FuncMap{"plural": plural, "thousands": thousands})
	return template.Must(template.Must(t.Parse(htmlParts)).Parse(text))
}

// HTML writes the judged fleet as one file that needs nothing else: no network, no
// other file, and no script to be read. The same input gives the same bytes.
func HTML(w io.Writer, r *rules.Result, o HTMLOptions) error {
	page, err := newHTMLReport(r, o.withDefaults())
	if err != nil {
		return err
	}
	page.dress(svg.Style)
	return writePage(w, htmlPage, page)
}

// dress gives the page its style, with that of its drawings, and its script.
func (p *pageParts) dress(drawings string) {
	p.Style = template.CSS(htmlStyle + drawings)
	p.Script = template.JS(htmlScript)
	// Only this style and this script, by their hashes; nothing is ever loaded.
	p.Policy = "default-src 'none'; style-src '" + hashOf(string(p.Style)) + "'; script-src '" + hashOf(string(p.Script)) +
		"'; base-uri 'none'; form-action 'none'"
}

func writePage(w io.Writer, t *template.Template, page any) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := t.Execute(b, page); err != nil {
		return err
	}
	return b.Flush()
}

// hashOf returns the hash by which a content security policy allows an inline
// style or script.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
