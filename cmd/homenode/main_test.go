package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/source/vsphere"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"homenode": main,
	})
}

// TestDocs checks that the generated pages are the ones in docs/. make docs writes them.
func TestDocs(t *testing.T) {
	want := commandPages(newRoot())
	for name, page := range want {
		golden.Equal(t, page, filepath.Join("../../docs", filepath.FromSlash(name)))
	}
	for _, dir := range []string{"reference/commands", "reference/rules"} {
		files, err := os.ReadDir("../../docs/" + dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if want[dir+"/"+f.Name()] == nil {
				t.Errorf("docs/%s/%s is of no command or rule", dir, f.Name())
			}
		}
	}
}

// TestHelp checks that every command says what it does and shows an example.
func TestHelp(t *testing.T) {
	for _, c := range commands(newRoot()) {
		words := strings.Fields(nameOf(c))
		if words[0] == "help" || words[0] == "completion" || c.Hidden {
			continue
		}
		var out, errs bytes.Buffer
		if code := run(context.Background(), append(words, "-h"), nil, &out, &errs); code != exitClean {
			t.Errorf("%s -h: exit %d: %s", nameOf(c), code, errs.String())
		}
		for line := range strings.Lines(out.String()) {
			if w := texttab.Width(strings.TrimRight(line, "\n")); w > flags.Columns {
				t.Errorf("%s -h has a line of %d columns: %s", nameOf(c), w, line)
			}
		}
		if c.Name() != "version" && !strings.Contains(out.String(), "Examples:") {
			t.Errorf("%s -h has no example", nameOf(c))
		}
	}
}

// TestDemoOfSource serves a scenario as a vCenter.
func TestDemoOfSource(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.txtar")
	golden.Write(t, path, []byte("release 8.0U2\ncluster prod\nhost esx01 nodes=2 cores=10 memory=256GB\nvm db vcpus=4 memory=8GB host=esx01\n"))
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"demo", path}, strings.NewReader(""), in, io.Discard)
	}()
	lines := bufio.NewScanner(out)
	url := ""
	for lines.Scan() && !strings.Contains(lines.Text(), "homenode assess vcenter") {
		if _, after, ok := strings.Cut(lines.Text(), "GOVC_URL="); ok {
			url = after
		}
	}
	words := strings.Fields(strings.ReplaceAll(url, "=", " ")) // URL, GOVC_USERNAME, name, GOVC_PASSWORD, password
	if len(words) < 5 {
		t.Fatalf("printed %q", url)
	}
	u, err := neturl.Parse(words[0])
	if err != nil {
		t.Fatal(err)
	}
	u.User = neturl.UserPassword(words[2], words[4])
	f, err := vsphere.Read(t.Context(), u, vsphere.Options{Insecure: true})
	if err != nil || len(f.Hosts) != 1 || len(f.VMs) != 1 || f.VMs[0].Name != "db" || len(f.Hosts[0].Nodes.Value) != 2 {
		t.Errorf("read %+v, %v", f, err)
	}
	cancel()
	go io.Copy(io.Discard, out)
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
