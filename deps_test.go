package homenode

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is the direction of the data flow: for each folder, the folders of this
// module that its code (not its tests) may import. A folder ending in /... stands
// for all below it. A folder that is not listed fails the test.
var mayImport = map[string][]string{
	".":                   {},
	"numa":                {},
	"finding":             {"numa"},
	"vnuma":               {"numa"},
	"placement":           {"numa", "vnuma"},
	"sim":                 {"numa", "placement", "vnuma"},
	"optimise":            {"numa", "placement", "vnuma", "source/word", "internal/alike"},
	"anonymise":           {"numa"},
	"published":           {"numa", "vnuma"},
	"simulate":            {"numa", "capture", "cost", "rules", "sim"},
	"replay":              {"numa", "sim", "vnuma"},
	"experiment":          {"numa", "vnuma", "rules", "sim", "simulate", "source/scenario", "source/story"},
	"confront":            {"numa", "vnuma"},
	"rulebook":            {},
	"cost":                {"numa"},
	"capacity":            {"numa"},
	"capacity/iocost":     {"numa", "capacity", "internal/alike"},
	"capacity/dump":       {"numa", "capacity"},
	"capacity/pages":      {"numa", "vnuma", "sim", "capacity"},
	"capacity/speed":      {"numa", "vnuma", "sim", "capacity", "capacity/fit", "internal/alike"},
	"capacity/calibrate":  {"numa", "capacity", "capacity/iocost"},
	"capacity/fit":        {"numa", "placement", "vnuma", "capacity"},
	"capacity/rightsize":  {"numa", "vnuma", "capacity", "capture"},
	"capacity/latency":    {"numa", "cost", "capacity"},
	"capture":             {"numa"},
	"rule":                {"numa", "vnuma", "confront", "finding", "capture"},
	"policy":              {"numa", "finding", "rule", "internal/alike"},
	"rules":               {"numa", "vnuma", "confront", "finding", "capture", "rule", "policy", "rules/..."},
	"rules/...":           {"numa", "vnuma", "confront", "finding", "capture", "rule", "internal/alike"},
	"rules/headroom":      {"numa", "placement", "vnuma", "confront", "finding", "rule"},
	"source/fact":         {"source/text"},
	"source/text":         {},
	"source/archive":      {"source/fact", "source/text"},
	"source/bundle":       {"numa", "source/fact", "source/text", "source/archive", "source/vmx", "source/vmxlog", "source/hostcmd"},
	"source/vmx":          {"numa", "source/fact", "source/text"},
	"source/vmxlog":       {"numa", "source/fact", "source/text", "source/vmx"},
	"source/hostcmd":      {"numa", "source/fact", "source/text"},
	"source/guest":        {"numa", "source/fact", "source/text"},
	"source/detect":       {"source/..."},
	"source/evidence":     {"numa", "source/...", "internal/alike"},
	"source/benchmark":    {"source/fact", "source/text"},
	"source/hostload":     {"capacity", "source/fact", "source/text"},
	"source/trial":        {"numa", "capacity", "capacity/iocost", "capacity/calibrate", "source/benchmark", "source/fact", "source/hostload"},
	"source/coefficients": {"numa", "capacity", "capacity/iocost", "source/fact", "internal/atomicfile"},
	"source/esxtop":       {"numa", "source/fact", "source/text"},
	"source/esxtop/...":   {"numa", "source/fact", "source/text", "source/esxtop/..."},
	"source/series":       {"numa", "source/..."},
	"source/incident":     {"numa", "source/fact", "source/word"},
	"source/word":         {"numa", "source/text", "internal/alike"},
	"source/scenario":     {"numa", "source/word"},
	"source/story":        {"numa", "source/scenario", "source/word", "internal/alike"},
	"source/snapshot":     {"numa"},
	"source/rvtools":      {"numa", "internal/alike"},
	"source/vsphere":      {"numa", "source/vsphere/xmlscan"},
	"source/vsphere/lab":  {"numa"},
	"source/demo":         {"numa", "capacity", "source/incident", "source/scenario", "source/story"},
	"whatif":              {"numa", "vnuma", "source/word", "internal/alike"},
	"sweep":               {"numa", "vnuma", "finding", "policy", "queue", "rules", "sim", "simulate", "source/scenario", "source/snapshot", "source/story", "source/word", "whatif"},
	"drift":               {"numa", "vnuma", "finding", "rule", "rules"},
	"compare":             {},
	"output/sweeps":       {"numa", "sweep", "output/table", "internal/texttab"},
	"output/comparison":   {"compare", "internal/texttab"},
	"output/deviation":    {"numa", "replay", "internal/texttab"},
	"output/topo":         {"numa", "placement", "vnuma", "confront", "finding", "rule", "rules", "internal/texttab"},
	"output/svg":          {"numa", "vnuma", "sim", "confront", "finding", "rule", "rules", "output/topo", "internal/texttab"},
	"output/report":       {"numa", "vnuma", "sim", "simulate", "capture", "confront", "finding", "rule", "policy", "rules", "published", "experiment", "drift", "whatif", "source/fact", "output/table", "output/topo", "output/svg", "output/timeline", "internal/alike", "internal/texttab", "optimise"},
	"output/picture":      {"internal/texttab", "output/svg"},
	"output/chart":        {"output/picture", "output/svg", "output/topo", "internal/texttab"},
	"output/answer":       {"numa", "capacity", "finding", "rule", "rules", "output/table"},
	"output/form":         {"numa", "finding", "rule", "rules", "output/answer", "output/table", "internal/texttab"},
	"output/sizing":       {"numa", "vnuma", "capacity", "capacity/...", "output/answer", "output/form", "output/chart", "output/picture", "output/svg", "output/table", "output/topo", "internal/texttab"},
	"output/table":        {"internal/texttab"},
	"output/table/xlsx":   {"internal/texttab", "output/table"},
	"output/timeline":     {"numa", "capture", "finding", "rule", "rules", "output/picture", "output/svg", "output/topo", "internal/texttab"},
	"output/batch":        {"numa"},
	"output/series":       {"numa"},
	"output/lake":         {"numa", "output/series"},
	"output/openmetrics":  {"numa", "output/series", "internal/atomicfile"},
	"queue":               {"numa", "capture", "source/...", "output/lake", "internal/atomicfile"},
	"internal/texttab":    {},
	"internal/alike":      {},
	"internal/atomicfile": {},
	"internal/golden":     {},
	"internal/testdeps":   {},
	"cmd/homenode":        {".", "numa", "capacity", "capacity/...", "cost", "capture", "queue", "anonymise", "vnuma", "sim", "simulate", "replay", "sweep", "confront", "finding", "rule", "rules", "rulebook", "policy", "published", "experiment", "drift", "whatif", "compare", "source/...", "output/...", "internal/...", "optimise"},

	"source/vsphere/xmlscan":     {},
	"internal/collectbench":      {"numa", "source/vsphere", "source/vsphere/lab", "internal/texttab"},
	"internal/collectbench/govc": {},
	"source/esxtop/explore":      {"source/esxtop", "internal/alike"},
	"internal/simbench/day":      {"numa"},
	"internal/capturebench":      {"numa", "source/esxtop", "internal/contest"},
	"internal/contest":           {"internal/texttab"},
	"internal/simbench":          {"numa", "capture", "rules", "sim", "internal/contest", "internal/simbench/day"},
}

