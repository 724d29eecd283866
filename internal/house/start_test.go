package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/internal/testdeps"
	"example.org/homenode/internal/version"
)

// TestPatterns compiles the expressions that the program compiles when it first needs them, and checks that no package
// compiles one at its start.
func TestPatterns(t *testing.T) {
	compiled := 0
	for _, files := range sources(t) {
		for _, file := range files {
			if strings.HasPrefix(file, "cmd/bench/") || strings.HasPrefix(file, "cmd/release/") || strings.HasPrefix(file, "numa/pattern/") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				_, atStart := d.(*ast.GenDecl)
				ast.Inspect(d, func(n ast.Node) bool {
					call, ok := n.(*ast.CallExpr)
					switch {
					case !ok:
					case calls(call, "regexp", "MustCompile") && atStart:
						t.Errorf("%s: a package compiles an expression at its start: want pattern.Of", file)
					case calls(call, "pattern", "Of"):
						if text, ok := literal(call.Args[0]); ok {
							compiled++
							if _, err := regexp.Compile(text); err != nil {
								t.Errorf("%s: %v", file, err)
							}
						}
					}
					return true
				})
			}
		}
	}
	if compiled < 200 {
		t.Errorf("compiled %d expressions, want those of the whole program", compiled)
	}
}

// calls reports whether a call is of this function of a package.
func calls(c *ast.CallExpr, pkg, name string) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	of, ok := s.X.(*ast.Ident)
	return ok && of.Name == pkg
}

// literal returns the text of literals that are joined; names in it are left out.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		a, first := literal(e.X)
		b, second := literal(e.Y)
		return a + b, first && second
	}
	return "", false
}

// TestStartIsSmall checks how many bytes our packages allocate before main: whoever asks for the version waits for it.
func TestStartIsSmall(t *testing.T) {
	program, err := testdeps.Homenode()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(program, "version")
	run.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const most = 600_000
	total, packages := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^init `+regexp.QuoteMeta(version.Home)+`/\S+ .* (\d+) bytes,`).FindAllSubmatch(out, -1) {
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		total, packages = total+n, packages+1
	}
	if packages < 20 || total > most {
		t.Errorf("%d packages allocate %d bytes before main, want at most %d: make it when it is needed", packages, total, most)
	}
}
