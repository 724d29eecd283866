package coefficients

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/jsontree"
	"example.org/homenode/source/strict"
)

// Parse parses the text of a file; name is used in messages. It is strict: an unknown member or a
// newer version could change the meaning of the others.
func Parse(name string, text []byte) (*File, error) {
	var file struct {
		Format  string  `json:"format"`
		Version float64 `json:"version"`
		Points  []Entry `json:"points"`
	}
	if err := strict.Unmarshal(name, "file of homenode size calibrate", text, &file); err != nil {
		return nil, err
	}
	tree, _ := jsontree.Parse(text, 1)
	bad := func(at *jsontree.Value, format string, args ...any) error {
		return &numa.SyntaxError{File: name, Line: max(at.Line, 1), Col: max(at.Col, 1), Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case file.Format != format:
		return nil, bad(tree.At("format"), "found the format %q, want %q", file.Format, format)
	case file.Version != version:
		return nil, bad(tree.At("version"), "found version %v, want %d: a newer homenode wrote it, or it was edited", file.Version, version)
	case len(file.Points) == 0:
		return nil, bad(tree.At("points"), "found no point, want the costs that homenode size calibrate --save writes")
	}
	f := &File{Name: name}
	for i, e := range file.Points {
		at := tree.At("points", strconv.Itoa(i))
		if same := slices.IndexFunc(f.Entries, func(old Entry) bool { return old.Kind == e.Kind }); same >= 0 {
			return nil, bad(at, "point %d: the same kind of I/O as point %d", i+1, same+1)
		}
		if err := cmp.Or(present(at), e.check(), e.joins(f.Entries)); err != nil {
			return nil, bad(at, "point %d: %s", i+1, err)
		}
		f.Entries = append(f.Entries, e)
	}
	return f, nil
}

// needed are the required members of a point: a missing one must not count as 0, which would mean a
// write, or sequential.
var needed = map[string][]string{
	"":        {"path", "block", "read", "random", "perIO", "runs", "scope"},
	"perIO":   {"value", "low", "high"},
	"network": {"value", "low", "high"},
}

// present checks for the required members of a point.
func present(point *jsontree.Value) error {
	for _, of := range []string{"", "perIO", "network"} {
		in := point
		if of != "" {
			in = point.At(of)
		}
		if of == "network" && in.Kind != jsontree.Object { // it may be absent
			continue
		}
		for _, name := range needed[of] {
			if v := in.At(name); v.Kind == 0 || v.Kind == jsontree.Null {
				return fmt.Errorf("found no %q", strings.TrimPrefix(of+"."+name, "."))
			}
		}
	}
	return nil
}
