// Package experiment replays published experiments in the simulated NUMA scheduler and compares
// each published figure with the model. A case is a text with stories and observations. Facts
// that the source does not state are assumed explicitly, and varied if the outcome may depend
// on them. A miss remains a miss and has a reason.
//
//	Words about the experiment.
//	-- case --
//	id      E
//	title   A VM of 100 GB beside a wide VM
//	source  experiments e-spill to e-cure
//	assumed the VMkernel uses 4 GB of each node
//	gave    C-15: the reserve of a node
//	stated  host * nodes, vm cli vcpus
//	range   load cli cpu 5%..60%
//	-- in --                        a story; a second one is called "in 4.0"
//	host esx01 nodes=2 cores=12 nodeMemory=132000MB
//	…
//	-- vary the VMkernel uses 2 GB --   lines that change every story of the case
//	used esx01 node=* memory=2GB
//	-- observed --
//	figure  e-spill memory that went remote at once
//	want    remote cli3 at 2m = 7278MB ±500MB
//	because esxtop showed the figure some time after the allocation
//	fitted  the soft reserve of the model is inferred from it
//	why     the reason for a miss, or an explanation
//
//	figure  e-wide the score
//	shown   24,000 of 53,000
//	unmodelled the benchmark's own number
package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/story"
)

// A Case is one published experiment.
type Case struct {
	File    string   `json:"-"`
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Source  string   `json:"source"`
	Assumed []string `json:"assumed,omitempty"` // facts that no source states
	// Gave is the contribution of the source to the model, with the statements: then none of
	// its figures is blind.
	Gave string `json:"gave,omitempty"`
	// Stated has patterns of the numbers in the stories that the source states; all others are
	// varied. Ranges limits such a number, by its name.
	Stated   []string             `json:"stated,omitempty"`
	Ranges   map[string][2]string `json:"-"`
	Runs     []Run                `json:"-"`
	Variants []Variant            `json:"-"`
	Figures  []Figure             `json:"-"`
}

// A Run is one story of a case. Most cases have one, without a name.
type Run struct {
	Name  string
	Story *numa.Story
	text  string // of the story, after empty lines that keep its line numbers
}

// A Variant is an alternative that the source also allows: lines that change every story.
type Variant struct {
	Name string
	Runs []Run // those of the case, in their order
}

// A Figure is one published figure.
type Figure struct {
	Line int    `json:"-"`
	ID   string `json:"id"` // of the experiment or of the article: e-wide or KB 430776
	What string `json:"what"`
	// Shown is the figure in the words of the source; without it the wants are shown.
	Shown   string `json:"-"`
	Wants   []Want `json:"-"` // all must be true
	Because string `json:"-"` // the reason for the tolerance
	Why     string `json:"-"` // the reason for a miss, or an explanation
	Fitted  string `json:"-"` // the number or rule of the model that was derived from this figure
	// Restated lists the inputs or other figures of the source from which it follows.
	Restated string `json:"-"`
	// One of these for a figure that the model does not compute.
	Input      string `json:"-"` // why it is an input of the story
	Unmodelled string `json:"-"` // why it is not modelled
}

// Read reads the case in data; name is used in errors. Errors with a position are a
// *numa.SyntaxError.
func Read(name string, data []byte) (*Case, error) {
	c := &Case{File: name}
	r := &reader{c: c, file: name}
	if !utf8.Valid(data) {
		return nil, r.errorf(1, 1, "found bytes that are not UTF-8")
	}
	sections, err := r.sections(data)
	if err != nil {
		return nil, err
	}
	for _, s := range sections {
		if err := r.section(s); err != nil {
			return nil, err
		}
	}
	return c, r.finish(sections)
}

// A section is one section of the file.
type section struct {
	kind, name string
	first      int // number of its first line
	text       string
}

// sections are read in this order: figures and variants need stories.
var sectionKinds = []string{"case", "in", "vary", "observed"}

type reader struct {
	c    *Case
	file string
}

