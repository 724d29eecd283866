package gate

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/planned"
)

// A Patch changes a file that describes planned VMs.
type Patch struct {
	File   string   `json:"file"`
	Diff   string   `json:"diff"`             // unified; "" without changes
	Cannot []string `json:"cannot,omitempty"` // changes that cannot be made, with reasons
	// Lines are the necessary changes in the sources of the file, if it is generated and not edited by
	// people.
	Lines []string `json:"lines,omitempty"`
	data  []byte
	hunks []planned.Hunk
}

// PatchOf returns the changes to a file that the findings about its planned VMs require.
func PatchOf(r *rules.Result, file string, data []byte) (*Patch, error) {
	p := &Patch{File: file, data: data}
	edits := map[string][]numa.Edit{}
	for _, v := range Judge(r) {
		if v.File != filepath.ToSlash(file) {
			continue
		}
		for _, l := range v.Lines {
			if planned.Made(v.Form) {
				p.Lines = append(p.Lines, v.ID+": "+l.Text)
				continue
			}
			edits[v.ID] = append(edits[v.ID], l.Edit)
		}
		for _, why := range v.Cannot {
			p.Cannot = append(p.Cannot, v.Name+": "+why)
		}
	}
	hunks, cannot, err := planned.Patch(file, data, edits)
	if err != nil {
		return nil, err
	}
	p.hunks, p.Cannot = hunks, append(p.Cannot, cannot...)
	p.Diff = p.diff()
	return p, nil
}

// Changed returns the file with the changes applied.
func (p *Patch) Changed() []byte { return planned.Apply(p.data, p.hunks) }

// around is the number of context lines in a diff before and after a change.
const around = 3

// diff returns the unified diff.
func (p *Patch) diff() string {
	if p.hunks == nil {
		return ""
	}
	whole, cr := bytes.HasSuffix(p.data, []byte("\n")), ""
	lines := strings.Split(strings.TrimSuffix(string(p.data), "\n"), "\n")
	if strings.HasSuffix(lines[0], "\r") {
		cr = "\r"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%[1]s\n", strings.TrimPrefix(p.File, "/"))
	shift := 0
	for i := 0; i < len(p.hunks); {
		j := i + 1
		for j < len(p.hunks) && p.hunks[j].Line-p.hunks[j-1].Line <= 2*around {
			j++
		}
		group := p.hunks[i:j]
		first, last := max(1, group[0].Line-around), min(len(lines), group[len(group)-1].Line+around)
		var body strings.Builder
		added := 0
		for n := first - 1; n <= last; n++ {
			replaced := slices.IndexFunc(group, func(h planned.Hunk) bool { return h.Line == n && h.Old != "" })
			switch {
			case n < first: // inserted before the first line
			case replaced >= 0:
				fmt.Fprintf(&body, "-%s\n+%s%s\n", lines[n-1], group[replaced].New, cr)
			default:
				fmt.Fprintf(&body, " %s\n", lines[n-1])
			}
			if n == len(lines) && !whole {
				body.WriteString("\\ No newline at end of file\n")
			}
			for _, h := range group {
				if h.Line == n && h.Old == "" {
					fmt.Fprintf(&body, "+%s%s\n", strings.ReplaceAll(h.New, "\n", cr+"\n+"), cr)
					added += 1 + strings.Count(h.New, "\n")
				}
			}
		}
		old := last - first + 1
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s", first, old, first+shift, old+added, body.String())
		shift += added
		i = j
	}
	return b.String()
}
