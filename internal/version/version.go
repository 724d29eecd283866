// Package version returns the version of this homenode.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// release is the output of git describe for the commit, set by make build: a tag (v1.2.3) for a release,
// otherwise the commit. "" where the build does not set it.
var release string

// pages is the address of this version's pages, set by make build from the remote of the clone:
// https://host/owner/homenode/blob/COMMIT/. "" where the build does not set it.
var pages string

// Page returns the address of a page such as docs/reference/rules/N001.md; the path itself when pages is empty.
func Page(path string) string { return pages + path }

// String returns the release, else "development" and the commit that was built.
func String() string {
	if strings.HasPrefix(release, "v") {
		return release
	}
	return strings.TrimSpace("development " + cmp.Or(release, commit()))
}

// Build returns the version, and the Go version and platform of the build.
func Build() string {
	return fmt.Sprintf("%s, %s %s/%s", String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commit returns the commit recorded by Go's build information; "" without one.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return ""
}
