package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/snapshot"
	"example.org/homenode/source/vsphere/lab"
)

// A vCenter of a test counts who logs in and out.
type testVCenter struct {
	url             string // without credentials
	user, password  string
	logins, logouts atomic.Int32
}

// startVCenter serves a scenario. intercept, unless nil, is told each request and
// ends the connection by returning true.
func startVCenter(t *testing.T, text string, intercept func(body string) bool) *testVCenter {
	t.Helper()
	fleet, err := scenario.Read("test.txtar", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(fleet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vc.Close)
	password, _ := vc.URL.User.Password()
	v := &testVCenter{user: vc.URL.User.Username(), password: password}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: vc.URL.Scheme, Host: vc.URL.Host})
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		switch {
		case bytes.Contains(body, []byte("<Login ")):
			v.logins.Add(1)
		case bytes.Contains(body, []byte("<Logout ")):
			v.logouts.Add(1)
		}
		if intercept != nil && intercept(string(body)) {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	v.url = s.URL
	return v
}

func (v *testVCenter) host() string { return strings.TrimPrefix(v.url, "http://") }

// credentialsFile writes the accounts of the vCenters; others get wrong ones.
func credentialsFile(t *testing.T, right ...*testVCenter) string {
	t.Helper()
	var b strings.Builder
	for _, v := range right {
		b.WriteString(v.host() + " " + v.user + ` "` + v.password + "\"\n")
	}
	b.WriteString("* somebody hunter2\n")
	return writeFile(t, "credentials", b.String())
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	golden.Write(t, path, []byte(text))
	return path
}

func unsetGovc(t *testing.T) {
	for _, name := range []string{"GOVC_URL", "GOVC_USERNAME", "GOVC_PASSWORD", "GOVC_TLS_KNOWN_HOSTS", "GOVC_TLS_CA_CERTS", "GOVC_INSECURE"} {
		t.Setenv(name, "")
	}
}

const (
	prodA = "release 8.0U3\ncluster prod\nhost esx01 nodes=2 cores=16 memory=256GB\nhost esx02 nodes=2 cores=16 memory=256GB connection=notResponding\nvm db01 vcpus=8 memory=16GB host=esx01\nvm db02 vcpus=8 memory=16GB host=esx02\n"
	prodB = "release 8.0U3\ncluster prod\nhost esx11 nodes=2 cores=16 memory=256GB\nvm db01 vcpus=8 memory=16GB host=esx11\n"
)

// TestManySources reads two vCenters and a scenario, beside one with a wrong
// password and one that dies half-way.
func TestManySources(t *testing.T) {
	unsetGovc(t)
	a, b := startVCenter(t, prodA, nil), startVCenter(t, prodB, nil)
	locked := startVCenter(t, prodB, nil)
	dying := startVCenter(t, prodB, func(body string) bool { return strings.Contains(body, "config.hardware.numCPU") })
	credentials := credentialsFile(t, a, b, dying)
	hand := writeFile(t, "hand.txtar", "release 8.0U3\nhost esx01 nodes=2 cores=16 memory=256GB\nvm web vcpus=2 memory=4GB host=esx01\n")
	list := writeFile(t, "sources", "# all of them\n"+locked.url+"\n\n"+dying.url+"\n"+hand+"\n")

	saved := filepath.Join(t.TempDir(), "fleet.json")
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"snapshot", a.url, b.url, "@" + list, "--credentials", credentials, "-o", saved}, nil, &out, &errs)
	wantErrs := "homenode: " + locked.host() + ": could not be read, nothing here is about it: " + locked.host() + ": log in: the user name or the password is wrong\n" +
		"homenode: " + dying.host() + ": could not be read, nothing here is about it: " + dying.host() + ": read VMs after 0 of 1: connection dropped: EOF\n" +
		a.host() + " esx02: host esx02 is notResponding: what is shown is what the server last knew of it\n" +
		"hand: host esx01 is also in " + a.host() + " (told by name): it counts twice\n" +
		saved + ": 2 clusters, 4 hosts, 4 VMs\n" +
		"homenode: not everything was read: 2 sources failed\n"
	if code != exitError || errs.String() != wantErrs || out.String() != "" {
		t.Fatalf("exit %d\nstderr %s\nwant %s\nstdout %s", code, errs.String(), wantErrs, out.String())
	}
	f, err := snapshot.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range f.Clusters {
		got = append(got, c.Name)
	}
	for _, h := range f.Hosts {
		got = append(got, h.ID)
	}
	for _, v := range f.VMs {
		got = append(got, v.ID)
	}
	own := func(v *testVCenter, name string) string { return v.host() + "/" + name }
	want := []string{own(a, "prod"), own(b, "prod"), own(a, "esx01"), own(a, "esx02"), own(b, "esx11"), "hand/esx01", own(a, "db01"), own(a, "db02"), own(b, "db01"), "hand/web"}
	if !slices.Equal(got, want) {
		t.Errorf("clusters, hosts and VMs %q\nwant %q", got, want)
	}
	wantNotes := []string{
		strings.TrimPrefix(strings.Split(wantErrs, "\n")[0], "homenode: "),
		strings.TrimPrefix(strings.Split(wantErrs, "\n")[1], "homenode: "),
		a.host() + " esx02: host esx02 is notResponding: what is shown is what the server last knew of it",
		"hand: host esx01 is also in " + a.host() + " (told by name): it counts twice",
	}
	var notes []string
	for _, n := range f.Notes {
		notes = append(notes, n.String())
	}
	if !slices.Equal(notes, wantNotes) {
		t.Errorf("notes %q\nwant %q", notes, wantNotes)
	}
	for _, v := range []*testVCenter{a, b, dying} {
		if v.logins.Load() != 1 || v.logouts.Load() != 1 {
			t.Errorf("%s: %d logins and %d logouts, want 1 of each", v.host(), v.logins.Load(), v.logouts.Load())
		}
	}
}