func (r *reader) errorf(line, col int, format string, args ...any) error {
	return &numa.SyntaxError{File: r.file, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

func (r *reader) sections(data []byte) ([]section, error) {
	ar := txtar.Parse(data)
	number := 1 + strings.Count(string(ar.Comment), "\n")
	var all []section
	for _, f := range ar.Files {
		kind, name, _ := strings.Cut(f.Name, " ")
		s := section{kind, strings.TrimSpace(name), number + 1, string(f.Data)}
		switch {
		case !slices.Contains(sectionKinds, kind):
			return nil, r.errorf(number, 1, "found section %q, want one of %s", f.Name, strings.Join(sectionKinds, ", "))
		case slices.ContainsFunc(all, func(o section) bool { return o.kind == s.kind && o.name == s.name }):
			return nil, r.errorf(number, 1, "found section %q twice", f.Name)
		case kind == "vary" && s.name == "":
			return nil, r.errorf(number, 1, "found section vary alone, want what it varies: -- vary 2 GB less is free --")
		case (kind == "case" || kind == "observed") && s.name != "":
			return nil, r.errorf(number, 1, "found section %q, want %s alone", f.Name, kind)
		case kind == "in" && strings.ContainsAny(s.name, " @"):
			return nil, r.errorf(number, 1, "found story %q, want a name without blanks and @", s.name)
		}
		all = append(all, s)
		number += 1 + strings.Count(s.text, "\n")
	}
	slices.SortStableFunc(all, func(a, b section) int {
		return slices.Index(sectionKinds, a.kind) - slices.Index(sectionKinds, b.kind)
	})
	return all, nil
}

func (r *reader) section(s section) error {
	switch s.kind {
	case "in":
		// Empty lines before the text keep line numbers in errors correct.
		text := strings.Repeat("\n", s.first-1) + s.text
		st, err := story.Read(r.file, []byte(text))
		if err != nil {
			return err
		}
		r.c.Runs = append(r.c.Runs, Run{s.name, st, text})
		return nil
	case "vary":
		v := Variant{Name: s.name}
		for i := range r.c.Runs {
			changed := *r.c.Runs[i].Story
			if err := story.Add(&changed, strings.Repeat("\n", s.first-1)+s.text, r.file); err != nil {
				return err
			}
			v.Runs = append(v.Runs, Run{Name: r.c.Runs[i].Name, Story: &changed})
		}
		r.c.Variants = append(r.c.Variants, v)
		return nil
	}
	number := s.first
	for raw := range strings.Lines(s.text) {
		text := strings.TrimRight(raw, " \t\r\n")
		blank := strings.TrimLeft(text, " \t")
		if blank != "" && blank[0] != '#' {
			key, rest, _ := strings.Cut(blank, " ")
			l := entry{number, 1 + len(text) - len(blank), key, strings.TrimSpace(rest), 1 + len(text) - len(strings.TrimLeft(rest, " \t"))}
			read := r.caseLine
			if s.kind == "observed" {
				read = r.figureLine
			}
			if err := read(l); err != nil {
				return err
			}
		}
		number++
	}
	return nil
}

// An entry is a keyword and its text.
type entry struct {
	line, col int
	key, text string
	textCol   int
}

func (r *reader) caseLine(l entry) error {
	var to *string
	switch l.key {
	case "id":
		to = &r.c.ID
	case "title":
		to = &r.c.Title
	case "source":
		to = &r.c.Source
	case "gave":
		to = &r.c.Gave
	case "stated":
		for pattern := range strings.SplitSeq(l.text, ",") {
			r.c.Stated = append(r.c.Stated, strings.TrimSpace(pattern))
		}
		return nil
	case "range":
		return r.rangeLine(l)
	case "assumed":
		if l.text != "" {
			r.c.Assumed = append(r.c.Assumed, l.text)
			return nil
		}
	default:
		return r.errorf(l.line, l.col, "found %q, want one of id, title, source, assumed, gave, stated, range", l.key)
	}
	switch {
	case l.text == "":
		return r.errorf(l.line, l.col, "found %s alone, want words after it", l.key)
	case *to != "":
		return r.errorf(l.line, l.col, "found %s again", l.key)
	}
	*to = l.text
	return nil
}

// rangeForm matches the name of a number of the stories, and its range.
var rangeForm = pattern.Of(`^(.+) ([^ ]+)\.\.([^ ]+)$`)

func (r *reader) rangeLine(l entry) error {
	m := rangeForm.FindStringSubmatch(l.text)
	if m == nil {
		return r.errorf(l.line, l.textCol, "found %q, want a number of the story and its range: range load cli cpu 5%%..60%%", l.text)
	}
	if r.c.Ranges == nil {
		r.c.Ranges = map[string][2]string{}
	}
	r.c.Ranges[m[1]] = [2]string{m[2], m[3]}
	return nil
}

// figureForm matches the id of a figure, from the record of experiments or from the vendor's
// knowledge base, and its description.
var figureForm = pattern.Of(`^([a-f](?:-[a-z0-9]+)+|KB [0-9]+) +(.+)$`)

// recorded reports whether id is an article of the knowledge base or an experiment of the
// record.
func recorded(id string) bool {
	_, ok := rulebook.FindExperiment(id)
	return ok || strings.HasPrefix(id, "KB ")
}

func (r *reader) figureLine(l entry) error {
	c := r.c
	if l.key == "figure" {
		m := figureForm.FindStringSubmatch(l.text)
		if m == nil || !recorded(m[1]) {
			return r.errorf(l.line, l.textCol, "found %q, want e-wide or KB 430776 and what the figure is", l.text)
		}
		c.Figures = append(c.Figures, Figure{Line: l.line, ID: m[1], What: m[2]})
		return nil
	}
	if len(c.Figures) == 0 {
		return r.errorf(l.line, l.col, "found %q, want figure first", l.key)
	}
	f := &c.Figures[len(c.Figures)-1]
	to := map[string]*string{"shown": &f.Shown, "because": &f.Because, "why": &f.Why, "fitted": &f.Fitted, "restated": &f.Restated, "input": &f.Input, "unmodelled": &f.Unmodelled}[l.key]
	switch {
	case l.text == "":
		return r.errorf(l.line, l.col, "found %s alone, want words after it", l.key)
	case l.key == "want":
		w, err := r.want(l)
		f.Wants = append(f.Wants, w)
		return err
	case to == nil:
		return r.errorf(l.line, l.col, "found %q, want one of figure, want, shown, because, why, fitted, restated, input, unmodelled", l.key)
	case *to != "":
		*to += " " + l.text // a long text has several lines
	default:
		*to = l.text
	}
	return nil
}

// finish reports missing parts.
func (r *reader) finish(sections []section) error {
	end := 1
	for _, s := range sections {
		end = max(end, s.first-1)
	}
	c := r.c
	switch {
	case c.ID == "" || c.Title == "" || c.Source == "":
		return r.errorf(end, 1, "found no id, title or source, want all of them in a section -- case --")
	case c.unknownName() != "":
		return r.errorf(end, 1, "found %q stated or with a range, which no number of the stories has as its name", c.unknownName())
	case len(c.Figures) == 0:
		return r.errorf(end, 1, "found no figure, want some in a section -- observed --")
	}
	for i := range c.Figures {
		f := &c.Figures[i]
		said := words.Count([]bool{len(f.Wants) > 0, f.Input != "", f.Unmodelled != ""}, func(has bool) bool { return has })
		switch tolerant := slices.ContainsFunc(f.Wants, func(w Want) bool { return w.Tolerance > 0 }); {
		case said != 1:
			return r.errorf(f.Line, 1, "found figure %s with %d of want, input and unmodelled, want one", f.ID, said)
		case len(f.Wants) == 0 && f.Shown == "":
			return r.errorf(f.Line, 1, "found figure %s without shown, want the figure in the words of the source", f.ID)
		case tolerant && f.Because == "":
			return r.errorf(f.Line, 1, "found figure %s with a tolerance, want because and the reason", f.ID)
		}
	}
	return nil
}

// times returns the start of a story and its tick interval.
func (r *Run) times() (start time.Time, every time.Duration) {
	return r.Story.Start.UTC(), r.Story.Every
}
