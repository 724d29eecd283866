// Package open is the common entry point for all input of homenode. It detects the format of a file, reads it with the
// matching reader, and merges several sources into one fleet:
//
//	Fleet      SOURCEs: vCenters, exports, snapshots, scenarios, stories, folders, archives;
//	           with --evidence, files that package evidence recognises and merges
//	File       one file or folder as a fleet
//	Anything   one file, folder or archive of any kind
//	Ticks      captures
//
// It has no flags and prints nothing. Network access is provided by Options.Dial (package
// source/open/vcenter), which a program that reads files only, such as the one for the browser,
// does not link.
package open

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"example.org/homenode/numa"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/planned"
	"example.org/homenode/source/snapshot"
	"example.org/homenode/source/tables"
	"example.org/homenode/source/text"
)

// Demo is the name of the generated SOURCE and capture.
const Demo = "demo"

// Options configure the reading of sources and add data that no source states.
type Options struct {
	// Dial returns the Source for a URL, Demo or "vcenter"; nil reads files only.
	Dial func(name string) (Source, error)
	// Progress receives the progress of reading; nil disables it. Calls are serialised, but come from several goroutines.
	Progress func(Step)

	NodesPerSocket []string // such as "esx*=1"; later ones take precedence; or @FILE with such lines
	Products       []string // such as "sql*=SQL Server 2022 Standard", or @FILE with such lines
	AssumeHost     string   // the words of a host line, for VMs without a host
	Evidence       []string // FILE or VM=FILE
}

// A Step is the progress of reading one source. An empty Stage means that the source is finished.
type Step struct {
	Source, Stage  string // "vc01", "VMs"
	Done, Total    int    // objects of the stage
	Ended, Sources int
}

// A Source is a validated SOURCE argument, ready to be read.
type Source struct {
	Names []string // from short to exact; the last one is unique among the sources
	// Read reads the fleet. progress, unless nil, receives the number of objects of a stage read so far.
	Read func(ctx context.Context, progress func(stage string, done, total int)) (*numa.Fleet, error)
}

// mostAtOnce is the maximum number of vCenters read concurrently: each needs memory for a page of VMs, and a core for
// decoding it.
const mostAtOnce = 8

// Fleet reads the sources as one fleet and applies the options. If there are several sources, those that cannot be read are
// returned as unread and listed in the notes of the fleet, and the rest is read.
func Fleet(ctx context.Context, args []string, o Options) (fleet *numa.Fleet, unread []numa.Note, err error) {
	args, err = listed(args)
	if err != nil {
		return nil, nil, err
	}
	args, parts := parted(args)
	sources := make([]Source, len(args))
	exact := make(map[string]bool)
	for i, arg := range args {
		if sources[i], err = o.source(arg); err != nil {
			return nil, nil, err
		}
		if len(parts) > 1 && arg == parts[0] {
			sources[i].Read = func(context.Context, func(string, int, int)) (*numa.Fleet, error) { return tables.ReadFiles(parts) }
		}
		name := sources[i].Names[len(sources[i].Names)-1]
		if exact[name] {
			return nil, nil, fmt.Errorf("the source %s is named twice", name)
		}
		exact[name] = true
	}
	if fleet, unread, err = o.readAll(ctx, sources); err != nil {
		return nil, unread, err
	}
	return fleet, unread, o.Apply(fleet)
}

// Apply applies NodesPerSocket, Products, AssumeHost and Evidence to the fleet.
func (o Options) Apply(fleet *numa.Fleet) error {
	if err := divide(fleet, o.NodesPerSocket); err != nil {
		return err
	}
	if err := assume(fleet, o.AssumeHost); err != nil {
		return err
	}
	if err := join(fleet, o.Evidence); err != nil {
		return err
	}
	return state(fleet, o.Products)
}

// VCenter reports whether an argument names a vCenter or ESXi host.
func VCenter(arg string) bool {
	return arg == "vcenter" || strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://")
}

// source returns the source for an argument.
func (o Options) source(arg string) (Source, error) {
	dialed := arg == Demo || VCenter(arg)
	switch {
	case dialed && o.Dial != nil:
		return o.Dial(arg)
	case arg == Demo:
		return Source{[]string{Demo}, func(context.Context, func(string, int, int)) (*numa.Fleet, error) { return demo.Fleet() }}, nil
	case dialed:
		return Source{}, fmt.Errorf("%s: found a vCenter, want a file: this program reads files only", arg)
	}
	if _, err := os.Stat(arg); err != nil {
		return Source{}, missing(arg, err)
	}
	return Source{fileNames(arg), func(ctx context.Context, _ func(string, int, int)) (*numa.Fleet, error) { return fileOf(ctx, arg) }}, nil
}

// parted returns the sources, and the files among them that are only parts of a fleet, such as the VMs of govc vm.info -json
// and the hosts of govc host.info -json. The parts are one source: sources contains only the first of them.
func parted(args []string) (sources, parts []string) {
	for _, arg := range args {
		part := len(args) > 1 && !planned.Detect(arg) && !snapshot.Detect(arg) && tables.Part(arg) // which reads the file
		if !part || parts == nil {
			sources = append(sources, arg)
		}
		if part {
			parts = append(parts, arg)
		}
	}
	return sources, slices.Compact(parts)
}

