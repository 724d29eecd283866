// Package version says which homenode this is.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// release is what git describe says of the commit, set by make build: a tag (v1.2.3) for a
// release, the commit for what is none. "" where the build does not state it.
var release string

// pages is where the pages of this version are read, set by make build from where the clone
// comes: https://host/owner/homenode/blob/COMMIT/. "" where the build does not state it.
var pages string

// Page returns the address of a page such as docs/reference/rules/N001.md; its path without one of pages.
func Page(path string) string { return pages + path }

// String returns the release, else "development" and the commit that was built.
func String() string {
	if strings.HasPrefix(release, "v") {
		return release
	}
	return strings.TrimSpace("development " + cmp.Or(release, commit()))
}

// Build returns the version, the Go that built it and for what.
func Build() string {
	return fmt.Sprintf("%s, %s %s/%s", String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commit returns the commit that was built as Go states it; "" when it does not.
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
