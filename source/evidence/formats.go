package evidence

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/internal/words"

	"example.org/homenode/numa"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/benchmark"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/guest"
	"example.org/homenode/source/hostcmd"
	"example.org/homenode/source/kubevirt"
	"example.org/homenode/source/libvirt"
	"example.org/homenode/source/measured"
	"example.org/homenode/source/proxmox"
	"example.org/homenode/source/qemu"
	"example.org/homenode/source/text"
	"example.org/homenode/source/ticks"
	"example.org/homenode/source/vmx"
	"example.org/homenode/source/vmxlog"
)

// A format is one kind of file. Their order matters where a file could be mistaken for two kinds: the stricter detection comes first.
type format struct {
	name   string // for the list of supported formats
	detect func(head []byte) bool
	read   func(name string, r io.Reader) ([]fact.Document, error)
}

var logs = format{"vmware.log", vmxlog.Detect, one(vmxlog.Read)}

var formats = []format{
	{"homenode measure", measured.Detect, many(measured.Read)},
	{".vmx", vmx.Detect, one(vmx.Read)},
	{"lscpu, numactl -H and Coreinfo", second(guest.Detect), many(guest.Read)},
	{"virsh capabilities and libvirt domains (XML)", libvirt.Detect, libvirt.Read},
	{"Proxmox VE configurations", proxmox.Detect, proxmox.Read},
	{"arguments of QEMU", qemu.Detect, qemu.Read},
	{"VirtualMachines of KubeVirt (YAML)", kubevirt.Detect, kubevirt.Read},
	{"sched-stats, esxtop memory screen, memstats, vsish, esxcli, vmware -v and uname", second(hostcmd.Detect), many(hostcmd.Read)},
	logs,
	{"results of Intel MLC, multichase, PassMark, HammerDB, fio, HCIBench and Iometer", second(benchmark.Detect), one(benchmark.Read)},
}

// second adapts a detection that also names the form.
func second(detect func([]byte) (string, bool)) func([]byte) bool {
	return func(head []byte) bool {
		_, ok := detect(head)
		return ok
	}
}

// many adapts a reader whose documents have their own type.
func many[D fact.Document](read func(string, io.Reader) ([]D, error)) func(string, io.Reader) ([]fact.Document, error) {
	return func(name string, r io.Reader) ([]fact.Document, error) {
		docs, err := read(name, r)
		out := make([]fact.Document, len(docs))
		for i := range docs {
			out[i] = docs[i]
		}
		return out, err
	}
}

// one adapts a reader that returns one document.
func one[D interface {
	comparable
	fact.Document
}](read func(string, io.Reader) (D, error)) func(string, io.Reader) ([]fact.Document, error) {
	return func(name string, r io.Reader) ([]fact.Document, error) {
		doc, err := read(name, r)
		var none D
		if doc == none {
			return nil, err
		}
		return []fact.Document{doc}, err
	}
}

// ErrUnknown is the error for a file of no known format.
var ErrUnknown = errors.New("found none of the formats that are read")

// overTime is the error for a recording over time; it wraps ErrUnknown.
type overTime struct{ name, format string }

func (e *overTime) Error() string {
	return fmt.Sprintf("%s: found %s, which shows what happened over time: homenode capture %s reads it", e.name, e.format, e.name)
}

func (e *overTime) Unwrap() error { return ErrUnknown }

// errEmpty is the error for a file without text.
var errEmpty = errors.New("found an empty file")

// Documents parses a file of any format; name is used in places and messages. The error wraps ErrUnknown for an unknown format.
// Documents can come with an error when the file is truncated.
func Documents(name string, r io.Reader) ([]fact.Document, error) {
	in := bufio.NewReaderSize(r, text.HeadSize)
	raw, err := in.Peek(text.HeadSize)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	head := text.Decoded(raw)
	if isLog(name) && logs.detect(head) { // the other detections take longer than to read it
		return logs.read(name, in)
	}
	if f := formatOf(head); f != nil {
		return f.read(name, in)
	}
	if over := OverTime(name, raw); over != nil {
		return nil, over
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, fmt.Errorf("%s: %w, want one of %s", name, errEmpty, Names())
	}
	return nil, fmt.Errorf("%s: %w: %s", name, ErrUnknown, Names())
}

