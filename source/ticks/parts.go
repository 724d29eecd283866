package ticks

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/text"
)

// A part is one file of a Source.
type part struct {
	name  string
	stamp stamp
	open  func() (io.ReadCloser, error)
}

// done reports the result of the File to v. It returns an error that ends the reading.
func (j *job) done(err error) error {
	err = j.end(err)
	switch {
	case j.stop != nil:
		return j.stop
	case j.ctx.Err() != nil:
		return j.ctx.Err()
	case j.v.Done != nil:
		return j.v.Done(&j.file, err)
	}
	return err
}

// parts reads all parts of one File in the order of time. Unreadable ones are omitted with a
// warning; when all are, the first error is returned.
func (j *job) parts(format string, parts, infos []part) error {
	j.file.Parts = len(parts)
	for _, info := range infos {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == info.name }) {
			j.file.Parts++
		}
	}
	if format == Answers {
		return j.inOrder(parts, infos)
	}
	return j.each(parts)
}

func (j *job) each(parts []part) error {
	for i := range parts {
		p := &parts[i]
		if j.ctx.Err() != nil {
			return j.ctx.Err()
		}
		j.more = i+1 < len(parts) && p.stamp.clock && parts[i+1].stamp.clock && parts[i+1].stamp.name.Equal(p.stamp.name)
		err := j.part(p)
		switch {
		case err == nil:
		case j.stop != nil || len(parts) == 1:
			return err
		default:
			j.leftOut(err)
		}
	}
	return nil
}

// leftOut records an unreadable part among readable ones.
func (j *job) leftOut(err error) {
	if j.cut == nil {
		j.cut = err
		return
	}
	j.addWarning("left out, or in part: " + err.Error())
}

// part reads one part.
func (j *job) part(p *part) error {
	f, err := p.open()
	if err != nil {
		return err
	}
	defer f.Close()
	return j.stream(p.name, heed(j.ctx, f), p.stamp)
}

// heed is archive.Heed for a part, which is a file or in memory.
func heed(ctx context.Context, r io.Reader) io.Reader {
	if _, ok := r.(*os.File); ok {
		return archive.Heed(ctx, r)
	}
	return archive.HeedBetween(ctx, r)
}

// inOrder reads FetchStats in the order of the times in them.
func (j *job) inOrder(parts, infos []part) error {
	if err := j.open(Answers); err != nil {
		return err
	}
	j.newFetch(j.file.Name)
	for i := range infos {
		if err := j.withText(&infos[i], j.fetch.Learn); err != nil {
			return err
		}
	}
	if len(parts) == 1 {
		return j.part(&parts[0])
	}
	starts := map[string]time.Time{}
	for i := range parts {
		p := &parts[i]
		if j.ctx.Err() != nil {
			return j.ctx.Err()
		}
		err := j.withText(p, func(name string, r io.Reader) error {
			start, why, ok, err := j.fetch.Start(name, r)
			switch {
			case ok:
				starts[name] = start
			case err == nil && len(why) > 0:
				err = errors.New(numa.Place(name, why[0].Line, why[0].Col) + ": " + why[0].Text)
			} // without a reason it contains only CounterInfo
			return err
		})
		if err != nil {
			j.leftOut(err)
		}
	}
	if parts = slices.DeleteFunc(parts, func(p part) bool { return starts[p.name].IsZero() }); len(parts) == 0 {
		return cmp.Or(j.cut, fmt.Errorf("%s: found no answer of FetchStats that can be read", j.file.Name))
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(starts[a.name].Compare(starts[b.name]), cmp.Compare(a.name, b.name))
	})
	return j.each(parts)
}

// withText calls use with the unpacked content of a part.
func (j *job) withText(p *part, use func(name string, r io.Reader) error) error {
	f, err := p.open()
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := archive.Unpack(p.name, heed(j.ctx, f), j.in.bounds())
	if err != nil {
		return err
	}
	defer r.Close()
	return use(p.name, r)
}

// maxSpool bounds the buffered small files of an archive, compressed.
const maxSpool = 64 << 20

