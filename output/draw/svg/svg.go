// Package svg draws the Drawings of package topo as SVG. One pass places the
// shapes, one writes them; the same drawing gives the same bytes.
//
//	  ╭ guest node 0 ──────╮ ╭ guest node 1 ──────╮   frames: what the guest sees
//	┌ node 0 ──────────────┐ ┌ node 1 ──────────────┐ rooms: NUMA nodes
//	│ ┄┄┄┄┄┄┄┄┄┄┄┄┄┄  ▕  ▏ │ │ ┄┄┄┄┄┄┄┄┄┄┄┄┄┄  ▕  ▏ │ dashed: as many vCPUs as cores
//	│ ┌────────────┐  ▕  ▏ │ │ ┌────────────┐  ▕▒▒▏ │ blocks: clients, height ∝ vCPUs
//	│ │ sql01.0    │  ▕██▏ │ │ │ sql01.1    │  ▕██▏ │ column: memory of the node
//	└──────────────────────┘ └──────────────────────┘
package svg

import (
	_ "embed"
	"io"

	"homenode/output/draw/picture"
	"homenode/output/draw/topo"
)

// Options say how Draw writes.
type Options struct {
	// Inline leaves the style out: the page that the drawing stands in has it,
	// once for all its drawings. It also leaves out the ids of the shapes in a group,
	// which would make the page half as large again.
	Inline bool
}

// Style is the style sheet of all drawings. It follows the reader's preference
// for dark or light, and prints in grey.
//
//go:embed topo.css
var Style string

// Draw writes d as one svg element. Every shape has a class and an id, and what
// belongs together, such as a client with its labels, is a group with an id.
//
// An id says what is drawn, not where: the drawing's id, then parts joined by two
// underscores, as host-esx01__vm-vm-12__client-0__block. It is the same in every
// run, whatever else is drawn. IDs of the model stand in it with any byte that is
// not a letter, digit, dot or hyphen as _xx, so that different ones stay different
// and every id is an XML name.
func Draw(w io.Writer, d *topo.Drawing, o Options) error {
	return write(w, place(d), o)
}

func write(w io.Writer, p *picture.Picture, o Options) error {
	if p.Inline = o.Inline; !o.Inline {
		p.Style = Style
	}
	return picture.Write(w, p)
}
