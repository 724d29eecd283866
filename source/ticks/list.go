package ticks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/hostcmd"
	"example.org/homenode/source/text"
)

// A Source is the input of one reader: a batch file, an archive, or files that follow each other in time. Sources are independent of each other.
type Source struct {
	Name   string   // of the file, or the first of Files and the number of others
	Format string   // empty for a pipe
	Files  []string // paths
	Infos  []string // paths of files with CounterInfo, for Answers
	Host   string   // for hosts that are named nowhere
	Known  bool     // all answers are of Host, as stated by the recorder

	notes []string // of the recorder
	in    reach
}

// A Listing is the contents of a folder.
type Listing struct {
	Sources []Source
	Passed  int  // number of files of unsupported formats
	Replay  bool // it looks like a vm-support bundle, which may contain a replay
	// Failed are files that could not be opened or unpacked.
	Failed []Failed

	recorded bool     // made by homenode record, at least in part
	silent   []string // hosts without recordings, with the reasons
}

// A Failed is a file of a Listing that could not be examined, with the error.
type Failed struct {
	Name string
	Err  error
}

// List examines the start of the files below path, or of the file there, and groups those that belong together. Inside a folder it
// follows no symbolic links, and skips names that begin with a dot. A file of an unsupported format is an error when path names it.
//
// In a folder CounterInfo and FetchStats belong together when their names are equal except for these words and times, as in
// esx01-counterinfo.txt and esx01-fetchstats-2030.txt. Outputs of host commands with date lines are separate; those of a folder
// without any are one series, each timed by its name or else by its modification time.
func List(root string) (*Listing, error) { return ListIn(nil, root) }

