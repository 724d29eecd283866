package format

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// SARIF writes the findings of the answer as SARIF 2.1.0 (OASIS Standard, Errata 01): one run,
// all rules, and a result for each finding. Suppressed findings are included and marked.
func SARIF(w io.Writer, a *answer.Answer, o Options) error {
	j := a.Findings
	if j == nil {
		return fmt.Errorf("%s has no findings", a.Command)
	}
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "homenode", Version: o.Version, Rules: []sarifRule{}}},
		Automation:  sarifAutomation{"homenode/" + j.Kind + table.Clean(j.Source) + "/"},
		Invocations: []sarifInvocation{{true, sarifNotes(a.Notes)}},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
		Properties:  j.Properties,
	}
	index := map[string]int{}
	for i, one := range j.Rules {
		index[one.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(one))
	}
	for _, file := range o.SourceFiles {
		if file != "" {
			run.Artifacts = append(run.Artifacts, sarifArtifact{sarifURI{uriOf(file)}, []string{"analysisTarget"}})
		}
	}
	seen := fingerprints{}
	add := func(f *finding.Finding, suppressions []sarifSuppression) {
		subject := j.Subject(f)
		one := sarifResultOf(f, subject, j.Watched)
		one.Suppressions = suppressions
		one.RuleIndex = index[f.Rule]
		one.Locations[0].Physical = placeOf(j, f, &subject, o.SourceFiles)
		sum := seen.of(f, &subject)
		one.Fingerprints = map[string]string{
			"homenodeFinding/v1":      hex.EncodeToString(sum[:16]),
			"primaryLocationLineHash": hex.EncodeToString(sum[:8]) + ":1", // the only one that GitHub evaluates
		}
		run.Results = append(run.Results, one)
	}
	for i := range j.Findings {
		add(&j.Findings[i], nil)
	}
	// Accepted findings are in the log, marked as suppressed (SARIF 3.27.23).
	for i := range j.Suppressed {
		s := &j.Suppressed[i]
		add(&s.Finding, []sarifSuppression{{"external", "accepted", table.Clean("until " + s.By.Until + ": " + s.By.Reason + " (" + s.By.At + ")")}})
	}
	return encode(w, &sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// placeOf returns the place of a finding: in the file of its subject, in that of the sources which describes it, or one made of names.
func placeOf(j *answer.Findings, f *finding.Finding, subject *answer.Subject, files []string) *sarifPhysical {
	switch {
	case subject.File != "":
		return &sarifPhysical{sarifURI{uriOf(subject.File)}, sarifRegion{max(1, subject.Line), subject.Col}}
	case !j.Watched:
		if at := physicalOf(subject.At, files); at != nil {
			return at
		}
	}
	return namedAfter(j.Source, f)
}

// fingerprints counts the occurrences of each finding. The fingerprint of the same rule and the same VM or host is stable between runs. It
// uses IDs, because names can change.
type fingerprints map[string]int

// of returns the fingerprint of a finding.
func (n fingerprints) of(f *finding.Finding, subject *answer.Subject) [sha256.Size]byte {
	key := f.Rule + "\x00" + subject.Key
	if f.Topic != "" {
		key += "\x00about\x00" + f.Topic
	}
	n[key]++
	return sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(n[key])))
}

// sarifLevels are the levels of the severities. A result that is not a problem has level none
// and kind informational (SARIF 3.27.9, 3.27.10).
var sarifLevels = [...]string{finding.Info: "none", finding.Low: "note", finding.Medium: "warning", finding.High: "error"}

// helpURI returns an address; SARIF does not accept a path instead (3.49.12).
func helpURI(page string) string {
	if !strings.HasPrefix(page, "https://") {
		return ""
	}
	return page
}

func sarifRuleOf(one *rule.Rule) sarifRule {
	why, fix, limits := words.Paragraph(one.Why), words.Paragraph(one.Fix), words.Paragraph(one.Limits)
	var text, mark strings.Builder
	fmt.Fprintf(&text, "%s\n\nFix: %s\n\nWhen it is wrong: %s\n\nSources:\n", why, fix, limits)
	fmt.Fprintf(&mark, "%s\n\n**Fix.** %s\n\n**When it is wrong.** %s\n\n**Sources**\n\n", why, fix, limits)
	for _, s := range one.Sources {
		fmt.Fprintf(&text, "- %s\n", s)
		fmt.Fprintf(&mark, "- %s\n", s)
	}
	fmt.Fprintf(&text, "Statements of the rule book: %s", strings.Join(one.Book, ", "))
	fmt.Fprintf(&mark, "\nStatements of the rule book: %s", strings.Join(one.Book, ", "))
	return sarifRule{
		ID: one.ID, Name: one.Name, HelpURI: helpURI(one.Page()), Short: sarifText{Text: one.Title}, Full: sarifText{Text: why},
		Help: sarifText{text.String(), mark.String()}, Default: sarifLevel{sarifLevels[one.Severity]},
		Properties: map[string]any{"tags": []string{"numa", "vsphere", strings.ToLower(answer.AboutOf(one))}, "severityUpTo": one.Severity.String()},
	}
}

