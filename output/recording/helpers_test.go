package recording_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
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

// seldomWide returns copies of VMs that had a single home node most of the time: N%L of those with several would be in doubt.
func seldomWide(vms []capture.VM) (out []capture.VM) {
	for _, v := range vms {
		v.Homes = append([]capture.HomeTime{{Homes: numa.SetOf(0), Time: 24 * time.Hour}}, v.Homes...)
		out = append(out, v)
	}
	return out
}
