package sheet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"example.org/homenode/numa/unit"
)

var trees sync.Map // parsed expressions by their text

// parsed returns the tree of an expression. It panics on a malformed one: expressions are part of the program.
func parsed(text string) ast.Node {
	if tree, ok := trees.Load(text); ok {
		return tree.(ast.Node)
	}
	tree, err := parser.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	trees.Store(text, tree.Node)
	return tree.Node
}

// eval returns the value of an expression: a Value, a string, a bool, or nil when unknown.
func (r *Run) eval(node ast.Node) any {
	switch n := node.(type) {
	case *ast.NilNode:
		return nil
	case *ast.IntegerNode:
		return Plain(float64(n.Value), "")
	case *ast.FloatNode:
		return Plain(n.Value, "")
	case *ast.StringNode:
		return n.Value
	case *ast.BoolNode:
		return n.Value
	case *ast.IdentifierNode, *ast.MemberNode:
		return r.lookUp(node)
	case *ast.UnaryNode:
		if v := r.eval(n.Node); n.Operator == "-" {
			return binary("-", Plain(0, ""), v)
		} else {
			return !truth(v)
		}
	case *ast.BinaryNode:
		left := r.eval(n.Left)
		switch n.Operator {
		case "&&", "and":
			return truth(left) && truth(r.eval(n.Right))
		case "||", "or":
			return truth(left) || truth(r.eval(n.Right))
		}
		return binary(n.Operator, left, r.eval(n.Right))
	case *ast.ConditionalNode:
		if truth(r.eval(n.Cond)) {
			return r.eval(n.Exp1)
		}
		return r.eval(n.Exp2)
	case *ast.CallNode:
		return r.call(n.Callee.String(), n.Arguments)
	case *ast.BuiltinNode:
		return r.call(n.Name, n.Arguments)
	}
	panic("no sheet has an expression such as " + node.String())
}

// lookUp returns the value of a name. An undefined name is a bug of the sheet; one whose formula does not apply is unknown.
func (r *Run) lookUp(node ast.Node) any {
	name := node.String()
	if rest, ok := strings.CutPrefix(name, "was."); ok {
		if r.whole != nil {
			r = r.whole
		}
		return r.Values["was"].(*Run).Values[rest]
	}
	for at := r; at != nil; at = at.whole {
		if v, ok := at.Values[name]; ok {
			return v
		}
	}
	if !r.Sheet.has(name) {
		panic("no sheet has the name " + name)
	}
	return nil
}

// has reports whether a formula has the name.
func (s *Sheet) has(name string) bool {
	for _, table := range []string{"formulas", "row", "totals", "row 2", "totals 2"} {
		for _, f := range s.read().lines[table] {
			if f["name"] == name {
				return true
			}
		}
	}
	return false
}

// call returns the value of a function. Functions of rows evaluate their argument for each row.
func (r *Run) call(name string, nodes []ast.Node) any {
	switch name {
	case "total":
		sum := Plain(0, "")
		for _, row := range r.rows() {
			sum = binary("+", sum, row.eval(nodes[0])).(Value)
		}
		return sum
	case "join": // (when, text)
		var all []string
		for _, row := range r.rows() {
			if truth(row.eval(nodes[0])) {
				all = append(all, written(row.eval(nodes[1])))
			}
		}
		return strings.Join(all, "; ")
	case "most": // (number, when, text of the row with the greatest, else)
		var best *Run
		for _, row := range r.rows() {
			if truth(row.eval(nodes[1])) && (best == nil || truth(binary(">", row.eval(nodes[0]), best.eval(nodes[0])))) {
				best = row
			}
		}
		if best == nil {
			return r.eval(nodes[3])
		}
		return best.eval(nodes[2])
	}
	args := make([]any, len(nodes))
	for i, n := range nodes {
		args[i] = r.eval(n)
	}
	if f := r.input.Call[name]; f != nil {
		return f(args)
	}
	if f := functions[name]; f != nil {
		return f(args)
	}
	if text := Units[name]; text != nil {
		if v, ok := args[0].(Value); ok {
			return text(v.Value)
		}
		return nil
	}
	panic("no sheet has the function " + name)
}

