//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"
)

// block is the read size of the limits, in bytes. It fits in the cache of a core.
const block = 256 << 10

// limits are upper bounds on reading a file. No reader that examines each byte is faster than
// the fastest of the last three. No reader that uses read(2) on the page cache is faster than
// the first.
var limits = map[string]func(b []byte) int{
	"read":     func([]byte) int { return 0 },
	"newlines": func(b []byte) int { return bytes.Count(b, []byte{'\n'}) },
	"commas":   func(b []byte) int { return bytes.Count(b, []byte{','}) },
	"find": func(b []byte) (n int) {
		for {
			i := bytes.IndexByte(b, '\n')
			if i < 0 {
				return n
			}
			n, b = n+1, b[i+1:]
		}
	},
	"words": func(b []byte) (n int) {
		for ; len(b) >= 8; b = b[8:] {
			n += int(binary.LittleEndian.Uint64(b))
		}
		return n
	},
}

// limit is the process that measures one limit on all of its cores: limit NAME FILE.
func limit(args []string) error {
	if len(args) != 2 || limits[args[0]] == nil {
		return errors.New("limit: want a name and a file")
	}
	look := limits[args[0]]
	f, err := os.Open(args[1])
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	start := time.Now()
	parts := int64(runtime.GOMAXPROCS(0))
	found, errs := make([]int, parts), make([]error, parts)
	var all sync.WaitGroup
	for i := range parts {
		from, to := info.Size()*i/parts, info.Size()*(i+1)/parts
		all.Go(func() { found[i], errs[i] = pass(io.NewSectionReader(f, from, to-from), look) })
	}
	all.Wait()
	n := 0
	for _, part := range found {
		n += part
	}
	fmt.Printf("found=%d seconds=%.6f\n", n, time.Since(start).Seconds())
	return errors.Join(errs...)
}

// pass reads r in blocks and calls look with each.
func pass(r io.Reader, look func([]byte) int) (found int, err error) {
	buf := make([]byte, block)
	for {
		n, err := r.Read(buf)
		found += look(buf[:n])
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
	}
}
