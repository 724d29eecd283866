package fleet_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/change/gate"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	answers "example.org/homenode/output/fleet"
	"example.org/homenode/output/format"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/planned"
	"example.org/homenode/source/scenario/given"
)

// gated judges n planned VMs that a template of Packer describes, on hosts of two clusters.
func gated(t *testing.T, n int) *rules.Result {
	t.Helper()
	var b strings.Builder
	b.WriteString("{\n  \"builders\": [\n")
	for i := range n {
		fmt.Fprintf(&b, "    {\"type\": \"vsphere-iso\", \"vm_name\": \"sql%02d\",\n     \"CPUs\": 24,\n     \"CPU_hot_plug\": true,\n     \"RAM\": 65536}%s\n", i+1, map[bool]string{true: ",", false: ""}[i < n-1])
	}
	b.WriteString("  ]\n}\n")
	plan, err := planned.ReadBytes("ci/sql.json", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	hosts := given.Fleet(t, "fleet", []byte("release 8.0U3\ncluster prod-a\nhost a1 nodes=2 cores=16 memory=512GB\ncluster prod-b\nhost b1 nodes=2 cores=32 memory=1024GB\n"))
	fleet, err := numa.Merge([]numa.Part{{Name: "sql", Fleet: plan}, {Name: "fleet", Fleet: hosts}})
	if err == nil {
		fleet, err = gate.Place(fleet, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rules.Run(fleet, rules.Options{})
}

// TestGate: the forms of CI about a planned VM.
func TestGate(t *testing.T) {
	a := answers.Assess(gated(t, 1), answers.Options{})
	for _, form := range []string{"comment", "codequality", "table", "sarif"} {
		var b bytes.Buffer
		o := format.Options{FailOn: finding.Medium, SourceFiles: []string{"ci/sql.json", "fleet.json"}}
		if err := format.Write(&b, form, a, o); err != nil {
			t.Fatal(err)
		}
		if form == "sarif" { // its place alone: the rest is tested elsewhere
			if !strings.Contains(b.String(), `"region": {
        "startLine": 5,
        "startColumn": 22`) && !strings.Contains(strings.Join(strings.Fields(b.String()), ""), `"uri":"ci/sql.json"},"region":{"startLine":5,"startColumn":22}`) {
				t.Errorf("no finding at ci/sql.json:5:22 in %s", b.String())
			}
			continue
		}
		golden.Equal(t, b.Bytes(), "testdata/gate."+form)
	}
}

// TestCommentIsShort: a comment has at most 15 lines, however many VMs are wrong.
func TestCommentIsShort(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 40} {
		var b bytes.Buffer
		if err := format.Comment(&b, answers.Assess(gated(t, n), answers.Options{}), format.Options{FailOn: finding.Medium}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(b.String(), "\n"); lines > 15 || !strings.Contains(b.String(), `"CPU_hot_plug": false`) || strings.Count(b.String(), "```") != 2 {
			t.Errorf("%d VMs: %d lines\n%s", n, lines, b.String())
		}
	}
}
