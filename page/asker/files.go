package asker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"homenode/ask"
	"homenode/esxi/product"
	"homenode/esxi/vnuma"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules"
	"homenode/source/anonymise"
	"homenode/source/evidence"
	"homenode/source/open"
	"homenode/source/snapshot"
	"homenode/source/text"
	"homenode/source/ticks"
)

// Drop replaces the open files by those of the given names, and returns the address of the answer about them. If none can be read, the previous files stay
// open.
func (a *Asker) Drop(ctx context.Context, names []string) (address string, tell []string, err error) {
	next := &Asker{Version: a.Version, Now: a.Now, names: folders(names)}
	address, tell, err = next.drop(ctx)
	if err == nil {
		*a = *next
	}
	return address, tell, err
}

// folders returns the names with one name for all files of a folder that is one source: that of KVM hosts, or an unpacked vm-support bundle.
func folders(names []string) (out []string) {
	above := func(name string) string {
		top, _, _ := strings.Cut(name, "/")
		return top
	}
	whole := map[string]bool{}
	for _, name := range names {
		top := above(name)
		if _, known := whole[top]; !known {
			in := func(n string) bool { return n != name && above(n) == top }
			whole[top] = top != "." && slices.ContainsFunc(names, in) && (open.KVM(top) || slices.ContainsFunc(names, func(n string) bool { return above(n) == top && strings.Contains(n, "/vmfs/volumes/") }))
			if whole[top] {
				out = append(out, top)
			}
		}
		if !whole[top] {
			out = append(out, name)
		}
	}
	return out
}

// drop opens the files of a.names.
func (a *Asker) drop(ctx context.Context) (address string, tell []string, err error) {
	var sources, seen []string
	for _, name := range a.names {
		switch {
		case name == open.Demo:
			a.captures, sources = append(a.captures, name), append(sources, name)
		case recorded(name):
			a.captures = append(a.captures, name)
		case len(a.names) > 1 && isEvidence(name) && !open.KVM(name):
			seen = append(seen, name)
		default:
			sources = append(sources, name)
		}
	}
	if sources == nil && seen != nil && a.captures == nil {
		sources, seen = seen[:1], seen[1:]
	}
	if sources == nil {
		return capturePath, nil, nil
	}
	f, unread, err := open.Fleet(ctx, sources, open.Options{Evidence: seen, AssumeHost: a.assumed})
	if err != nil && seen != nil { // evidence that belongs to no VM must not prevent reading the fleet
		why := err
		if f, unread, err = open.Fleet(ctx, sources, open.Options{AssumeHost: a.assumed}); err == nil {
			tell = append(tell, texttab.Line("Left out: "+ask.Undashed(why).Error()))
		}
	}
	for _, n := range unread {
		tell = append(tell, texttab.Line(n.String()))
	}
	switch {
	case err == nil && len(f.VMs)+len(f.Hosts) > 0:
		return a.hold(ctx, sources, f, tell)
	case a.captures == nil && len(sources) == 1 && archived(ctx, sources[0]):
		a.captures = sources
		return capturePath, tell, nil
	case len(a.names) == 1 && understood(a.names[0]):
		return filePath, tell, nil
	}
	if err == nil {
		err = fmt.Errorf("%s: it lists neither VMs nor hosts", sources[0])
	}
	if a.captures != nil {
		return capturePath, append(tell, texttab.Line(ask.Undashed(err).Error())), nil
	}
	return "", tell, err
}

// hold assesses a fleet and stores the result. A file of one VM whose host is unknown is explained as a file.
func (a *Asker) hold(ctx context.Context, sources []string, f *numa.Fleet, tell []string) (string, []string, error) {
	options, err := (&ask.Choice{}).Options(&ask.Env{Today: a.Now()})
	if err != nil {
		return "", tell, err
	}
	vnuma.AssumeStored(f, options.Choices)
	r, err := rules.RunContext(ctx, f, options)
	if err != nil {
		return "", tell, err
	}
	if r.VMs == 0 && len(f.Hosts) == 0 && len(a.names) == 1 && understood(a.names[0]) {
		a.hostless = len(f.VMs) > 0
		return filePath, tell, nil
	}
	a.held = &ask.Held{Sources: sources, Result: r}
	return fleetPath, tell, nil
}

// assume reads the files again with these values for facts that they lack about hosts.
func (a *Asker) assume(ctx context.Context, words string) error {
	if words == a.assumed || a.names == nil {
		return nil
	}
	next := &Asker{Version: a.Version, Now: a.Now, names: a.names, assumed: words}
	_, _, err := next.drop(ctx)
	if err == nil {
		*a = *next
	}
	return err
}

// open reads files for a question without an open fleet.
func (a *Asker) open(ctx context.Context, sources []string, o open.Options) (*numa.Fleet, []numa.Note, error) {
	return open.Fleet(ctx, sources, o)
}

// head returns the beginning of a file.
func head(name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()                     // read only
	b, _ := io.ReadAll(io.LimitReader(f, text.HeadSize)) // the parser reports read errors
	return b
}

// recorded reports whether a file is a recording.
func recorded(name string) bool { return ticks.Detect(head(name)) != "" }

// isEvidence reports whether a file contains observations of a host or guest.
func isEvidence(name string) bool { return evidence.Format(text.Decoded(head(name))) != "" }

// archived reports whether an archive contains captures. It reads up to the first tick.
func archived(ctx context.Context, name string) (found bool) {
	stop := errors.New("found")
	_, _ = open.Ticks(ctx, name, nil, ticks.Options{}, ticks.Visit{ // the error is stop, or the archive has no capture
		Tick: func(*numa.Tick) error { found = true; return stop },
		Done: func(_ *ticks.File, err error) error { return err },
	})
	return found
}

// understood reports whether any parser finds facts in a file.
func understood(name string) bool {
	for _, p := range open.Anything(name, nil) {
		if p.Docs != nil || p.Fleet != nil {
			return true
		}
	}
	return false
}

// Snapshot returns the fleet as a snapshot with pseudonyms, and the key that maps them to names.
func (a *Asker) Snapshot() (snap, key []byte, err error) {
	if a.held == nil {
		return nil, nil, errNothing
	}
	f, k := anonymise.Fleet(a.held.Result.Fleet, product.Public)
	var s, names bytes.Buffer
	err = errors.Join(snapshot.Write(&s, f), k.Write(&names))
	return s.Bytes(), names.Bytes(), err
}
