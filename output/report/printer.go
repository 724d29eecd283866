// Package report prints the checks: their list, the page of one, and JSON.
package report

import (
	"fmt"
	"io"
	"strings"

	"homenode/internal/texttab"
	"homenode/rules/finding"
)

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

func severityWord(s finding.Severity) string { return strings.ToUpper(s.String()) }
