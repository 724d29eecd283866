package target

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/golden"
	"example.org/homenode/rules/rule"
)

// at places each cell on a node of its own of a host of 16 nodes of 16 CPUs, from the last one down, so that some have two digits.
func at(first int) func(v *rule.VM) (*move.Placement, string) {
	return func(v *rule.VM) (*move.Placement, string) {
		p := &move.Placement{Host: "kvm01", CPUs: map[int][]int{}}
		cells := v.On[0].Layout.VPDs.Len()
		for i := range cells {
			n := first - i
			p.Nodes = append(p.Nodes, n)
			for c := range 16 {
				p.CPUs[n] = append(p.CPUs[n], n*16+c)
			}
		}
		return p, ""
	}
}

// TestGolden compares everything that is written for each shape, without a host and on one, with what a person has read.
func TestGolden(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			ar := &txtar.Archive{Comment: []byte(s.host + "\n" + s.vm + "\n")}
			for _, on := range []struct {
				name string
				o    move.Options
			}{{"", move.Options{}}, {"node 9: ", move.Options{At: at(9)}}, {"node 12: ", move.Options{At: at(12)}}} {
				if on.o.At != nil && !s.placed {
					continue
				}
				var moves []*move.Move
				for _, p := range move.Platforms {
					if on.o.At == nil || p.Places() { // else as without
						moves = append(moves, moved(t, s.name, p.Name, on.o))
					}
				}
				for _, f := range Files(moves) {
					ar.Files = append(ar.Files, txtar.File{Name: on.name + f.Name, Data: f.Data})
				}
				var refused bytes.Buffer
				for _, m := range moves {
					for _, why := range m.Refused {
						fmt.Fprintf(&refused, "%s: %s\n", m.To, why)
					}
				}
				ar.Files = append(ar.Files, txtar.File{Name: on.name + "refused", Data: refused.Bytes()})
			}
			golden.Equal(t, txtar.Format(ar), filepath.Join("testdata", "shapes", strings.NewReplacer(" ", "-", "+", "-").Replace(s.name)+".txtar"))
		})
	}
}
