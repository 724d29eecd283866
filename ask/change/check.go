package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"homenode/ask"
	"homenode/change/move"
	"homenode/internal/bounded"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	show "homenode/output/move"
	"homenode/output/move/target"
)

// Check asks what is wrong in files that move wrote, or somebody edited.
type Check struct {
	ask.Asked
	Folder string `ask:"check,local" group:"Files of other tools" help:"check the files in this folder instead"`
}

// Answer answers the question.
func (q *Check) Answer(context.Context, *ask.Env) (*ask.Reply, error) {
	checked, err := check(q.Folder)
	if err != nil {
		return nil, err
	}
	if checked.Files+len(checked.Unread) == 0 {
		return nil, nothing(checked)
	}
	r := &ask.Reply{Answers: []*answer.Answer{show.Faults(checked)}, Found: len(checked.Faults) > 0}
	if n := len(checked.Unread); n > 0 {
		r.Partly = fmt.Errorf("not everything was checked: %s could not be read", words.Plural(n, "file"))
	}
	return r, nil
}

// nothing is the error of a folder without a file to check.
func nothing(c *show.Checked) error {
	below := ""
	switch len(c.Folders) {
	case 0:
	case 1:
		below = fmt.Sprintf(": the folder %s in it is not looked into", c.Folders[0])
	default:
		below = fmt.Sprintf(": %s in it are not looked into", words.Plural(len(c.Folders), "folder"))
	}
	return fmt.Errorf("%s: found no domain XML, arguments of QEMU or configuration of Proxmox%s", c.Folder, below)
}

// check checks the files of a folder, in the order of their names: all of them, whatever is in one.
func check(folder string) (*show.Checked, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	out := &show.Checked{Folder: folder, Faults: []show.Fault{}}
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
			out.Faults = append(out.Faults, show.Fault{File: e.Name(), Fault: f})
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
