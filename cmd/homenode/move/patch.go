package move

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"homenode/change/move"
	"homenode/internal/bounded"
	answers "homenode/output/move"
	"homenode/output/move/target"
)

// A foreign file is a domain that another tool wrote.
type foreign struct {
	path, name string
	data       []byte
}

// foreigns reads a file, or the files of a folder that end in .xml.
func foreigns(path string) (out []foreign, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	paths := []string{path}
	if info.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(globbed.Replace(path), "*.xml")); err != nil {
			return nil, err
		}
	}
	for _, one := range paths {
		data, err := bounded.File(one, bounded.Written)
		if err != nil {
			return nil, err
		}
		out = append(out, foreign{one, filepath.Base(one), data})
	}
	if out == nil {
		return nil, fmt.Errorf("%s: found no file that ends in .xml", path)
	}
	return out, nil
}

// globbed takes the meaning from characters of a folder's name.
var globbed = strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`)

// patchFiles patches the domains at a path, and writes them into a folder under their names; "" for nowhere.
func patchFiles(path, folder string, moves []*move.Move) ([]answers.Patch, error) {
	files, err := foreigns(path)
	if err != nil {
		return nil, fmt.Errorf("--patch: %w", err)
	}
	var list []answers.Patch
	results := make([][]byte, len(files))
	for i, f := range files {
		one := answers.Patch{File: f.name}
		m, why, err := ownerOf(&f, files, moves)
		switch {
		case err != nil:
			return nil, fmt.Errorf("--patch: %w", err)
		case m == nil:
			one.Why = why
		case m.Refused != nil:
			one.VM, one.Why = m.Title, strings.Join(m.Refused, "; ")
		default:
			one.VM = m.Title
			p, err := target.Patch(f.path, f.data, m)
			if err != nil {
				return nil, fmt.Errorf("--patch: %w", err)
			}
			one.Changes, results[i] = p.Changes, p.Data
			if one.Faults, err = target.Check(f.path, p.Data); err != nil && !errors.Is(err, target.ErrNotChecked) {
				return nil, fmt.Errorf("--patch: %w", err)
			}
		}
		list = append(list, one)
	}
	if folder == "" {
		return list, nil
	}
	out, err := open(folder)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		if results[i] != nil {
			out.write(f.name, func(w io.Writer) error { _, err := w.Write(results[i]); return err })
		}
	}
	return list, out.close()
}

// ownerOf returns the move that a domain is of: by its name, its title or the name of the file; or the only one, of the only file.
func ownerOf(f *foreign, files []foreign, moves []*move.Move) (m *move.Move, why string, err error) {
	id, title, err := target.DomainName(f.path, f.data)
	if err != nil {
		return nil, "", err
	}
	if len(files) == 1 && len(moves) == 1 {
		return moves[0], "", nil
	}
	base := strings.TrimSuffix(strings.TrimSuffix(f.name, ".xml"), ".libvirt")
	for _, name := range []string{id, title, base} {
		var found []*move.Move
		for _, m := range moves {
			if name != "" && (strings.EqualFold(m.Title, name) || m.Name == name) {
				found = append(found, m)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], "", nil
		default:
			return nil, fmt.Sprintf("%d VMs are named %s: patch it alone, with --vm and the ID of the VM", len(found), name), nil
		}
	}
	names := slices.DeleteFunc([]string{id, title, base}, func(s string) bool { return s == "" })
	slices.Sort(names)
	return nil, fmt.Sprintf("no VM that is moved is named %s: patch it alone, with --vm", strings.Join(slices.Compact(names), " or ")), nil
}
