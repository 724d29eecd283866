//go:build linux

package main

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

// A made is a generated capture.
type made struct {
	Path    string
	Bytes   int64
	Columns int // including the time
	Rows    int
	VMs     int
}

// generate writes a capture in esxtop's format. It ends with the row that reaches size bytes.
// columns includes the time.
func generate(path string, columns int, size int64) (*made, error) {
	l, err := plan(columns - 1)
	if err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	m := &made{Path: path, Columns: len(l.columns) + 1, VMs: len(l.vms)}
	line := l.header()
	for m.Rows = 0; ; m.Rows++ {
		m.Bytes += int64(len(line))
		if _, err := w.Write(line); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if m.Bytes >= size {
			break
		}
		line = l.row(line[:0], m.Rows)
	}
	return m, errors.Join(w.Flush(), f.Close())
}

func (l *layout) header() []byte {
	line := []byte(`"(PDH-CSV 4.0) (UTC)(0)",`)
	for i := range l.columns {
		line = append(line, '"')
		line = append(line, l.columns[i].path...)
		line = append(line, `",`...)
	}
	return append(line, '\n')
}

// row appends one row. Each row has a random generator of its own, so that it is the same in
// captures of all lengths.
func (l *layout) row(line []byte, n int) []byte {
	rnd := rand.NewPCG(seed, uint64(n)+2)
	for i := range l.vms {
		l.vms[i].at(n)
	}
	start := time.Date(2026, time.November, 3, 9, 0, 0, 0, time.UTC)
	// Intervals of 5 s; every fifth is 6 s, because esxtop drifts.
	at := start.Add(time.Duration(n*5+n/5) * time.Second)
	line = append(line, '"')
	line = at.AppendFormat(line, "01/02/2006 15:04:05")
	line = append(line, '"', ',')
	var bits uint64
	l.busy = [nodes]int64{}
	for i := range l.columns {
		if i%4 == 0 {
			bits = rnd.Uint64()
		}
		line = append(line, '"')
		line = l.cell(line, &l.columns[i], int64(bits&0xffff))
		line = append(line, '"', ',')
		bits >>= 16
	}
	return append(line, '\n')
}

// cell appends a cell. random has 16 bits.
func (l *layout) cell(line []byte, c *column, random int64) []byte {
	switch c.kind {
	case zero:
		return append(line, "0.00"...)
	case fixed:
		return append(line, c.text...)
	case rarely:
		if random%10 != 0 {
			return append(line, "0.00"...)
		}
		return hundredths(line, random>>6)
	case rate:
		return hundredths(line, random*random>>18)
	case percent:
		return hundredths(line, random*random>>19)
	case whole:
		return strconv.AppendInt(line, c.base+random%97, 10)
	case amount:
		return hundredths(line, c.base-random%4096*c.base>>18)
	case load:
		return hundredths(line, random%90)
	case pcpu:
		n := random * random >> 19
		l.busy[c.base/pcpusPerNode] += n
		return hundredths(line, n)
	case ofAll:
		return hundredths(line, l.mean(0, nodes))
	case ofNode:
		n := l.mean(int(c.base), int(c.base)+1)
		if c.base == nodes-1 { // the PCPUs of another counter follow
			l.busy = [nodes]int64{}
		}
		return hundredths(line, n)
	}
	m := &l.vms[c.vm]
	switch c.kind {
	case homes:
		return append(line, m.homeText...)
	case moved:
		return strconv.AppendInt(line, m.moved, 10)
	case remote:
		return hundredths(line, m.remote)
	case local:
		return hundredths(line, m.local)
	}
	return strconv.AppendInt(line, m.percent, 10)
}

// hundredths appends n as a number with two decimals.
func hundredths(line []byte, n int64) []byte {
	line = strconv.AppendInt(line, n/100, 10)
	return append(line, '.', byte('0'+n/10%10), byte('0'+n%10))
}

// mean returns the mean of the PCPUs in nodes from to to-1 that the row has so far.
func (l *layout) mean(from, to int) (mean int64) {
	for _, n := range l.busy[from:to] {
		mean += n
	}
	return mean / int64((to-from)*pcpusPerNode)
}
