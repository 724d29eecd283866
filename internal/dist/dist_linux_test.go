package dist

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
)

// exported writes a small export of RVTools.
func exported(t *testing.T, path string) {
	t.Helper()
	book := excelize.NewFile()
	for sheet, rows := range map[string][][]any{
		"vInfo": {{"VM", "Powerstate", "Template", "CPUs", "Memory", "Host", "Cluster", "HW version"}, {"sql01", "poweredOn", "False", 32, 262144, "esx01.example.com", "prod", "19"}},
		"vCPU":  {{"VM", "CPUs", "Sockets", "Cores p/s", "Hot Add", "Host"}, {"sql01", 32, 16, 2, "True", "esx01.example.com"}},
		"vHost": {{"Host", "Cluster", "# CPU", "Cores per CPU", "# Cores", "# Memory", "ESX Version"}, {"esx01.example.com", "prod", 2, 18, 36, 1048576, "VMware ESXi 7.0.3 build-21424296"}},
	} {
		if _, err := book.NewSheet(sheet); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if err := book.SetSheetRow(sheet, fmt.Sprintf("A%d", i+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(book.DeleteSheet("Sheet1"), book.SaveAs(path)); err != nil {
		t.Fatal(err)
	}
}

// TestArchive unpacks the archive for this machine into an empty root and follows the quick start of its README.
func TestArchive(t *testing.T) {
	path := release(t, linux()+".tar.gz")
	dir := t.TempDir()
	unpack(t, unzipped(t, path), dir)
	in := "/" + strings.TrimSuffix(filepath.Base(path), ".tar.gz")
	top := filepath.Join(dir, in)
	named(t, top)
	exported(t, filepath.Join(top, "export.xlsx"))
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil { // which every system has, and the simulated vCenter needs
		t.Fatal(err)
	}
	r := &root{T: t, dir: dir, in: in, env: []string{"GOVC_USERNAME=", "HOME=/"}}
	readme, err := os.ReadFile(filepath.Join(top, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	start := regexp.MustCompile("(?s)## Quick start.*?```\n(.*?)```").FindSubmatch(readme)
	if start == nil {
		t.Fatal("README.md has no quick start")
	}
	ran := 0
	for line := range strings.Lines(string(start[1])) {
		line, _, _ = strings.Cut(line, " #")
		args := strings.Fields(line)
		switch {
		case args[0] == "export" || strings.Contains(line, "https://"): // a vCenter, which is not here
			continue
		case slices.Contains(args, "serve"):
			r.serve(append(args, "--listen", "127.0.0.1:0"), http.DefaultClient, func(address string) {
				if text, status := get(t, http.DefaultClient, address+"/metrics"); status != http.StatusOK || !strings.Contains(text, "homenode_") {
					t.Errorf("/metrics: %d", status)
				}
				r.run("./homenode", "health", strings.TrimPrefix(address, "http://"))
			})
		default:
			if out := r.run(args...); !strings.Contains(out, "judged") {
				t.Errorf("%s: %s", line, out)
			}
		}
		ran++
	}
	if ran < 3 {
		t.Errorf("the quick start has %d commands that run here", ran)
	}
	r.zones("./homenode")
	if out := r.run("./homenode", "version"); !regexp.MustCompile(`(?m)^commit +[0-9a-f]{12} of \d{4}-\d\d-\d\d$`).MatchString(out) {
		t.Errorf("version: %s", out)
	}
	// It reads /sys, which an empty root has not.
	measured, err := exec.CommandContext(t.Context(), filepath.Join(top, "homenode-measure"), "topology", "--force", "--quick").Output()
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) || !bytes.Contains(measured, []byte(`"format": "homenode-measure"`)) {
		t.Errorf("homenode-measure: %v, %s", err, measured)
	}
	t.Logf("%d commands of the README", ran)
}

// named checks that the files which the pages name are in the archive.
func named(t *testing.T, top string) {
	t.Helper()
	link := regexp.MustCompile(`\]\(([^)#: ]+)[)#]`)
	for _, page := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/start.md", "docs/watch.md", "docs/checks.md", "docs/fix.md", "docs/plan.md", "docs/captures.md", "docs/reference/README.md"} {
		b, err := os.ReadFile(filepath.Join(top, page))
		if err != nil {
			t.Error(err)
		}
		for _, m := range link.FindAllSubmatch(b, -1) {
			if _, err := os.Stat(filepath.Join(top, filepath.Dir(page), string(m[1]))); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	for _, name := range []string{"LICENSE", "THIRD-PARTY-NOTICES.txt", "homenode.cdx.json", "powershell/Homenode/Homenode.psd1", "completion/homenode.bash", "completion/_homenode", "completion/homenode.fish", "completion/homenode.ps1", "deploy/systemd/homenode.service", "deploy/kubernetes/kustomization.yaml"} {
		if info, err := os.Stat(filepath.Join(top, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	var parts struct{ Components []struct{ Name string } }
	b, err := os.ReadFile(filepath.Join(top, "homenode.cdx.json"))
	if err := errors.Join(err, json.Unmarshal(b, &parts)); err != nil || len(parts.Components) < 20 {
		t.Errorf("homenode.cdx.json lists %d modules: %v", len(parts.Components), err)
	}
	notices, err := os.ReadFile(filepath.Join(top, "THIRD-PARTY-NOTICES.txt"))
	for _, p := range parts.Components {
		if p.Name != "std" && !bytes.Contains(notices, []byte(p.Name+" v")) {
			t.Errorf("THIRD-PARTY-NOTICES.txt lacks %s: %v", p.Name, err)
		}
	}
}

// TestDeb unpacks the package into an empty root and starts the command of its unit, as the unit starts it, by another user than root.
func TestDeb(t *testing.T) {
	path := release(t, linux()+".deb")
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("no dpkg-deb")
	}
	dir := t.TempDir()
	if out, err := exec.Command("dpkg-deb", "-x", path, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	control, err := exec.Command("dpkg-deb", "-f", path).Output()
	if err != nil || !strings.Contains(string(control), "\nArchitecture: "+runtime.GOARCH) {
		t.Errorf("%v: %s", err, control)
	}
	for _, name := range []string{"usr/lib/sysusers.d/homenode.conf", "usr/share/bash-completion/completions/homenode", "usr/share/zsh/vendor-completions/_homenode", "usr/share/fish/vendor_completions.d/homenode.fish", "usr/share/doc/homenode/THIRD-PARTY-NOTICES.txt", "usr/share/doc/homenode/docs/start.md"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	unit := golden.Read(t, filepath.Join(dir, "usr/lib/systemd/system/homenode.service"))
	const user = 65533
	line := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindSubmatch(unit)
	settings, err := os.ReadFile(filepath.Join(dir, "etc/homenode/homenode.env"))
	if err != nil || line == nil {
		t.Fatalf("%v, %s", err, unit)
	}
	sources := regexp.MustCompile(`(?m)^HOMENODE_SOURCES=(.*)$`).FindSubmatch(settings)
	// systemd makes these folders, of the user of the service.
	for _, name := range []string{"run", "var/lib/homenode", "tmp"} {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(full, 0o755), owner(full, user)); err != nil {
			t.Fatal(err)
		}
	}
	accounts, err := os.ReadFile(filepath.Join(dir, "etc/homenode/accounts"))
	lent := filepath.Join(dir, "run/accounts")
	if err := errors.Join(err, os.WriteFile(lent, accounts, 0o400), owner(lent, user)); err != nil {
		t.Fatal(err)
	}
	command := strings.NewReplacer("$HOMENODE_SOURCES", string(sources[1]), "${CREDENTIALS_DIRECTORY}", "/run", "${STATE_DIRECTORY}", "/var/lib/homenode").Replace(string(line[1]))
	r := &root{T: t, dir: dir, in: "/", user: user}
	r.serve(append(strings.Fields(command), "--listen", "127.0.0.1:0"), http.DefaultClient, func(string) {})
	if kept, err := os.ReadDir(filepath.Join(dir, "var/lib/homenode")); err != nil || len(kept) == 0 {
		t.Errorf("nothing was kept: %v", err)
	}
	r.zones("/usr/bin/homenode")
	t.Logf("ran %s", command)
}

// owner gives a file to a user, where this one may.
func owner(path string, user int) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, user, user)
}

// TestRpm lists the package where there is a program for it, and looks at its beginning elsewhere.
func TestRpm(t *testing.T) {
	path := release(t, linux()+".rpm")
	b, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(b, []byte{0xed, 0xab, 0xee, 0xdb}) {
		t.Fatalf("no rpm: %v", err)
	}
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("no rpm")
	}
	out, err := exec.Command("rpm", "-qlp", "--nosignature", path).Output()
	for _, name := range []string{"/usr/bin/homenode\n", "/usr/bin/homenode-measure\n", "/usr/lib/systemd/system/homenode.service\n", "/etc/homenode/accounts\n"} {
		if !strings.Contains(string(out), name) {
			t.Errorf("lacks %s: %v", name, err)
		}
	}
}

// TestImage unpacks the image of the container into an empty root and runs it as its configuration says: by its user, with TLS, a token and secrets that
// root lends, and asked by its health check.
func TestImage(t *testing.T) {
	path := release(t, "container_"+runtime.GOARCH+".tar")
	if info, err := os.Stat(path); err != nil || info.Size() > 70_000_000 {
		t.Errorf("the image has %d bytes, want 70 MB at most: %v", info.Size(), err)
	}
	dir := t.TempDir()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	files := map[string][]byte{}
	for r := tar.NewReader(packed); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(io.LimitReader(r, 1<<30)); err != nil {
			t.Fatal(err)
		}
	}
	var manifest []struct {
		Config string
		Layers []string
	}
	var image struct {
		Architecture string
		Config       struct {
			User, WorkingDir     string
			Env, Entrypoint, Cmd []string
			Healthcheck          struct{ Test []string }
			Labels               map[string]string
		}
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(files[manifest[0].Config], &image); err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, layer := range manifest[0].Layers {
		text, err := gzip.NewReader(bytes.NewReader(files[layer]))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(io.LimitReader(text, 1<<30))
		if err != nil {
			t.Fatal(err)
		}
		size += len(b)
		unpack(t, bytes.NewReader(b), dir)
	}
	if size > 70_000_000 {
		t.Errorf("unpacked it has %d bytes, want 70 MB at most", size)
	}
	c := image.Config
	if image.Architecture != runtime.GOARCH || c.User != "65532:65532" || c.Labels["org.opencontainers.image.licenses"] != "Apache-2.0" || !slices.Equal(c.Healthcheck.Test, []string{"CMD", "/homenode", "health"}) {
		t.Errorf("the configuration is %+v", image)
	}
	roots, err := os.ReadFile(filepath.Join(dir, "etc/ssl/certs/ca-certificates.crt"))
	if n := bytes.Count(roots, []byte("BEGIN CERTIFICATE")); n < 100 || !x509.NewCertPool().AppendCertsFromPEM(roots) {
		t.Errorf("found %d roots of certificates: %v", n, err)
	}
	r := &root{T: t, dir: dir, in: c.WorkingDir, user: 65532, env: c.Env}
	r.serve(slices.Concat(c.Entrypoint, c.Cmd, []string{"--listen", "127.0.0.1:0"}), http.DefaultClient, func(address string) {
		r.run(append(c.Healthcheck.Test[1:], strings.TrimPrefix(address, "http://"))...)
	})
	r.zones("/homenode")
	lent(t, r)
	t.Logf("%d MB, %d roots of certificates", size/1_000_000, bytes.Count(roots, []byte("BEGIN CERTIFICATE")))
}

// lent runs the image with secrets as Kubernetes mounts them, as deploy/kubernetes does.
func lent(t *testing.T, r *root) {
	secret := filepath.Join(r.dir, "secret")
	if err := os.Mkdir(secret, 0o755); err != nil {
		t.Fatal(err)
	}
	const token = "0123456789abcdef0123456789abcdef"
	lender := httptest.NewTLSServer(nil) // of its certificate
	defer lender.Close()
	private, err := x509.MarshalPKCS8PrivateKey(lender.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: lender.Certificate().Raw})
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	for name, text := range map[string][]byte{"token": []byte(token), "accounts": []byte("# none\n"), "tls.crt": cert, "tls.key": key} {
		file := filepath.Join(secret, name)
		if err := os.WriteFile(file, text, 0o440); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 {
			if err := os.Chown(file, 0, r.user); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Chmod(file, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AddCert(lender.Certificate())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "example.com"}}}
	args := []string{"/homenode", "serve", "demo", "--credentials=/secret/accounts", "--data=/var/lib/homenode/store", "--listen=0.0.0.0:0", "--url=https://localhost:9275", "--token-file=/secret/token", "--tls-cert=/secret/tls.crt", "--tls-key=/secret/tls.key"}
	port := testdeps.FreeAddress(t)
	port = port[strings.LastIndexByte(port, ':'):]
	for i := range args {
		args[i] = strings.NewReplacer("0.0.0.0:0", "0.0.0.0"+port, ":9275", port).Replace(args[i])
	}
	r.serve(args, client, func(address string) {
		if _, status := get(t, client, address+"/metrics"); status != http.StatusUnauthorized {
			t.Errorf("without the token: %d", status)
		}
		if text, status := get(t, client, address+"/metrics", "Authorization: Bearer "+token); status != http.StatusOK || !strings.Contains(text, "homenode_") {
			t.Errorf("with the token: %d", status)
		}
		r.run("/homenode", "health", "127.0.0.1"+port)
	})
}
