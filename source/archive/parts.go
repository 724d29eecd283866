package archive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// part splits "dir/name.FRAG-00003" into dir/name and 3.
func part(name string) (base string, n int, ok bool) {
	const mark = ".FRAG-"
	i := strings.LastIndex(name, mark)
	if i <= 0 {
		return "", 0, false
	}
	digits := name[i+len(mark):]
	if len(digits) == 0 || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return "", 0, false
	}
	n, err := strconv.Atoi(digits)
	return name[:i], n, err == nil
}

// parts are the divided files of one archive. The parts of a file are passed to its visit one after
// the other; one that arrives early waits in memory.
type parts struct {
	w    *walker
	list []*divided
}

// A divided is a file whose parts are being read.
type divided struct {
	base    string
	next    int            // the part that comes next
	waiting map[int][]byte // parts that arrived early
	broken  error          // why the rest is not read
	visit   *resumable
}

// add adds the next part of the archive.
func (p *parts) add(base string, n int, r io.Reader) error {
	i := slices.IndexFunc(p.list, func(d *divided) bool { return d.base == base })
	if i < 0 {
		i = len(p.list)
		p.list = append(p.list, &divided{base: base, waiting: map[int][]byte{}})
	}
	d := p.list[i]
	switch _, waits := d.waiting[n]; {
	case d.broken != nil:
		return nil
	case n < d.next || waits:
		return fmt.Errorf("%s: part %05d is there twice: the second is left out", base, n)
	case n > d.next:
		return p.wait(d, n, r)
	}
	if d.visit == nil {
		d.visit = resume(func(r io.Reader) error { return p.w.member(base, -1, r) })
	}
	err := d.visit.feed(r)
	for d.next++; err == nil; d.next++ {
		b, ok := d.waiting[d.next]
		if !ok {
			break
		}
		delete(d.waiting, d.next)
		p.w.spool += int64(len(b))
		err = d.visit.feed(bytes.NewReader(b))
	}
	return err
}

// wait stores a part until its turn.
func (p *parts) wait(d *divided, n int, r io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(r, p.w.spool+1))
	switch {
	case err != nil:
		d.broken = fmt.Errorf("%s: part %05d: %w", d.base, n, err)
	case int64(len(b)) > p.w.spool:
		d.broken = fmt.Errorf("%s: part %05d comes before part %05d, and what waits is more than %d bytes: unpack the archive and read the folder",
			d.base, n, d.next, p.w.opt.Spool)
	default:
		d.waiting[n] = b
		p.w.spool -= int64(len(b))
	}
	return nil
}

// close ends the divided files: the archive has no more parts. err is the reason unless the archive
// ended normally.
func (p *parts) close(err error) error {
	var all []error
	slices.SortFunc(p.list, func(a, b *divided) int { return cmp.Compare(a.base, b.base) })
	for _, d := range p.list {
		for _, b := range d.waiting {
			p.w.spool += int64(len(b))
		}
		why := d.broken
		if why == nil && len(d.waiting) > 0 {
			why = fmt.Errorf("%s: part %05d is missing: read to the end of the part before it", d.base, d.next)
		}
		end := why
		if end == nil {
			end = err
		}
		switch {
		case d.visit != nil: // it gets the error on its next read
			all = append(all, d.visit.end(end))
		case err == nil:
			all = append(all, p.w.damaged(d.base, why))
		}
	}
	return errors.Join(all...)
}

// A resumable is a visit that is suspended when its reader runs dry, until it is fed again: a
// coroutine, so it never runs at the same time as the walk.
type resumable struct {
	more func() (struct{}, bool)
	stop func()
	from io.Reader // the rest of this part; nil when another is needed
	last error     // result of a read after the last part
	err  error     // of the visit
}

func resume(visit func(r io.Reader) error) *resumable {
	v := &resumable{}
	v.more, v.stop = iter.Pull(func(yield func(struct{}) bool) {
		v.err = visit(&dryReader{v, yield})
	})
	return v
}

// feed resumes the visit with r as input.
func (v *resumable) feed(r io.Reader) error {
	v.from = r
	v.more()
	v.from = nil // a visit need not read to the end
	return v.err
}

// end resumes the visit with the end, or err, as input, and returns its result.
func (v *resumable) end(err error) error {
	v.last = cmp.Or(err, io.EOF)
	v.more()
	v.stop()
	return v.err
}

// A dryReader reads the parts of a resumable.
type dryReader struct {
	v     *resumable
	yield func(struct{}) bool
}

func (d *dryReader) Read(b []byte) (int, error) {
	for {
		if d.v.from != nil {
			n, err := d.v.from.Read(b)
			if err == io.EOF {
				d.v.from, err = nil, nil
			}
			if n > 0 || err != nil {
				return n, err
			}
			continue
		}
		if d.v.last != nil {
			return 0, d.v.last
		}
		if len(b) == 0 {
			return 0, nil
		}
		if !d.yield(struct{}{}) {
			return 0, io.ErrUnexpectedEOF
		}
	}
}