// rows returns all rows, also for a row.
func (r *Run) rows() []*Run {
	if r.whole != nil {
		return r.whole.Rows
	}
	return r.Rows
}

func truth(v any) bool {
	b, ok := v.(bool)
	return ok && b
}

// binary returns a sum, a product, … with its range, or the truth of a comparison; unknown when an operand is.
func binary(operator string, left, right any) any {
	switch operator {
	case "==", "!=":
		x, number := left.(Value)
		y, also := right.(Value)
		same := left == right
		if number && also {
			same = x.Value == y.Value
		}
		return same == (operator == "==")
	}
	_, text := left.(string)
	_, also := right.(string)
	switch {
	case text || also:
		return written(left) + written(right)
	case left == nil || right == nil:
		return nil
	}
	x, y := left.(Value), right.(Value)
	switch operator {
	case "<":
		return x.Value < y.Value
	case "<=":
		return x.Value <= y.Value
	case ">":
		return x.Value > y.Value
	case ">=":
		return x.Value >= y.Value
	}
	return each(map[string]func(a, b float64) float64{
		"+": func(a, b float64) float64 { return a + b }, "-": func(a, b float64) float64 { return a - b },
		"*": func(a, b float64) float64 { return a * b }, "/": func(a, b float64) float64 { return a / b },
		"%": math.Mod, "**": math.Pow, "^": math.Pow,
	}[operator], x, y)
}

// each applies a function that is monotonous in both numbers to them and to the ends of their ranges.
func each(f func(a, b float64) float64, x, y Value) Value {
	v := Plain(f(x.Value, y.Value), cmp.Or(x.Unit, y.Unit))
	for _, a := range []float64{x.Low, x.High} {
		for _, b := range []float64{y.Low, y.High} {
			v.Low, v.High = min(v.Low, f(a, b)), max(v.High, f(a, b))
		}
	}
	if v.Low < v.High {
		v.Origin = unit.Derived
	}
	return v
}

// Text fills in the expressions of a text.
func (r *Run) Text(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		expression, after, _ := strings.Cut(rest, "}")
		b.WriteString(written(r.eval(parsed(expression))))
		text = after
	}
}

// written formats a value: a number in its unit.
func written(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// String formats the number in its unit.
func (v Value) String() string {
	if text := Units[v.Unit]; text != nil {
		return text(v.Value)
	}
	return unit.Digits(v.Value, 4)
}

// marshal writes the values of formulas as an object: plan.left is the member left of plan. For a change it includes only the values that differ.
func marshal(r *Run) ([]byte, error) {
	root := r.object(func(string) bool { return true })
	if r.Rows != nil {
		root["rows"] = r.Rows
	}
	var changes []any
	for _, l := range r.Lines("changes") {
		if l["set"] == "" {
			continue
		}
		next := r.With(l["set"])
		one := next.object(func(name string) bool { return !reflect.DeepEqual(next.Values[name], r.Values[name]) })
		one["if"] = next.Text(l["if"])
		changes = append(changes, one)
	}
	if changes != nil {
		root["whatIf"] = changes
	}
	return json.Marshal(root)
}

// object returns the values of the selected formulas.
func (r *Run) object(wanted func(name string) bool) map[string]any {
	root := map[string]any{}
	for _, name := range r.places {
		v := r.Values[name]
		if v == nil || !wanted(name) {
			continue
		}
		at := root
		parts := strings.Split(name, ".")
		last := parts[len(parts)-1]
		for _, part := range parts[:len(parts)-1] {
			inner, ok := at[part].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[part] = inner
			}
			at = inner
		}
		at[last] = v
		if n, ok := v.(Value); ok {
			if at[last] = n.Figure; n.Origin == "" && n.Low == n.High {
				at[last] = n.Value
			}
		}
	}
	return root
}
