package open

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/benchmark"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/tables"
	"example.org/homenode/source/text"
	"example.org/homenode/source/ticks"
)

// Way adds the name of the right command to an error about a file, folder or archive that a command does not support.
func Way(err error, paths ...string) error {
	unknown := []error{evidence.ErrUnknown, ticks.ErrUnknown, benchmark.ErrUnknown}
	if err == nil || strings.Contains(err.Error(), ": homenode ") || !slices.ContainsFunc(unknown, func(kind error) bool { return errors.Is(err, kind) }) {
		return err
	}
	for _, path := range paths {
		if !strings.Contains(err.Error(), path) {
			continue
		}
		_, refused := errors.AsType[noFleet](err) // by the command that reads inventories
		if way := Elsewhere(path); way != "" && !strings.Contains(err.Error(), way) && !(refused && way == inventoryWay(path)) {
			return fmt.Errorf("%w; %s", err, way)
		}
	}
	return err
}

// Elsewhere describes path and names the command that reads it, for the error of another command; "" if no command reads it.
func Elsewhere(path string) string {
	if isFile(path) {
		head := bounded.Head(path, text.HeadSize)
		if len(head) == 0 {
			return "the file is empty"
		}
		if ticks.Detect(head) == "" && tables.Holds(path) {
			if _, err := tables.Read(path); isUnknown(err) || err != nil && !strings.EqualFold(filepath.Ext(path), ".zip") { // damaged, or a workbook of something else
				return strings.TrimPrefix(err.Error(), path+": ")
			}
			return inventoryWay(path)
		}
		if way := ElsewhereOf(path, head); way != "" {
			return way
		}
		if _, ok := benchmark.Detect(text.Decoded(head)); ok {
			return fmt.Sprintf("%s is the result of a benchmark: homenode compare %[2]s OTHER compares it, homenode size latency %[2]s shows it", path, words.Command(path))
		}
	}
	if fleet, err := File(path); err == nil && len(fleet.VMs) > 0 {
		if fleet.Hypervisor == numa.KVM {
			return KVMWay(path)
		}
		return inventoryWay(path)
	}
	if ticking(path) {
		return captureWay(path)
	}
	if slices.ContainsFunc(Anything(path, nil), func(p Part) bool { return p.Docs != nil }) {
		return evidenceWay(path, "")
	}
	return ""
}

// ticking reports whether path begins with a capture.
func ticking(path string) bool {
	found := errors.New("found")
	list, _, err := ticks.Readers(nil, path)
	v := ticks.Visit{Tick: func(*numa.Tick) error { return found }, Done: func(_ *ticks.File, err error) error { return err }}
	for _, read := range list {
		if err == nil {
			_, err = read(context.Background(), ticks.Options{}, v)
		}
	}
	return errors.Is(err, found)
}

func inventoryWay(name string) string {
	return fmt.Sprintf("%s is an inventory: homenode assess %[2]s reads it, homenode serve --fleet %[2]s shows it in a browser", name, words.Command(name))
}

// KVMWay names the commands that read KVM hosts.
func KVMWay(name string) string {
	return fmt.Sprintf("%s holds hosts of KVM: homenode assess %[2]s checks their VMs, homenode snapshot %[2]s saves them", name, words.Command(name))
}

func captureWay(name string) string {
	return fmt.Sprintf("%s shows what happened over time: homenode capture %s reads it", name, words.Command(name))
}

func evidenceWay(name, format string) string {
	if format != "" {
		format = " (" + format + ")"
	}
	return fmt.Sprintf("%s is evidence about a host or guest%s: homenode explain %[3]s prints it, and homenode assess adds it to a fleet with --evidence", name, format, words.Command(name))
}

// answered matches the beginning of an answer of this program; results of measure and keys are read as such.
var answered = pattern.Of(`^\s*\{\s*"format":\s*"homenode-(plan|snapshot|assessment|capture|comparison|drift|explanation|matrix|simulation|sweep|gate|what-if|proposal)"`)

// ElsewhereOf is Elsewhere for a file with a known name and beginning. Recorded time series are for homenode capture and the capture
// pages.
func ElsewhereOf(name string, head []byte) string {
	plain := text.Decoded(head)
	format := evidence.Format(plain)
	if m := answered.Regexp().FindSubmatch(plain); m != nil {
		switch kind := string(m[1]); kind {
		case "plan":
			return fmt.Sprintf("%s is a plan: homenode fix SOURCE --plan %s --apply carries it out", name, words.Command(name))
		case "snapshot":
			return inventoryWay(name)
		default:
			return fmt.Sprintf("%s is an answer of this program (homenode-%s): name the file or SOURCE that it was made of", name, kind)
		}
	}
	switch {
	case ticks.Detect(head) != "":
		return captureWay(name)
	case tables.Workbook(name, head), fleetLine.Match(plain):
		return inventoryWay(name)
	case format != "":
		return evidenceWay(name, format)
	case tables.HeadHolds(name, head):
		return inventoryWay(name)
	}
	return ""
}
