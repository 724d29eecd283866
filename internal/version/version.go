// Package version returns the version of this homenode.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"example.org/homenode/internal/words"
)

// release is the output of git describe for the commit, set by make build: a tag (v1.2.3) for a release,
// otherwise the commit. "" where the build does not set it.
var release string

// pages is the address of this version's pages, set by make build from the remote of the clone:
// https://host/owner/homenode/blob/COMMIT/. "" where the build does not set it.
var pages string

// built and date are the commit of the build and its day, set by make build.
var built, date string

// Home is the address of the project. scripts/home sets it, here and everywhere else; example.org means that there is none yet.
const Home = "example.org/homenode"

// Page returns the address of a page such as docs/reference/rules/N001.md: from the build, else at Home; the path itself without either.
func Page(path string) string {
	if pages == "" && !strings.HasPrefix(Home, "example.org/") {
		return "https://" + Home + "/blob/HEAD/" + path
	}
	return pages + path
}

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

// Commit returns the commit of the build and its day, as far as they are known.
func Commit() string {
	day := date
	if day == "" {
		day, _, _ = strings.Cut(setting("vcs.time"), "T")
	}
	return words.Join(" of ", cmp.Or(built, commit(), "unknown"), day)
}

// commit returns the commit recorded by Go's build information; "" without one.
func commit() string {
	revision := setting("vcs.revision")
	return revision[:min(12, len(revision))]
}

// setting returns a value of Go's build information; "" without one.
func setting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
