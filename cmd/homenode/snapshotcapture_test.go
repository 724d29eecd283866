package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/source/anonymise"
)

// TestCaptureAnonymised writes a capture with pseudonyms: it has none of the names, its VMs have the pseudonyms of the snapshot whose key goes
// on, and with the names given back the answer about it is that about the original.
func TestCaptureAnonymised(t *testing.T) {
	dir := t.TempDir()
	story, day, away, key := filepath.Join(dir, "story.txtar"), filepath.Join(dir, "esx01.ledger.csv"), filepath.Join(dir, "away.csv"), filepath.Join(dir, "fleet.key.json")
	const text = `release 8.0
host esx01.ledger nodes=2 cores=8 memory=128GB
vm payroll host=esx01.ledger vcpus=6 memory=58GB
vm muller  host=esx01.ledger vcpus=4 memory=40GB power=off
vm zurich  host=esx01.ledger vcpus=12 memory=20GB
run 2h every=20s seed=1
load * cpu=40%
at 20m power-on muller
at 1h talk muller payroll rate=3000
`
	golden.Write(t, story, []byte(text))
	for _, args := range [][]string{
		{"simulate", story, "--trace", "esxtop:" + day},
		{"snapshot", story, "-o", filepath.Join(dir, "fleet.json"), "--anonymise"},
		{"snapshot", day, "-o", away, "--anonymise", "--key", key},
	} {
		if said := output(args); strings.HasPrefix(said, "homenode: ") {
			t.Fatalf("%q: %s", args, said)
		}
	}
	written, err := os.ReadFile(away)
	if err != nil {
		t.Fatal(err)
	}
	fleet := golden.Read(t, filepath.Join(dir, "fleet.json"))
	for _, name := range []string{"esx01", "ledger", "payroll", "muller", "zurich"} {
		if bytes.Contains(bytes.ToLower(written), []byte(name)) {
			t.Errorf("%s is in the anonymised capture", name)
		}
	}
	in, err := os.Open(key)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	names, err := anonymise.ReadKey(key, in)
	if err != nil {
		t.Fatal(err)
	}
	vms := regexp.MustCompile(`machine-\d+`).FindAll(written, -1)
	for _, pseudonym := range vms {
		if !bytes.Contains(fleet, pseudonym) {
			t.Fatalf("%s of the capture is no VM of the snapshot", pseudonym)
		}
	}
	if len(vms) < 3 {
		t.Errorf("the capture has the VMs %q", vms)
	}
	answer := func(file string) string {
		return strings.ReplaceAll(output([]string{"capture", file, "--details", "--config=none"}), file, "FILE")
	}
	if got, want := names.Text(answer(away)), answer(day); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") || !strings.Contains(want, "M0") {
		t.Errorf("with the names given back\n%s\nwant\n%s", got, want)
	}
}

// TestCaptureKeyWithdrawn removes the new key of a capture that was not written, and keeps one that was there; a flag that would do nothing is an error.
func TestCaptureKeyWithdrawn(t *testing.T) {
	dir := t.TempDir()
	story, day, away, key := filepath.Join(dir, "story.txtar"), filepath.Join(dir, "day.csv"), filepath.Join(dir, "away.csv"), filepath.Join(dir, "away.key.json")
	const text = `release 8.0
host esx01.ledger nodes=2 cores=8 memory=128GB
vm payroll host=esx01.ledger vcpus=6 memory=58GB
run 10m every=20s seed=1
`
	golden.Write(t, story, []byte(text))
	if said := output([]string{"simulate", story, "--trace", "esxtop:" + day}); strings.HasPrefix(said, "homenode: ") {
		t.Fatal(said)
	}
	said := output([]string{"snapshot", day, "-o", away, "--anonymise", "--product", "pay*=SQL Server 2022 Standard"})
	if _, err := os.Lstat(key); err == nil || !strings.Contains(said, "--product is for a fleet") {
		t.Errorf("with --product: a key, or %q", said)
	}
	const full = "/dev/full" // takes no byte, which shows when the file is closed
	if _, err := os.Lstat(full); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(full, away); err != nil {
		t.Fatal(err)
	}
	if said := output([]string{"snapshot", day, "-o", away, "--anonymise"}); !strings.Contains(said, "homenode: ") {
		t.Fatalf("written to a full device: %s", said)
	}
	if _, err := os.Lstat(key); err == nil {
		t.Error("the key of a capture that was not written stays")
	}
	if err := os.Remove(away); err != nil {
		t.Fatal(err)
	}
	if said := output([]string{"snapshot", day, "-o", away, "--anonymise"}); strings.Contains(said, "homenode: ") {
		t.Fatal(said)
	}
	if err := errors.Join(os.Remove(away), os.Symlink(full, away)); err != nil {
		t.Fatal(err)
	}
	output([]string{"snapshot", day, "-o", away, "--anonymise", "--key", key})
	if _, err := os.Lstat(key); err != nil {
		t.Errorf("the key that was there is gone: %v", err)
	}
}
