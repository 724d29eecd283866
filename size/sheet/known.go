package sheet

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// names collects the names and calls of an expression.
type names struct{ values, calls []string }

// Visit collects from a part of an expression.
func (n *names) Visit(node *ast.Node) {
	switch one := (*node).(type) {
	case *ast.IdentifierNode, *ast.MemberNode:
		n.values = append(n.values, one.String())
	case *ast.CallNode:
		n.calls = append(n.calls, one.Callee.String())
	case *ast.BuiltinNode:
		n.calls = append(n.calls, one.Name)
	}
}

// Unknown returns the undefined names and calls in expressions of the sheet; the test of a calculator requires none. Malformed
// expressions are included.
func (r *Run) Unknown() []string {
	has := func(name string) bool {
		_, ok := r.Values[name]
		for _, row := range r.Rows {
			_, also := row.Values[name]
			ok = ok || also
		}
		return ok || r.Sheet.has(name)
	}
	var n names
	for table, lines := range r.Sheet.read().lines {
		for _, l := range lines {
			for column, text := range l {
				for _, expression := range expressions(table, column, text) {
					tree := parsed(expression)
					ast.Walk(&tree, &n)
				}
			}
		}
	}
	var out []string
	for _, name := range n.values {
		// A member is looked up as a whole, and its parts are visited too.
		part := slices.ContainsFunc(n.values, func(other string) bool { return strings.HasPrefix(other, name+".") })
		if name = strings.TrimPrefix(name, "was."); !part && name != "was" && !slices.Contains(n.calls, name) && !has(name) {
			out = append(out, name)
		}
	}
	for _, name := range n.calls {
		if functions[name] == nil && Units[name] == nil && r.input.Call[name] == nil && !slices.Contains([]string{"total", "join", "most"}, name) {
			out = append(out, name+"()")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// expressions returns the expressions of a cell: all of it, those in braces, or those of assignments.
func expressions(table, column, text string) (out []string) {
	whole := []string{"when", "formula", "low", "high", "limit", "soft", "figure"}
	switch {
	case text == "" || table == "sums": // those of sums use the rows of files, which only checks have
	case column == "set":
		for assignment := range strings.SplitSeq(text, ";") {
			_, formula, _ := strings.Cut(assignment, "=")
			out = append(out, formula)
		}
	case slices.Contains(whole, column), column == "value" && (table == "figures" || table == "segments"):
		out = append(out, text)
	default:
		for rest := text; ; {
			_, after, found := strings.Cut(rest, "{")
			if !found {
				return out
			}
			expression, more, _ := strings.Cut(after, "}")
			out, rest = append(out, expression), more
		}
	}
	return out
}
