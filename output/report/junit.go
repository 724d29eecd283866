package report

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"homenode/numa"
	"homenode/output/table"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// The elements of a JUnit report that CI systems read (Jenkins, GitLab, Azure).
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"` // nothing is measured, and readers want a number
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string     `xml:"name,attr"`
		Class   string     `xml:"classname,attr"`
		Time    string     `xml:"time,attr"`
		Failure *junitText `xml:"failure"`
		Error   *junitText `xml:"error"`
		Skipped *junitText `xml:"skipped"`
		Out     *junitOut  `xml:"system-out"`
	}
	junitText struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",cdata"` // character data would show its line breaks as &#xA;
	}
	junitOut struct {
		Text string `xml:",cdata"`
	}
)

// JUnit writes the judged fleet as a JUnit report: a suite for each cluster, a test
// for each of its hosts and VMs, and before them one for the source, which carries
// the notes. A test fails when a finding is at or above o.FailOn; the failure holds
// all such findings, because Jenkins and GitLab show only one failure of a test.
// The other findings are its output. What could not be judged is skipped.
func JUnit(w io.Writer, r *rules.Result, o ExportOptions) error {
	x := newIndex(r)
	j := judgedFleet(x)
	all := junitSuites{Name: "homenode"}
	all.add(junitSuite{Name: "source", Cases: []junitCase{j.sourceCase()}})
	judged := map[*numa.VM]bool{}
	for _, c := range r.Clusters {
		class := table.Clean(ClusterTitle(c))
		s := junitSuite{Name: class}
		for _, h := range c.Hosts {
			t := j.caseOf(class, "host "+h.Name, x.byHost[h.ID], o.FailOn)
			if !slices.ContainsFunc(c.Kinds, func(k *rule.Kind) bool { return slices.Contains(k.Hosts, h) }) {
				t.skip(x.notesAt(h.At))
			}
			s.Cases = append(s.Cases, t)
		}
		for _, v := range c.VMs {
			judged[v.VM] = true
			s.Cases = append(s.Cases, j.caseOf(class, v.Name, x.byVM[v.ID], o.FailOn))
		}
		s.rename(func(i int) string {
			if i < len(c.Hosts) {
				return c.Hosts[i].ID
			}
			return c.VMs[i-len(c.Hosts)].ID
		})
		all.add(s)
	}
	left := junitSuite{Name: "not judged"}
	var ids []string
	for i := range r.Fleet.VMs {
		v := &r.Fleet.VMs[i]
		if judged[v] {
			continue
		}
		t := j.caseOf(left.Name, v.Name, nil, o.FailOn)
		if v.Template.Or(false) {
			t.skip([]string{"a template does not run"})
		} else {
			t.skip(x.notesAt(v.At))
		}
		left.Cases, ids = append(left.Cases, t), append(ids, v.ID)
	}
	left.rename(func(i int) string { return ids[i] })
	if len(left.Cases) > 0 {
		all.add(left)
	}
	return all.write(w)
}

func (all *junitSuites) write(w io.Writer) error {
	b := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprint(b, xml.Header) // an error stays in b until Flush
	enc := xml.NewEncoder(b)
	enc.Indent("", " ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	fmt.Fprintln(b)
	return b.Flush()
}

// add counts the cases of a suite and adds it.
func (all *junitSuites) add(s junitSuite) {
	s.Tests, s.Time = len(s.Cases), "0"
	for i := range s.Cases {
		switch c := &s.Cases[i]; {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
	all.Suites = append(all.Suites, s)
}

// rename adds the ID to names that occur twice: CI systems know a test by its name.
func (s *junitSuite) rename(id func(int) string) {
	n := map[string]int{}
	for i := range s.Cases {
		n[s.Cases[i].Name]++
	}
	for i := range s.Cases {
		if c := &s.Cases[i]; n[c.Name] > 1 {
			c.Name += " (" + table.Clean(id(i)) + ")"
		}
	}
}

// skip marks a test that was not run, unless it already says more.
func (c *junitCase) skip(notes []string) {
	if c.Failure == nil {
		c.Skipped = &junitText{Message: table.Clean(cmp.Or(strings.Join(notes, "; "), "not judged: see the notes of the source"))}
	}
}

// sourceCase carries the notes; it is an error that nothing could be judged.
func (j *judged) sourceCase() junitCase {
	c := junitCase{Name: table.Clean(cmp.Or(j.source, "source")), Class: "source", Time: "0"}
	var b strings.Builder
	for _, n := range j.notes() {
		fmt.Fprintf(&b, "note   %s\n", table.Clean(n.String()))
	}
	for _, n := range j.SuppressedBy() {
		fmt.Fprintf(&b, "suppressed   %s\n", table.Clean(n.String()))
	}
	c.Out = outputOf(&b)
	if j.nothing != "" {
		c.Error = &junitText{Message: table.Clean(j.nothing)}
	}
	return c
}

// caseOf returns the test of a host or VM.
func (j *judged) caseOf(class, name string, findings []*finding.Finding, failOn finding.Severity) junitCase {
	c := junitCase{Name: table.Clean(name), Class: class, Time: "0"}
	var failed, other strings.Builder
	n := 0
	for _, f := range findings {
		if f.Severity < failOn {
			j.writeFinding(&other, f)
			continue
		}
		if n++; n == 1 {
			c.Failure = &junitText{Message: table.Clean(f.Rule + ": " + f.Message), Type: f.Rule}
		}
		j.writeFinding(&failed, f)
	}
	if n > 0 {
		c.Failure.Text = failed.String()
		if n > 1 {
			c.Failure.Message += fmt.Sprintf(" (and %s)", plural(n-1, "finding"))
		}
	}
	c.Out = outputOf(&other)
	return c
}

func outputOf(b *strings.Builder) *junitOut {
	if b.Len() == 0 {
		return nil
	}
	return &junitOut{b.String()}
}

// writeFinding writes a finding as assess --details does.
func (j *judged) writeFinding(b *strings.Builder, f *finding.Finding) {
	fmt.Fprintf(b, "%s %s %s  %s\n", severityWord(f.Severity), f.Rule, table.Clean(j.subject(f)), table.Clean(f.Message))
	for _, part := range []struct{ label, text string }{{"do", f.Advice}, {"notice", f.Notice}, {"assumed", strings.Join(f.Assumes, "; ")}} {
		if part.text != "" {
			fmt.Fprintf(b, "    %-8s %s\n", part.label, table.Clean(part.text))
		}
	}
}