// ListIn is List in a file system of files of this machine, such as that of an os.Root; nil for all of them. In a file system it
// reads only files and folders, and rejects a file that unpacks to far more than a capture does.
func ListIn(fsys fs.FS, root string) (*Listing, error) {
	in := reach{fsys}
	info, err := in.stat(root)
	if err != nil {
		return nil, err
	}
	l := lister{in: in}
	if !info.IsDir() && !info.Mode().IsRegular() {
		if fsys != nil {
			return nil, fmt.Errorf("%s: found no file and no folder", root)
		}
		// A pipe can be read only once: its contents are detected then.
		return &Listing{Sources: []Source{{Name: root, Files: []string{root}, Host: hostName(root)}}}, nil
	}
	if !info.IsDir() {
		e, err := in.entryOf(root, info)
		if err != nil {
			return nil, err
		}
		l.add(e)
		return l.listing(), nil
	}
	err = in.walk(root, func(p string, d fs.DirEntry, err error) error {
		if d != nil {
			l.replay = l.replay || looksLikeBundle(d.Name())
		}
		if err != nil && d != nil && d.IsDir() && p != root {
			l.failed = append(l.failed, Failed{p, err})
			return fs.SkipDir
		}
		if err == nil && p != root && strings.HasPrefix(d.Name(), ".") { // snapshots of file servers, and files being written
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil { // gone since the folder was read
			l.failed = append(l.failed, Failed{p, err})
			return nil
		}
		e, err := in.entryOf(p, info)
		switch {
		case errors.Is(err, ErrUnknown):
			l.besides(p, func() (io.ReadCloser, error) { return in.open(p) })
		case err != nil:
			l.failed = append(l.failed, Failed{p, err})
		default:
			l.add(e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l.listing(), nil
}

// An entry is one file to read.
type entry struct {
	path   string
	format string
	dates  bool // Commands with date lines
	info   bool // begins with CounterInfo
	stamp  stamp
}

// entryOf examines the start of a file.
func (in reach) entryOf(p string, info fs.FileInfo) (entry, error) {
	e := entry{path: p, stamp: stampOf(p)}
	e.stamp.written = info.ModTime().UTC()
	f, err := in.open(p)
	if err != nil {
		return e, err
	}
	defer f.Close()
	if archive.Packs(f) {
		e.format = Packed
		return e, nil
	}
	r, err := archive.Unpack(p, f, in.bounds())
	if err != nil {
		return e, err
	}
	defer r.Close()
	head, all, err := archive.Peek(r, text.HeadSize)
	if err != nil {
		return e, fmt.Errorf("read %s: %w", p, err)
	}
	if archive.Packs(all) {
		e.format = Packed // .tar.gz
		return e, nil
	}
	if !e.look(head) {
		return e, unknown(p, head)
	}
	return e, nil
}

// look detects the format from the start of a file; false for none.
func (e *entry) look(head []byte) bool {
	e.format = Detect(head)
	switch e.format {
	case Commands:
		lines := text.Decoded(head)
		e.dates = hostcmd.HasDates(lines)
		e.stamp.inside, _ = hostcmd.MemstatsTime(lines)
	case Answers, Columns:
		format, _ := fetchstats.Detect(text.Decoded(head))
		e.info = format == fetchstats.CounterInfo
	}
	return e.format != ""
}

// A lister groups files.
type lister struct {
	in       reach
	alone    []entry
	answers  map[string][]entry // by folder and key
	commands map[string][]entry // by folder
	passed   int
	replay   bool
	failed   []Failed

	metas       []recorded
	inventories []string // folders of possible inventories of recordings
}

func (l *lister) add(e entry) {
	dir := path.Dir(filepath.ToSlash(e.path))
	switch {
	case e.format == Answers || e.format == Columns:
		if l.answers == nil {
			l.answers = map[string][]entry{}
		}
		key := dir + "/" + hostKey(e.path)
		l.answers[key] = append(l.answers[key], e)
	case e.format == Commands && !e.dates:
		if l.commands == nil {
			l.commands = map[string][]entry{}
		}
		l.commands[dir] = append(l.commands[dir], e)
	default:
		l.alone = append(l.alone, e)
	}
}

// listing returns the Sources in the order of their names.
func (l *lister) listing() *Listing {
	out := &Listing{Replay: l.replay, Failed: l.failed, recorded: len(l.metas) > 0}
	for _, e := range l.alone {
		out.Sources = append(out.Sources, sourceOf([]entry{e}))
	}
	for _, list := range l.commands {
		slices.SortFunc(list, func(a, b entry) int {
			return cmp.Or(a.stamp.order().Compare(b.stamp.order()), cmp.Compare(a.path, b.path))
		})
		out.Sources = append(out.Sources, sourceOf(list))
	}
	for key, list := range l.answers {
		if !slices.ContainsFunc(list, func(e entry) bool { return e.format == Answers }) && l.serves(key) {
			continue // CounterInfo for answers with other names in the folder
		}
		slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
		s := sourceOf(list)
		s.Format = Answers
		s.Infos = l.infos(key)
		if host := path.Base(key); host != "" && !strings.HasSuffix(key, "/") {
			s.Host = host
		}
		out.Sources = append(out.Sources, s)
	}
	slices.SortFunc(out.Sources, func(a, b Source) int { return cmp.Compare(a.Files[0], b.Files[0]) })
	for i := range out.Sources {
		out.Sources[i].in = l.in
	}
	out.silent = l.ofRecordings(out.Sources)
	out.Passed = l.passed
	return out
}

// serves reports whether answers without a CounterInfo of their own, in its folder or below, need the one under this key.
func (l *lister) serves(key string) bool {
	for other, list := range l.answers {
		if other != key && strings.HasPrefix(other, path.Dir(key+"x")+"/") && slices.ContainsFunc(list, func(e entry) bool { return e.format == Answers }) {
			return true
		}
	}
	return false
}

// infos returns the files with CounterInfo for the answers under this key: those of the same key, or else of the nearest folder
// above that has any.
func (l *lister) infos(key string) []string {
	of := func(match func(string) bool) (paths []string) {
		for k, list := range l.answers {
			for _, e := range list {
				if e.info && match(k) {
					paths = append(paths, e.path)
				}
			}
		}
		slices.Sort(paths)
		return paths
	}
	found := of(func(k string) bool { return k == key })
	for dir := path.Dir(key + "x"); found == nil; dir = path.Dir(dir) {
		found = of(func(k string) bool { return path.Dir(k+"x") == dir })
		if dir == path.Dir(dir) {
			break
		}
	}
	return found
}

// sourceOf makes one Source of files.
func sourceOf(list []entry) Source {
	s := Source{Name: list[0].path, Format: list[0].format, Host: hostName(list[0].path)}
	if n := len(list); n > 1 {
		s.Name = fmt.Sprintf("%s and %d more", list[0].path, n-1)
		s.Host = path.Base(path.Dir(filepath.ToSlash(list[0].path)))
	}
	for _, e := range list {
		s.Files = append(s.Files, e.path)
	}
	return s
}

// keyWords are the parts of a name that do not identify the host.
var keyWords = pattern.Of(`(?i)esxtop|counter[-_ ]?info|fetch[-_ ]?stats|stats`)

// hostKey returns the name of a file without its extension, format and time; it may be empty.
func hostKey(name string) string {
	base := hostName(name)
	dated := inName.Regexp().FindStringIndex(base)
	if dated != nil {
		tail := strings.Trim(base[dated[1]:], "-_. ")
		if strings.Trim(tail, "0123456789") == "" { // the number of a file of this time
			tail = ""
		}
		base = base[:dated[0]] + tail
	}
	base = keyWords.ReplaceAllString(base, "")
	if dated == nil {
		base = countAtEnd.ReplaceAllString(base, "")
	}
	return strings.Trim(base, "-_. ")
}

// countAtEnd is the number of a file in a sequence, or a time without a date.
var countAtEnd = pattern.Of(`[-_. ]+\d+(?:T\d+)?Z?$`)

// bundleName matches the name of a vm-support bundle and of its typical files.
var bundleName = pattern.Of(`^(?:esx-.+-\d{4}-\d\d-\d\d--\d\d\.\d\d.*|reconstruct\.sh|vsi_traverse.*|esxtop-replay.*)$`)

func looksLikeBundle(name string) bool { return bundleName.MatchString(name) }

// ErrReplay is wrapped by the error for a bundle without any readable capture.
var ErrReplay = errors.New("found a vm-support bundle, and no capture that can be read in it")

func replay(name string) error {
	return fmt.Errorf("%s: %w: the snapshots of vm-support -p are in a form that only ESXi reads; unpack the bundle on an ESXi host, run its reconstruct.sh, "+
		"then esxtop -b -a -R FOLDER > capture.csv, and read capture.csv", name, ErrReplay)
}

// A Reader reads one Source or archive, or reports the error to v.Done. It returns the number of skipped files of unknown formats.
// Faults of a file are passed to v.Done, or end the Reader when that is nil; an error of v or of ctx ends it.
type Reader func(ctx context.Context, opt Options, v Visit) (skipped int, err error)

// Readers returns readers for everything at path: a file, a folder or an archive. The Readers are independent of each other. skipped
// counts the files of a folder with unknown formats.
func Readers(files fs.FS, path string) (list []Reader, skipped int, err error) {
	l, err := ListIn(files, path)
	if err != nil {
		return nil, 0, err
	}
	for _, f := range l.Failed {
		list = append(list, func(ctx context.Context, _ Options, v Visit) (int, error) {
			j := &job{ctx: ctx, v: v, file: File{Name: f.Name}}
			return 0, j.done(f.Err)
		})
	}
	if len(l.Sources) > 0 {
		l.Sources[0].notes = append(l.silent, l.Sources[0].notes...)
	}
	for i := range l.Sources {
		list = append(list, l.Sources[i].Read)
	}
	switch {
	case len(list) > 0:
		return list, l.Passed, nil
	case l.recorded:
		return nil, l.Passed, nothingRecorded(path, l.silent)
	}
	return nil, l.Passed, nothingIn(path, l.Replay)
}

// Walk runs the Readers of path one after the other.
func Walk(ctx context.Context, path string, opt Options, v Visit) (passed int, err error) {
	list, passed, err := Readers(opt.Files, path)
	if err != nil {
		return passed, err
	}
	for _, read := range list {
		more, err := read(ctx, opt, v)
		if passed += more; err != nil {
			return passed, err
		}
	}
	return passed, nil
}

// Read reads a Source, like Walk.
func (s *Source) Read(ctx context.Context, opt Options, v Visit) (passed int, err error) {
	if s.Format == Packed {
		return readArchive(ctx, s.in, s.Files[0], opt, v)
	}
	j := &job{ctx: ctx, opt: opt, v: v, file: File{Name: s.Name, Warnings: s.notes}, name: s.Host, known: s.Known, in: s.in}
	var parts []part
	for _, p := range s.Files {
		parts = append(parts, s.in.part(p))
	}
	var infos []part
	for _, p := range s.Infos {
		infos = append(infos, s.in.part(p))
	}
	return 0, j.done(j.parts(s.Format, parts, infos))
}
