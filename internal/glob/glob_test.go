package glob_test

import (
	"strings"
	"testing"

	"example.org/homenode/internal/glob"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, after, name string
		want                 bool
	}{
		{"sql*", "", "SQL01", true},
		{"sql?", "", "sql01", false},
		{"sql0?", "", "sql01", true},
		{"a.b", "", "axb", false},
		{"(x", "", "(x", true},
		{"esx01", glob.Domain, "esx01.example.com", true},
		{"esx01", "", "esx01.example.com", false},
		{"/prod/", glob.Below, "/prod/db/sql01", true},
		{"/prod", glob.Below, "/production", false},
		{"*", "", "line\nbreak", true},
		{"vm[1-12]", "", "VM12", true},
		{"vm[1-12]", "", "vm13", false},
		{"vm[01-12]", "", "vm1", false},
		{"vm[01-12]", "", "vm01", true},
		{"vm[1-2]", "", "vm[1-2]", true},
		{"*[1-3]", "", "db2", true},
		{"vm[0-999999999]", "", "vm5", false},
		{strings.Repeat("*", 1<<20), "", strings.Repeat("long", 200), true}, // one star, which takes no time
		{"a\x9b\xff", "", "a", false},
		{"a\xff*", "", "a\ufffdb", true},
	} {
		if got := glob.Compile([]string{tt.pattern}, tt.after).Match(tt.name); got != tt.want {
			t.Errorf("%q + %q matches %q: %v, want %v", tt.pattern, tt.after, tt.name, got, tt.want)
		}
	}
	if glob.Patterns(nil).Match("x") || !glob.Patterns(nil).Allow("x") || !glob.Patterns(nil).Allow() {
		t.Error("nil patterns match nothing and allow everything")
	}
}

// TestNamed has a cluster called sql: a pattern without a slash means the name of a VM alone.
func TestNamed(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		others        []string
		want          bool
	}{
		{"sql*", "file01", []string{"vm-1", "sql/file01"}, false},
		{"sql*1", "file01", []string{"sql/file01"}, false},
		{"sql?file01", "file01", []string{"sql/file01"}, false},
		{"*", "file01", []string{"sql/file01"}, true},
		{"sql/*", "file01", []string{"sql/file01"}, true},
		{"*/file01", "file01", []string{"sql/file01"}, true},
		{"vm-?", "file01", []string{"vm-1", "sql/file01"}, true},
		{"h1*", "guest", []string{"h1/4711"}, false},
		{"h1/4711", "guest", []string{"h1/4711"}, true},
		{"a*", "a/b", nil, true},
	} {
		if got := glob.Compile([]string{tt.pattern}, "").Named(tt.name, tt.others...); got != tt.want {
			t.Errorf("%q names %s, %v: %v, want %v", tt.pattern, tt.name, tt.others, got, tt.want)
		}
	}
	if !glob.Patterns(nil).Named("x") {
		t.Error("nil patterns name everything")
	}
}
