package open

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/bundle"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/kvm"
	"example.org/homenode/source/planned"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/snapshot"
	"example.org/homenode/source/story"
	"example.org/homenode/source/tables"
	"example.org/homenode/source/text"
	"example.org/homenode/source/ticks"
)

// An inventory is a kind of file that contains a fleet.
type inventory struct {
	endings []string // file extensions: a SOURCE with another one may be a vCenter
	is      func(path string) bool
	read    func(path string) (*numa.Fleet, error)
	tables  bool // it reads tables
}

// inventories returns all kinds, in the order in which they are tried.
func inventories() []inventory {
	return []inventory{
		{[]string{".xlsx", ".xls", ".zip"}, tables.RVTools, readTables, true},
		{[]string{".json", ".yaml", ".yml", ".ovf", ".ova"}, planned.Detect, planned.Read, false},
		{[]string{".xml", ".args", ".conf", ".yaml", ".yml", ".json"}, kvm.Detect, kvm.Read, false},
		{[]string{".tar", ".tgz", ".gz", ".zst", ".vmx", ".vmtx", ".log"}, bundle.Detect, bundle.Read, false},
		{[]string{".json"}, snapshot.Detect, snapshot.ReadFile, false},
		{[]string{".csv", ".tsv"}, tables.Detect, readTables, true},
		{[]string{".txtar", ".txt"}, isFile, readWritten, false},
	}
}