// TestManySourcesAssess checks the exit codes: what was found counts, but nothing
// found in half of a fleet is no success.
func TestManySourcesAssess(t *testing.T) {
	unsetGovc(t)
	a := startVCenter(t, prodA, nil)
	locked, closed := startVCenter(t, prodB, nil), startVCenter(t, prodB, func(string) bool { return true })
	bad := writeFile(t, "bad.txtar", "release 8.0U3\ncluster prod\nhost esx01 nodes=2 cores=10 memory=256GB\nvm db01 vcpus=16 hotAdd=on memory=32GB host=esx01\n")
	credentials := credentialsFile(t, a, closed)
	for _, tt := range []struct {
		name    string
		sources []string
		code    int
		stderr  string // its last line
	}{
		{"a finding and a failure", []string{a.url, bad, locked.url}, exitFindings,
			"homenode: " + locked.host() + ": could not be read, nothing here is about it: " + locked.host() + ": log in: the user name or the password is wrong"},
		{"no finding and a failure", []string{a.url, locked.url}, exitError, "homenode: not everything was read: 1 source failed"},
		{"no failure", []string{a.url, "hand"}, exitClean, ""},
		{"failures alone", []string{locked.url, closed.url}, exitError, "  " + closed.host() + ": connect: connection dropped: EOF"},
		{"twice", []string{a.url, a.url + "/sdk"}, exitError, "homenode: the source " + a.host() + " is named twice"},
		{"no list", []string{"@" + filepath.Join(t.TempDir(), "none")}, exitError, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.sources {
				if tt.sources[i] == "hand" {
					tt.sources[i] = writeFile(t, "hand.txtar", "release 8.0U3\nhost esx09 nodes=2 cores=16 memory=256GB\nvm web vcpus=2 memory=4GB host=esx09\n")
				}
			}
			var out, errs bytes.Buffer
			args := append([]string{"assess", "--format", "json", "--fail-on", "high", "--credentials", credentials}, tt.sources...)
			if code := run(t.Context(), args, nil, &out, &errs); code != tt.code {
				t.Errorf("exit %d, want %d; stderr %s", code, tt.code, errs.String())
			}
			lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
			if last := lines[len(lines)-1]; last != tt.stderr && tt.stderr != "" {
				t.Errorf("stderr ends with %q\nwant %q", last, tt.stderr)
			}
			if strings.Contains(errs.String()+out.String(), "hunter2") {
				t.Error("the output shows a password")
			}
			if tt.code == exitFindings {
				var result struct{ Notes []numa.Note }
				if err := json.Unmarshal(out.Bytes(), &result); err != nil || len(result.Notes) == 0 || result.Notes[0].At != locked.host() {
					t.Errorf("notes %v, %v; want that of %s first", result.Notes, err, locked.host())
				}
			}
		})
	}
}

// TestManySourcesStop ends the program while three vCenters are read: no session
// stays behind.
func TestManySourcesStop(t *testing.T) {
	unsetGovc(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waiting atomic.Int32
	all := make(chan struct{})
	stall := func(body string) bool {
		if strings.Contains(body, "config.hardware.numCPU") {
			if waiting.Add(1) == 3 {
				close(all)
			}
			<-ctx.Done()
		}
		return false
	}
	vcs := []*testVCenter{startVCenter(t, prodA, stall), startVCenter(t, prodA, stall), startVCenter(t, prodB, stall)}
	credentials := credentialsFile(t, vcs...)
	go func() {
		<-all // also says that they are read at the same time
		cancel()
	}()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"assess", vcs[0].url, vcs[1].url, vcs[2].url, "--credentials", credentials}, nil, &out, &errs)
	if code != exitError || errs.String() != "homenode: stopped\n" || out.String() != "" {
		t.Errorf("exit %d, stderr %q, stdout %q", code, errs.String(), out.String())
	}
	for _, v := range vcs {
		if v.logins.Load() != 1 || v.logouts.Load() != 1 {
			t.Errorf("%s: %d logins and %d logouts, want 1 of each", v.host(), v.logins.Load(), v.logouts.Load())
		}
	}
}
