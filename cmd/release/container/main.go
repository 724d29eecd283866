// Command container makes the image of a container without anything else, as an archive for podman load and docker load:
// container FOLDER ARCH VERSION UNIXTIME > FILE. FOLDER has what the archive of a release has. The roots of certificates are those of Mozilla, from
// golang.org/x/crypto/x509roots.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is who runs in the container: an ID that hosts give to no user.
const user = 65532

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "container:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 4 {
		return errors.New("want FOLDER ARCH VERSION UNIXTIME")
	}
	folder, arch, version := args[0], args[1], args[2]
	seconds, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		return err
	}
	made := time.Unix(seconds, 0).UTC()
	packed, err := layer(folder, made)
	if err != nil {
		return err
	}
	image, err := mutate.Append(empty.Image, mutate.Addendum{Layer: packed, History: v1.History{Author: "homenode", Created: v1.Time{Time: made}, CreatedBy: "scripts/release"}})
	if err != nil {
		return err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created, file.Author = "linux", arch, v1.Time{Time: made}, "homenode"
	file.Config = config(version, made)
	if image, err = mutate.ConfigFile(image, file); err != nil {
		return err
	}
	tag, err := name.NewTag("homenode:" + tagOf(version))
	if err != nil {
		return err
	}
	return tarball.Write(tag, image, out)
}

// tagOf returns a version as a tag, which holds no plus.
func tagOf(version string) string {
	return string(bytes.ReplaceAll([]byte(version), []byte("+"), []byte("-")))
}

// config is the command of the image and its health check.
func config(version string, made time.Time) v1.Config {
	return v1.Config{
		User:         fmt.Sprintf("%d:%[1]d", user),
		Env:          []string{"PATH=/", "HOME=/var/lib/homenode", "GOMEMLIMIT=1600MiB"},
		Entrypoint:   []string{"/homenode"},
		Cmd:          []string{"serve", "demo"},
		WorkingDir:   "/var/lib/homenode",
		ExposedPorts: map[string]struct{}{"9275/tcp": {}},
		Volumes:      map[string]struct{}{"/var/lib/homenode": {}},
		Healthcheck:  &v1.HealthConfig{Test: []string{"CMD", "/homenode", "health"}, Interval: 30 * time.Second, Timeout: 5 * time.Second, StartPeriod: 60 * time.Second, Retries: 3},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "homenode",
			"org.opencontainers.image.description": "Shows what NUMA does to every VM of a VMware vSphere fleet",
			"org.opencontainers.image.version":     version,
			"org.opencontainers.image.created":     made.Format(time.RFC3339),
			"org.opencontainers.image.licenses":    "Apache-2.0",
		},
	}
}

// layer packs the files of the image.
func layer(folder string, made time.Time) (v1.Layer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(path string, mode int64, owner int, text []byte) error {
		h := &tar.Header{Name: path, Mode: mode, Uid: owner, Gid: owner, ModTime: made, Size: int64(len(text)), Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if path[len(path)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	var errs []error
	for _, dir := range []string{"etc/", "etc/ssl/", "etc/ssl/certs/", "licenses/", "var/", "var/lib/"} {
		errs = append(errs, add(dir, 0o755, 0, nil))
	}
	errs = append(errs, add("tmp/", 0o1777, 0, nil), add("var/lib/homenode/", 0o700, user, nil),
		add("etc/passwd", 0o644, 0, fmt.Appendf(nil, "homenode:x:%d:%[1]d::/var/lib/homenode:/\n", user)),
		add("etc/ssl/certs/ca-certificates.crt", 0o644, 0, roots()))
	for _, f := range []struct {
		from, to string
		mode     int64
	}{{"LICENSE", "licenses/LICENSE", 0o644}, {"THIRD-PARTY-NOTICES.txt", "licenses/THIRD-PARTY-NOTICES.txt", 0o644}, {"homenode.cdx.json", "licenses/homenode.cdx.json", 0o644}, {"homenode", "homenode", 0o755}} {
		text, err := os.ReadFile(filepath.Join(folder, f.from))
		errs = append(errs, err, add(f.to, f.mode, 0, text))
	}
	if err := errors.Join(append(errs, w.Close())...); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
}

// roots returns the certificates that servers are trusted by, as PEM.
func roots() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
	}
	return b.Bytes()
}
