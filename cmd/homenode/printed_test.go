package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/vsphere/lab"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
)

// A shelf is a folder with the files that documents and help mention, and two simulated vCenters.
type shelf struct {
	servers map[string]string // by the printed address
}

// newShelf creates the folder and makes it the current one. root is the folder of the project.
func newShelf(t *testing.T, root string) *shelf {
	t.Helper()
	s := &shelf{servers: map[string]string{}}
	fleet := given.Demo(t)
	unsetGovc(t)
	var accounts string
	for _, name := range []string{"vc01.example.com", "vc02.example.com"} {
		vc, err := lab.Start(fleet)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(vc.Close)
		password, _ := vc.URL.User.Password()
		s.servers["https://"+name] = "http://" + vc.URL.Host
		accounts += vc.URL.Host + " " + vc.URL.User.Username() + " " + password + "\n"
		t.Setenv("GOVC_USERNAME", vc.URL.User.Username())
		t.Setenv("GOVC_PASSWORD", password)
		t.Setenv("GOVC_URL", "http://"+vc.URL.Host)
	}
	t.Chdir(t.TempDir())
	s.fill(t, root, accounts)
	return s
}

// fill creates the files as a user would: it runs the program for those that the program writes.
func (s *shelf) fill(t *testing.T, root, accounts string) {
	t.Helper()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, name, []byte(text))
	}
	run := func(line string) {
		if text := output(shellWords(line)); strings.Contains(text, "homenode: ") {
			t.Fatalf("homenode %s: %s", line, text)
		}
	}
	run("snapshot demo -o fleet.json")
	for _, name := range []string{"last-month.json", "before.json"} {
		run("snapshot demo -o " + name)
	}
	run("demo --captures night")
	captures, err := filepath.Glob("night/*")
	if err != nil || len(captures) == 0 {
		t.Fatal(err, "no capture")
	}
	b := golden.Read(t, captures[0])
	host := strings.TrimSuffix(filepath.Base(captures[0]), ".csv")
	capture := strings.NewReplacer("kafka01", "sql01", "kafka02", "sql02", host, "esx07").Replace(string(b))
	for _, name := range []string{"night/esx07.csv", "esx07.csv", "esx01.csv", "esx07.csv.gz", "before.csv.gz", "after.csv.gz", "week.csv", "week/esx07.csv"} {
		write(name, capture)
	}
	write("results/esx07.json", output([]string{"capture", "esx07.csv", "--format", "json"}))
	scripts := filepath.Join(root, "cmd/homenode/testdata/script")
	for _, one := range [][3]string{{"size-latency", "mlc.txt", "mlc.txt"}, {"measured", "hot.json", "sql01.json"}, {"measured", "hot.json", "measured/sql01.json"}, {"size-calibrate", "fio.json", "fio.json"}, {"size-calibrate", "vsan/hci.txt", "hcibench/hci.txt"}, {"size-calibrate", "cpu.csv", "cpu.csv"},
		{"compare", "before/1.txt", "mlc1.txt"}, {"compare", "before/2.txt", "mlc2.txt"}, {"compare", "before/3.txt", "mlc3.txt"}, {"compare", "after/1.txt", "hotadd/1.txt"}, {"compare", "after/2.txt", "hotadd/2.txt"},
		{"move", "hosts/kvm01.xml", "capabilities/kvm01.xml"}, {"move", "hosts/kvm02.xml", "capabilities/kvm02.xml"}} {
		script, err := txtar.ParseFile(filepath.Join(scripts, one[0]+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range script.Files {
			if f.Name == one[1] {
				write(one[2], string(f.Data))
			}
		}
	}
	for _, name := range []string{"vcenters.txt", "accounts"} {
		write(name, accounts)
	}
	cases := golden.Read(t, filepath.Join(root, "measure/published/testdata/fd-decouple-16vcpu-cps2-65.txtar"))
	write("my-cases.txtar", string(cases))
	write("export.xlsx", string(workbookOf(t, map[string]string{"vInfo": doorVMs, "vHost": doorHosts})))
	for name, file := range map[string]string{"plan.json": "source/planned/testdata/plan.json", "machines/db.yaml": "source/planned/testdata/vmoperator.yaml",
		"expect.yaml": "cmd/homenode/testdata/corpus/inputs/expect.yaml"} {
		b := golden.Read(t, filepath.Join(root, file))
		write(name, string(b))
	}
	write("story.txtar", "release 8.0U3\nhost esx01 nodes=2 cores=16 memory=256GB\nvm sql[01-03] vcpus=8 memory=64GB\nrun 30m\nload * cpu=20%\n")
	for _, name := range []string{"vmware.log", "logs/vmware.log"} {
		write(name, strings.ReplaceAll(doorLog, "db01", "sql01"))
	}
	write("lscpu.txt", doorCPUs)
	if err := os.CopyFS("kvm", os.DirFS(filepath.Join(root, "cmd/homenode/testdata/corpus/inputs/kvm"))); err != nil {
		t.Fatal(err)
	}
}

// unrun matches commands that measure this machine, listen or prompt: only their arguments and flags are checked.
var unrun = regexp.MustCompile(`^(serve|demo|record|measure|measure watch)( |$)|--apply|--rollback|--resume|--verify|--plan`)

// comment matches the comment behind a command.
var comment = regexp.MustCompile(`\s{2,}#.*$| # .*$`)

// try runs a printed line, or checks its words, and returns what is wrong with it; "" for nothing.
func (s *shelf) try(line string) string {
	line = strings.TrimSpace(comment.ReplaceAllString(line, ""))
	line = strings.TrimSuffix(line, `\`)
	for printed, address := range s.servers {
		line = strings.ReplaceAll(line, printed, address)
	}
	var words []string
	for _, written := range []string{"move", "moved"} {
		if strings.HasSuffix(line, "-o "+written) || strings.Contains(line, "-o "+written+" ") {
			_ = os.RemoveAll(written) // a user names a new folder
		}
	}
	if strings.Contains(line, "--anonymise") {
		_ = os.Remove("away.key.json") // a key is never overwritten
	}
	into := ""
	for _, w := range shellWords(line)[1:] {
		if found, err := filepath.Glob(w); strings.Contains(w, "*.") && err == nil && found != nil {
			words = append(words, found...)
			continue
		}
		words = append(words, w)
	}
	if i := slices.Index(words, ">"); i >= 0 && i+1 < len(words) {
		into, words = words[i+1], words[:i]
	}
	if unrun.MatchString(strings.Join(words, " ")) && !strings.Contains(line, "--text") && !strings.Contains(line, "--captures") {
		return flagged(words)
	}
	if slices.Contains([]string{"simulate", "optimise"}, words[0]) && !strings.Contains(line, "--at") && !strings.Contains(line, "--against") {
		words = append(words, "--hours=0.1") // the printed commands simulate days, some with many settings
	}
	var out, errs bytes.Buffer
	code := run(context.Background(), words, strings.NewReader(""), &out, &errs)
	if into != "" {
		_ = os.WriteFile(into, out.Bytes(), 0o600) // if this fails, the next command reports the missing file
	}
	if code == exitError && (out.Len() == 0 || !strings.Contains(errs.String(), "not everything was read")) { // a damaged source is answered for as far as it is read
		return errs.String()
	}
	return ""
}

// flagged checks the command, its flags and the number of its arguments.
func flagged(words []string) string {
	cmd, rest, err := newRoot().Find(words)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && cmd.Args != nil {
		err = cmd.Args(cmd, cmd.Flags().Args())
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestPrinted runs every command that the README, the guides and the help print, in their order: those of one random guide and of a random third of the help, of all in make prove.
func TestPrinted(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil || len(pages) < 6 {
		t.Fatalf("%d guides, %v", len(pages), err)
	}
	if !testdeps.Proof() {
		one := rand.IntN(len(pages))
		pages = pages[one : one+1]
	}
	texts := map[string]string{}
	var order []string
	for _, path := range append([]string{filepath.Join(root, "README.md")}, pages...) {
		b := golden.Read(t, path)
		order = append(order, filepath.Base(path))
		texts[filepath.Base(path)] = blocks(string(b))
	}
	for _, c := range commands(newRoot()) {
		if !testdeps.Proof() && rand.IntN(3) > 0 {
			continue
		}
		order = append(order, "help of "+nameOf(c))
		texts["help of "+nameOf(c)] = c.Example
	}
	s := newShelf(t, root)
	tried := 0
	for _, name := range order {
		for line := range strings.Lines(texts[name]) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "bin/")
			if !strings.HasPrefix(line, "homenode ") || strings.Contains(line, "$") {
				continue
			}
			tried++
			if wrong := s.try(line); wrong != "" {
				t.Errorf("%s: %s\n%.300s", name, line, wrong)
			}
		}
	}
	if t.Logf("%d commands were tried", tried); tried < 10 || testdeps.Proof() && tried < 150 {
		t.Error("want more")
	}
}

// blocks returns the code blocks of a page except those that TestReadme runs.
func blocks(page string) string {
	var b strings.Builder
	kind := "" // of the block
	for line := range strings.Lines(page) {
		switch fence := strings.HasPrefix(line, "```"); {
		case fence && kind != "":
			kind = ""
		case fence:
			kind = line
		case kind != "" && !strings.HasPrefix(kind, "```console"):
			b.WriteString(line)
		}
	}
	return b.String()
}

