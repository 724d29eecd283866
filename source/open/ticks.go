package open

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"homenode/numa"
	"homenode/source/archive"
	"homenode/source/demo"
	"homenode/source/ticks"
)

// StandardInput is the name of what "-" stands for.
const StandardInput = "standard input"

// Ticks reads the captures that arg names: a file, a folder or an archive, "-" for standard
// input, or Demo. It returns how many files of other formats it skipped.
func Ticks(ctx context.Context, arg string, stdin io.Reader, o ticks.Options, v ticks.Visit) (passed int, err error) {
	file := &ticks.File{Name: arg}
	begin := func(name, format string) error {
		if v.Open == nil {
			return nil
		}
		return v.Open(name, format)
	}
	switch arg {
	case Demo:
		night, err := demo.Capture()
		if err != nil {
			return 0, err
		}
		file.Format = "invented"
		if err := begin(arg, file.Format); err != nil {
			return 0, err
		}
		err = night.Ticks(func(t *numa.Tick) error {
			file.Ticks++
			return v.Tick(t)
		})
		return 0, v.Done(file, err)
	case "-":
		if err := begin(StandardInput, ""); err != nil {
			return 0, err
		}
		file, err = ticks.Read(ctx, StandardInput, stdin, o, v.Tick)
		return 0, v.Done(file, err)
	}
	return ticks.Walk(ctx, arg, o, v)
}

// Plain opens one file, or standard input for "-", and unpacks gzip and zstd to any size:
// for readers that keep nothing of it.
func Plain(ctx context.Context, path string, stdin io.Reader) (io.ReadCloser, error) {
	in := io.NopCloser(stdin)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		in, stdin = f, f
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, errors.Join(fmt.Errorf("%s: found a folder, want one file", path), f.Close())
		}
	}
	r, err := archive.Unpack(path, archive.Heed(ctx, stdin), archive.Options{MaxBytes: math.MaxInt64, MaxRatio: math.MaxInt64})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return unpacked{r, in}, nil
}

// PlainIn is Plain for a file of a file system. One that unpacks to far more than a capture does is refused.
func PlainIn(ctx context.Context, fsys fs.FS, path string) (io.ReadCloser, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return nil, errors.Join(cmp.Or(err, fmt.Errorf("%s: found a folder, want one file", path)), f.Close())
	}
	r, err := archive.Unpack(path, archive.Heed(ctx, f), archive.Options{})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return unpacked{r, f}, nil
}

// unpacked closes what unpacks and what is unpacked.
type unpacked struct {
	io.ReadCloser
	in io.Closer
}

func (u unpacked) Close() error { return errors.Join(u.ReadCloser.Close(), u.in.Close()) }
