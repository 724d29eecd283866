package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"example.org/homenode/internal/golden"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// verdictOf returns the headline of a command's answer, as a page writes it.
func verdictOf(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	run(t.Context(), append(args, "--format=markdown"), strings.NewReader(""), &out, io.Discard)
	m := regexp.MustCompile(`(?m)^\*\*(.*)\*\*$`).FindStringSubmatch(out.String())
	if m == nil {
		t.Fatalf("%v says nothing:\n%.500s", args, out.String())
	}
	return strings.ReplaceAll(m[1], `\`, "")
}

// saysAs reports a page that does not say what a command says.
func saysAs(t *testing.T, page, path string, args ...string) {
	t.Helper()
	if want := verdictOf(t, args...); !says(page, want) {
		t.Errorf("%s says %q, %v says %q", path, headline(page), args, want)
	}
}

// TestSiteRules opens every part of the rule book and an entry of each kind.
func TestSiteRules(t *testing.T) {
	s := startSite(t, "--fleet=demo")
	for path, args := range map[string][]string{
		"/rules": {"rules"}, "/rules?kind=statements": {"rules", "--statements"}, "/rules?kind=conflicts": {"rules", "--conflicts"}, "/rules?kind=settings": {"rules", "--settings"},
		"/rules?kind=experiments": {"rules", "--experiments"}, "/rules?kind=truth": {"validate"},
		"/rule?rule=N001": {"rules", "N001"}, "/rule?rule=b-15": {"rules", "B-15"}, "/rule?rule=F-18": {"rules", "F-18"}, "/rule?rule=NUMA.vcpu.min": {"rules", "numa.vcpu.min"}, "/rule?rule=a-sockets": {"rules", "a-sockets"},
	} {
		page := s.get(t, path, http.StatusOK)
		saysAs(t, page, path, args...)
		if strings.Contains(path, "kind=") && !strings.Contains(page, `<a href="`+path+`" aria-current="page">`) {
			t.Errorf("%s: no tab says that it is shown", path)
		}
	}
	for path, want := range map[string]string{
		"/rules": `href="/?rule=N001"`, "/rule?rule=N001": `href="/?rule=N001"`, "/rules?kind=statements": `href="/rule?rule=B-15"`, "/rules?kind=conflicts": `href="/rule?rule=F-18"`,
		"/rules?kind=settings": `href="/rule?rule=numa.vcpu.min"`, "/rule?rule=B-15": `href="/rule?rule=N001"`, "/rule?rule=F-18": `href="/rule?rule=B-8"`, "/rule?rule=numa.vcpu.min": `href="/rule?rule=B-3"`,
		"/vm?vm=sql01": `href="/rule?rule=B-15"`, "/search?q=numa.consolidate": `href="/rule?rule=numa.consolidate"`, "/search?q=overcommits+cores": "Statement E-2", "/search?q=read+without+page+migration": "F-23: sources disagree",
	} {
		if page := s.get(t, path, http.StatusOK); !strings.Contains(page, want) {
			t.Errorf("%s has no %s", path, want)
		}
	}
	for path, want := range map[string]int{"/rules?kind=none": 404, "/rule": 404, "/rule?rule=-h": 404, "/rule?rule=--format=json": 400, "/rule?rule=@/etc/passwd": 400, "/rule?rule=" + url.QueryEscape(`"><script>`): 404,
		"/cluster?cluster=--config=/etc/passwd": 400} {
		page := s.get(t, path, want)
		if strings.Contains(page, "><script>") || strings.Contains(page, "root:") {
			t.Errorf("%s: %s", path, page)
		}
	}
}

// demoCaptures writes the captures of the demo into a folder.
func demoCaptures(t *testing.T, dir string) {
	t.Helper()
	if code := run(t.Context(), []string{"demo", "--captures", dir}, strings.NewReader(""), io.Discard, io.Discard); code != 0 {
		t.Fatalf("exit %d", code)
	}
}

// within fails where an answer names a place of this machine.
func within(t *testing.T, what, answer string, places ...string) {
	t.Helper()
	for _, place := range append(places, os.TempDir()+"/", "homenode-captures-") {
		if place != "" && strings.Contains(answer, place) {
			t.Errorf("%s names %s", what, place)
		}
	}
}