// Whole reports whether the sources are one: a single one, or the parts of one fleet.
func Whole(sources []string) bool {
	all, _ := parted(sources)
	return len(all) == 1
}

// listed replaces @FILE by the sources in it, one per line.
func listed(args []string) ([]string, error) {
	var sources []string
	for _, arg := range args {
		path, ok := strings.CutPrefix(arg, "@")
		if !ok {
			sources = append(sources, arg)
			continue
		}
		lines, err := linesOf(path)
		if err != nil {
			return nil, err
		}
		if len(lines) == 0 {
			return nil, fmt.Errorf("%s: found no source, want one a line", path)
		}
		sources = append(sources, lines...)
	}
	return sources, nil
}

// linesOf returns the lines of a file that are neither empty nor comments.
func linesOf(path string) (lines []string, err error) {
	b, err := text.File(path)
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines, err
}

// readAll reads the sources in parallel and merges the fleets in the order of the sources.
func (o Options) readAll(ctx context.Context, sources []Source) (*numa.Fleet, []numa.Note, error) {
	names := shortNames(sources)
	fleets, errs := make([]*numa.Fleet, len(sources)), make([]error, len(sources))
	slots := make(chan struct{}, mostAtOnce)
	show := &progress{show: o.Progress, sources: len(sources)}
	var group sync.WaitGroup
	for i, s := range sources {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				fleets[i], errs[i] = s.Read(ctx, show.of(names[i]))
			}
			show.ended()
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil && errors.Join(errs...) != nil {
		return nil, nil, err
	}
	if len(sources) == 1 {
		return fleets[0], nil, errs[0]
	}
	for i, s := range sources {
		if whole := s.Names[min(1, len(s.Names)-1)]; errs[i] != nil && len(whole) > len(names[i]) {
			names[i] = whole // with the extension of a file
		}
	}
	return merge(names, fleets, errs)
}

// merge merges the fleets that could be read.
func merge(names []string, fleets []*numa.Fleet, errs []error) (*numa.Fleet, []numa.Note, error) {
	var parts []numa.Part
	var unread []numa.Note
	for i, err := range errs {
		if err == nil {
			parts = append(parts, numa.Part{Name: names[i], Fleet: fleets[i]})
			continue
		}
		unread = append(unread, numa.Note{At: names[i], Text: fmt.Sprintf("could not be read, nothing here is about it: %v", err)})
	}
	if len(parts) == 0 {
		return nil, nil, errors.Join(errs...)
	}
	fleet, err := numa.Merge(parts)
	if err != nil {
		return nil, unread, err
	}
	fleet.Notes = append(unread[:len(unread):len(unread)], fleet.Notes...)
	for _, n := range unread {
		fleet.Unread = append(fleet.Unread, n.At)
	}
	return fleet, unread, nil
}

// A progress serialises the progress calls of all sources.
type progress struct {
	show    func(Step)
	sources int

	mu   sync.Mutex
	done int // sources
}

// of returns the progress function for one source; nil if progress is not shown.
func (p *progress) of(source string) func(stage string, done, total int) {
	if p.show == nil {
		return nil
	}
	return func(stage string, done, total int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.show(Step{source, stage, done, total, p.done, p.sources})
	}
}

// ended counts a finished source, whether it could be read or not.
func (p *progress) ended() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.show != nil {
		p.show(Step{Ended: p.done, Sources: p.sources})
	}
}

// fileNames returns the names of a file: export, export.xlsx, and the whole path.
func fileNames(path string) []string {
	base := filepath.Base(path)
	short := strings.TrimSuffix(base, filepath.Ext(base))
	short = cmp.Or(short, base)
	return []string{short, base, filepath.Clean(path)}
}

// shortNames returns for each source the shortest of its names that no other source has: IDs begin with it.
func shortNames(sources []Source) []string {
	names, level := make([]string, len(sources)), make([]int, len(sources))
	for {
		count := make(map[string]int)
		for i, s := range sources {
			names[i] = s.Names[level[i]]
			count[names[i]]++
		}
		longer := false
		for i, s := range sources {
			if count[names[i]] > 1 && level[i] < len(s.Names)-1 {
				level[i]++
				longer = true
			}
		}
		if !longer { // the last names are unique: checked by Fleet
			return names
		}
	}
}

// join applies the evidence of FILE or VM=FILE arguments to the fleet.
func join(fleet *numa.Fleet, args []string) error {
	if len(args) == 0 {
		return nil
	}
	pieces := make([]evidence.Piece, 0, len(args))
	for _, arg := range args {
		piece, err := evidence.Read(arg)
		way := ""
		if tables.Holds(piece.Name) {
			way = inventoryWay(piece.Name)
		}
		switch {
		case way != "":
			return fmt.Errorf("--evidence: %s", way)
		case err != nil:
			return fmt.Errorf("--evidence: %w", err)
		}
		pieces = append(pieces, piece)
	}
	if sum := evidence.Join(fleet, pieces); sum.Joined == 0 {
		last := fleet.Notes[len(fleet.Notes)-1]
		return fmt.Errorf("--evidence: nothing in it belongs to the fleet: %s", last)
	}
	return fleet.Check()
}
