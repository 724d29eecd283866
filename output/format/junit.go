package format

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/finding"
)

// Elements of a JUnit report that CI systems read (Jenkins, GitLab, Azure).
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
		Time     string      `xml:"time,attr"` // no durations are measured, but readers require a number
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
		Text    string `xml:",cdata"` // in other character data, line breaks would appear as &#xA;
	}
	junitOut struct {
		Text string `xml:",cdata"`
	}
)

// JUnit writes the assessment of the answer as a JUnit report. Its suites are clusters or
// hosts, preceded by one for the source, which has the notes. A test fails if it has findings
// at or above o.FailOn. Its only failure contains all of these, because Jenkins and GitLab show
// one failure per test. The other findings are its output. Objects that could not be assessed
// are skipped.
func JUnit(w io.Writer, a *answer.Answer, o Options) error {
	j := a.Findings
	if j == nil {
		return fmt.Errorf("%s has no findings", a.Command)
	}
	all := junitSuites{Name: "homenode"}
	if a.Simulated {
		all.Name = "homenode, simulated"
	}
	all.add(junitSuite{Name: "source", Cases: []junitCase{sourceCase(a)}})
	for _, suite := range j.Suites {
		s := junitSuite{Name: table.Clean(suite.Name)}
		for _, one := range suite.Cases {
			c := caseOf(j, s.Name, one.Name, one.Findings, o.FailOn)
			if one.Skipped != "" && c.Failure == nil {
				c.Skipped = &junitText{Message: table.Clean(one.Skipped)}
			}
			s.Cases = append(s.Cases, c)
		}
		s.rename(func(i int) string { return suite.Cases[i].ID })
		all.add(s)
	}
	return all.write(w)
}

func (all *junitSuites) write(w io.Writer) error {
	b := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprint(b, xml.Header) // errors are sticky until Flush
	enc := xml.NewEncoder(b)
	enc.Indent("", " ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	fmt.Fprintln(b)
	return b.Flush()
}

// add adds a suite, with the number of its cases.
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

// rename adds the ID to names that are not unique, because CI systems identify a test by name.
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

// sourceCase has the notes. It is an error if nothing could be assessed.
func sourceCase(a *answer.Answer) junitCase {
	j := a.Findings
	c := junitCase{Name: table.Clean(cmp.Or(j.Source, "source")), Class: "source", Time: "0"}
	var b strings.Builder
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "note   %s\n", table.Clean(n.String()))
	}
	for _, n := range j.SuppressedBy() {
		fmt.Fprintf(&b, "suppressed   %s\n", table.Clean(n.String()))
	}
	c.Out = outputOf(&b)
	if j.Nothing != "" {
		c.Error = &junitText{Message: table.Clean(j.Nothing)}
	}
	return c
}

// caseOf returns the test of a host or VM.
func caseOf(j *answer.Findings, class, name string, findings []*finding.Finding, failOn finding.Severity) junitCase {
	c := junitCase{Name: table.Clean(name), Class: class, Time: "0"}
	var failed, other strings.Builder
	n := 0
	for _, f := range findings {
		if f.Severity < failOn {
			writeFinding(&other, j.Subject(f).Name, f)
			continue
		}
		if n++; n == 1 {
			c.Failure = &junitText{Message: table.Clean(f.Rule + ": " + f.Message), Type: f.Rule}
		}
		writeFinding(&failed, j.Subject(f).Name, f)
	}
	if n > 0 {
		c.Failure.Text = failed.String()
		if n > 1 {
			c.Failure.Message += fmt.Sprintf(" (and %s)", words.Plural(n-1, "finding"))
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
func writeFinding(b *strings.Builder, subject string, f *finding.Finding) {
	fmt.Fprintf(b, "%s %s %s  %s\n", strings.ToUpper(f.Severity.String()), f.Rule, table.Clean(subject), table.Clean(f.Message))
	for _, part := range []struct{ label, text string }{{"do", f.Advice}, {"notice", f.Notice}, {"assumed", strings.Join(f.Assumes, "; ")}} {
		if part.text != "" {
			fmt.Fprintf(b, "    %-8s %s\n", part.label, table.Clean(part.text))
		}
	}
}
