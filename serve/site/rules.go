package site

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"homenode/internal/words"
	"homenode/output/answer"
)

// A chapter is a part of the rule book.
type chapter struct {
	name, label string
	command     []string
}

// chapters are the parts in the order of their tabs.
var chapters = []chapter{
	{"checks", "Checks", []string{"rules"}},
	{"statements", "Statements", []string{"rules", "--statements"}},
	{"conflicts", "Where sources disagree", []string{"rules", "--conflicts"}},
	{"settings", "Settings", []string{"rules", "--settings"}},
	{"experiments", "Experiments", []string{"rules", "--experiments"}},
	{"truth", "Predictions and published cases", []string{"validate"}},
	{"simulated", "Simulations and published experiments", []string{"validate", "--simulations"}},
}

// constant keeps answers that rest on nothing but the program.
type constant struct {
	mu   sync.Mutex
	kept map[string]*answer.Answer
}

// ask asks once.
func (c *constant) ask(x *request, args []string) (*answer.Answer, error) {
	key := words.Command(args...)
	c.mu.Lock()
	a := c.kept[key]
	c.mu.Unlock()
	if a != nil {
		return a, nil
	}
	a, err := x.ask(args...)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string]*answer.Answer{}
	}
	c.kept[key] = a
	return a, nil
}

// showRules shows a part of the rule book.
func showRules(x *request) (*view, error) {
	name := cmp.Or(x.query.Get("part"), chapters[0].name)
	i := slices.IndexFunc(chapters, func(c chapter) bool { return c.name == name })
	if i < 0 {
		return nil, &unknownError{"the rule book has no such part"}
	}
	a, err := x.site.constant.ask(x, chapters[i].command)
	if err != nil {
		return nil, err
	}
	v := &view{answer: a, command: chapters[i].command}
	for _, c := range chapters {
		v.tabs = append(v.tabs, entry{"/rules?" + url.Values{"part": {c.name}}.Encode(), c.label, c.name == name})
	}
	if name == chapters[0].name && x.fleet != nil {
		v.answer = x.withCounts(a)
	}
	return v, nil
}

// withCounts adds to the list of checks how many findings of each the fleet has.
func (x *request) withCounts(a *answer.Answer) *answer.Answer {
	counts := x.counts()
	out := *a
	out.Tables = slices.Clone(a.Tables)
	t := &out.Tables[0]
	t.Columns = append(slices.Clone(t.Columns), answer.Column{Name: "found here", Right: true})
	rows := make([][]answer.Cell, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = append(slices.Clone(row), found(row[0].Text, counts[row[0].Text]))
	}
	t.Rows = rows
	return &out
}

// counts are the findings of the fleet by rule.
func (x *request) counts() map[string]int {
	out := map[string]int{}
	for i := range x.fleet.Result.Findings {
		out[x.fleet.Result.Findings[i].Rule]++
	}
	return out
}

// found is a number of findings of a rule, which leads to them.
func found(rule string, n int) answer.Cell {
	c := answer.Cell{Text: strconv.Itoa(n), Sort: strconv.Itoa(n)}
	if n == 0 {
		c.Text, c.Tone = "–", answer.Faint
		return c
	}
	c.To = answer.Object{Kind: answer.Elsewhere, ID: "/findings?" + url.Values{"rule": {rule}}.Encode()}
	return c
}

// showRule shows a check, a statement, a conflict, an experiment or a setting.
func showRule(x *request) (*view, error) {
	id := x.query.Get("rule")
	args := commandOf([]string{"rules"}, nil, id)
	if id == "" {
		return nil, &unknownError{"no rule is named"}
	}
	a, err := x.ask(args...)
	if err != nil {
		return nil, &unknownError{err.Error()}
	}
	v := &view{answer: a, command: args, links: []link{{"The rule book", "/rules"}}}
	if x.fleet != nil {
		if n := x.counts()[a.Title]; n > 0 {
			v.links = append(v.links, link{words.Plural(n, "finding") + " here", "/findings?" + url.Values{"rule": {a.Title}}.Encode()})
		}
	}
	return v, nil
}
