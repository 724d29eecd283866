package house

import (
	"example.org/homenode/internal/golden"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the rooms of the house from the ground up. A room imports rooms of lower
// floors only; rooms on one floor do not know each other. A folder with code that is in
// none of them fails the test.
var floors = [][]string{
	{"numa", "internal", "docs"},
	{"esxi", "source"},
	{"capture"},
	{"rules"},
	{"change", "size", "measure"},
	{"output"},
	{"ask"},
	{"serve", "page"},
	{"cmd"},
}

// closed are doors that stay shut although the floors would allow them, with the
// packages behind them that may be seen.
var closed = map[[2]string][]string{
	{"esxi", "internal"}: {}, // the simulation stands on the words alone
	{"rules", "source"}:  {}, // a rule judges the model, not a file
	{"capture", "esxi"}:  {}, // what happened knows nothing of what was predicted
	// homenode explain prints what a file states, homenode measure the file that it writes.
	{"output", "source"}: {"source/fact", "source/measured", "source/machine"},
}

// above are folders of the room rules that stand above the rules; rules/check holds one
// rule in each folder, and all others hold parts of rules.
var above = []string{"rules/filter", "rules/policy", "rules/simulate", "rules/verdict/fleet", "rules/verdict/matrix", "rules/verdict/recording", "rules/verdict/simulation", "rules/verdict/stated"}

// ruleSees is what a rule imports of its own room, apart from rules/rule, rules/finding, rules/shape
// and rules/symptom, and what these import themselves.
var ruleSees = map[string][]string{
	"rules/finding":              {},
	"rules/symptom":              {"rules/finding"},
	"rules/confront":             {},
	"rules/shape":                {},
	"rules/rule":                 {"rules/confront", "rules/shape"}, // findings of recordings carry what was compared with the prediction, VMs of KVM the faults of their shape
	"rules/check/guestview":      {"rules/confront"},                // these three judge by what a guest or a host showed,
	"rules/check/observedhomes":  {"rules/confront"},                // beside what was predicted
	"rules/check/observedlayout": {"rules/confront"},
}

// shut are doors within a room.
var shut = map[string][]string{
	"esxi/vnuma":  {"esxi/scheduler"},                                              // the layout of a VM is there before anything is scheduled
	"source/open": {"source/open/vcenter", "source/vsphere", "source/vsphere/lab"}, // a program for the browser reads files without a vCenter
}

// onlyHere lists libraries that one part of the project keeps to itself.
var onlyHere = map[string][]string{
	"github.com/vmware/govmomi":                 {"source/vsphere", "source/vsphere/lab", "source/vsphere/write", "cmd/bench/collect", "cmd/bench/collect/govc", "cmd/bench/watch"},
	"github.com/xuri/excelize":                  {}, // for tests
	"github.com/spf13/cobra":                    {"cmd/homenode", "cmd/homenode/fix", "cmd/homenode/flags", "cmd/homenode/measure", "cmd/homenode/move", "cmd/homenode/recording", "cmd/homenode/serve"},
	"encoding/csv":                              {"source/tables", "output/table", "cmd/bench/capture"},
	"go.yaml.in/yaml":                           {"rules/policy", "serve/config", "source/kubevirt", "source/planned"},
	"github.com/expr-lang/":                     {"rules/condition", "size/sheet"},
	"github.com/chromedp/":                      {"internal/browser"}, // for tests
	"github.com/rogpeppe/":                      {},
	"github.com/santhosh-tekuri":                {"internal/formtest", "cmd/homenode"}, // for tests
	"github.com/go-json-experiment":             {"source/strict", "source/snapshot", "source/tables", "output/format", "change/fix"},
	"github.com/parquet-go/":                    {"capture/export/parquet"},
	"github.com/klauspost/compress":             {"capture/archive", "capture/store", "source/archive", "serve/remote", "serve/routes"},
	"example.org/homenode/source/vsphere/write": {"cmd/homenode/fix"}, // it alone writes
	"github.com/prometheus/":                    {"capture/store", "serve/keep", "serve/metrics", "serve/query", "serve/reader", "serve/remote", "cmd/bench/watch"},
}

func TestImportDirection(t *testing.T) {
	rooms := map[string]bool{}
	for dir, files := range sources(t) {
		room := roomOf(dir)
		if floor(room) < 0 {
			t.Errorf("folder %s stands on no floor: say where in floors", dir)
			continue
		}
		rooms[room] = true
		for _, file := range files {
			for _, imp := range imports(t, file) {
				if why := wrong(dir, imp); why != "" {
					t.Errorf("%s imports %s: %s", file, imp, why)
				}
			}
		}
	}
	if len(rooms) < 10 {
		t.Errorf("found the rooms %v: the walk is broken", slices.Sorted(maps.Keys(rooms)))
	}
}

// far is what a room reaches by no way, not even through other packages.
var far = map[string][]string{
	"serve": {"example.org/homenode/source/vsphere/write"}, // nothing that is sent to a server changes a vCenter
	"ask":   {"example.org/homenode/source/vsphere", "example.org/homenode/source/open/vcenter", "net/http", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/vmware/govmomi"},
}

// TestFar follows what rooms import to its end.
func TestFar(t *testing.T) {
	all := sources(t)
	for room, doors := range far {
		from := map[string]string{} // the package that is reached, and the one that first imports it
		var next []string
		for dir := range all {
			if roomOf(dir) == room {
				from[dir], next = "", append(next, dir)
			}
		}
		if next == nil {
			t.Errorf("no package is in %s", room)
		}
		for ; len(next) > 0; next = next[1:] {
			for _, file := range all[next[0]] {
				for _, imp := range imports(t, file) {
					if slices.ContainsFunc(doors, func(door string) bool { return imp == door || strings.HasPrefix(imp, door+"/") }) {
						t.Errorf("%s imports %s, and %s reaches it: %s", file, imp, room, way(from, next[0]))
					}
					to, own := strings.CutPrefix(imp, "example.org/homenode/")
					if _, seen := from[to]; own && !seen {
						from[to], next = next[0], append(next, to)
					}
				}
			}
		}
	}
}

// way returns the packages that lead to one.
func way(from map[string]string, to string) string {
	if from[to] == "" {
		return to
	}
	return way(from, from[to]) + " > " + to
}

// TestDoors checks that the test above finds what it is for.
func TestDoors(t *testing.T) {
	tests := []struct{ dir, imp, want string }{
		{"rules", "example.org/homenode/source/esxtop", "that door is shut"},
		{"rules/check/headroom", "example.org/homenode/output/fleet", "output stands above rules"},
		{"output/draw/topo", "example.org/homenode/esxi/placement", "that door is shut: output computes no home nodes, rules/verdict/fleet has them"},
		{"change/diff", "example.org/homenode/size/fit", "change and size stand on one floor"},
		{"numa", "example.org/homenode/internal/alike", "numa and internal stand on one floor"},
		{"esxi/vnuma", "example.org/homenode/internal/alike", "that door is shut"},
		{"esxi/vnuma", "example.org/homenode/esxi/scheduler", "that door is shut"},
		{"esxi/scheduler", "example.org/homenode/esxi/vnuma", ""},
		{"capture", "example.org/homenode/esxi/vnuma", "that door is shut"},
		{"output/fleet", "example.org/homenode/source/fact", ""},
		{"output/fleet", "example.org/homenode/source/esxtop", "that door is shut"},
		{"rules/check/headroom", "example.org/homenode/rules/rule", ""},
		{"rules/check/headroom", "example.org/homenode/rules/check/affinity", "a rule sees rules/rule, rules/finding, rules/shape and rules/symptom of its room"},
		{"rules/check/headroom", "example.org/homenode/rules", "a rule sees rules/rule, rules/finding, rules/shape and rules/symptom of its room"},
		{"rules/finding", "example.org/homenode/rules/rule", "it sees [] of its room"},
		{"rules/simulate", "example.org/homenode/rules", ""},
		{"rules", "example.org/homenode/rules/simulate", "it stands above the rules"},
		{"numa/unit", "golang.org/x/text", "numa stands on the standard library alone"},
		{"output/fleet", "github.com/parquet-go/parquet-go", "only [capture/export/parquet] may"},
		{"output/fleet", "homenode", "the module has no package of its own"},
		{"output/fleet", "example.org/homenode/shed/tool", "folder shed stands on no floor"},
	}
	for _, tt := range tests {
		if got := wrong(tt.dir, tt.imp); got != tt.want {
			t.Errorf("%s imports %s: got %q, want %q", tt.dir, tt.imp, got, tt.want)
		}
	}
}

// wrong says why code in dir must not import imp, or nothing.
func wrong(dir, imp string) string {
	if imp == "homenode" {
		return "the module has no package of its own"
	}
	to, own := strings.CutPrefix(imp, "example.org/homenode/")
	if !own {
		return wrongLibrary(dir, imp)
	}
	room, other := roomOf(dir), roomOf(to)
	if room == other {
		return wrongInside(dir, to)
	}
	here, there := floor(room), floor(other)
	switch seen, ok := closed[[2]string{room, other}]; {
	case there < 0:
		return "folder " + other + " stands on no floor"
	case there == here:
		return room + " and " + other + " stand on one floor"
	case there > here:
		return other + " stands above " + room
	case ok && !slices.Contains(seen, to):
		return "that door is shut"
	}
	if roomOf(dir) == "output" && strings.HasPrefix(imp, "example.org/homenode/esxi/placement") {
		return "that door is shut: output computes no home nodes, rules/verdict/fleet has them"
	}
	return ""
}

func wrongLibrary(dir, imp string) string {
	if roomOf(dir) == "numa" && strings.Contains(strings.Split(imp, "/")[0], ".") {
		return "numa stands on the standard library alone"
	}
	for library, dirs := range onlyHere {
		if strings.HasPrefix(imp, library) && !slices.Contains(dirs, dir) {
			return "only [" + strings.Join(dirs, " ") + "] may"
		}
	}
	return ""
}

// wrongInside says why dir must not import to, of the same room.
func wrongInside(dir, to string) string {
	if slices.Contains(shut[dir], to) {
		return "that door is shut"
	}
	if roomOf(dir) != "rules" || slices.Contains(above, dir) {
		return ""
	}
	if slices.Contains(above, to) && (dir != "rules" || to != "rules/policy") {
		return "it stands above the rules"
	}
	if dir == "rules" {
		return ""
	}
	seen, listed := ruleSees[dir]
	switch {
	case slices.Contains(seen, to):
		return ""
	case listed && (dir == "rules/finding" || dir == "rules/confront" || dir == "rules/shape"):
		return "it sees [" + strings.Join(seen, " ") + "] of its room"
	case to != "rules/rule" && to != "rules/finding" && to != "rules/shape" && to != "rules/symptom":
		return "a rule sees rules/rule, rules/finding, rules/shape and rules/symptom of its room"
	}
	return ""
}

func roomOf(dir string) string {
	room, _, _ := strings.Cut(dir, "/")
	return room
}

// floor returns the floor that a room stands on, from the ground up; -1 for none.
func floor(room string) int {
	return slices.IndexFunc(floors, func(rooms []string) bool { return slices.Contains(rooms, room) })
}

// TestPackageComments checks that every package has exactly one package comment.
func TestPackageComments(t *testing.T) {
	for dir, files := range sources(t) {
		comments := 0
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.PackageClauseOnly|parser.ParseComments)
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

// TestPackagesAreSmall checks that no package has more files than a reader can look over.
func TestPackagesAreSmall(t *testing.T) {
	const most = 25
	for dir, files := range sources(t) {
		if len(files) > most {
			t.Errorf("package in %s has %d files, want at most %d: make a package of an idea in it", dir, len(files), most)
		}
	}
}

// TestReadsAreBounded checks that nothing is read whole without a limit.
func TestReadsAreBounded(t *testing.T) {
	free := []string{"internal/bounded", "internal/golden", "cmd/bench", "cmd/release"}
	for dir, files := range sources(t) {
		if slices.ContainsFunc(free, func(of string) bool { return dir == of || strings.HasPrefix(dir, of+"/") }) {
			continue
		}
		for _, file := range files {
			b := golden.Read(t, filepath.Join(root, file))
			for line := range strings.Lines(string(b)) {
				if strings.Contains(line, "os.ReadFile(") || strings.Contains(line, "io.ReadAll(") && !strings.Contains(line, "bounded.Reader(") && !strings.Contains(line, "io.LimitReader(") {
					t.Errorf("%s: %s: want bounded.File or bounded.Reader", file, strings.TrimSpace(line))
				}
			}
		}
	}
}

// root is the folder of the module.
const root = "../.."

// sources returns the Go files that are not tests, by folder, from root.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != "." && (name == "testdata" || strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			dir := path.Dir(p)
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
	src, err := os.ReadFile(filepath.Join(root, file))
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
