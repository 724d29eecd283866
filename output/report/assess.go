// Package report writes what was found: as text for a terminal, as JSON for
// programs and as one HTML file for people.
package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"homenode/esxi/vnuma"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// AssessOptions say how Assess writes.
type AssessOptions struct {
	Colour      bool
	Details     bool // every finding with its advice, not only how many
	FailOn      finding.Severity
	Read        time.Duration // 0 leaves the times out
	Judged      time.Duration
	SourceWords []string // the SOURCEs as the user typed them, for the next commands
}

// Assess writes the overview of a judged fleet for a terminal.
func Assess(w io.Writer, r *rules.Result, o AssessOptions) error {
	p := &printer{w: w, colour: o.Colour}
	j := judgedFleet(newIndex(r))
	p.head(r, o)
	p.clusters(r)
	p.printf("\n")
	if len(r.Findings) == 0 && r.VMs > 0 {
		p.printf("no findings\n")
	}
	if o.Details {
		p.details(j)
	} else {
		p.counts(j)
	}
	p.someNotes(grouped(j.notes()), "json or html")
	p.next(r, o)
	return p.err
}

// printer writes text and keeps the first error.
type printer struct {
	w      io.Writer
	colour bool
	err    error
}

// printf prints its arguments cleaned; those of type painted are.
func (p *printer) printf(format string, args ...any) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = texttab.Clean(arg)
		case fmt.Stringer:
			args[i] = texttab.Clean(arg.String())
		}
	}
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// painted is cleaned text with colour sequences around it.
type painted string

func (p *printer) table(t *texttab.Table) {
	if p.err == nil {
		_, p.err = t.WriteTo(p.w)
	}
}

// The ANSI codes of severities and emphasis.
var severityCode = [...]string{finding.Info: "2", finding.Low: "36", finding.Medium: "33", finding.High: "1;31"}

const bold, faint = "1", "2"

func (p *printer) paint(code, s string) painted {
	s = texttab.Clean(s)
	if !p.colour || s == "" {
		return painted(s)
	}
	return painted("\x1b[" + code + "m" + s + "\x1b[0m")
}

func (p *printer) severity(s finding.Severity) painted {
	return p.paint(severityCode[s], severityWord(s))
}

func severityWord(s finding.Severity) string { return strings.ToUpper(s.String()) }

func (p *printer) head(r *rules.Result, o AssessOptions) {
	f := r.Fleet
	verdict, rest := verdictOf(r)
	p.printf("%s\n", p.paint(bold, verdict))
	if rest != "" {
		p.printf("%s\n", rest)
	}
	p.printf("\n")
	t := texttab.Table{}
	t.Row("read", fmt.Sprintf("%s · %s · %s · %s", f.Source, rule.Plural(len(f.Hosts), "host"), rule.Plural(len(f.VMs), "VM"),
		rule.Plural(len(f.Clusters), "cluster")), elapsed(o.Read))
	t.Row("judged", fmt.Sprintf("%s × the hosts of their cluster (%s)", rule.Plural(r.VMs, "VM"), predictions(r.Pairs)), elapsed(o.Judged))
	if counts := seenCounts(r); counts != "" {
		t.Row("observed", counts)
	}
	if r.Policy != nil {
		t.Row("config", r.Policy.File+policyText(&r.Judgement))
	}
	if n := len(r.Suppressed); n > 0 {
		t.Row("suppressed", strconv.Itoa(n))
	}
	p.table(&t)
	p.printf("\n")
}

// policyText says what the configuration changes: " · 1 threshold · N002 off".
func policyText(r *rules.Judgement) string {
	s := ""
	if n := len(r.Policy.Thresholds); n > 0 {
		s += " · " + rule.Plural(n, "threshold")
	}
	switch n := len(r.Policy.Severities); n {
	case 0:
	case 1:
		s += " · 1 severity"
	default:
		s += fmt.Sprintf(" · %d severities", n)
	}
	if off := r.OffRules(); len(off) > 0 {
		s += fmt.Sprintf(" · off: %s (%s)", strings.Join(off, ", "), rule.Plural(r.Off, "finding"))
	}
	return s
}

