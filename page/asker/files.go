package asker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/esxi/product"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/anonymise"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/open"
	"example.org/homenode/source/snapshot"
	"example.org/homenode/source/tables"
	"example.org/homenode/source/text"
	"example.org/homenode/source/ticks"
)

// Drop opens the files of the given names, and returns the address of the answer about them and the names of all open files. Files that were open are
// closed, unless they belong to the new ones; if nothing can be read, they stay.
func (a *Asker) Drop(ctx context.Context, names []string) (address string, tell, all []string, err error) {
	kept := a.beside(names)
	for _, all = range [][]string{slices.Concat(kept, names), names} {
		next := &Asker{Version: a.Version, Now: a.Now, names: folders(all)}
		if address, tell, err = next.drop(ctx); err == nil && (len(all) == len(names) || next.held != nil) {
			if len(all) > len(names) && next.captures != nil {
				address = capturePath
			}
			*a = *next
			break
		}
	}
	return address, tell, all, told(err)
}

// beside returns the open files that belong to new ones: the inventory of new captures, captures whose inventory comes now, and other parts of one export.
func (a *Asker) beside(names []string) []string {
	if a.names == nil || slices.Contains(a.names, open.Demo) || slices.ContainsFunc(names, func(n string) bool { return n == open.Demo || strings.Contains(n, "/") }) {
		return nil
	}
	only := func(names []string, is func(string) bool) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !is(n) })
	}
	old := slices.DeleteFunc(slices.Clone(a.names), func(n string) bool { return slices.Contains(names, n) })
	switch {
	case only(names, recorded) && a.held != nil && a.held.Result.Fleet.Hypervisor != numa.KVM:
		return slices.DeleteFunc(old, recorded)
	case only(names, recorded):
		return nil
	case only(old, recorded), only(old, tables.Part) && only(names, tables.Part):
		return old
	}
	return nil
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
func (a *Asker) drop(ctx context.Context) (address string, _ []string, err error) {
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
	f, tell, err := a.read(ctx, sources, seen)
	if err != nil && seen != nil { // evidence that belongs to no VM must not prevent reading the fleet
		why := err
		if f, tell, err = a.read(ctx, sources, nil); err == nil {
			tell = append(tell, spoken(texttab.Line("Left out: "+why.Error())))
		}
	}
	switch {
	case err != nil && len(a.stated) > 0: // before they were stated, the files could be read
		return "", nil, err
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
		return capturePath, append(tell, spoken(texttab.Line(err.Error()))), nil
	}
	return "", tell, err
}

// read reads the fleet of sources with the stated facts. seen are files of evidence.
func (a *Asker) read(ctx context.Context, sources, seen []string) (f *numa.Fleet, tell []string, err error) {
	q := fleet.AssessEntry.Ask().(*fleet.Assess)
	for name, values := range a.stated {
		err = cmp.Or(err, set(ask.Fields(q), name, values))
	}
	if err == nil {
		q.Evidence = seen
		e := &ask.Env{Open: open.Fleet, Today: a.Now(), Warn: func(text string) { tell = append(tell, spoken(texttab.Line(text))) }}
		f, err = q.ReadBy(ctx, e, vnuma.Choices{}, true, sources...)
	}
	return f, tell, err
}

// hold assesses a fleet and stores the result. A file of one VM whose host is unknown is explained as a file.
func (a *Asker) hold(ctx context.Context, sources []string, f *numa.Fleet, tell []string) (string, []string, error) {
	options, err := (&ask.Choice{}).Options(&ask.Env{Today: a.Now()})
	if err != nil {
		return "", tell, err
	}
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

// restate reads the files again if the query states other facts that they lack.
func (a *Asker) restate(ctx context.Context, query url.Values) error {
	next := &Asker{Version: a.Version, Now: a.Now, names: a.names, stated: url.Values{}}
	for name := range stated {
		values := a.stated[name]
		if query.Has(name) {
			values = slices.DeleteFunc(slices.Clone(query[name]), func(v string) bool { return strings.TrimSpace(v) == "" })
		}
		if slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(v, "@") }) {
			return ask.Wrong(name, ask.ErrFiles)
		}
		if len(values) > 0 {
			next.stated[name] = values
		}
	}
	if a.names == nil || maps.EqualFunc(next.stated, a.stated, slices.Equal) {
		return nil
	}
	_, _, err := next.drop(ctx)
	if err == nil {
		*a = *next
	}
	return err
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
	return slices.ContainsFunc(open.Anything(name, nil), func(p open.Part) bool { return p.Docs != nil || p.Fleet != nil })
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
