package recording_test

import (
	"bytes"
	"strings"
	"testing"

	"homenode/output/answer"
	"homenode/output/format"
)

// written returns the answer in a form; what stands behind csv is the name of a table.
func written(t testing.TB, name string, a *answer.Answer, o format.Options) []byte {
	t.Helper()
	name, o.Table, _ = strings.Cut(name, " ")
	var b bytes.Buffer
	if err := format.Write(&b, name, a, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// junitRead is what they read of a JUnit report.
type junitRead struct {
	Tests  int `xml:"tests,attr"`
	Suites []struct {
		Name  string `xml:"name,attr"`
		Cases []struct {
			Name    string `xml:"name,attr"`
			Failure []struct {
				Text string `xml:",chardata"`
			} `xml:"failure"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}