// placeholder is a word that a reader would have to replace.
var placeholder = regexp.MustCompile(`(^| )(SOURCE|VM|HOST|FILE|DIR|NAME|PATH|OTHER|ID)( |$)|…`)

// TestNext runs the next commands that the answers of the corpus suggest: those of a random tenth of the questions, of all in make prove.
func TestNext(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text := golden.Read(t, filepath.Join(root, corpusQuestions))
	s := newShelf(t, root)
	for _, name := range []string{"cmd", "source", "docs", "measure", "rules", "size"} {
		if err := os.Symlink(filepath.Join(root, name), name); err != nil {
			t.Fatal(err)
		}
	}
	next := map[string]string{}
	for _, question := range questionsOf(string(text)) {
		if !testdeps.Proof() && rand.IntN(10) != 0 {
			continue
		}
		for _, line := range nextOf(question) {
			if next[line] == "" {
				next[line] = question
			}
		}
	}
	for line, question := range next {
		switch wrong := s.try(line); {
		case placeholder.MatchString(line):
			t.Errorf("homenode %s names a placeholder: %s", question, line)
		case wrong != "":
			t.Errorf("homenode %s names %s\n%.300s", question, line, wrong)
		}
	}
	if len(next) < 5 || testdeps.Proof() && len(next) < 50 {
		t.Errorf("%d commands were named", len(next))
	}
}

// nextOf returns the next commands that the answer to a question suggests.
func nextOf(question string) []string {
	words := shellWords(question)
	if slices.Contains(words, "<") || slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--format") }) {
		return nil
	}
	var screen bytes.Buffer
	if code := run(context.Background(), words, strings.NewReader(""), &screen, &screen); code == exitError { // the next command would fail too
		return nil
	}
	_, text, _ := strings.Cut(screen.String(), "\nnext\n")
	var out []string
	for line := range strings.Lines(text) {
		line, inside := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "  homenode ")
		if !inside {
			break
		}
		out = append(out, "homenode "+line)
	}
	return out
}
