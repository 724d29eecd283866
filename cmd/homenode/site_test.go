package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.org/homenode/cmd/homenode/serve"
	"example.org/homenode/internal/golden"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// A testSite is a homenode serve that runs.
type testSite struct{ URL string }

// startSite runs homenode serve until the test ends.
func startSite(t *testing.T, args ...string) testSite {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	root := newRoot()
	root.SetArgs(append([]string{"serve", "--listen=127.0.0.1:0"}, args...))
	root.SetOut(in)
	root.SetErr(in)
	done := make(chan error, 1)
	go func() {
		err := root.ExecuteContext(ctx)
		_ = in.CloseWithError(fmt.Errorf("serve ended: %w", err))
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	var s testSite
	lines := bufio.NewScanner(out)
	for s.URL == "" && lines.Scan() {
		s.URL = regexp.MustCompile(`http://[0-9.:]+`).FindString(lines.Text())
	}
	if s.URL == "" {
		t.Fatalf("it did not start: %v", lines.Err())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s
}

// post posts a form.
func (s testSite) post(t *testing.T, path string, form url.Values, want int) string {
	t.Helper()
	res, err := http.PostForm(s.URL+path, form)
	if err != nil {
		t.Fatal(err)
	}
	return answerOf(t, res, want)
}

// get returns a page.
func (s testSite) get(t *testing.T, path string, want int) string {
	t.Helper()
	return sitePage(t, s.URL+path, want)
}

// answerOf returns the body of an answer, whose status must be as wanted.
func answerOf(t *testing.T, res *http.Response, want int) string {
	t.Helper()
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != want {
		t.Fatalf("%s: status %d, want %d\n%s", res.Request.URL, res.StatusCode, want, b)
	}
	if lost := lostAnchors(string(b)); lost != "" {
		t.Errorf("%s: links lead to anchors that the page does not have: %s", res.Request.URL, lost)
	}
	return string(b)
}

// lostAnchors returns the anchors to which links of a page lead although no element has them.
func lostAnchors(page string) string {
	has, out := map[string]bool{}, ""
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		has[html.UnescapeString(m[1])] = true
	}
	for _, m := range regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		to, err := url.PathUnescape(html.UnescapeString(m[1]))
		if err != nil || !has[to] {
			has[to], out = true, out+to+" "
		}
	}
	return out
}

// headline returns the first line of a page.
func headline(page string) string {
	if m := regexp.MustCompile(`<h1>(.*)</h1>`).FindStringSubmatch(page); m != nil {
		return m[1]
	}
	return ""
}

// says reports whether a page has the sentences as its headline and the paragraphs below it.
func says(page, sentences string) bool {
	page = html.UnescapeString(page)
	first := headline(page)
	rest, begins := strings.CutPrefix(sentences, first)
	return first != "" && begins && (rest == "" || strings.Contains(page, `<p class="rest">`+strings.TrimSpace(rest)))
}

// printedCommand is the command that a page prints.
var printedCommand = regexp.MustCompile(`n a command line(?:, without live data)?: <code>homenode (.*?)</code>`)

// TestPagesAreCommands runs the command that each page prints against the same fleet: both have the same answer.
func TestPagesAreCommands(t *testing.T) {
	t.Parallel()
	s := startSite(t, "--fleet=demo")
	compared := 0
	for _, page := range append([]string{"/vm?vm=erp01&on=esx13.demo", "/calculator?vcpus=24&memory=512GB&sockets=2&cores=16&host-memory=768GB&release=7.0U3&hot-add=on"}, sitePages...) {
		if page == "/vm?vm=none" {
			continue
		}
		body := s.get(t, page, http.StatusOK)
		if m := flagInText.FindString(saidOn(body)); m != "" && !strings.HasPrefix(page, "/rule") {
			t.Errorf("%s names a flag to people: %s", page, m)
		}
		m := printedCommand.FindStringSubmatch(body)
		if m == nil {
			continue
		}
		compared++
		line := html.UnescapeString(m[1])
		var out strings.Builder
		if run(t.Context(), append(shellWords(line), "--format=json"), strings.NewReader(""), &out, io.Discard) == exitError {
			t.Errorf("%s: homenode %s fails", page, line)
			continue
		}
		between := "?"
		if strings.Contains(page, "?") {
			between = "&"
		}
		got, gotFindings := answerData(t, s.get(t, page+between+"format=json", http.StatusOK))
		want, wantFindings := answerData(t, out.String())
		if got != want || wantFindings != "null" && gotFindings != wantFindings { // pages of hosts and clusters have findings of assess beside
			t.Errorf("%s differs from homenode %s:\n%.300s\n%.300s", page, line, got+gotFindings, want+wantFindings)
		}
	}
	if compared < 15 {
		t.Errorf("compared %d pages: the test looks at nothing", compared)
	}
}

// Of a page commands are left out, and its script; what is left is read by people.
var (
	commandsOf = regexp.MustCompile(`(?s)<code.*?</code>|<section class="(?:same|carry)".*?</section>|<(?:style|script|svg).*?</(?:style|script|svg)>`)
	tagsOf     = regexp.MustCompile(`(?s)<[^>]*>`)
	flagInText = regexp.MustCompile(`.{0,60}[^-\w]--[a-z][a-z-]+.{0,40}`)
)

// saidOn returns the text of a page.
func saidOn(page string) string {
	return tagsOf.ReplaceAllString(commandsOf.ReplaceAllString(page, ""), " ")
}

