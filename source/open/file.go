package open

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"homenode/numa"
	"homenode/source/bundle"
	"homenode/source/rvtools"
	"homenode/source/scenario"
	"homenode/source/snapshot"
	"homenode/source/story"
	"homenode/source/text"
)

// want lists the kinds of files that hold a fleet, in the words of messages.
const want = "an RVTools export (.xlsx, .zip or a folder of its CSV files), a vm-support bundle or other archive, .vmx, vmware.log, a snapshot (.json), a scenario or a story"

// endings are those of files that hold a fleet: a name with another one may be a vCenter.
var endings = []string{".json", ".xlsx", ".xls", ".csv", ".txtar", ".txt", ".zip", ".tar", ".tgz", ".gz", ".zst", ".vmx", ".vmtx", ".log"}

// missing says what a SOURCE might have been that is no file.
func missing(name string, err error) error {
	host := strings.Contains(name, ".") && !strings.ContainsAny(name, `/\`) && !slices.Contains(endings, strings.ToLower(filepath.Ext(name)))
	if errors.Is(err, fs.ErrNotExist) && host {
		return fmt.Errorf("%w (a vCenter is named by its URL: https://%s)", err, name)
	}
	return err
}

// File reads the fleet of a file or folder of any kind.
func File(path string) (*numa.Fleet, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = readable(path, info)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case !info.IsDir() && strings.HasSuffix(strings.ToLower(path), ".json"):
		return snapshot.ReadFile(path)
	case rvtools.Detect(path):
		return rvtools.Read(path)
	case bundle.Detect(path):
		return bundle.Read(path)
	case info.IsDir():
		return nil, fmt.Errorf("%s: found no RVTools CSV files, no .vmx and no vmware.log in the folder", path)
	}
	return readWritten(path)
}

// readable returns why nothing of path can be read: the readers tell by the content what
// it is, and would say that it is none of theirs.
func readable(path string, info os.FileInfo) error {
	switch {
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil // a pipe is opened once
	case !info.IsDir() && info.Size() == 0:
		return fmt.Errorf("%s: the file is empty", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err = f.ReadDir(1); err == io.EOF {
			err = fmt.Errorf("%s: the folder is empty", path)
		}
	}
	return errors.Join(err, f.Close())
}

// readWritten reads what people write by hand: a scenario, or the fleet of a story.
func readWritten(path string) (*numa.Fleet, error) {
	b, err := text.File(path)
	if strings.ContainsRune(string(b[:min(len(b), 512)]), 0) {
		return nil, fmt.Errorf("%s: found a binary file, want %s", path, want)
	}
	if err != nil {
		return nil, err
	}
	if story.Is(b) {
		s, err := story.Read(path, b)
		if err != nil {
			return nil, err
		}
		return s.Fleet, nil
	}
	fleet, err := scenario.Read(path, b)
	if err != nil && !fleetLine.Match(b) {
		return nil, notFleet(path, b[:min(len(b), text.HeadSize)], err)
	}
	return fleet, err
}

// fleetLine is a line that says whoever wrote the file meant a scenario.
var fleetLine = regexp.MustCompile(`(?m)^(?:\x{feff}?[ \t]*(?:release|cluster|host|vm|seen)[ \t]|-- .+ --)`)

// notFleet says what a file is that is no scenario.
func notFleet(path string, head []byte, err error) error {
	if format := formatOf(text.Decoded(head)); format != nil {
		return fmt.Errorf("%s: found %s, which is evidence about a fleet and no fleet: want %s", path, format.name, want)
	}
	if over := timed(path, head); over != nil {
		return over
	}
	return fmt.Errorf("%w; a SOURCE is %s", err, want)
}