// TestSiteCaptures opens captures of a folder, and nothing outside of it.
func TestSiteCaptures(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, outside := filepath.Join(top, "allowed"), filepath.Join(top, "outside")
	demoCaptures(t, filepath.Join(dir, "night"))
	demoCaptures(t, outside)
	hostile := `<b>"x" & 'y'.csv`
	b := golden.Read(t, filepath.Join(dir, "night", "esx02.demo.csv"))
	for name, content := range map[string][]byte{hostile: b, "cut.csv": b[:len(b)/2], "odd.txt": []byte("<script>alert(1)</script>\n"), ".hidden.csv": b, "-o.csv": b} {
		golden.Write(t, filepath.Join(dir, name), content)
	}
	for from, to := range map[string]string{"link.csv": filepath.Join(outside, "esx02.demo.csv"), "out": outside, "up.csv": "../outside/esx02.demo.csv", "inside.csv": "night/esx02.demo.csv"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skip(err) // Windows lets administrators alone
		}
	}
	s := startSite(t, "--fleet=demo", "--captures="+dir)
	list := s.get(t, "/captures", http.StatusOK)
	for name, want := range map[string]bool{"night": true, "night/esx02.demo.csv": true, hostile: true, "inside.csv": true, "cut.csv": true, "demo": true, "link.csv": false, "up.csv": false, "out": false, "out/esx02.demo.csv": false, ".hidden.csv": false, "-o.csv": false} {
		if got := strings.Contains(html.UnescapeString(list), `href="/capture?`+url.Values{"capture": {name}}.Encode()+`"`); got != want {
			t.Errorf("%s is listed: %v, want %v", name, got, want)
		}
	}
	if strings.Contains(list, "<b>") || !strings.Contains(list, "3 files are left out") {
		t.Errorf("the list:\n%s", list)
	}
	within(t, "the list", list, top)
	address := func(path string, values ...string) string {
		q := url.Values{}
		for i := 0; i < len(values); i += 2 {
			q.Set(values[i], values[i+1])
		}
		return path + "?" + q.Encode()
	}
	file := filepath.Join(dir, "night", "esx02.demo.csv")
	for _, one := range []struct {
		path string
		args []string
	}{
		{address("/capture", "capture", "night/esx02.demo.csv"), []string{"capture", file, "--fleet=demo"}},
		{address("/capture", "capture", "inside.csv"), []string{"capture", file, "--fleet=demo"}},
		{address("/capture", "capture", hostile), []string{"capture", file, "--fleet=demo"}},
		{address("/capture", "capture", "night", "vm", "app*", "alone", "on"), []string{"capture", filepath.Dir(file), "--vm=app*"}},
		{address("/capture", "capture", "night", "from", "2026-11-03 02:00", "to", "2026-11-03 03:00"), []string{"capture", filepath.Dir(file), "--from=2026-11-03 02:00", "--to=2026-11-03 03:00", "--fleet=demo"}},
		{address("/capture", "capture", "demo"), []string{"capture", "demo", "--fleet=demo"}},
		{address("/compare", "a", "night/esx02.demo.csv", "b", "night/epyc01.demo.csv"), []string{"compare", file, filepath.Join(dir, "night", "epyc01.demo.csv")}},
		{address("/compare", "a", "night/esx02.demo.csv", "at", "2026-11-03 02:00"), []string{"compare", file, "--at=2026-11-03 02:00"}},
	} {
		code := http.StatusOK
		if strings.Contains(one.path, "epyc01") { // two hosts have nothing to compare
			code = http.StatusBadRequest
		}
		page := s.get(t, one.path, code)
		if code == http.StatusOK {
			saysAs(t, page, one.path, one.args...)
		}
		within(t, one.path, page, top)
		if strings.Contains(page, "<b>") || strings.Contains(page, "style=") {
			t.Errorf("%s: a name is markup, or a style stands in the page", one.path)
		}
		for _, form := range []string{"json", "csv", "markdown", "html"} {
			if code == http.StatusOK {
				within(t, one.path+" as "+form, s.get(t, one.path+"&format="+form, http.StatusOK), top)
			}
		}
	}
	// What is damaged is shown as far as it can be read.
	cut := s.get(t, address("/capture", "capture", "cut.csv"), http.StatusOK)
	if !strings.Contains(cut, "cut.csv:") || !strings.Contains(cut, "found the end of the file after") {
		t.Error("the page does not say that the capture is cut off")
	}
	within(t, "a damaged capture", cut, top)
	for _, name := range []string{"link.csv", "up.csv", "out", "out/esx02.demo.csv", "../outside/esx02.demo.csv", "night/../../outside/esx02.demo.csv", outside, filepath.Join(outside, "esx02.demo.csv"), "/etc/passwd", "", "..", "-", "-o.csv", "none.csv", "night/", `..\outside`, "upload-0/x", "night\x00", "\xff"} {
		for _, path := range []string{address("/capture", "capture", name), address("/compare", "a", name, "b", "demo"), address("/compare", "a", "demo", "b", name, "at", "2026-11-03")} {
			if strings.HasPrefix(path, "/compare") && name == "" {
				continue
			}
			res, err := http.Get(s.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %s, %q", path, res.Status, headline(string(body)))
			}
			if !strings.HasPrefix(name, top) {
				within(t, path, string(body), top)
			}
		}
	}
	if page := s.get(t, address("/capture", "capture", "odd.txt"), http.StatusBadRequest); strings.Contains(page, "<script>alert") || !strings.Contains(page, "odd.txt") {
		t.Errorf("what is no capture: %q", headline(page))
	}
	for _, bad := range []string{"--parquet=/tmp/x", "@/etc/passwd"} {
		s.get(t, address("/capture", "capture", "night", "vm", bad), http.StatusBadRequest)
	}
}

