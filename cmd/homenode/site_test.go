package main

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"homenode/cmd/homenode/serve"
	"homenode/source/scenario"
	"homenode/source/vsphere"
	"homenode/source/vsphere/lab"
)

// A testSite is a homenode serve that runs.
type testSite struct{ URL, token string }

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
	for (s.URL == "" || s.token == "") && lines.Scan() {
		if m := regexp.MustCompile(`with the token (\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			s.token = m[1]
		} else if at := regexp.MustCompile(`http://[0-9.:]+`).FindString(lines.Text()); at != "" {
			s.URL = at
		}
	}
	if s.token == "" {
		t.Fatalf("it did not start: %v", lines.Err())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s
}

// post posts a form as an operator.
func (s testSite) post(t *testing.T, path string, form url.Values, want int) string {
	t.Helper()
	page := func(req *http.Request) string {
		req.Header.Set("Authorization", "Bearer "+s.token)
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if to := res.Header.Get("Location"); res.StatusCode == http.StatusSeeOther {
			_ = res.Body.Close()
			return s.get(t, to, want)
		}
		return answerOf(t, res, want)
	}
	req, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return page(req)
}

// get returns a page as an operator sees it.
func (s testSite) get(t *testing.T, path string, want int) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return answerOf(t, res, want)
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
	return string(b)
}

// headline returns the first line of a page.
func headline(page string) string {
	if m := regexp.MustCompile(`<h1>(.*)</h1>`).FindStringSubmatch(page); m != nil {
		return m[1]
	}
	return ""
}