// elapsed returns d with two digits, or nothing for 0.
func elapsed(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func predictions(n int) string {
	if n == 1 {
		return "1 prediction"
	}
	return thousands(n) + " predictions"
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func (p *printer) clusters(r *rules.Result) {
	t := texttab.Table{Right: map[int]bool{1: true, 3: true, 4: true, 5: true, 6: true}}
	t.Row("CLUSTER", "HOSTS", "NODE", "VMS", "WIDE", "GUEST BLIND", "TOO BIG", "FITS EVERYWHERE")
	for _, s := range r.Summaries() {
		t.Row(ClusterTitle(s.Cluster), strconv.Itoa(len(s.Cluster.Hosts)), nodeText(s.Cluster), strconv.Itoa(len(s.Cluster.VMs)),
			strconv.Itoa(s.Wide), strconv.Itoa(s.Blind), strconv.Itoa(s.TooBig), fits(&s))
	}
	p.table(&t)
}

// ClusterTitle returns the name of the cluster, or what a standalone host is called.
func ClusterTitle(c *rule.Cluster) string {
	if c.Name == "" && len(c.Hosts) > 0 {
		return c.Hosts[0].Name + " (standalone)"
	}
	return c.Name
}

// nodeText returns "18 cores 512 GB" or, for unlike hosts, "20 or 14 cores".
func nodeText(c *rule.Cluster) string {
	var cores []string
	least, most := int64(0), int64(0)
	seen := map[int32]bool{}
	for _, k := range c.Kinds {
		if !seen[k.Machine.Cores] {
			seen[k.Machine.Cores] = true
			cores = append(cores, strconv.Itoa(int(k.Machine.Cores)))
		}
		if m := k.Machine.NodeMemory; least == 0 || m < least {
			least = m
		}
		most = max(most, k.Machine.NodeMemory)
	}
	if len(cores) == 0 {
		return "unknown"
	}
	s := strings.Join(cores, " or ") + " cores"
	// Like hosts differ by what their kernels keep.
	if least > 0 && least >= most-most/vnuma.UnevenShare {
		s += "  " + numa.Bytes(least).String()
	}
	return s
}

func fits(s *rules.ClusterSummary) string {
	switch {
	case len(s.Cluster.VMs) == 0:
		return "–"
	case s.Differing == 0:
		return "yes"
	}
	verb := "differ"
	if s.Differing == 1 {
		verb = "differs"
	}
	return fmt.Sprintf("no: %s %s by host", rule.Plural(s.Differing, "VM"), verb)
}

// counts prints one line a rule and severity.
func (p *printer) counts(j *judged) {
	t := texttab.Table{Right: map[int]bool{1: true}}
	for _, c := range j.Counts() {
		t.Row(severityWord(c.Severity), strconv.Itoa(len(c.Findings)), c.Rule.ID, c.Rule.Title, j.subjects(c.Findings), assumed(c.Findings))
		if p.colour {
			t.Paint(0, severityCode[c.Severity])
		}
	}
	p.table(&t)
}

// assumed says how many of the findings rest on something that nobody stated.
func assumed(findings []*finding.Finding) string {
	n := 0
	for _, f := range findings {
		if f.Origin() == numa.Assumed {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case len(findings):
		return "assumed"
	}
	return fmt.Sprintf("%d assumed", n)
}

// subjects names the first finding of each group, which is a cluster, and counts the
// others: "prod-a/sql01 +4, mixed/erp02 +3".
func (j *judged) subjects(findings []*finding.Finding) string {
	return subjects(findings, j.group, j.subject)
}

func subjects(findings []*finding.Finding, group, name func(*finding.Finding) string) string {
	var order []string
	count, first := map[string]int{}, map[string]string{}
	for _, f := range findings {
		g := group(f)
		if count[g]++; count[g] == 1 {
			order, first[g] = append(order, g), name(f)
		}
	}
	const most = 3
	var parts []string
	for i, c := range order {
		if i == most {
			parts = append(parts, "…")
			break
		}
		s := first[c]
		if count[c] > 1 {
			s += fmt.Sprintf(" +%d", count[c]-1)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// details prints every finding.
func (p *printer) details(j *judged) {
	for i := range j.Findings {
		p.finding(j, &j.Findings[i])
	}
	p.accepted(j)
}

func (p *printer) finding(j *judged, f *finding.Finding) {
	p.printf("%s %s %s  %s\n", p.severity(f.Severity), f.Rule, p.paint(bold, j.subject(f)), f.Message)
	if f.Advice != "" {
		p.printf("    do       %s\n", f.Advice)
	}
	if f.Notice != "" {
		p.printf("    notice   %s\n", f.Notice)
	}
	if len(f.Assumes) > 0 {
		p.printf("    %s\n", p.paint(faint, "assumed  "+strings.Join(f.Assumes, "; ")))
	}
}

func (p *printer) accepted(j *judged) {
	for i := range j.Suppressed {
		s := &j.Suppressed[i]
		p.printf("%s %s %s  until %s: %s (%s)\n", p.paint(faint, "suppressed"), s.Rule, j.subject(&s.Finding), s.By.Until, s.By.Reason, s.By.At)
	}
}

// someNotes prints the first notes; forms are those that hold the rest.
func (p *printer) someNotes(notes []numa.Note, forms string) {
	if len(notes) == 0 {
		return
	}
	p.printf("\n")
	const most = 8
	for i, n := range notes {
		if i == most && len(notes) > most+1 {
			p.printf("note   %d more: see --format %s\n", len(notes)-most, forms)
			return
		}
		p.printf("note   %s\n", n)
	}
}

func (p *printer) next(r *rules.Result, o AssessOptions) {
	if len(r.Findings) > 0 {
		var words []string
		for _, w := range o.SourceWords {
			words = append(words, shellQuote(w))
		}
		source := strings.Join(words, " ")
		p.printf("\nnext   homenode explain %s %s\n", source, exampleVM(r.Findings, len(o.SourceWords) > 1))
		if !o.Details {
			p.printf("       homenode assess %s --details\n", source)
		}
	}
	if n := r.AtLeast(o.FailOn); n > 0 {
		p.printf("exit 1: %s at or above %s (--fail-on)\n", rule.Plural(n, "finding"), o.FailOn)
	}
}

// exampleVM returns the first VM with a finding as a word of a command line: its
// name, or its ID when the name cannot be typed or would be taken for a flag, or
// when names may well be there twice: in several sources.
func exampleVM(findings []finding.Finding, byID bool) string {
	for i := range findings {
		words := []string{findings[i].VM, findings[i].VMID}
		if byID {
			slices.Reverse(words)
		}
		for _, word := range words {
			if word != "" && findings[i].VM != "" && texttab.Clean(word) == word && !strings.HasPrefix(word, "-") {
				return shellQuote(word)
			}
		}
	}
	return "VM"
}

// shellQuote quotes s for a POSIX shell when it has to be.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./:@%+,=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// guestSees returns what the guest of the layout sees, in words.
func guestSees(l *vnuma.Layout) string {
	if !l.GuestSeesNUMA() {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", l.VPDs.Len())
}
