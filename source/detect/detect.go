// Package detect tells by its content what a file is, and reads it with the reader
// made for it: every reader of evidence is reachable here.
package detect

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"homenode/source/benchmark"
	"homenode/source/fact"
	"homenode/source/guest"
	"homenode/source/hostcmd"
	"homenode/source/text"
	"homenode/source/ticks"
	"homenode/source/vmx"
	"homenode/source/vmxlog"
)

// headSize is how much of a file is looked at to tell its format.
const headSize = 64 << 10

// A format is one kind of file. Their order matters where a file could be taken
// for two kinds: the stricter detection comes first.
type format struct {
	name   string // for the list of what is read
	detect func(head []byte) bool
	read   func(name string, r io.Reader) ([]fact.Document, error)
}

var formats = []format{
	{".vmx", vmx.Detect, one(vmx.Read)},
	{"lscpu, numactl -H and Coreinfo", second(guest.Detect), many(guest.Read)},
	{"sched-stats, esxtop memory screen, memstats, vsish, esxcli, vmware -v and uname", second(hostcmd.Detect), many(hostcmd.Read)},
	{"vmware.log", vmxlog.Detect, one(vmxlog.Read)},
	{"results of Intel MLC, multichase, PassMark, HammerDB, fio, HCIBench and Iometer", second(benchmark.Detect), one(benchmark.Read)},
}

// second makes a detection of one that also names the form.
func second(detect func([]byte) (string, bool)) func([]byte) bool {
	return func(head []byte) bool {
		_, ok := detect(head)
		return ok
	}
}

// many makes a reader of one whose documents have a type of their own.
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

// one makes a reader of one that returns one document.
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

// overTime is the error for a file that shows what happened over time; it is ErrUnknown.
type overTime struct{ name, format string }

func (e *overTime) Error() string {
	return fmt.Sprintf("%s: found %s, which shows what happened over time: homenode capture %s reads it", e.name, e.format, e.name)
}

func (e *overTime) Unwrap() error { return ErrUnknown }

// ErrEmpty is the error for a file without text.
var ErrEmpty = errors.New("found an empty file")

// Read reads a file of evidence. name stands in places and messages. The error
// wraps ErrUnknown when no reader knows the format; documents can come with an
// error, when the file ends before its end.
func Read(name string, r io.Reader) ([]fact.Document, error) {
	in := bufio.NewReaderSize(r, headSize)
	raw, err := in.Peek(headSize)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	head := decoded(raw)
	if i := slices.IndexFunc(formats, func(f format) bool { return f.detect(head) }); i >= 0 {
		return formats[i].read(name, in)
	}
	if format := ticks.Detect(raw); format != "" {
		return nil, &overTime{name, format}
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	return nil, fmt.Errorf("%s: %w: %s", name, ErrUnknown, strings.Join(Formats(), "; "))
}

// Formats lists what Read reads, in words.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// decoded returns the head as UTF-8, its last line whole or absent.
func decoded(raw []byte) []byte {
	lines := text.NewLines(bytes.NewReader(raw))
	var out []byte
	for lines.Scan() {
		out = append(append(out, lines.Bytes()...), '\n')
	}
	return out
}
