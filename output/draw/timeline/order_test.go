package timeline_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/capture"
	"example.org/homenode/output/draw/timeline"
	"example.org/homenode/rules/finding"
)

// A host shows the VMs with findings first, the worst before others, then those with the
// most remote memory.
func TestHostShowsFindingsFirst(t *testing.T) {
	rec := record(t, read(t, night), gap)[0]
	row := regexp.MustCompile(`aria-label="([a-z0-9]+): home nodes`)
	for _, tt := range []struct {
		name     string
		findings []finding.Finding
		want     []string
	}{
		{"none", nil, []string{"sql01", "app02"}},
		{"found", []finding.Finding{
			{Rule: "M001", Severity: finding.Low, Host: "esx07", VM: "late", GID: 4720}, {Rule: "M009", Severity: finding.High, Host: "esx07", VM: "app01", GID: 4713},
			{Rule: "M009", Severity: finding.High, Host: "esx08", VM: "wide01", GID: 4712},
		}, []string{"app01", "late"}},
	} {
		var got []string
		for _, m := range row.FindAllSubmatch(draw(t, rec, nil, timeline.Options{Findings: tt.findings, MostVMs: 2}), -1) {
			got = append(got, string(m[1]))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: shows %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Interleaved memory is neither never remote nor remote: it is unknown.
func TestBlind(t *testing.T) {
	rec := record(t, read(t, night), gap)[0]
	v := vmOf(t, rec, "wide01")
	o := timeline.Options{Blind: func(one *capture.VM) bool { return one == v }}
	for name, drawing := range map[string]string{"VM": string(draw(t, rec, v, o)), "host": string(draw(t, rec, nil, o))} {
		if n := strings.Count(drawing, "not measurable"); n == 0 {
			t.Errorf("%s: does not say that N%%L is not measurable", name)
		}
		if strings.Contains(drawing, "at most 2 GB remote") || strings.Contains(drawing, "remote memory at most 2 GB") || strings.Contains(drawing, "never below") ||
			name == "VM" && (strings.Contains(drawing, "(least ") || strings.Count(drawing, `class="local"`) >= strings.Count(string(draw(t, rec, v, timeline.Options{})), `class="local"`)) {
			t.Errorf("%s: says how much of interleaved memory is remote", name)
		}
	}
}

// A moment is no stretch.
func TestMomentOnce(t *testing.T) {
	rec := record(t, read(t, night), gap)[0]
	f := finding.Finding{Rule: "M007", Severity: finding.Low, Host: "esx07", From: rec.First, To: rec.First, Message: "wrong"}
	if got := string(draw(t, rec, nil, timeline.Options{Findings: []finding.Finding{f}})); !strings.Contains(got, "M007, at ") {
		t.Error("the mark of a moment does not name it once")
	}
}
