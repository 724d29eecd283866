// Package page prints an Answer as an HTML page: one file that needs nothing else, drawings
// inside, nothing loaded, readable without scripts and on paper.
package page

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"homenode/internal/texttab"
	"homenode/internal/words"
	"homenode/output/answer"
	drawn "homenode/output/draw/picture"
)

var (
	//go:embed page.tmpl
	pageText string
	//go:embed findings.tmpl
	findingsText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string

	pageTemplate = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("page").Funcs(template.FuncMap{"line": texttab.Line, "tone": toneClass, "class": cellClass, "sort": sortKey, "plural": words.Plural, "thousands": words.Thousands, "bare": bare}).Parse(pageText + findingsText))
	})
)

// manyRows is from how many rows on a table of a page can be searched, as a long one can
// be anyway.
const manyRows = 12

// mostPictures is how many drawings below the first heading are not folded: a row.
const mostPictures = 2

// page is what an HTML page shows, in its order.
type page struct {
	*answer.Answer
	Homenode string // version
	Policy   string
	Style    template.CSS
	Script   template.JS
	Headline string
	Rest     []string
	Groups   []pictureGroup
	Parts    []part // below the drawings; of an answer with findings the long ones
	First    []part // above everything
	Before   []part // above the findings
	Judged   *judgedPart
	Notes    []noteGroup
	Site     *Site
}

// A pictureGroup is drawings below one heading.
type pictureGroup struct {
	Heading, Lead, Cut string
	Pictures           []picture
	More               []picture // of a file, folded
}

// mostBeside is the width of a drawing that can stand beside another one.
const mostBeside = drawn.Px(6500)

// Beside reports whether two drawings stand side by side, as today and changed do.
func (g *pictureGroup) Beside() bool {
	return len(g.Pictures) == 2 && g.Pictures[0].width <= mostBeside && g.Pictures[1].width <= mostBeside
}

// A picture is a drawing inside the page.
type picture struct {
	answer.Drawing
	SVG   template.HTML
	Label string // no other drawing of the page has it
	width drawn.Px
}

// A part is a table with its anchor.
type part struct {
	answer.Table
	Heading string
	Anchor  string
	Search  bool
	Pager   *Pager // of a site
}

// A noteGroup is notes of one origin.
type noteGroup struct {
	Title string
	Notes []answer.Note
}

// noteTitles are the headings of notes by who says them.
var noteTitles = map[string]string{
	"": "What to know", "source": "What the source says about itself", "capture": "What the capture lacks, and what could not be read", "judgement": "Could not be judged",
	"configuration": "What the configuration changes", "simulation": "What the simulation leaves out",
}

// Write writes the answer as a page; version is that of homenode, empty leaves it out.
func Write(w io.Writer, a *answer.Answer, version string) error {
	p, style, err := compose(a, nil)
	if err != nil {
		return err
	}
	p.Homenode = version
	p.Style, p.Script = template.CSS(pageStyle+style), template.JS(pageScript)
	// Only this style and this script, by their hashes; nothing is ever loaded.
	p.Policy = "default-src 'none'; style-src '" + hashOf(string(p.Style)) + "'; script-src '" + hashOf(pageScript) + "'; base-uri 'none'; form-action 'none'"
	return p.execute(w, "page")
}

// execute writes a template of the page, cleaned.
func (p *page) execute(w io.Writer, name string) error {
	b := bufio.NewWriterSize(texttab.Cleaned(w), 64<<10)
	if err := pageTemplate().ExecuteTemplate(b, name, p); err != nil {
		return err
	}
	return b.Flush()
}

