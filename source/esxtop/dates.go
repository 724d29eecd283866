package esxtop

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// A dateOrder is the order of day and month in the slash dates of a file. esxtop writes month/day;
// a program that saved the file again may have swapped them.
type dateOrder struct {
	known  bool // it was determined
	day    bool // the day comes first
	proven bool // proven by the file
}

func (o dateOrder) String() string {
	if o.day {
		return "day/month"
	}
	return "month/day"
}

// contradicts reports whether a stamp has another order.
func (o dateOrder) contradicts(form stampForm) bool {
	return o.day && form&monthFirst != 0 || !o.day && form&dayFirst != 0
}

// read returns a stamp that does not contradict.
func (o dateOrder) read(ref *rowRef) int64 {
	if o.day && ref.form&dayFirst == 0 {
		return turned(ref.stamp)
	}
	return ref.stamp
}

// turned returns a stamp, whose day is no more than 12, with day and month swapped.
func turned(ms int64) int64 {
	t := time.UnixMilli(ms).UTC()
	first := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).UnixMilli()
	return time.Date(t.Year(), time.Month(t.Day()), int(t.Month()), 0, 0, 0, 0, time.UTC).UnixMilli() + ms - first
}

// dateText returns the date of a stamp as in the file, without leading zeros.
func dateText(ref *rowRef) string {
	layout := "01/02/2006"
	if ref.form&dayFirst != 0 {
		layout = "02/01/2006"
	}
	if ref.form&dashed != 0 {
		layout = strings.ReplaceAll(layout, "/", "-")
	}
	return time.UnixMilli(ref.stamp).UTC().Format(layout)
}

// orderOf determines the order from stamps in the order of the file: a number above 12 is no month,
// and time does not run backwards. If both orders run forward, it chooses the one that spans less
// time, as no day is skipped.
func orderOf(stamps []rowRef) dateOrder {
	o := dateOrder{known: true}
	var first, last [2]int64 // as month/day and as day/month
	back := [2]bool{}
	n := 0
	for i := range stamps {
		s := &stamps[i]
		switch {
		case s.form&slashed == 0:
			continue
		case s.form&(dayFirst|monthFirst) != 0:
			o.day, o.proven = s.form&dayFirst != 0, true
			return o
		}
		now := [2]int64{s.stamp, turned(s.stamp)}
		for k := range now {
			if n == 0 {
				first[k] = now[k]
			}
			back[k] = back[k] || n > 0 && now[k] < last[k]
		}
		last = now
		n++
	}
	spans := [2]int64{last[0] - first[0], last[1] - first[1]}
	switch {
	case back[0] && back[1]:
	case back[0] || back[1]:
		o.day, o.proven = back[0], true
	case spans[0] != spans[1]:
		o.day, o.proven = spans[1] < spans[0], true
	}
	return o
}

// dates determines the order, from the rows of the first batch or, when there are more, from rows
// all over the file.
func (r *Reader) dates(first *rowRef) (o dateOrder) {
	if o = orderOf(r.batch.rows[r.next-1:]); !o.proven && !r.batch.last {
		o = orderOf(append([]rowRef{*first}, r.feed.sample()...))
	}
	w, line := &r.warns, r.line+first.line
	note := func(order, why string) {
		w.add(kindDates, line, 1, func() string {
			return fmt.Sprintf("found dates such as %s: they are read as %s, %s", dateText(first), order, why)
		})
	}
	switch {
	case o.proven && o.day:
		note("day/month", "as other dates of the file show")
	case o.proven:
	case first.form&dashed != 0, r.header.decimals.comma:
		o.day = true
		note("day/month", "as programs write them that write decimal commas or dashes; nothing else in the file shows it")
	case first.form&resaved != 0, !r.header.quoted, r.header.comma != ',':
		note("month/day", "as esxtop writes them; nothing in the file shows whether another program has turned them around")
	}
	return o
}

// sample returns stamps from all over the file, in its order, without their lines; none for a
// stream, which cannot be read twice.
func (f *feed) sample() (stamps []rowRef) {
	const places, chunk, most = 32, 64 << 10, 2 << 20
	seeker, ok := f.at.(io.Seeker)
	if !ok {
		return nil
	}
	size, err := seeker.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	b := make([]byte, chunk)
	for i := range int64(places) {
		for off := size / places * i; off < size/places*i+most; off += chunk - 128 {
			n, _ := f.at.ReadAt(b, off)
			_, line, ok := bytes.Cut(b[:n], []byte{f.end})
			if ok && (len(line) > 64 || n < chunk) {
				stamps = appendStamp(stamps, line)
				break
			}
			if n < chunk {
				break
			}
		}
	}
	return appendStamp(stamps, f.lastLine(size, most))
}

// lastLine returns the last line of a file of this size, or the last bytes of it, at most so many.
func (f *feed) lastLine(size, most int64) []byte {
	for n := min(size, 256<<10); ; n = min(size, most, 4*n) {
		tail := make([]byte, n)
		got, _ := f.at.ReadAt(tail, size-n)
		tail = bytes.TrimRight(tail[:got], "\r\n")
		if i := bytes.LastIndexByte(tail, f.end); i >= 0 || n == min(size, most) {
			return tail[i+1:]
		}
	}
}

// appendStamp adds the stamp at the start of a line, if there is one.
func appendStamp(stamps []rowRef, line []byte) []rowRef {
	line = bytes.TrimPrefix(line[:min(len(line), 64)], []byte{'"'})
	if i := bytes.IndexAny(line, "\",;\t\r\n"); i >= 0 {
		line = line[:i]
	}
	if ms, form := parseStamp(line); form != noStamp {
		stamps = append(stamps, rowRef{stamp: ms, form: form})
	}
	return stamps
}
