// Package pattern compiles regular expressions on first use. The program has hundreds of them and a command uses
// only a few; compiling all at start would take longer than many commands.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression in Go's syntax. Its methods are those of regexp.Regexp.
type Pattern struct {
	text    string
	compile func() *regexp.Regexp
}

// Of returns the pattern for an expression, which must be valid: a test compiles all of them, and the first use of
// an invalid one panics.
func Of(text string) *Pattern {
	return &Pattern{text: text, compile: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// String returns the text of the expression.
func (p *Pattern) String() string { return p.text }

// Regexp returns the compiled expression, for methods missing here.
func (p *Pattern) Regexp() *regexp.Regexp { return p.compile() }

// Match is Match of regexp.Regexp.
func (p *Pattern) Match(b []byte) bool { return p.compile().Match(b) }

// MatchString is MatchString of regexp.Regexp.
func (p *Pattern) MatchString(s string) bool { return p.compile().MatchString(s) }

// FindString is FindString of regexp.Regexp.
func (p *Pattern) FindString(s string) string { return p.compile().FindString(s) }

// FindStringSubmatch is FindStringSubmatch of regexp.Regexp.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compile().FindStringSubmatch(s) }

// FindStringSubmatchIndex is FindStringSubmatchIndex of regexp.Regexp.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compile().FindStringSubmatchIndex(s)
}

// ReplaceAllString is ReplaceAllString of regexp.Regexp.
func (p *Pattern) ReplaceAllString(src, repl string) string {
	return p.compile().ReplaceAllString(src, repl)
}