func sarifResultOf(f *finding.Finding, subject answer.Subject, watched bool) sarifResult {
	text := subject.Name + ": " + f.Message + "."
	if f.Advice != "" {
		text += " " + f.Advice
	}
	kind := "fail"
	if f.Severity == finding.Info {
		kind = "informational"
	}
	where := sarifLogical{Name: table.Clean(f.VM), Full: table.Clean(subject.Name), Decorated: table.Clean(subject.ID), Kind: "resource"}
	p := map[string]any{"severity": f.Severity.String(), "about": "vm"}
	if f.VM == "" && f.VMID == "" {
		where.Name = table.Clean(f.Host)
		p["about"] = "host"
	}
	if watched && !f.From.IsZero() {
		p["from"], p["to"] = f.From, f.To
	}
	for _, one := range []struct{ name, value string }{{"cluster", f.Cluster}, {"host", f.Host}, {"vm", f.VM}, {"advice", f.Advice}, {"notice", f.Notice}} {
		if one.value != "" {
			p[one.name] = table.Clean(one.value)
		}
	}
	for _, one := range []struct {
		name  string
		value []string
	}{{"on", f.On}, {"assumes", f.Assumes}, {"evidence", f.EvidenceTexts()}} {
		if len(one.value) > 0 {
			cleaned := words.Texts(one.value, table.Clean)
			p[one.name] = cleaned
		}
	}
	return sarifResult{RuleID: f.Rule, Kind: kind, Level: sarifLevels[f.Severity], Message: sarifText{Text: sarifPlain(text)},
		Locations: []sarifLocation{{Logical: []sarifLogical{where}}}, Properties: p}
}

// sarifNotes converts notes about the source and the assessment to notifications.
func sarifNotes(notes []answer.Note) []sarifNotification {
	out := []sarifNotification{}
	for _, n := range notes {
		out = append(out, sarifNotification{"note", sarifText{Text: sarifPlain(n.String())}})
	}
	return out
}

// sarifEscape escapes characters with a special meaning in messages: placeholders {0} and links
// [text](target) (SARIF 3.11.5, 3.11.6).
var sarifEscape = strings.NewReplacer("{", "{{", "}", "}}", "[", `\[`, "]", `\]`)

func sarifPlain(s string) string {
	s = table.Clean(s)
	if !strings.ContainsAny(s, "{}") && !strings.Contains(s, "](") {
		return s
	}
	return sarifEscape.Replace(s)
}

// physicalOf returns the file of the place at, with the line in at or 1, because GitHub
// requires a line. With several sources it is the one that at begins with; nil if there is
// none.
func physicalOf(at string, files []string) *sarifPhysical {
	for _, file := range files {
		rest, in := strings.CutPrefix(at+":", file+":")
		if file == "" || !in && len(files) > 1 {
			continue
		}
		line, rest, _ := strings.Cut(rest, ":")
		col, _, _ := strings.Cut(rest, ":")
		n, err := strconv.Atoi(line)
		if !in || err != nil || n < 1 {
			n, col = 1, ""
		}
		c, _ := strconv.Atoi(col) // 0 is none
		return &sarifPhysical{sarifURI{uriOf(file)}, sarifRegion{n, max(0, c)}}
	}
	return nil
}

// namedAfter returns the place of a finding that is in no file: a path made of source, cluster
// and name. GitHub rejects a complete log if one result has no path, or has an address with
// another scheme than the checkout.
func namedAfter(source string, f *finding.Finding) *sarifPhysical {
	name := f.VM
	if f.VM == "" && f.VMID == "" {
		name = f.Host
	}
	_, bare, ok := strings.Cut(source, "://")
	if !ok {
		bare = source
	}
	var path []string
	for _, part := range append(strings.Split(bare, "/"), strings.ReplaceAll(f.Cluster, "/", "_"), strings.ReplaceAll(name, "/", "_")) {
		if part = table.Clean(part); part != "" && part != "." && part != ".." {
			path = append(path, part)
		}
	}
	return &sarifPhysical{sarifURI{(&url.URL{Path: strings.Join(path, "/")}).String()}, sarifRegion{1, 0}}
}

// uriOf converts a file name to a URI reference, which is relative if the name is.
func uriOf(file string) string {
	path := filepath.ToSlash(file)
	u := url.URL{Path: path}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
		if !strings.HasPrefix(path, "/") { // C:/export.xlsx
			u.Path = "/" + path
		}
	}
	return u.String()
}
