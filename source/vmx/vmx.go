// Package vmx reads .vmx files, the configuration of a VM as stored by its vmx process: lines
// key = "value" (sources of the format: the KB articles that show .vmx entries, and rule book
// B-10 for the keys). The DICT lines of vmware.log contain the same keys, so both use Dict,
// which converts them to a numa.Config.
package vmx

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// Format is the format name of a File of this package.
const Format = ".vmx"

// maxLines limits a file that only looks like a .vmx; real ones have some hundred lines.
const maxLines = 100_000

// A VMX is one .vmx file.
type VMX struct {
	Dict *Dict // the last value of each relevant key

	config numa.Config
	file   fact.File
}

// Read reads a .vmx. name is used only in places and messages. The error is a *numa.SyntaxError
// if no line is an entry; if the reader fails, or the file is truncated, Read returns the data
// before it and the error.
func Read(name string, r io.Reader) (*VMX, error) {
	v := &VMX{Dict: NewDict(), file: fact.File{Name: name, Format: Format}}
	lines := text.NewLines(r)
	var charset func([]byte) ([]byte, error) // nil for UTF-8
	entries, other := 0, 0
	whole := true // not truncated, according to the last line
	for lines.Scan() {
		n := lines.Line()
		if n > maxLines {
			return nil, &numa.SyntaxError{File: name, Line: n, Msg: fmt.Sprintf("found more than %d lines, too many for a .vmx", maxLines)}
		}
		e, ok, problem := parseLine(lines.Bytes())
		whole = problem == "" || !lines.Open()
		if lines.Cut() {
			problem = fmt.Sprintf("the line is longer than %d bytes: its end is lost", text.MaxLine)
		}
		if problem != "" {
			v.file.Warn(n, 1, "%s", problem)
		}
		if !ok {
			continue
		}
		entries++
		value := decode(e.value, charset, func() { v.file.Warn(n, e.col, "%s: the value is not in the encoding of the file", e.key) })
		if strings.EqualFold(e.key, ".encoding") {
			charset = v.charset(n, e.col, value)
		}
		if !Keeps(e.key) {
			other++
			continue
		}
		if before, ok := v.Dict.Lookup(e.key); ok && before.Value != value {
			v.file.Warn(n, e.col, "%s: line %d says %q: the last value holds", e.key, before.Line, shown(before.Value))
		}
		if problem := v.Dict.Set(e.key, value, n, e.col); problem != "" {
			v.file.Warn(n, e.col, "%s", problem)
		}
	}
	if err := lines.Err(); err != nil {
		v.finish(false, other)
		return v, numa.Located(name, err)
	}
	if entries == 0 {
		return nil, &numa.SyntaxError{File: name, Line: 1, Msg: `found no line of the form key = "value"`}
	}
	v.finish(whole, other)
	if !whole {
		return v, &numa.SyntaxError{File: name, Line: lines.Line(), Col: 1, Msg: "the file is cut off: settings that it does not state are unknown, and not at their defaults"}
	}
	return v, nil
}

// charset returns the decoder for the encoding that the file states, nil for UTF-8.
func (v *VMX) charset(line, col int, name string) func([]byte) ([]byte, error) {
	// A file in UTF-16 is already decoded.
	if lower := strings.ToLower(name); lower == "utf-8" || strings.HasPrefix(lower, "utf-16") {
		return nil
	}
	decode := decoderOf(name)
	if decode == nil {
		v.file.Warn(line, col, "found the encoding %q, which is not known: read as UTF-8", name)
	}
	return decode
}

// decode converts b to UTF-8; bad is called if its encoding is unknown.
func decode(b []byte, charset func([]byte) ([]byte, error), bad func()) string {
	if charset != nil {
		if out, err := charset(b); err == nil {
			return string(out)
		}
	}
	if !utf8.Valid(b) {
		bad()
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return string(b)
}

// finish converts the entries to facts; absent keys of a whole file get their defaults.
func (v *VMX) finish(whole bool, other int) {
	v.config = v.Dict.Config(whole, &v.file)
	for _, e := range v.Dict.Entries() {
		if !strings.EqualFold(e.Key, ".encoding") {
			v.file.Facts = append(v.file.Facts, v.Dict.Fact(e))
		}
	}
	if other > 0 {
		v.file.Add(0, 0, "file", "entries without bearing on NUMA", other, "")
	}
}

// File returns the entries that are relevant to NUMA, and the identity of the VM.
func (v *VMX) File() *fact.File { return &v.file }

// VM returns the VM configured by the file. Its ID is its UUID or, without one, the name of the
// file.
func (v *VMX) VM() numa.VM {
	vm := numa.VM{Name: v.Dict.Name(), UUID: v.Dict.UUID(), At: v.file.Name, Config: v.config}
	base := path.Base(strings.ReplaceAll(v.file.Name, `\`, "/"))
	if vm.Name == "" {
		vm.Name = strings.TrimSuffix(base, path.Ext(base))
	}
	if strings.EqualFold(path.Ext(base), ".vmtx") {
		vm.Template = numa.DerivedFrom(true, "the file is a .vmtx")
	}
	vm.ID = vm.UUID
	if vm.ID == "" {
		vm.ID = v.file.Name
	}
	return vm
}

// Detect reports whether head, the beginning of a file, is probably a .vmx: its first lines are
// entries, and one of them has a key that every .vmx contains.
func Detect(head []byte) bool {
	lines := text.NewLines(bytes.NewReader(head))
	entries, known := 0, false
	for lines.Scan() && entries < 50 {
		e, ok, problem := parseLine(lines.Bytes())
		switch {
		case ok:
			entries++
			switch strings.ToLower(e.key) {
			case ".encoding", "config.version", "virtualhw.version", "displayname", "memsize", "numvcpus":
				known = true
			}
		case problem != "" && len(lines.Bytes()) < 4<<10: // the last line of head may be truncated
			return known && entries > 3
		}
	}
	return known
}
