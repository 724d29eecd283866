package house

import (
	"cmp"
	"example.org/homenode/internal/golden"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPromises checks that docs/security.md names tests that are there, and for each promise at least one.
func TestPromises(t *testing.T) {
	page := documents(t)["docs/security.md"]
	named := regexp.MustCompile("`([a-z][a-z/]*)\\.((?:Test|Fuzz)\\w+)`|`(make|scripts/)")
	promises := 0
	for _, m := range named.FindAllStringSubmatch(page, -1) {
		if m[1] == "" {
			continue
		}
		promises++
		if !tested(t, m[1], m[2]) {
			t.Errorf("docs/security.md names %s of %s, which is not there", m[2], m[1])
		}
	}
	if promises < 40 {
		t.Errorf("found %d tests: the test looks at nothing", promises)
	}
	table := false
	for line := range strings.Lines(page) {
		switch table = strings.HasPrefix(line, "|") && (table || strings.HasPrefix(line, "| promise |")); {
		case !table, strings.HasPrefix(line, "| promise |"), strings.HasPrefix(line, "|---"):
		case !named.MatchString(line):
			t.Errorf("docs/security.md: no test proves %s", line)
		}
	}
	if tested(t, "internal/house", "TestInvented") {
		t.Error("a test is found that is not there")
	}
}

// tested reports whether a folder has a test of this name.
func tested(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		b := golden.Read(t, file)
		return strings.Contains(string(b), "\nfunc "+name+"(")
	})
}

// licences are those that may be linked, each by words that it alone has.
var licences = map[string]string{
	"Apache 2.0": "apache license version 2.0, january 2004",
	"MIT":        "permission is hereby granted, free of charge, to any person obtaining a copy",
	"BSD":        "redistribution and use in source and binary forms, with or without modification",
	"ISC":        "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee",
}

// refused are words of licences that ask for more than a notice.
var refused = regexp.MustCompile(`gnu (lesser |affero |library )?general public|gnu lesser|mozilla public|server side public|business source|commons clause|eclipse public|common development and distribution|creative commons|non-?commercial`)

// licenceOf returns the licence of a text, "" for one that may not be linked.
func licenceOf(text string) string {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	if refused.MatchString(text) {
		return ""
	}
	for name, words := range licences {
		if strings.Contains(text, words) {
			return name
		}
	}
	return ""
}

// TestLicences checks the licence of each module that is linked, on every system of a release, and of folders in it that have another. govulncheck
// and staticcheck are tools: nothing of them is linked.
func TestLicences(t *testing.T) {
	seen := map[string]bool{}
	for _, system := range []string{"linux", "windows", "darwin"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/homenode")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if module, where, _ := strings.Cut(strings.TrimSpace(line), "\t"); module != "" {
				top, dir, _ := strings.Cut(where, "\t")
				licensed(t, module, top, dir, seen)
			}
			if strings.HasPrefix(line, "golang.org/x/vuln\t") || strings.HasPrefix(line, "honnef.co/") {
				t.Errorf("a tool is linked: %s", line)
			}
		}
	}
	if len(seen) < 40 {
		t.Errorf("found %d folders: the test looks at nothing", len(seen))
	}
	for text, want := range map[string]string{"GNU GENERAL PUBLIC LICENSE Version 3": "", "Mozilla Public License Version 2.0": "", "all rights reserved": "",
		"Permission is hereby granted, free of\ncharge, to any person obtaining a copy": "MIT"} {
		if got := licenceOf(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// licensed checks the licences of a folder that is linked and of those above it in its module.
func licensed(t *testing.T, module, top, dir string, seen map[string]bool) {
	t.Helper()
	for ; strings.HasPrefix(dir, top) && !seen[dir]; dir = filepath.Dir(dir) {
		seen[dir] = true
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, e := range entries {
			name := strings.ToLower(e.Name())
			if e.IsDir() || !slices.ContainsFunc([]string{"license", "licence", "copying"}, func(p string) bool { return strings.HasPrefix(name, p) }) || strings.HasSuffix(name, ".go") {
				continue
			}
			found++
			text := golden.Read(t, filepath.Join(dir, e.Name()))
			if licenceOf(string(text)) == "" {
				t.Errorf("%s: %s has a licence that is not allowed: %s", module, cmp.Or(strings.TrimPrefix(dir, top), "/"), e.Name())
			}
		}
		if dir == top && found == 0 {
			t.Errorf("%s has no licence", module)
		}
	}
}
