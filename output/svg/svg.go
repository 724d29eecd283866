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

	"homenode/output/topo"
)

// Options say how Draw writes.
type Options struct {
	// Inline leaves the style out: the page that the drawing stands in has it,
	// once for all its drawings.
	Inline bool
}

// Style is the style sheet of all drawings. It follows the reader's preference
// for dark or light, and prints in grey.
//
//go:embed topo.css
var Style string

// Draw writes d as one svg element. Every shape has a class, and an id that
// begins with the drawing's.
func Draw(w io.Writer, d *topo.Drawing, o Options) error {
	out := writer{w: w}
	out.picture(place(d), o)
	return out.err
}
