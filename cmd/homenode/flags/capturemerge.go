package flags

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"homenode/capture"
	"homenode/capture/archive"
	"homenode/internal/version"
	"homenode/numa"
	"homenode/source/open"
)

// Whole returns what Read read, for the JSON that Merge reads: nil for several files, whose
// recordings would be too much for one answer, and for what a page asks.
func (f *Captures) Whole(cmd *cobra.Command) ([]byte, error) {
	if f.result == nil || OfPage(cmd) {
		return nil, nil
	}
	return f.result.Pack()
}

// CheckMerge looks at the flags of a command that merges.
func (f *Captures) CheckMerge(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("--merge: want a RESULT to merge: a JSON result of a capture, or a folder of them")
	}
	return Refuse(cmd, "give it to the runs whose results are merged", "from", "to", "host-name", "start", "interval", "parquet", "openmetrics")
}

// Merge reads the JSON results of captures that the arguments name: files, folders of them, -
// for standard input. What they come to is what Read returns for the captures themselves.
func (f *Captures) Merge(cmd *cobra.Command, args []string, o capture.Options) ([]*capture.Recording, []numa.Note, error) {
	if files, err := CaptureFiles(cmd); files != nil || err != nil {
		return nil, nil, errors.Join(errors.New("--merge: not on a page"), err)
	}
	var m archive.Merger
	defer m.Close()
	m.Limits(o, "the configuration of this command")
	for _, arg := range args {
		if arg == "-" {
			if err := archive.ReadAnswers(open.StandardInput, cmd.InOrStdin(), version.String(), m.Add); err != nil {
				return nil, nil, err
			}
			continue
		}
		err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != arg && strings.ContainsAny(d.Name()[:1], "._"): // of Spark: its sums, and that it is done
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case d.IsDir():
				return nil
			}
			return mergeFile(path, m.Add)
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return f.merged(cmd, args, &m)
}

func mergeFile(path string, use func(*archive.Result) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return archive.ReadAnswers(path, file, version.String(), use)
}
