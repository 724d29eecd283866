package move

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"homenode/change/move"
	"homenode/internal/bounded"
	"homenode/numa"
	answers "homenode/output/move"
	"homenode/output/move/target"
)

// check checks the files of a folder, in the order of their names: all of them, whatever is in one.
func check(folder string) (*answers.Checked, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	out := &answers.Checked{Folder: folder, Faults: []answers.Fault{}}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.IsDir():
			out.Folders = append(out.Folders, e.Name())
			continue
		case !target.Checks(e.Name()):
			continue
		case !e.Type().IsRegular():
			out.Unread = append(out.Unread, numa.Note{At: path, Text: "it is no regular file"})
			continue
		}
		data, err := bounded.File(path, bounded.Written)
		var found []move.Fault
		if err == nil {
			found, err = target.Check(path, data)
		}
		if err != nil {
			out.Unread = append(out.Unread, unread(path, err))
			continue
		}
		out.Files++
		for _, f := range found {
			out.Faults = append(out.Faults, answers.Fault{File: e.Name(), Fault: f})
		}
	}
	return out, nil
}

// unread says where and why a file could not be checked.
func unread(path string, err error) numa.Note {
	if s, ok := errors.AsType[*numa.SyntaxError](err); ok {
		return numa.Note{At: numa.Place(s.File, s.Line, s.Col), Text: s.Msg}
	}
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err // the place has the name
	}
	return numa.Note{At: path, Text: err.Error()}
}
