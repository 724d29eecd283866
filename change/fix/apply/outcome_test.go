package apply_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"example.org/homenode/change/fix/journal"
)

// TestOutcomes checks that a journal may have each outcome that a run writes, and no other.
func TestOutcomes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "apply.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if is, ok := spec.Type.(*ast.Ident); ok && is.Name == "Outcome" && len(spec.Values) == 1 {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, value)
		}
		return true
	})
	if len(all) == 0 || !slices.Equal(all, journal.Outcomes) {
		t.Errorf("runs write %q, journals may have %q", all, journal.Outcomes)
	}
}
