package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestHelpIsAScreen checks that the help of the longest commands fits a screen of 60 lines each.
func TestHelpIsAScreen(t *testing.T) {
	for _, name := range []string{"assess", "capture", "explain", "simulate", "fix", "optimise"} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{name, "--help"}, nil, &out, &errs); code != exitClean {
			t.Fatalf("%s --help: exit %d: %s", name, code, errs.String())
		}
		if lines := strings.Count(out.String(), "\n"); lines > 60 {
			t.Errorf("%s --help has %d lines, want at most 60", name, lines)
		}
	}
}

// The error of a flag or argument that a command has not names the flag that does it, or the command.
func TestWrongFlagsNameTheRightOnes(t *testing.T) {
	for args, want := range map[string]string{
		"assess demo --what-iff x":        "alike: --what-if",
		"simulate demo --cluster prod-a":  "see --part: ",
		"size fit demo --n-plus-1":        "see --spare: hosts that may fail at once",
		"optimise demo --lose-host esx01": "see --what-if: change the fleet before the story begins",
		"fix demo --dry-run":              "see --apply: ",
		"explain demo sql01 --memory 5":   "--what-if is for homenode assess",
		"snapshot demo --cluster prod-a":  "--cluster is for homenode assess",
		"assess demo --nplus1":            "--n-plus-1 is for homenode optimise",
		"move demo --grid x":              "--grid is for homenode simulate",
		"assess demo --xyzzy":             "homenode assess --help lists them",
		"compare demo sql01.vcpus=48":     "a change is for homenode assess: --what-if",
		"fix demo -o json":                "--format json",
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), nil, &out, &errs); code != exitError || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit %d: %swant %q", args, code, errs.String(), want)
		}
	}
}
