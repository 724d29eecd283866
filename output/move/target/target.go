// Package target writes a move in the form of its platform: domain XML, arguments, configurations, manifests and scripts. It makes no
// decisions: package change/move does, and a rejected move has no file.
//
// Names in the files are safe for every platform. The vSphere name is in comments and in quotes.
package target

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A File is one file of a move.
type File struct {
	Name string
	Data []byte
	Of   []*move.Move // the moves that share it
}

// writers has the writers of each platform. The flavors of Nova are written for all VMs together.
var writers = map[string]func(m *move.Move) []File{
	"libvirt": one("libvirt.xml", libvirt), "qemu": one("qemu.args", qemu), "proxmox": proxmox, "kubevirt": one("kubevirt.yaml", kubevirt),
	"hyperv": one("hyperv.ps1", hyperv), "ahv": ahv,
}

func one(ending string, write func(b *bytes.Buffer, m *move.Move)) func(m *move.Move) []File {
	return func(m *move.Move) []File {
		var b bytes.Buffer
		write(&b, m)
		return []File{{m.Name + "." + ending, b.Bytes(), []*move.Move{m}}}
	}
}

// Files returns the files of the moves, in order; the shared flavors of Nova come last. The output is deterministic.
func Files(moves []*move.Move) []File {
	var out []File
	var flavored []*move.Move
	for _, m := range moves {
		switch {
		case m.Shape == nil:
		case m.To == "nova":
			flavored = append(flavored, m)
		default:
			out = append(out, writers[m.To](m)...)
		}
	}
	if flavored != nil {
		out = append(out, flavors(flavored))
	}
	return out
}

// head returns comments that describe a file, one line each, even if names contain line breaks.
func head(m *move.Move) []string {
	lines := []string{
		fmt.Sprintf("%s (%s) for %s: %s, %s.", texttab.Line(m.Title), texttab.Line(m.ID), m.Platform.Title, nodes(m.Shape), m.Shape.Topology()),
		"The shape was " + texttab.Line(m.Basis) + ". Disks, networks and firmware are not in here: another tool carries them.",
	}
	if m.At != nil {
		lines = append(lines, "Placed on "+texttab.Line(m.At.Host)+".")
	}
	for _, need := range m.Needs() {
		lines = append(lines, "It does not start without "+need+".")
	}
	if m.At != nil && m.Binding() == nil {
		lines = append(lines, "No vCPU or memory is bound there: its CPU numbers are unknown, and binding memory without vCPUs is worse than no binding.")
	}
	return lines
}

// called returns the default name in a script: the vSphere name, or the file name if several VMs have that name. In this case it adds a
// comment.
func called(b *bytes.Buffer, m *move.Move) string {
	if !m.SameName {
		return m.Title
	}
	comment(b, "Several VMs have the name "+texttab.Line(m.Title)+": without a name the script takes that of its file, "+m.Name+".")
	return m.Name
}

func comment(b *bytes.Buffer, lines ...string) {
	for _, l := range lines {
		b.WriteString("# " + l + "\n")
	}
}

func nodes(s *move.Shape) string {
	if len(s.Cells) == 1 {
		return words.Plural(s.VCPUs, "vCPU")
	}
	sizes := words.Texts(s.Sizes(), strconv.Itoa)
	return fmt.Sprintf("%s in nodes of %s", words.Plural(s.Most(), "vCPU"), strings.Join(sizes, ", "))
}

// ranges formats numbers as a list for all platforms, with the separator between ranges: "0-11,13".
func ranges(numbers []int, separator string) string {
	sorted := slices.Clone(numbers)
	slices.Sort(sorted)
	return strings.ReplaceAll(words.Ranges(sorted), ", ", separator)
}

// mb returns bytes in MiB.
func mb(b numa.Bytes) int64 { return int64(b / numa.MiB) }
