// Package page prints an Answer as a self-contained HTML page. It includes drawings, loads nothing, and is
// readable without scripts and on paper.
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
	"unicode"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	drawn "example.org/homenode/output/draw/picture"
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

// manyRows is the minimum number of rows of a table with a search field. Long tables always have one.
const manyRows = 12

// mostPictures is the number of drawings below the first heading that are not folded: one row.
const mostPictures = 2

// mostOnSite is the number of drawings below a heading of a site that are not folded.
const mostOnSite = 3

// A page is the content of an HTML page, in page order.
type page struct {
	*answer.Answer
	Homenode string // version of homenode
	Policy   string
	Style    template.CSS
	Script   template.JS
	Headline string
	Rest     []string
	Groups   []pictureGroup
	Parts    []part // below the drawings; with findings only the long tables
	First    []part // at the top
	Before   []part // before the findings
	Judged   *judgedPart
	Notes    []noteGroup
	Site     *Site

	anchors map[string]bool // of its drawings and rules; links to others are left out
}

// A pictureGroup is drawings under one heading.
type pictureGroup struct {
	Heading, Lead, Cut string
	Pictures           []picture
	More               []picture // in a file, folded
}

// mostBeside is the maximum width of a drawing that fits beside another one.
const mostBeside = drawn.Px(6500)

// Beside reports whether two drawings are side by side, as for today and changed.
func (g *pictureGroup) Beside() bool {
	return len(g.Pictures) == 2 && g.Pictures[0].width <= mostBeside && g.Pictures[1].width <= mostBeside
}

// A picture is a drawing inside the page.
type picture struct {
	answer.Drawing
	SVG   template.HTML
	Label string // unique on the page
	width drawn.Px
}

// A part is a table with its anchor.
type part struct {
	answer.Table
	Heading string
	Anchor  string
	Search  bool
	Pager   *Pager // in a site
}

// A noteGroup is notes with the same origin.
type noteGroup struct {
	Title string
	Notes []answer.Note
}

// noteTitles are the headings of notes, by origin.
var noteTitles = map[string]string{
	"": "Good to know", "source": "Notes of the source", "capture": "Missing or unreadable parts of the capture", "judgement": "Could not be judged",
	"configuration": "What the configuration changes", "simulation": "Limits of the simulation",
}

// Write writes the answer as a page. version is the version of homenode; "" omits it.
func Write(w io.Writer, a *answer.Answer, version string) error {
	p, style, err := compose(a, nil)
	if err != nil {
		return err
	}
	p.Homenode = version
	p.Style, p.Script = template.CSS(pageStyle+style), template.JS(pageScript)
	// Allow only this style and this script, by hash; nothing is loaded.
	p.Policy = "default-src 'none'; style-src '" + hashOf(string(p.Style)) + "'; script-src '" + hashOf(pageScript) + "'; base-uri 'none'; form-action 'none'"
	return p.execute(w, "page")
}

// execute writes a template of the page without unsafe characters.
func (p *page) execute(w io.Writer, name string) error {
	b := bufio.NewWriterSize(texttab.Cleaned(w), 64<<10)
	if err := pageTemplate().ExecuteTemplate(b, name, p); err != nil {
		return err
	}
	return b.Flush()
}

// headline divides a verdict into its first sentence and the rest: a headline of several sentences would fill a phone.
func headline(verdict []string) (first string, rest []string) {
	first, more, cut := strings.Cut(verdict[0], ". ")
	if !cut || more == "" || !unicode.IsUpper([]rune(more)[0]) {
		return verdict[0], verdict[1:]
	}
	return first + ".", append([]string{more}, verdict[1:]...)
}

// compose returns the content of the page and the style of its drawings. site is nil for a self-contained
// file.
func compose(a *answer.Answer, site *Site) (p *page, style string, err error) {
	p = &page{Answer: a, Site: site, anchors: map[string]bool{}}
	if len(a.Verdict) > 0 {
		p.Headline, p.Rest = headline(a.Verdict)
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
		p.anchors[d.ID], p.anchors[shown.Prefix+shown.ID] = true, true
		if len(p.Groups) == 0 || d.Heading != "" {
			p.Groups = append(p.Groups, pictureGroup{Heading: d.Heading, Lead: d.Lead})
		}
		g := &p.Groups[len(p.Groups)-1]
		label := cmp.Or(d.About, "Drawing")
		if labels[label]++; labels[label] > 1 {
			label += fmt.Sprintf(" (%d)", labels[label])
		}
		one := picture{d, template.HTML(b.String()), label, shown.Width} // drawings escape untrusted text
		if g.Cut = d.Cut; site == nil && g.Heading != "" && (len(p.Groups) > 1 || len(g.Pictures) == mostPictures) || site != nil && len(g.Pictures) == mostOnSite {
			g.More = append(g.More, one)
		} else {
			g.Pictures = append(g.Pictures, one)
		}
	}
	if a.Findings != nil {
		p.Judged = judgedPartOf(a.Findings, p)
	}
	p.addTables(a)
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

// addTables adds the tables of the answer to the parts of the page: the long form of a table that has one.
func (p *page) addTables(a *answer.Answer) {
	long := map[string]bool{}
	for _, t := range a.Tables {
		long[t.Name] = long[t.Name] || t.Long
	}
	for _, t := range a.Tables {
		if long[t.Name] && !t.Long {
			continue
		}
		one := p.partOf(a, t)
		switch {
		case t.First:
			p.First = append(p.First, one)
		case a.Findings != nil && !t.Long:
			p.Before = append(p.Before, one)
		default:
			p.Parts = append(p.Parts, one)
		}
	}
}

// partOf returns a table as a part of a page: complete in a file, the requested rows of a long table in a
// site.
func (p *page) partOf(a *answer.Answer, t answer.Table) part {
	site := p.Site
	if t.Fill != nil {
		t.Rows = t.Fill()
	}
	one := part{Table: t, Heading: a.HeadingOf(&t), Anchor: "table-" + strings.ReplaceAll(t.Name, " ", "-")}
	one.Folded = t.Folded && site == nil && len(t.Rows) >= manyRows
	switch {
	case site == nil:
		one.Search = t.Long || len(t.Rows) >= manyRows
	case len(t.Rows) >= manyRows && !site.Whole:
		one.Pager = newPager(&one.Table, site)
	}
	one.Rows = p.linked(one.Rows)
	return one
}

// linked returns the rows without links that lead nowhere: to objects, which only a site has, and to anchors that the page does not have.
func (p *page) linked(rows [][]answer.Cell) [][]answer.Cell {
	keep := func(c *answer.Cell) {
		if p.Site == nil {
			c.To = answer.Object{}
		}
		if !p.anchors[c.Ref] {
			c.Ref = ""
		}
	}
	out := make([][]answer.Cell, len(rows)) // a, which can be shown again, must not change
	for k, row := range rows {
		out[k] = slices.Clone(row)
		for i := range row {
			c := &out[k][i]
			keep(c)
			c.Parts = slices.Clone(c.Parts)
			for n := range c.Parts {
				keep(&c.Parts[n])
			}
		}
	}
	return out
}

// hashOf returns the hash of an inline style or script for a content security policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// toneClass returns the class of a cell.
func toneClass(c answer.Cell) string {
	return [...]string{answer.Plain: "", answer.Faint: "info", answer.Low: "low", answer.Medium: "medium", answer.High: "high", answer.Bad: "bad"}[c.Tone]
}

// sortKey returns the number to sort a cell by. It is "" if the text begins with the number, because the
// result is the same.
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
