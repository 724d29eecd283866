package format

import (
	"encoding/hex"
	"fmt"
	"io"

	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/finding"
)

// An issue is an element of a report of GitLab's Code Quality (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format,
// as other tools cite it in 2025 and 2026; read 2026-11-27). GitLab shows issues of one fingerprint once.
type issue struct {
	Description string        `json:"description"`
	Check       string        `json:"check_name"`
	Fingerprint string        `json:"fingerprint"`
	Severity    string        `json:"severity"`
	Location    issueLocation `json:"location"`
}

type issueLocation struct {
	Path  string `json:"path"` // relative to the repository, without ./
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// issueSeverities are GitLab's for ours; blocker is for what ends a pipeline, which the exit code does.
var issueSeverities = [...]string{finding.Info: "info", finding.Low: "minor", finding.Medium: "major", finding.High: "critical"}

// CodeQuality writes the findings of the answer as a report of GitLab's Code Quality.
func CodeQuality(w io.Writer, a *answer.Answer, o Options) error {
	j := a.Findings
	if j == nil {
		return fmt.Errorf("%s has no findings", a.Command)
	}
	out, seen := []issue{}, fingerprints{}
	for i := range j.Findings {
		f := &j.Findings[i]
		subject := j.Subject(f)
		at, sum := placeOf(j, f, &subject, o.SourceFiles), seen.of(f, &subject)
		one := issue{Description: table.Clean(subject.Name + ": " + f.Message), Check: f.Rule, Fingerprint: hex.EncodeToString(sum[:16]), Severity: issueSeverities[f.Severity]}
		one.Location.Path, one.Location.Lines.Begin = at.Artifact.URI, at.Region.StartLine
		out = append(out, one)
	}
	return encode(w, out)
}
