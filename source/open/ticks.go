package open

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"example.org/homenode/numa"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/ticks"
)

// StandardInput is the displayed name for "-".
const StandardInput = "standard input"

// Captures returns readers for the captures at arg: a file, a folder or an archive, "-" for standard input,
// or Demo; and the number of files of other formats in a folder. files is the file system; nil for the one
// of this machine.
func Captures(arg string, stdin io.Reader, files fs.FS) (list []ticks.Reader, skipped int, err error) {
	switch arg {
	case Demo:
		return []ticks.Reader{readDemo}, 0, nil
	case "-":
		return []ticks.Reader{func(ctx context.Context, o ticks.Options, v ticks.Visit) (int, error) {
			if err := begin(v, StandardInput, ""); err != nil {
				return 0, err
			}
			file, err := ticks.Read(ctx, StandardInput, stdin, o, v.Tick)
			return 0, v.Done(file, err)
		}}, 0, nil
	}
	return ticks.Readers(files, arg)
}

// readDemo is the ticks.Reader of the demo capture.
func readDemo(_ context.Context, _ ticks.Options, v ticks.Visit) (int, error) {
	night, err := demo.Capture()
	if err != nil {
		return 0, err
	}
	file := &ticks.File{Name: Demo, Format: "invented"}
	if err := begin(v, file.Name, file.Format); err != nil {
		return 0, err
	}
	err = night.Ticks(func(t *numa.Tick) error {
		file.Ticks++
		return v.Tick(t)
	})
	return 0, v.Done(file, err)
}

func begin(v ticks.Visit, name, format string) error {
	if v.Open == nil {
		return nil
	}
	return v.Open(name, format)
}

// Ticks reads the captures at arg one after another. It returns the number of skipped files of other
// formats.
func Ticks(ctx context.Context, arg string, stdin io.Reader, o ticks.Options, v ticks.Visit) (passed int, err error) {
	list, passed, err := Captures(arg, stdin, o.Files)
	for _, read := range list {
		if err != nil {
			break
		}
		var more int
		more, err = read(ctx, o, v)
		passed += more
	}
	return passed, err
}

// Plain opens one file, or standard input for "-", and decompresses gzip and zstd without a size limit: for
// readers that keep no data in memory.
func Plain(ctx context.Context, path string, stdin io.Reader) (io.ReadCloser, error) {
	in := io.NopCloser(stdin)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		in, stdin = f, f
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, errors.Join(fmt.Errorf("%s: %w: found a folder, want one file", path, ticks.ErrUnknown), f.Close())
		}
	}
	r, err := archive.Unpack(path, archive.Heed(ctx, stdin), archive.Options{MaxBytes: math.MaxInt64, MaxRatio: math.MaxInt64})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return unpacked{r, in}, nil
}

// unpacked closes the decompressor and its input.
type unpacked struct {
	io.ReadCloser
	in io.Closer
}

func (u unpacked) Close() error { return errors.Join(u.ReadCloser.Close(), u.in.Close()) }
