package testdeps

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"testing"
)

// Exact runs testdata/exact.py of the package, which uses OR-Tools, on problems, each a line of JSON, and returns its answers; or skips the test.
func Exact[Answer any](t *testing.T, problems [][]byte) (out []Answer) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), ProvePython(t), "testdata/exact.py")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(bytes.Join(problems, nil)), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 3 {
			t.Skip("no OR-Tools: scripts/test-deps installs it")
		}
		t.Fatalf("exact.py: %v\n%s", err, stderr.String())
	}
	for d := json.NewDecoder(&stdout); d.More(); {
		var a Answer
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	if len(out) != len(problems) {
		t.Fatalf("%d answers to %d problems", len(out), len(problems))
	}
	return out
}
