package house

import (
	"os"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestBrowser checks that the questions and the page compile for browsers: their types, with those of all that they import. make page builds them.
func TestBrowser(t *testing.T) {
	for _, files := range sources(t) { // see TestServeOnlyReads
		for _, file := range files {
			imports(t, file)
		}
	}
	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes,
		Dir:  "../..",
		Env:  append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"),
	}
	roots, err := packages.Load(config, "./ask/...", "./page/wasm")
	if err != nil || len(roots) == 0 {
		t.Fatalf("%d packages, error %v", len(roots), err)
	}
	packages.Visit(roots, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			t.Errorf("%s: %v", p.PkgPath, err)
		}
	})
}
