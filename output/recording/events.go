package recording

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	verdict "example.org/homenode/rules/verdict/recording"
)

// mostNames is the maximum number of VMs or hosts that are named in a line of similar events.
const mostNames = 3

// An Event is the subject and time of an event in display form.
type Event struct {
	Who  answer.Cell
	When string
}

// Events lists events, the worst first. Similar events share a line.
func Events(stories []*verdict.Story, of func(*verdict.Story) Event) answer.Table {
	t := answer.Table{Name: "events", Title: "Events", Columns: columns("severity", "when", "for", "who", "rules", "how bad", "why", "what to do")}
	for _, group := range verdict.Alike(stories, func(s *verdict.Story) string { return of(s).When }) {
		s := group[0]
		who := answer.Cell{}
		for _, one := range group[:min(mostNames, len(group))] {
			who.Parts = append(who.Parts, of(one).Who)
		}
		if n := len(group) - len(who.Parts); n > 0 {
			who.Parts = append(who.Parts, text("and "+strconv.Itoa(n)+" more"))
		}
		who.Text = strings.Join(words.Texts(who.Parts, func(c answer.Cell) string { return c.Text }), ", ")
		t.Rows = append(t.Rows, []answer.Cell{{Text: s.Worst().Severity.String(), Tone: answer.Faint + answer.Tone(s.Worst().Severity), Sort: strconv.Itoa(int(s.Worst().Severity))},
			{Text: of(s).When, Sort: strconv.FormatInt(s.From.Unix(), 10)}, length(s), who, rulesOf(s), text(s.Bad()), text(s.Why()), text(s.Do())})
	}
	return t
}

// length formats the duration of an event; "–" if it was only seen once.
func length(s *verdict.Story) answer.Cell {
	if s.Length() == 0 {
		return text("")
	}
	return number(s.Length().Seconds(), words.Duration(s.Length()))
}

// rulesOf returns links to the rules that detected an event.
func rulesOf(s *verdict.Story) (c answer.Cell) {
	for _, id := range s.Rules() {
		c.Parts = append(c.Parts, answer.Cell{Text: id, To: answer.Object{Kind: "rule", ID: id}})
	}
	c.Text = strings.Join(s.Rules(), " ")
	return c
}

// events lists the findings in recordings. A terminal omits the advice. Findings of severity info are only listed with all
// details.
func (r *report) events(judgement *rules.Judgement) []answer.Table {
	least := finding.Low
	if r.o.Details {
		least = finding.Info
	}
	long := Events(r.Stories(judgement.Findings, least), func(s *verdict.Story) Event {
		about := r.subject(s.Worst())
		e := Event{Who: answer.Cell{Text: about.Name, Ref: about.Drawing}}
		if hosts := s.Hosts(); len(hosts) > 1 {
			if n := len(hosts); n > 3 {
				hosts = []string{hosts[0], "…", hosts[n-1]}
			}
			e.Who.Text = strings.Join(hosts, " → ") + "/" + about.Short
		}
		switch {
		case s.From.IsZero():
		case s.From.Equal(s.To):
			e.When = r.Clock.At(s.From)
		default:
			e.When = r.Clock.Span(s.From, s.To)
		}
		return e
	})
	if len(long.Rows) == 0 {
		return nil
	}
	short := long
	const advice = 7 // the column that a terminal omits
	short.Columns, short.Rows = long.Columns[:advice], nil
	for i, row := range long.Rows {
		if i == mostRows && !r.o.Details {
			short.Cut = fmt.Sprintf("%s more: --details", words.Plural(len(long.Rows)-i, "event"))
			break
		}
		short.Rows = append(short.Rows, row[:advice])
	}
	long.Long, long.First = true, true
	return []answer.Table{short, long}
}