// readArchive reads the members of an archive. Batch files are read as they come; files that may
// form a series are buffered, compressed, until all are known.
func readArchive(ctx context.Context, in reach, name string, opt Options, v Visit) (passed int, err error) {
	var l lister
	kept := map[string][]byte{}
	spool, found := 0, false
	var damaged []error
	var idle []*bufio.Reader // of members that are no recording: an archive may have very many
	bounds := in.bounds()
	bounds.Damaged = func(_ string, err error) { damaged = append(damaged, err) }
	err = in.archive(name, bounds, func(member string, _ int64, r io.Reader) error {
		l.replay = l.replay || looksLikeBundle(path.Base(member)) || looksLikeBundle(path.Base(path.Dir(member)))
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(idle) == 0 { // a divided file is visited around others
			idle = append(idle, bufio.NewReaderSize(nil, 4*text.HeadSize))
		}
		last := len(idle) - 1
		all := idle[last]
		idle = idle[:last]
		all.Reset(archive.HeedBetween(ctx, r))
		head, err := all.Peek(text.HeadSize)
		if err != nil && err != io.EOF && len(head) == 0 {
			damaged = append(damaged, fmt.Errorf("%s: %w", member, err))
			return nil
		}
		e := entry{path: member, stamp: stampOf(member)}
		e.look(head)
		switch e.format {
		case "":
			l.besides(member, func() (io.ReadCloser, error) { return io.NopCloser(all), nil })
			idle = append(idle, all)
			return nil
		case Batch:
			found = true
			j := &job{ctx: ctx, opt: opt, v: v, file: File{Name: member}, in: in}
			return j.done(j.stream(member, all, e.stamp))
		}
		found = true
		if err := keep(kept, member, all); err != nil {
			damaged = append(damaged, fmt.Errorf("%s: %w", member, err))
			return nil
		}
		if spool += len(kept[member]); spool > maxSpool {
			return fmt.Errorf("%s: found more than %d MB of outputs and answers of FetchStats in it: unpack it and read the folder", name, maxSpool>>20)
		}
		l.add(e)
		return nil
	})
	list := l.listing()
	for i, s := range list.Sources {
		if err != nil {
			break
		}
		if i == 0 {
			s.notes = append(list.silent, s.notes...)
		}
		j := &job{ctx: ctx, opt: opt, v: v, file: File{Name: s.Name, Warnings: s.notes}, name: s.Host, known: s.Known, in: in}
		err = j.done(j.parts(s.Format, inMemory(kept, s.Files), inMemory(kept, s.Infos)))
	}
	if err == nil {
		err = outcome(name, found, &l, list, damaged)
	}
	return l.passed, err
}

// outcome returns the error of an archive that was read to its end: what is damaged, or that nothing was recorded.
func outcome(name string, found bool, l *lister, list *Listing, damaged []error) error {
	switch {
	case !found && list.recorded:
		return errors.Join(append(damaged, nothingRecorded(name, list.silent))...)
	case !found && (l.replay || damaged == nil):
		return nothingIn(name, l.replay)
	}
	return errors.Join(damaged...)
}

// keep compresses a member for later.
func keep(kept map[string][]byte, member string, r io.Reader) error {
	if kept[member] != nil {
		return errors.New("there twice: the second is left out")
	}
	packed, err := pack(r)
	if err == nil {
		kept[member] = packed
	}
	return err
}

// nothingIn returns the error for a folder or archive without a readable file.
func nothingIn(name string, bundle bool) error {
	if bundle {
		return replay(name)
	}
	return fmt.Errorf("%s: %w: found nothing in it that is read, want %s", name, ErrUnknown, Want)
}

func inMemory(kept map[string][]byte, names []string) (parts []part) {
	for _, name := range names {
		parts = append(parts, part{name, stampOf(name), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(kept[name])), nil }})
	}
	return parts
}

// pack returns the contents of r compressed with gzip.
func pack(r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	for err == nil && b.Len() <= maxSpool {
		_, err = io.CopyN(z, r, 1<<20)
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// newFetch creates the reader of FetchStats of this File.
func (j *job) newFetch(name string) {
	if j.fetch != nil {
		return
	}
	j.fetch = &fetchstats.Series{Host: cmp.Or(j.opt.Host, j.name), Known: j.known, Machine: j.opt.Machine}
	if j.opt.Host == "" && !j.known {
		j.file.Warnings = append(j.file.Warnings, name+": FetchStats does not name its host: it is called "+j.name+" after the file")
	}
	if j.opt.Machine == nil && j.opt.MachineOf != nil {
		j.fetch.Machine = j.opt.MachineOf(j.fetch.Host)
	}
}
