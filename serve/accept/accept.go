// Package accept keeps the findings that operators accept in a browser: a file in the form of the configuration, which can be
// read and taken over into it by hand.
package accept

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"homenode/internal/atomicfile"
	"homenode/internal/bounded"
	"homenode/rules"
	"homenode/rules/policy"
)

// A Book is the file and what it says. Its methods may be called at the same time.
type Book struct {
	file string
	base *policy.Policy // of the configuration; nil for none

	mu  sync.Mutex
	own []policy.Suppression
	all *policy.Policy
}

// Open reads the file, which need not be there yet.
func Open(file string, base *policy.Policy) (*Book, error) {
	b := &Book{file: file, base: base}
	text, err := bounded.File(file, policy.MaxSize)
	if errors.Is(err, os.ErrNotExist) {
		b.set(&policy.Policy{File: file})
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := policy.Parse(file, text, rules.All)
	if err != nil {
		return nil, err
	}
	b.set(p)
	return b, nil
}

// set takes what the file says now; b.mu is held, or b is new.
func (b *Book) set(p *policy.Policy) {
	b.own, b.all = p.Suppress, p
	if b.base != nil {
		all := *b.base
		all.Suppress = slices.Concat(all.Suppress, p.Suppress)
		b.all = &all
	}
}

// Policy returns the configuration with what is accepted. It never changes.
func (b *Book) Policy() *policy.Policy {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all
}

// Own returns what was accepted here, in its order.
func (b *Book) Own() []policy.Suppression {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.own)
}

// Add accepts findings from now on.
func (b *Book) Add(s policy.Suppression) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.write(append(slices.Clone(b.own), s))
}

// Remove takes back what was accepted; another one may not have come between.
func (b *Book) Remove(s policy.Suppression) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(b.own), func(o policy.Suppression) bool { return Key(&o) == Key(&s) })
	if len(left) == len(b.own) {
		return errors.New("it is not accepted any more")
	}
	return b.write(left)
}

// Key tells suppressions apart.
func Key(s *policy.Suppression) string {
	key, _ := json.Marshal([]any{s.Rules, s.VM, s.Tag, s.Folder, s.Cluster, s.Host, s.Reason, s.Until}) // texts
	return string(key)
}

// write writes the file when what it is to say can be read again.
func (b *Book) write(own []policy.Suppression) error {
	var text bytes.Buffer
	text.WriteString("# Findings that were accepted in the pages of homenode serve.\nsuppress:")
	if len(own) == 0 {
		text.WriteString(" []")
	}
	text.WriteByte('\n')
	for i := range own {
		s := &own[i]
		fmt.Fprintf(&text, "  - rules: %s\n", list(s.Rules))
		for _, one := range []struct {
			key    string
			values []string
		}{{"vm", s.VM}, {"tag", s.Tag}, {"folder", s.Folder}, {"cluster", s.Cluster}, {"host", s.Host}} {
			if len(one.values) > 0 {
				fmt.Fprintf(&text, "    %s: %s\n", one.key, list(one.values))
			}
		}
		fmt.Fprintf(&text, "    reason: %s\n    until: %s\n", quoted(s.Reason), s.Until)
	}
	p, err := policy.Parse(b.file, text.Bytes(), rules.All)
	if err != nil {
		// The line of a file that is not there says nothing to who filled in a form.
		_, why, _ := strings.Cut(strings.TrimPrefix(err.Error(), b.file), ": ")
		return errors.New(why)
	}
	err = atomicfile.Write(b.file, func(w io.Writer) error {
		_, err := w.Write(text.Bytes())
		return err
	})
	if err == nil {
		b.set(p)
	}
	return err
}

// list writes texts as the configuration has them; no rules are all.
func list(texts []string) string {
	if len(texts) == 0 {
		return "all"
	}
	parts := make([]string, len(texts))
	for i, t := range texts {
		parts[i] = quoted(t)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// quoted writes a text in double quotes.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a text
	return string(b)
}
