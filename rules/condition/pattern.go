package condition

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"example.org/homenode/numa/pattern"
)

// mostPattern limits the regular expressions of a condition, in steps.
const mostPattern = 1000

// A patterns checks the regular expressions of a condition.
type patterns struct {
	size int
	err  error
}

// boundPatterns rejects regular expressions that are large or cannot be checked, before they are compiled.
func boundPatterns(text string) error {
	tree, err := parser.Parse(text)
	if err != nil {
		return err
	}
	var p patterns
	ast.Walk(&tree.Node, &p)
	return p.err
}

// Visit adds the size of a regular expression.
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
	steps, err := pattern.Steps(s.Value)
	if err != nil {
		p.err = err
		return
	}
	if p.size += steps; p.size > mostPattern {
		p.err = fmt.Errorf("found patterns of more than %d steps, want fewer or smaller repetitions", mostPattern)
	}
}