// answerData returns the result and the findings of an answer, without what depends on the clock; a plan of a command has no frame.
func answerData(t *testing.T, text string) (result, findings string) {
	t.Helper()
	var a map[string]any
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	one := a["result"]
	if one == nil {
		one = a
	}
	write := func(v any) string {
		b, err := json.Marshal(dataOf(v))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return write(one), write(a["findings"])
}

// TestSitePlans saves the plan of a page and carries it out by the command that the page shows, and takes it back. Nothing that is sent
// to the server changes the vCenter.
func TestSitePlans(t *testing.T) {
	f, err := scenario.Read("fleet.txt", []byte("release 7.0U3\ncluster prod\nhost esx01 nodes=2 cores=18 memory=512GB\nvm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on\nvm web01 host=esx01 vcpus=4 memory=16GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	defer vc.Close()
	vc.AtPowerOn(serve.AtPowerOn)
	password, _ := vc.URL.User.Password()
	account := filepath.Join(t.TempDir(), "account")
	golden.Write(t, account, fmt.Appendf(nil, "%s %s %s\n", vc.URL.Host, vc.URL.User.Username(), password))
	bare := *vc.URL
	bare.User = nil
	t.Setenv("GOVC_URL", vc.URL.String())
	s := startSite(t, "vcenter", "--credentials="+account)
	var page string
	until(t, func() bool {
		res, err := http.Get(s.URL + "/plans?rule=N001")
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		page = string(b)
		return res.StatusCode == http.StatusOK
	})
	command := regexp.MustCompile(`<code id="carry-command">homenode (fix .*? --plan (plan-([0-9a-f]+)\.json) --apply --power guest)</code>`).FindStringSubmatch(page)
	if command == nil || !strings.Contains(command[1], bare.String()) || !strings.Contains(headline(page), "changes 1 VM") {
		t.Fatalf("the plan: %q, %q", headline(page), command)
	}
	hotAdd := func() bool {
		now, err := vcFleet(t, vc)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	for _, words := range []string{"apply=on", "apply=true&power=guest&yes=1", "rollback=a.journal", "resume=a.journal", "plan=a.json", "vm=--apply", "rule=N001+--apply", "set=--apply", "max-parallel=1+--apply"} {
		form, err := url.ParseQuery(words)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.PostForm(s.URL+"/plans", form) // a form that asks
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s: %s", words, res.Status)
		}
		for _, path := range []string{"/plans/keep", "/plan", "/plan/apply", "/plan/rollback", "/plan/resume", "/api/homenode/v1/plans"} {
			s.post(t, path, form, http.StatusMethodNotAllowed)
		}
		res, err = http.Get(s.URL + "/plans?" + words)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	if !hotAdd() {
		t.Fatal("a page has written")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	golden.Write(t, command[2], []byte(s.get(t, "/plan?plan="+command[3], http.StatusOK)))
	fix := func(args ...string) {
		t.Helper()
		var said strings.Builder
		if code := run(t.Context(), append(args, "--credentials="+account, "--yes=1"), strings.NewReader(""), io.Discard, &said); code != 0 {
			t.Fatalf("%q: exit %d: %s", args, code, said.String())
		}
	}
	fix(strings.Fields(command[1])...)
	if hotAdd() {
		t.Error("the plan was not carried out")
	}
	journals, err := filepath.Glob(filepath.Join(dir, "*.journal"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	fix("fix", bare.String(), "--rollback="+journals[0], "--power=guest")
	if !hotAdd() {
		t.Error("the plan was not taken back")
	}
	for _, bad := range []string{"../../etc/passwd", "0123456789abcdef", ""} {
		s.get(t, "/plan?plan="+url.QueryEscape(bad), http.StatusNotFound)
	}
}

// until waits until something is so.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for range 600 {
		if is() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("it did not come")
}

// vcFleet reports whether CPU hot add of sql01 is on in the vCenter.
func vcFleet(t *testing.T, vc *lab.VCenter) (bool, error) {
	t.Helper()
	live, err := openLab(t, vc)
	if err != nil {
		return false, err
	}
	f, err := live.Fleet(t.Context())
	if err != nil {
		return false, err
	}
	return f.FindVMs("sql01")[0].CPUHotAdd.Value, live.Close(t.Context())
}

func openLab(t *testing.T, vc *lab.VCenter) (*vsphere.Live, error) {
	return vsphere.Open(t.Context(), vc.URL, vsphere.Options{})
}

// TestSiteConfig opens a VM whose name looks like a flag on a server with a configuration: what that accepts is shown as accepted and no plan cures it.
func TestSiteConfig(t *testing.T) {
	dir := t.TempDir()
	fleet, config := filepath.Join(dir, "fleet.txt"), filepath.Join(dir, "homenode.yaml")
	for file, text := range map[string]string{fleet: "release 7.0U3\ncluster prod\nhost esx01 nodes=2 cores=18 memory=512GB\nvm -x host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on\n", config: "suppress:\n  - {rules: [N001], vm: [-x], reason: agreed, until: 2099-12-31}\n"} {
		golden.Write(t, file, []byte(text))
	}
	s := startSite(t, "--fleet="+fleet, "--config="+config)
	s.get(t, "/vm?vm=-x", http.StatusOK)
	for _, at := range []string{"/", "/?rule=N001", "/?vm=-x"} {
		if page := s.get(t, at, http.StatusOK); !strings.Contains(page, "Accepted findings") || !strings.Contains(page, "<td>agreed</td>") {
			t.Errorf("%s does not show what is accepted", at)
		}
	}
	if page := s.get(t, "/?rule=N022", http.StatusOK); strings.Contains(page, "<td>agreed</td>") {
		t.Error("a filter shows what another rule found")
	}
	if page := s.get(t, "/plans?rule=N001", http.StatusOK); !strings.Contains(headline(page), "Nothing to change") {
		t.Errorf("the plan: %q", headline(page))
	}
	s.get(t, "/what-if?vm=-x&hotAdd=off", http.StatusOK)
}