// Format returns the kind of evidence in a file that begins with head, in words; "" for none.
func Format(head []byte) string {
	if f := formatOf(head); f != nil {
		return f.name
	}
	return ""
}

// formatOf returns the format of a file that begins with head; nil for none.
func formatOf(head []byte) *format {
	if i := slices.IndexFunc(formats, func(f format) bool { return f.detect(head) }); i >= 0 {
		return &formats[i]
	}
	return nil
}

// OverTime returns the error for a recording over time; nil for other files.
func OverTime(name string, head []byte) error {
	if format := ticks.Detect(head); format != "" {
		return &overTime{name, format}
	}
	return nil
}

// Names lists the formats that Documents parses, in words.
func Names() string {
	return strings.Join(words.Texts(formats, func(f format) string { return f.name }), "; ")
}

// A Found is one file of a walk.
type Found struct {
	Name string // the path of the walk and, in a folder or archive, the name in it
	Docs []fact.Document
	Err  error // why it could not be read completely
}

// ofVM reports whether a file belongs to a VM by its name; such a file must be readable.
func ofVM(name string) bool {
	ext := path.Ext(archive.Plain(strings.ToLower(name)))
	return ext == ".vmx" || ext == ".vmtx" || isLog(name)
}

// isLog reports whether the name is that of a log of a VM.
func isLog(name string) bool {
	return vmxlog.IsName(path.Base(archive.Plain(filepath.ToSlash(strings.ToLower(name)))))
}

// Walk reads the evidence at root: a file, also compressed with gzip or zstd, or the files in a folder or archive. There,
// unknown formats are skipped unless their names mark them as files of a VM. visit is called for each; the error is that of the
// walk or of visit.
func Walk(root string, visit func(Found) error) error {
	var damaged []Found
	opt := archive.Options{Damaged: func(name string, err error) { damaged = append(damaged, Found{Name: name, Err: err}) }}
	err := archive.Walk(root, opt, func(name string, _ int64, r io.Reader) error {
		docs, err := Documents(name, r)
		inside := name != root
		if inside && docs == nil && !ofVM(name) && (errors.Is(err, ErrUnknown) || errors.Is(err, errEmpty)) {
			return nil
		}
		return visit(Found{name, docs, err})
	})
	for _, d := range damaged {
		if err == nil {
			err = visit(d)
		}
	}
	return err
}

// Read reads FILE or VM=FILE; FILE can be a folder or an archive. For a recording the last tick of each host counts. A file
// whose whole name exists is that file; a name of a VM may contain = too.
func Read(arg string) (Piece, error) {
	p := Piece{Name: arg}
	if _, err := os.Stat(arg); err != nil {
		for i := range arg {
			if arg[i] != '=' {
				continue
			}
			if _, err := os.Stat(arg[i+1:]); err == nil || p.VM == "" {
				p.VM, p.Name = arg[:i], arg[i+1:]
				if err == nil {
					break
				}
			}
		}
	}
	if info, err := os.Stat(p.Name); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return p, fmt.Errorf("%s: it is no regular file", p.Name)
	}
	err := Walk(p.Name, func(f Found) error {
		p.Docs = append(p.Docs, f.Docs...)
		if f.Err != nil {
			p.Errs = append(p.Errs, f.Err)
		}
		return nil
	})
	if len(p.Docs) == 0 && !errors.Is(err, archive.ErrMany) { // possibly a recording over time: its end counts
		if docs, errs := lastTicks(p.Name); len(docs) > 0 {
			p.Docs, p.Errs, err = docs, errs, nil
		}
	}
	switch {
	case errors.Is(err, archive.ErrMany):
		err = numa.Located(p.Name, err)
	case len(p.Docs) == 0 && err == nil && p.Errs == nil:
		err = fmt.Errorf("%s: %w in it: %s", p.Name, ErrUnknown, Names())
	case len(p.Docs) == 0:
		err = errors.Join(append(p.Errs, err)...)
		_, mistake := errors.AsType[*numa.SyntaxError](err)
		_, unreadable := errors.AsType[*fs.PathError](err)
		if !mistake && !unreadable && !errors.Is(err, ErrUnknown) { // it is damaged
			err = fmt.Errorf("%w; evidence is %s", err, Names())
		}
	case err != nil: // the documents before the error count
		p.Errs, err = append(p.Errs, err), nil
	}
	return p, err
}