// TestSiteSaysWhatCommandsSay compares pages with the answers of the commands that they name.
func TestSiteSaysWhatCommandsSay(t *testing.T) {
	s := startSite(t, "--fleet=demo")
	for page, command := range map[string][]string{
		"/":                          {"assess", "demo"},
		"/findings?rule=N001":        {"assess", "demo", "--rule=N001"},
		"/vm?vm=sql01":               {"explain", "demo", "sql01"},
		"/vm?vm=erp01&on=esx13.demo": {"explain", "demo", "erp01", "--on=esx13.demo"},
		"/calculator?vcpus=24&memory=512GB&sockets=2&cores=16&host-memory=768GB&release=7.0U3&hot-add=on": {"explain", "--vm=24x512GB", "--host=2x16c/768GB", "--release=7.0U3", "--hot-add"},
		"/plans?vm=sql*": {"fix", "demo", "--vm=sql*"},
	} {
		html := s.get(t, page, http.StatusOK)
		var out strings.Builder
		run(t.Context(), append(command, "--format=markdown"), strings.NewReader(""), &out, io.Discard)
		want := regexp.MustCompile(`(?m)^\*\*(.*)\*\*$`).FindStringSubmatch(out.String())
		if want == nil || !strings.Contains(headline(html), strings.ReplaceAll(want[1], `\`, "")) {
			t.Errorf("%s says %q, %v says %q", page, headline(html), command, want)
		}
	}
}

// TestSitePlans keeps a plan of a vCenter, carries it out, takes it back, and looks at the vCenter each time.
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
	if err := os.WriteFile(account, fmt.Appendf(nil, "%s %s %s\n", vc.URL.Host, vc.URL.User.Username(), password), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, audit := t.TempDir(), filepath.Join(t.TempDir(), "audit.log")
	bare := *vc.URL
	bare.User = nil
	s := startSite(t, bare.String(), "--credentials="+account, "--plans="+folder, "--write-credentials="+account, "--audit="+audit)
	until(t, func() bool { return !strings.Contains(s.get(t, "/status", http.StatusOK), "No host is seen yet") })
	var page string
	until(t, func() bool {
		res, err := http.Get(s.URL + "/plans")
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		page = string(b)
		return res.StatusCode == http.StatusOK
	})
	if !strings.Contains(headline(page), "changes 1 VM") {
		t.Fatalf("the plan: %q", headline(page))
	}
	page = s.post(t, "/plans/keep", url.Values{}, http.StatusOK)
	id := regexp.MustCompile(`name="plan" value="([0-9a-f]+)"`).FindStringSubmatch(page)
	if id == nil {
		t.Fatalf("no plan was kept:\n%s", page)
	}
	hotAdd := func() bool {
		now, err := vcFleet(t, vc)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	if page := s.post(t, "/plan/apply", url.Values{"plan": {id[1]}, "power": {"guest"}, "objects": {"7"}}, http.StatusBadRequest); !strings.Contains(headline(page), "is 1: type it") || !hotAdd() {
		t.Errorf("a wrong number: %q", headline(page))
	}
	for _, step := range []struct {
		what, says string
		hotAdd     bool
	}{{"apply", "The plan was carried out: of 1 change 1 done.", false}, {"rollback", "The plan was taken back: of 1 change 1 done.", true}, {"apply", "The plan was carried out: of 1 change 1 done.", false}} {
		s.post(t, "/plan/"+step.what, url.Values{"plan": {id[1]}, "power": {"guest"}, "objects": {"1"}}, http.StatusOK)
		until(t, func() bool { return headline(s.get(t, "/plan?plan="+id[1], http.StatusOK)) == step.says })
		if got := hotAdd(); got != step.hotAdd {
			t.Errorf("after %s CPU hot add is %v", step.what, got)
		}
	}
	// The audit log names the plan that was kept, and how each run ended; the journal says how its operator is known.
	var log []byte
	until(t, func() bool {
		log, err = os.ReadFile(audit)
		return err == nil && strings.Count(string(log), `"what":"plan ended"`) == 3
	})
	for want, times := range map[string]int{`"what":"/plans/keep","result":"ok","details":{"to":"/plan?plan=` + id[1]: 1, `"what":"plan ended","result":"ok","details":{"outcome":"`: 3} {
		if got := strings.Count(string(log), want); got != times {
			t.Errorf("%s is there %d times in the audit log\n%s", want, got, log)
		}
	}
	journals, err := filepath.Glob(filepath.Join(folder, "*.journal"))
	if err != nil || len(journals) == 0 {
		t.Fatal(journals, err)
	}
	if b, err := os.ReadFile(journals[0]); err != nil || !strings.Contains(string(b), "local operator (operator token)") {
		t.Errorf("the journal: %v\n%.500s", err, b)
	}
	for _, bad := range []string{"../../etc/passwd", "0123456789abcdef", ""} {
		s.get(t, "/plan?plan="+url.QueryEscape(bad), http.StatusNotFound)
	}
	s.post(t, "/plans/keep", url.Values{"vm": {"@/etc/passwd"}}, http.StatusBadRequest)
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

// TestSiteAccepted accepts a finding and withdraws that.
func TestSiteAccepted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "accepted.yaml")
	s := startSite(t, "--fleet=demo", "--accepted="+file)
	found := func() bool {
		return strings.Contains(s.get(t, "/findings?rule=N001&vm=sql01", http.StatusOK), "CPU hot add hides NUMA")
	}
	// planned reports whether the plan has sql01 for this finding.
	planned := func() bool {
		return !strings.Contains(headline(s.get(t, "/plans?rule=N001&vm=sql01", http.StatusOK)), "Nothing to change")
	}
	if !found() || !planned() {
		t.Fatal("sql01 has no finding N001, or no plan cures it")
	}
	form := url.Values{"rule": {"N001"}, "vm": {"sql01"}, "until": {"2099-12-31"}}
	if page := s.post(t, "/accepted/add", form, http.StatusBadRequest); !strings.Contains(headline(page), "reason") || !found() {
		t.Errorf("without a reason: %q", headline(page))
	}
	form.Set("reason", `"> <script>`)
	page := s.post(t, "/accepted/add", form, http.StatusOK)
	if found() || strings.Contains(page, "<script>") || headline(page) != "1 finding accepted. They count for nothing until the day that stands beside them." {
		t.Errorf("accepted: found %v, %q", found(), headline(page))
	}
	if planned() {
		t.Error("accepted, and a plan still cures it")
	}
	key := regexp.MustCompile(`name="key" value="([^"]*)"`).FindStringSubmatch(page)
	if key == nil {
		t.Fatalf("nothing can be withdrawn:\n%s", page)
	}
	s.post(t, "/accepted/remove", url.Values{"key": {html.UnescapeString(key[1])}}, http.StatusOK)
	s.post(t, "/accepted/remove", url.Values{"key": {html.UnescapeString(key[1])}}, http.StatusNotFound)
	if !found() || !planned() {
		t.Error("withdrawn, and still accepted")
	}
}

// TestSiteConfig opens a VM whose name looks like a flag on a server with a configuration, and asks what would change for one.
func TestSiteConfig(t *testing.T) {
	dir := t.TempDir()
	fleet, config := filepath.Join(dir, "fleet.txt"), filepath.Join(dir, "homenode.yaml")
	for file, text := range map[string]string{fleet: "release 7.0U3\ncluster prod\nhost esx01 nodes=2 cores=18 memory=512GB\nvm -x host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on\n", config: "suppress:\n  - {rules: [N001], vm: [-x], reason: agreed, until: 2099-12-31}\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startSite(t, "--fleet="+fleet, "--config="+config)
	s.get(t, "/vm?vm=-x", http.StatusOK)
	if page := s.get(t, "/plans?rule=N001", http.StatusOK); !strings.Contains(headline(page), "Nothing to change") {
		t.Errorf("the plan: %q", headline(page))
	}
	s.get(t, "/what-if?vm=-x&hotAdd=off", http.StatusOK)
}
