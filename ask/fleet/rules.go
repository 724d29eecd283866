package fleet

import (
	"context"
	"fmt"

	"example.org/homenode/internal/words"

	"example.org/homenode/ask"
	"example.org/homenode/internal/alike"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/book"
	"example.org/homenode/rules/rule"
)

// Rules asks for a list of the rule book, or for one entry.
type Rules struct {
	ask.Asked
	ID          string `ask:"id,arg"`
	Statements  bool   `ask:"statements" help:"list the statements that predictions and rules cite, with their sources"`
	Conflicts   bool   `ask:"conflicts" help:"list the points on which sources disagree, for --choose"`
	Settings    bool   `ask:"settings" help:"list the settings of VMs and hosts about NUMA, with what they do"`
	Experiments bool   `ask:"experiments" help:"list the published experiments"`
	Test        bool   `ask:"test,local" help:"run the scenarios that stand beside the rules of homenode.yaml (expect: holds, fails)"`
}

// Answer answers the question.
func (r *Rules) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	if r.Test {
		return r.test(ctx, e)
	}
	return ask.Answered(r.answer(e.Policy.Own()))
}

func (r *Rules) answer(own []*rule.Rule) (*answer.Answer, error) {
	list, of := func() *answer.Answer { return book.Checks(own) }, ""
	for _, l := range []struct {
		asked bool
		name  string
		list  func() *answer.Answer
	}{{r.Statements, "statements", book.Statements}, {r.Conflicts, "conflicts", book.Conflicts}, {r.Settings, "settings", book.Settings}, {r.Experiments, "experiments", book.Experiments}} {
		switch {
		case !l.asked:
		case r.ID != "":
			return nil, ask.Wrong(l.name, fmt.Errorf("not with %s", r.ID))
		case of != "":
			return nil, ask.Wrong(l.name, fmt.Errorf("not with --%s", of))
		default:
			list, of = l.list, l.name
		}
	}
	if !r.Given("id") {
		return list(), nil
	}
	a := book.Find(r.ID, own)
	if a == nil {
		return nil, fmt.Errorf("no rule, statement, setting or experiment is named %q%s: homenode rules lists them", r.ID, nearID(r.ID))
	}
	return a, nil
}

// nearID returns a hint with the most similar ID.
func nearID(name string) string {
	known := words.Texts(book.Names(), func(n book.Name) string { return n.ID })
	return alike.After(name, known)
}
