package recording

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/capture"
	"example.org/homenode/capture/archive"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/source/open"
)

// checkMerge validates the fields for merging results.
func (f *Capture) checkMerge() error {
	if len(f.Files) == 0 {
		return ask.Wrong("merge", errors.New("want a FILE to merge: a JSON result of a capture, or a folder of them"))
	}
	return f.Refuse("give it to the runs whose results are merged", "from", "to", "host-name", "start", "interval")
}

// merge reads JSON results of captures: files, folders of them, or - for standard input. It returns the same as Read would for the captures themselves.
func (f *Capture) merge(ctx context.Context, e *ask.Env, o capture.Options) ([]*capture.Recording, []numa.Note, error) {
	var m archive.Merger
	defer m.Close()
	m.Limits(o, "the configuration of this command")
	for _, name := range f.Files {
		if name == open.StandardInput {
			if err := archive.ReadAnswers(open.StandardInput, e.In, e.Version, m.Add); err != nil {
				return nil, nil, err
			}
			continue
		}
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != name && strings.ContainsAny(d.Name()[:1], "._"): // Spark metadata: checksums and the success marker
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case d.IsDir(), path != name && !d.Type().IsRegular():
				return nil
			}
			return mergeFile(path, e.Version, m.Add)
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return f.Merged(ctx, e, f.Files, &m)
}

func mergeFile(path, version string, use func(*archive.Result) error) error {
	file, err := bounded.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return archive.ReadAnswers(path, file, version, use)
}