// onlyHere lists libraries that one part of the project keeps to itself.
var onlyHere = map[string][]string{
	"github.com/vmware/govmomi":     {"source/vsphere", "source/vsphere/lab", "internal/collectbench", "internal/collectbench/govc"},
	"github.com/xuri/excelize":      {"source/rvtools", "output/table/xlsx"},
	"github.com/spf13/cobra":        {"cmd/homenode"},
	"encoding/csv":                  {"source/rvtools", "output/table", "internal/capturebench"},
	"go.yaml.in/yaml":               {"policy"},
	"github.com/chromedp/":          {},
	"github.com/rogpeppe/":          {},
	"github.com/santhosh-tekuri":    {},
	"github.com/go-json-experiment": {"source/snapshot"},
	"github.com/parquet-go/":        {"output/lake"},
	"github.com/klauspost/compress": {"source/archive", "queue"},
	"github.com/nats-io/":           {"queue"},
}

func TestImportDirection(t *testing.T) {
	for dir, files := range sources(t) {
		allowed, ok := allowedFor(dir)
		if !ok {
			t.Errorf("folder %s is not listed in mayImport: say what it may import", dir)
			continue
		}
		for _, file := range files {
			for _, imp := range imports(t, file) {
				checkImport(t, dir, file, imp, allowed)
			}
		}
	}
}

func checkImport(t *testing.T, dir, file, imp string, allowed []string) {
	t.Helper()
	if rest, own := strings.CutPrefix(imp, "homenode"); own && (rest == "" || rest[0] == '/') {
		target := strings.TrimPrefix(rest, "/")
		if target == "" {
			target = "."
		}
		if !slices.ContainsFunc(allowed, func(pattern string) bool { return covers(pattern, target) }) {
			t.Errorf("%s imports %s, which %s may not", file, imp, dir)
		}
		return
	}
	if dir == "numa" && strings.Contains(strings.Split(imp, "/")[0], ".") {
		t.Errorf("%s imports %s: numa stands on the standard library alone", file, imp)
	}
	for library, dirs := range onlyHere {
		if strings.HasPrefix(imp, library) && !slices.Contains(dirs, dir) {
			t.Errorf("%s imports %s, which only %v may", file, imp, dirs)
		}
	}
}

func covers(pattern, dir string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(dir, below+"/")
	}
	return pattern == dir
}

// allowedFor returns the imports of the most exact pattern for dir.
func allowedFor(dir string) ([]string, bool) {
	if a, ok := mayImport[dir]; ok {
		return a, true
	}
	for pattern, a := range mayImport {
		if covers(pattern, dir) {
			return a, true
		}
	}
	return nil, false
}

// TestPackageComments holds that every package has exactly one package comment.
func TestPackageComments(t *testing.T) {
	for dir, files := range sources(t) {
		comments := 0
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil {
				comments++
			}
		}
		if comments != 1 {
			t.Errorf("package in %s has %d package comments, want 1", dir, comments)
		}
	}
}

// sources returns the Go files that are not tests, by folder.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != "." && (name == "testdata" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			dir := path.Dir(filepath.ToSlash(p))
			out[dir] = append(out[dir], p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 10 {
		t.Fatalf("found %d folders with Go files: the walk is broken", len(out))
	}
	return out
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}