// sent posts files in a form to /captures, as somebody of this machine who has not signed in.
func sent(t *testing.T, s testSite, field string, files ...[2]string) (page string, code int) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, f := range files {
		w, err := form.CreateFormFile(field, f[0])
		if err == nil {
			_, err = io.WriteString(w, f[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(s.URL+"/captures", form.FormDataContentType(), &b)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return string(body), res.StatusCode
}

// TestSiteUploads uploads captures, good and bad ones, and looks at what is left of them.
func TestSiteUploads(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Cleanup(func() { // after the server
		left, err := os.ReadDir(temp)
		if err != nil {
			t.Error(err)
		}
		for _, e := range left {
			if strings.HasPrefix(e.Name(), "homenode-captures-") {
				t.Errorf("%s is left", e.Name())
			}
		}
	})
	dir := filepath.Join(temp, "demo")
	demoCaptures(t, dir)
	b, err := os.ReadFile(filepath.Join(dir, "esx02.demo.csv"))
	if err != nil {
		t.Fatal(err)
	}
	night := string(b)
	s := startSite(t, "--fleet=demo")
	hostile := `../../../../etc/<script>"x"` + "\u202e.csv"
	page, code := sent(t, s, "file", [2]string{hostile, night})
	if code != http.StatusOK {
		t.Fatalf("status %d: %s", code, headline(page))
	}
	saysAs(t, page, "the upload", "capture", filepath.Join(dir, "esx02.demo.csv"))
	within(t, "the upload", page, temp)
	if strings.Contains(page, "<script>\"") || strings.ContainsAny(page, "\u202e\x1b") {
		t.Error("the name of the upload is markup, or controls a terminal")
	}
	if _, err := os.Stat("/etc/<script>"); err == nil {
		t.Error("it was written elsewhere")
	}
	var packed bytes.Buffer // a bomb: 600 MB of zeros
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, night)
	zeros := make([]byte, 1<<20)
	zeros[len(zeros)-1] = '\n' // a line is bounded too
	for range 600 {
		_, _ = z.Write(zeros)
	}
	_ = z.Close()
	var zipped bytes.Buffer
	zw := zip.NewWriter(&zipped)
	for _, name := range []string{"../../evil.csv", "/abs/evil.csv"} {
		w, err := zw.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, night)
	}
	_ = zw.Close()
	var taped bytes.Buffer
	tw := tar.NewWriter(&taped)
	_ = tw.WriteHeader(&tar.Header{Name: "link.csv", Typeflag: tar.TypeSymlink, Linkname: filepath.Join(dir, "esx02.demo.csv")})
	_ = tw.WriteHeader(&tar.Header{Name: "hard.csv", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"})
	_ = tw.Close()
	var zeroed bytes.Buffer // a zip with a member of 600 MB of zeros
	zw = zip.NewWriter(&zeroed)
	w, err := zw.Create("bomb.csv")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, night)
	for range 600 {
		_, _ = w.Write(zeros)
	}
	_ = zw.Close()
	for _, tt := range []struct {
		name, content string
		code          int
		want          string
	}{
		{"dots.zip", zipped.String(), http.StatusOK, "VMs lost locality"},
		{"links.tar", taped.String(), http.StatusBadRequest, "found nothing in it that is read"},
		{"bomb.csv.gz", packed.String(), http.StatusOK, "unpacks to more than 250 times its size"},
		{"bomb.zip", zeroed.String(), http.StatusBadRequest, "unpacks to more than 250 times its size"},
		{"page.html", "<script>alert(1)</script>", http.StatusBadRequest, "page.html"},
		{"empty.csv", "", http.StatusBadRequest, "empty.csv"},
		{"", night, http.StatusBadRequest, "Choose a file."},
	} {
		page, code := sent(t, s, "file", [2]string{tt.name, tt.content})
		if code != tt.code || !strings.Contains(page, tt.want) || strings.Contains(page, "<script>alert") {
			t.Errorf("%s: status %d, %q; want %d and %q", tt.name, code, headline(page), tt.code, tt.want)
		}
		within(t, tt.name, page, temp)
	}
	if page, code := sent(t, s, "other", [2]string{"a.csv", night}); code != http.StatusBadRequest || headline(page) != "Choose a file." {
		t.Errorf("another field: status %d, %q", code, headline(page))
	}
	if res, err := http.PostForm(s.URL+"/captures", url.Values{"file": {"x"}}); err != nil || res.StatusCode != http.StatusBadRequest {
		t.Errorf("no multipart form: %v, %v", res, err)
	}
	for _, stray := range []string{filepath.Join(temp, "evil.csv"), "/abs/evil.csv", "../../evil.csv"} {
		if _, err := os.Stat(stray); err == nil {
			t.Errorf("%s was written", stray)
		}
	}
	list := s.get(t, "/captures", http.StatusOK)
	within(t, "the list", list, temp)
	for _, refused := range []string{"links.tar", "bomb.zip", "page.html", "empty.csv"} {
		if strings.Contains(list, refused) {
			t.Errorf("%s was refused and is listed", refused)
		}
	}
	uploads := regexp.MustCompile(`<option value="(upload-[^"]*)"`).FindAllStringSubmatch(list, -1)
	if len(uploads) != 3 {
		t.Errorf("%d uploads are kept, want 3", len(uploads))
	}
	for _, u := range uploads {
		s.post(t, "/captures/remove", url.Values{"capture": {html.UnescapeString(u[1])}}, http.StatusOK)
	}
	s.post(t, "/captures/remove", url.Values{"capture": {html.UnescapeString(uploads[0][1])}}, http.StatusNotFound)
	if list := s.get(t, "/captures", http.StatusOK); strings.Contains(list, "upload-") {
		t.Error("an upload is there after all were removed")
	}
	few, _, _ := strings.Cut(night, "\n")
	few += "\n" + strings.Split(night, "\n")[1] + "\n"
	for i := range 21 {
		if _, code := sent(t, s, "file", [2]string{"a.csv", few}); i == 20 {
			if page, _ := sent(t, s, "file", [2]string{"a.csv", few}); code != http.StatusBadRequest || !strings.Contains(page, "20 uploads are kept here") {
				t.Errorf("upload %d: status %d, %q", i, code, headline(page))
			}
		}
	}
}