// want names the files that contain a fleet, at the end of a message: with their list the reason drowns.
const want = "an RVTools export, or another file that homenode help sources and docs/reference/sources.md list"

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// missing suggests the intended SOURCE if there is no such file.
func missing(name string, err error) error {
	ending := strings.ToLower(filepath.Ext(name))
	host := strings.Contains(name, ".") && !strings.ContainsAny(name, `/\`) &&
		!slices.ContainsFunc(inventories(), func(k inventory) bool { return slices.Contains(k.endings, ending) })
	switch {
	case !errors.Is(err, fs.ErrNotExist):
	case strings.Contains(name, "="):
		return fmt.Errorf("%w (a change is for homenode assess: --what-if 'vm=sql01 vcpus=48')", err)
	case host:
		return fmt.Errorf("%w (a vCenter is named by its URL: https://%s)", err, name)
	}
	return err
}

// KVM reports whether a file or folder contains KVM hosts.
func KVM(path string) bool { return kvm.Detect(path) || snapshot.Detect(path) && snapshot.OfKVM(path) }

// File reads the fleet from a file or folder of any kind.
func File(path string) (*numa.Fleet, error) { return fileOf(context.Background(), path) }

// fileOf is File until ctx ends, which a folder or an archive looks at between its members.
func fileOf(ctx context.Context, path string) (*numa.Fleet, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = readable(path, info)
	}
	if err != nil {
		return nil, err
	}
	switch recorded := ticks.Inventories(path); len(recorded) {
	case 0:
	case 1:
		path = recorded[0]
		if info, err = os.Stat(path); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("%s: found the inventories of %d vCenters in the folder: name those that are meant: %s", path, len(recorded), strings.Join(recorded, " "))
	}
	all := inventories()
	i := slices.IndexFunc(all, func(k inventory) bool { return k.is(path) })
	switch {
	case !isCollection(path, info) || tables.Book(path) || planned.Detect(path):
		return all[i].read(path) // the last one takes any file
	}
	return readCollection(ctx, path)
}

// readable returns the reason why path cannot be opened. The readers detect the format by the
// content, so for such a file they would only report an unknown format.
func readable(path string, info os.FileInfo) error {
	switch {
	case !info.IsDir() && !info.Mode().IsRegular():
		return fmt.Errorf("%s: it is no regular file, and a SOURCE is read more than once: save it to a file", path)
	case !info.IsDir() && info.Size() == 0:
		return fmt.Errorf("%s: the file is empty; a SOURCE is %s", path, want)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err = f.ReadDir(1); err == io.EOF {
			err = fmt.Errorf("%s: the folder is empty; a SOURCE is %s", path, want)
		}
	}
	return errors.Join(err, f.Close())
}

// readWritten reads a handwritten file: a scenario, or the fleet of a story.
func readWritten(path string) (*numa.Fleet, error) {
	b, err := text.File(path)
	head := b[:min(len(b), text.HeadSize)]
	plain := text.Decoded(head) // also for UTF-16
	if form := packing(head); form != "" || isBinary(plain[:min(len(plain), 512)]) {
		return nil, fmt.Errorf("%s: found %s, want %s", path, cmp.Or(form, "a binary file"), want)
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
	if err != nil && !fleetLine.Match(b) && !fleetLine.Match(plain) {
		return nil, notFleet(path, head, fmt.Errorf("%s: found %s", path, described(plain)))
	}
	return fleet, err
}

// isBinary reports whether head is the beginning of a binary file.
func isBinary(head []byte) bool {
	return bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(head) && bytes.IndexFunc(head, func(r rune) bool { return r < '\t' || r == '\x1a' }) >= 0
}

// packings are the first bytes of archive formats.
var packings = []struct{ magic, form string }{
	{"PK", "a zip archive or workbook"}, {"\x1f\x8b", "a file packed with gzip"}, {"\x28\xb5\x2f\xfd", "a file packed with zstd"},
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip archive, which is not supported: extract it first"},
	{"Rar!\x1a\x07", "a RAR archive, which is not supported: extract it first"},
	{"\xfd7zXZ\x00", "a file packed with xz, which is not supported: extract it first"},
	{"BZh", "a file packed with bzip2, which is not supported: extract it first"},
}

// packing names the archive or compression format of a file that begins with head; "" if there
// is none.
func packing(head []byte) string {
	for _, p := range packings {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return p.form
		}
	}
	return ""
}

// described describes a text that is no scenario by its first line.
func described(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	switch form := "text"; {
	case line == "":
		return "no text"
	case strings.HasPrefix(line, "{") && bytes.Contains(b, []byte(`"terraform_version"`)):
		return "a state file of Terraform: terraform show -json prints what is read"
	case screen.Match(b):
		return "PowerCLI console output saved as text (names are cut, numbers are in the local format): use Export-Csv or ConvertTo-Json instead"
	case govcText.MatchString(string(b)):
		return "the text of govc vm.info or host.info: use govc vm.info -json and govc host.info -json instead"
	case strings.HasPrefix(line, "<Objs ") && strings.Contains(line, "microsoft.com/powershell"):
		return "the XML of PowerShell's Export-Clixml: use Export-Csv or ConvertTo-Json instead"
	case strings.HasPrefix(strings.ToLower(line), "<!doctype html") || strings.HasPrefix(strings.ToLower(line), "<html"):
		return "a web page, as ConvertTo-Html of PowerCLI writes: use Export-Csv or ConvertTo-Json instead"
	case strings.HasPrefix(line, "<"):
		form = "XML"
		fallthrough
	default:
		return fmt.Sprintf("%s that begins with %q", form, text.Short(line))
	}
}

// govcText matches the output of govc vm.info and host.info without -json.
var govcText = pattern.Of(`^\s*Name:[ \t]+\S.*\r?\n[ \t]+Path:[ \t]+/`)

// screen matches the list and table output of Get-VM and Get-VMHost.
var screen = pattern.Of(`(?mi)^(?:Num ?CPUs?[ \t]+:|Name[ \t]+(?:ConnectionState[ \t]+)?PowerState[ \t]+Num ?CPUs?\b)`)

// readTables reads tables of VMs and hosts. A file without tables may be evidence.
func readTables(path string) (*numa.Fleet, error) {
	fleet, err := tables.Read(path)
	if err == nil || !isFile(path) {
		return fleet, err
	}
	return nil, notFleet(path, bounded.Head(path, text.HeadSize), err)
}

// fleetLine matches a line which shows that the file is meant as a scenario.
var fleetLine = pattern.Of(`(?m)^(?:\x{feff}?[ \t]*(?:release|cluster|host|vm|seen)[ \t]|-- .+ --)`)

// notFleet returns the error for a file that is no scenario.
func notFleet(path string, head []byte, err error) error {
	if format := evidence.Format(text.Decoded(head)); format != "" {
		return noFleet{fmt.Errorf("%s: found %s, which is evidence about a fleet and no fleet: want %s", path, format, want)}
	}
	if over := evidence.OverTime(path, head); over != nil {
		return over
	}
	return noFleet{fmt.Errorf("%w; a SOURCE is %s", err, want)}
}

// noFleet is the error for a file without a fleet of any kind; it matches evidence.ErrUnknown.
type noFleet struct{ error }

func (noFleet) Is(target error) bool { return target == evidence.ErrUnknown }
func (e noFleet) Unwrap() error      { return e.error }
