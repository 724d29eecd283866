// Package target writes what a move comes to in the form of its platform: domain XML, arguments, configurations, manifests
// and scripts. Nothing is decided here: package change/move does that, and a move that it refuses has no file.
//
// Names in the files are those that are safe for every platform; the name of vSphere is in comments and in quotes.
package target

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"homenode/change/move"
	"homenode/internal/texttab"
	"homenode/internal/words"
	"homenode/numa"
)

// A File is one file of a move.
type File struct {
	Name string
	Data []byte
	Of   []*move.Move // that share it
}

// writers are those of each platform; the flavors of Nova are written for all VMs together.
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

// Files returns the files of the moves, in their order; the flavors of Nova, which VMs share, come last. The same moves give
// the same bytes.
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

// head says in comments what a file is; it stays one line a name.
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
		lines = append(lines, "Nothing is bound there: the numbers of its CPUs are not known, and memory that is bound without its vCPUs is worse than none.")
	}
	return lines
}

// called returns the name that a script takes when none is given: that of vSphere, or that of the file where several VMs have it, which
// comments then say.
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

// ranges writes numbers as every platform reads lists, with the separator between ranges: "0-11,13".
func ranges(numbers []int, separator string) string {
	sorted := slices.Clone(numbers)
	slices.Sort(sorted)
	return strings.ReplaceAll(words.Ranges(sorted), ", ", separator)
}

// mb returns bytes in MiB.
func mb(b numa.Bytes) int64 { return int64(b / numa.MiB) }
