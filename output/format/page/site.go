package page

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/finding"
)

// A Site is the context of answers in a web site: objects link to their pages, and the server only sends the requested rows
// of long tables.
type Site struct {
	Path  string     // of the page
	Query url.Values // complete state of the page
	Rows  int        // number of rows of a table per page
	Whole bool       // show all rows: the state is too long for the addresses of further requests
	Most  int        // number of listed findings per rule
	Open  bool       // the findings of a rule are unfolded
	First bool       // the things to do first stand below the drawings
	// Filter is a form that filters findings.
	Filter template.HTML
	// Findings returns the address of the list of findings of a rule; nil for none.
	Findings func(rule string) string
	// Subject returns the address for the subject of a finding; nil links to the page of the object.
	Subject func(*finding.Finding) string
}

//go:embed app.css
var appStyle string

// AppStyle returns the style sheet of pages with forms: that of pages with answers, the navigation bar, forms, sortable tables and the
// footer.
func AppStyle() string { return pageStyle + appStyle }

// Body writes the answer for a page of a site: the question, the verdict, the output of between, and the rest. It returns
// the style of the drawings.
func Body(w io.Writer, a *answer.Answer, site *Site, between func(io.Writer) error) (style string, err error) {
	p, style, err := compose(a, site)
	if err != nil {
		return "", err
	}
	if err := p.execute(w, "top"); err != nil {
		return "", err
	}
	if between != nil {
		if err := between(w); err != nil {
			return "", err
		}
	}
	return style, p.execute(w, "content")
}

// A Pager is the part of a long table that a site sends.
type Pager struct {
	Name, Label, Anchor string
	Query               string
	From, To, Of        int // matching rows, from 1
	Previous, Next      string
	Hidden              []field // the rest of the page state

	site *Site
	sort string // column, with the prefix "-" for descending; "" for the original order
	t    *answer.Table
}

// A field is a part of the page state.
type field struct{ Name, Value string }

// newPager reduces the table to the rows that the query of the site requests.
func newPager(t *answer.Table, site *Site) *Pager {
	p := &Pager{Name: t.Name, Label: cmp.Or(t.Title, t.Name), Anchor: "table-" + strings.ReplaceAll(t.Name, " ", "-"), site: site, t: t}
	p.Query, p.sort = strings.TrimSpace(site.Query.Get(t.Name+".q")), site.Query.Get(t.Name+".sort")
	rows := slices.Clone(t.Rows)
	if p.Query != "" {
		words := strings.Fields(strings.ToLower(p.Query))
		rows = slices.DeleteFunc(rows, func(row []answer.Cell) bool { return !hasAll(row, words) })
	}
	p.order(rows)
	p.Of = len(rows)
	number, _ := strconv.Atoi(site.Query.Get(t.Name + ".page")) // 0 if missing
	last := max(1, (len(rows)+site.Rows-1)/site.Rows)
	number = max(1, min(number, last))
	from := min((number-1)*site.Rows, len(rows))
	t.Rows = rows[from:min(from+site.Rows, len(rows))]
	p.From, p.To = from+1, from+len(t.Rows)
	if number > 1 {
		p.Previous = p.address("page", strconv.Itoa(number-1))
	}
	if number < last {
		p.Next = p.address("page", strconv.Itoa(number+1))
	}
	for _, name := range slices.Sorted(maps.Keys(site.Query)) {
		if name == t.Name+".q" || name == t.Name+".page" {
			continue
		}
		for _, value := range site.Query[name] {
			p.Hidden = append(p.Hidden, field{name, value})
		}
	}
	return p
}

// hasAll reports whether the cells of a row contain all words. words must be in lower case.
func hasAll(row []answer.Cell, words []string) bool {
	var b strings.Builder
	for i := range row {
		b.WriteString(strings.ToLower(row[i].Text))
		b.WriteByte(' ')
	}
	text := b.String()
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// order sorts the rows by the column in the query, in the same way as the script of a page.
func (p *Pager) order(rows [][]answer.Cell) {
	name, down := strings.CutPrefix(p.sort, "-")
	column := slices.IndexFunc(p.t.Columns, func(c answer.Column) bool { return c.Name == name })
	if column < 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b []answer.Cell) int {
		x, y := a[column], b[column]
		c := 0
		m, errM := strconv.ParseFloat(x.Sort, 64)
		n, errN := strconv.ParseFloat(y.Sort, 64)
		if errM == nil && errN == nil {
			c = cmp.Compare(m, n)
		} else {
			c = words.Natural(x.Text, y.Text)
		}
		if down {
			return -c
		}
		return c
	})
}

// address returns the address of the page with another value of the table's state. All keys other than the page number
// reset the page number.
func (p *Pager) address(key, value string) string {
	q := url.Values{}
	for k, v := range p.site.Query {
		q[k] = v
	}
	q.Del(p.Name + ".page")
	q.Del(p.Name + "." + key)
	if value != "" {
		q.Set(p.Name+"."+key, value)
	}
	return p.site.Path + "?" + q.Encode() + "#" + p.Anchor
}

// Sorted returns the sort order by column i, for aria-sort; "" for none.
func (p *Pager) Sorted(i int) string {
	switch p.sort {
	case p.t.Columns[i].Name:
		return "ascending"
	case "-" + p.t.Columns[i].Name:
		return "descending"
	}
	return ""
}

// Head returns the address of the table with the next sort order by column i: ascending, descending, original.
func (p *Pager) Head(i int) string {
	switch name := p.t.Columns[i].Name; p.sort {
	case name:
		return p.address("sort", "-"+name)
	case "-" + name:
		return p.address("sort", "")
	default:
		return p.address("sort", name)
	}
}