// compose returns what the page shows and the style of its drawings. Nil for site: it is a file of its own.
func compose(a *answer.Answer, site *Site) (p *page, style string, err error) {
	p = &page{Answer: a, Site: site}
	if len(a.Verdict) > 0 {
		p.Headline, p.Rest = a.Verdict[0], a.Verdict[1:]
	} else {
		p.Headline = a.Title
	}
	labels := map[string]int{}
	for _, d := range a.Drawings {
		var b bytes.Buffer
		shown := d.Picture()
		if err := drawn.Write(&b, shown, true); err != nil {
			return nil, "", err
		}
		style = drawn.Style
		if len(p.Groups) == 0 || d.Heading != "" {
			p.Groups = append(p.Groups, pictureGroup{Heading: d.Heading, Lead: d.Lead})
		}
		g := &p.Groups[len(p.Groups)-1]
		label := cmp.Or(d.About, "Drawing")
		if labels[label]++; labels[label] > 1 {
			label += fmt.Sprintf(" (%d)", labels[label])
		}
		one := picture{d, template.HTML(b.String()), label, shown.Width} // drawings escape what strangers wrote
		if g.Cut = d.Cut; site == nil && g.Heading != "" && (len(p.Groups) > 1 || len(g.Pictures) == mostPictures) {
			g.More = append(g.More, one)
		} else {
			g.Pictures = append(g.Pictures, one)
		}
	}
	long := map[string]bool{}
	for _, t := range a.Tables {
		long[t.Name] = long[t.Name] || t.Long
	}
	for _, t := range a.Tables {
		if long[t.Name] && !t.Long {
			continue
		}
		one := partOf(a, t, site)
		switch {
		case t.First:
			p.First = append(p.First, one)
		case a.Findings != nil && !t.Long:
			p.Before = append(p.Before, one)
		default:
			p.Parts = append(p.Parts, one)
		}
	}
	if a.Findings != nil {
		p.Judged = judgedPartOf(a.Findings, site)
	}
	for _, n := range a.FewNotes() {
		title := noteTitles[n.From]
		i := slices.IndexFunc(p.Notes, func(g noteGroup) bool { return g.Title == title })
		if i < 0 {
			i = len(p.Notes)
			p.Notes = append(p.Notes, noteGroup{Title: title})
		}
		p.Notes[i].Notes = append(p.Notes[i].Notes, n)
	}
	return p, style, nil
}

// partOf returns a table as a page shows it: whole in a file, the asked rows of a long one in a site.
func partOf(a *answer.Answer, t answer.Table, site *Site) part {
	if t.Fill != nil {
		t.Rows = t.Fill()
	}
	one := part{Table: t, Heading: a.HeadingOf(&t), Anchor: "table-" + strings.ReplaceAll(t.Name, " ", "-")}
	one.Folded = t.Folded && site == nil && len(t.Rows) >= manyRows
	switch {
	case site == nil:
		one.Search = t.Long || len(t.Rows) >= manyRows
		one.Rows = withoutObjects(t.Rows)
	case len(t.Rows) >= manyRows && !site.Whole:
		one.Pager = newPager(&one.Table, site)
	}
	return one
}

// withoutObjects returns the rows without what only a site can show.
func withoutObjects(rows [][]answer.Cell) [][]answer.Cell {
	out := slices.Clone(rows) // those of an answer that is shown again stay
	for k, row := range rows {
		if slices.ContainsFunc(row, func(c answer.Cell) bool { return c.To.Kind != "" || c.Parts != nil }) {
			out[k] = slices.Clone(row)
			for i := range row {
				out[k][i].To, out[k][i].Parts = answer.Object{}, slices.Clone(row[i].Parts)
				for p := range row[i].Parts {
					out[k][i].Parts[p].To = answer.Object{}
				}
			}
		}
	}
	return out
}

// hashOf returns the hash by which a content security policy allows an inline style or
// script.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// toneClass returns the class of a cell.
func toneClass(c answer.Cell) string {
	return [...]string{answer.Plain: "", answer.Faint: "info", answer.Low: "low", answer.Medium: "medium", answer.High: "high", answer.Bad: "bad"}[c.Tone]
}

// sortKey returns the number to sort a cell by; "" where its text begins with it, which sorts alike.
func sortKey(c answer.Cell) string {
	if rest, ok := strings.CutPrefix(c.Text, c.Sort); ok && (rest == "" || rest[0] == ' ' && !strings.Contains(rest, "B")) {
		return ""
	}
	return c.Sort
}

// cellClass returns the classes of a cell in its column.
func cellClass(in answer.Column, c answer.Cell) string {
	class := toneClass(c)
	if in.Right {
		class = strings.TrimSpace("n " + class)
	}
	return class
}
