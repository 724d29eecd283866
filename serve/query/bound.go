package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/strutil"

	"example.org/homenode/numa/pattern"
)

// Limits of a query, checked before it runs. They are needed because labels that a query lengthens do not count as samples.
const (
	mostText   = 32 << 10 // of a query, or of the selectors of a search: the parser is recursive for nested expressions
	mostRegex  = 32 << 10 // steps of their regular expressions, which the parser compiles
	mostSteps  = 50_000   // of a subquery: 30 days at one a minute
	mostParts  = 1_000    // of its tree: what looks at each part looks at all around it
	mostGrowth = 8        // factor by which the labels of a series may grow
	mostLabels = 1 << 10  // of texts that are inserted into labels
)

// bound returns an error if a query must not run. apart is the time between its first and last moment.
func (a *API) bound(query string, apart time.Duration) (err error) {
	if err := boundTexts("a query", query); err != nil {
		return err
	}
	expr, wrong := a.parser.ParseExpr(query)
	if wrong != nil {
		return badData{fmt.Errorf("invalid parameter \"query\": %w", wrong)}
	}
	if n := parts(expr); n > mostParts {
		return badData{fmt.Errorf("found a query of %d parts, want at most %d", n, mostParts)}
	}
	texts := 0
	parser.Inspect(expr, func(node parser.Node, around []parser.Node) error {
		seconds, longer := apart.Seconds(), 1
		for _, n := range append(slices.Clip(around), node) {
			if sub, ok := n.(*parser.SubqueryExpr); ok {
				seconds += sub.Range.Seconds()
			}
			times, _ := growth(n)
			longer = min(longer*times, mostText)
		}
		_, text := growth(node)
		texts += text
		if sub, ok := node.(*parser.SubqueryExpr); ok && err == nil {
			if steps := seconds / cmp.Or(sub.Step, withoutStep).Seconds(); steps > mostSteps {
				err = badData{fmt.Errorf("found a subquery of %.0f steps, want at most %d: take a longer step or less time", steps, mostSteps)}
			}
		}
		if err == nil && (longer > mostGrowth || texts > mostLabels) {
			err = badData{fmt.Errorf("label_replace and label_join make labels too long, want at most %d times and %d bytes", mostGrowth, mostLabels)}
		}
		return err
	})
	return err
}

// boundTexts returns an error if texts must not be parsed: they are long, or have large regular expressions. Each text in quotes may be one.
func boundTexts(what string, texts ...string) error {
	size, steps := 0, 0
	for _, text := range texts {
		if size += len(text); size > mostText {
			return badData{fmt.Errorf("found %s of more than %d bytes, want at most that", what, mostText)}
		}
		var item parser.Item
		for l := parser.Lex(text); item.Typ != parser.EOF && item.Typ != parser.ERROR; l.NextItem(&item) {
			if item.Typ != parser.STRING {
				continue
			}
			value, _ := strutil.Unquote(item.Val) // the parser reports the error
			n, _ := pattern.Steps(value)          // it need not be an expression
			if steps += n; steps > mostRegex {
				return badData{fmt.Errorf("found regular expressions of more than %d steps, want fewer or smaller repetitions", mostRegex)}
			}
		}
	}
	return nil
}

// parts counts the parts of a query.
func parts(node parser.Node) int {
	n := 1
	for child := range parser.ChildrenIter(node) {
		n += parts(child)
	}
	return n
}

// growth returns the maximum factor by which a call lengthens a label, and the bytes of its own text in labels; 1 and 0 for all other nodes.
func growth(node parser.Node) (times, text int) {
	call, ok := node.(*parser.Call)
	if !ok || call.Func.Name != "label_replace" && call.Func.Name != "label_join" {
		return 1, 0
	}
	times = len(call.Args) - 3 // the labels that label_join joins
	for _, arg := range call.Args[1:] {
		text += len(arg.String())
	}
	if call.Func.Name == "label_replace" {
		times = strings.Count(call.Args[2].String(), "$")
	}
	return max(times, 1), text
}
