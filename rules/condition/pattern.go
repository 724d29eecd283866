package condition

import (
	"errors"
	"fmt"
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// mostPattern bounds the regular expressions of a condition, in steps for each letter that they look at: (a{100}){10} has 1,000.
const mostPattern = 1000

// A patterns looks at the regular expressions of a condition.
type patterns struct {
	size int
	err  error
}

// boundPatterns refuses regular expressions that are large, or that no one has seen, before anything compiles them.
func boundPatterns(text string) error {
	tree, err := parser.Parse(text)
	if err != nil {
		return err
	}
	var p patterns
	ast.Walk(&tree.Node, &p)
	return p.err
}

// Visit adds the size of one.
func (p *patterns) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok || n.Operator != "matches" || p.err != nil {
		return
	}
	s, ok := n.Right.(*ast.StringNode)
	if !ok {
		p.err = errors.New("found a pattern that is no text, want one in quotes")
		return
	}
	re, err := syntax.Parse(s.Value, syntax.Perl)
	if err != nil {
		p.err = err
		return
	}
	if p.size += sizeOf(re); p.size > mostPattern {
		p.err = fmt.Errorf("found patterns of more than %d steps, want fewer or smaller repetitions", mostPattern)
	}
}

// sizeOf returns how many steps an expression has, its repetitions written out.
func sizeOf(re *syntax.Regexp) int {
	n := max(1, len(re.Rune))
	if re.Op == syntax.OpCharClass {
		n = 1
	}
	for _, sub := range re.Sub {
		n += sizeOf(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n, 1<<30)
}
