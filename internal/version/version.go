// Package version says which homenode this is.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"homenode/internal/words"
)

// release is what git describe says of the commit, set by make build: a tag (v1.2.3) for a
// release, the commit for what is none. "" where the build does not state it.
var release string

// pages is where the pages of this version are read, set by make build from where the clone
// comes: https://host/owner/homenode/blob/COMMIT/. "" where the build does not state it.
var pages string

// built and date say from which commit homenode was built, and its day, set by make build.
var built, date string

// Home is where the project lives. scripts/home sets it, here and wherever else it is named; example.org stands for no place yet.
const Home = "example.org/homenode"

// Page returns the address of a page such as docs/reference/rules/N001.md: where the build states it, else at the home; the path while there is none.
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

// Build returns the version, the Go that built it and for what.
func Build() string {
	return fmt.Sprintf("%s, %s %s/%s", String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Commit returns the commit that was built and its day, as far as they are known.
func Commit() string {
	day := date
	if day == "" {
		day, _, _ = strings.Cut(setting("vcs.time"), "T")
	}
	return words.Join(" of ", cmp.Or(built, commit(), "unknown"), day)
}

// commit returns the commit that was built as Go states it; "" when it does not.
func commit() string {
	revision := setting("vcs.revision")
	return revision[:min(12, len(revision))]
}

// setting returns what Go states of the build; "" when it does not.
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
