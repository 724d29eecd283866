package flags

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"homenode/rules/rule"
)

// A Progress shows how far an archive or a sweep is: on one line of a terminal, elsewhere a
// line a minute.
type Progress struct {
	w        io.Writer
	did      string // to how many of what
	noun     string
	terminal bool
	began    time.Time
	shown    time.Time
}

// NewProgress returns one that says what was done to how many of a noun.
func NewProgress(cmd *cobra.Command, did, noun string) *Progress {
	w := cmd.ErrOrStderr()
	p := &Progress{w: w, did: did, noun: noun, terminal: IsTerminal(w), began: time.Now()}
	if !p.terminal {
		p.shown = p.began
	}
	return p
}

// Show shows it, some times a second at most.
func (p *Progress) Show(done, total int) {
	every := time.Minute
	if p.terminal {
		every = time.Second / 4
	}
	if time.Since(p.shown) < every || time.Since(p.began) < time.Second {
		return
	}
	p.shown = time.Now()
	text := fmt.Sprintf("%s %d of %s", p.did, done, rule.Plural(total, p.noun))
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintf(p.w, "homenode: %s\n", text)
}

// Clear makes room on a terminal.
func (p *Progress) Clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
