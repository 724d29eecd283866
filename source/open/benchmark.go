package open

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/benchmark"
)

// Benchmark reads the results of a benchmark from one file, which may be compressed.
func Benchmark(ctx context.Context, path string) (_ *benchmark.Results, err error) {
	in, err := Plain(ctx, path, strings.NewReader(""))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return benchmark.Read(path, in)
}

// Benchmarks reads files, and all results in folders. Notes contain doubts of the readers, and
// files of other kinds in folders.
func Benchmarks(ctx context.Context, args []string) (results []*benchmark.Results, notes []string, err error) {
	seen := map[string]bool{}
	read := func(path string, folder bool) error {
		clean := filepath.Clean(path)
		if seen[clean] {
			return fmt.Errorf("%s is named twice: its runs would count twice", path)
		}
		seen[clean] = true
		res, err := Benchmark(ctx, path)
		var syntax *numa.SyntaxError
		switch {
		case folder && errors.As(err, &syntax):
			notes = append(notes, err.Error())
			return nil
		case err != nil:
			return err
		}
		results = append(results, res)
		for _, w := range res.AllWarnings() {
			notes = append(notes, numa.Place(path, w.Line, w.Col)+": "+w.Text)
		}
		return nil
	}
	for _, arg := range args {
		before := len(results)
		err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path != arg && !d.Type().IsRegular() {
				return err
			}
			return read(path, path != arg)
		})
		if err == nil && len(results) == before {
			err = fmt.Errorf("%s: %w%s", arg, benchmark.ErrUnknown, reasons(notes))
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return results, notes, nil
}

// reasons appends notes to an error.
func reasons(notes []string) string {
	if notes == nil {
		return ""
	}
	return ": " + words.First(3, notes)
}
