package sheet

import (
	"io/fs"
	"maps"
	"strings"

	"example.org/homenode/numa/unit"
	"example.org/homenode/size/datafile"
)

// A printed figure is a line of checks.txt. Its formula is on the line, or in the table "sums" of the sheet, for an experiment, the
// part of What after the comma, and a quantity.
type printed struct {
	ID, What, Quantity, Printed string
	Kind                        unit.CheckKind
	Within                      float64
	Inconsistency, Note         string
	Formula                     string
}

// Checks returns the figures that the file checks.txt lists as printed, each with the value of its formula. of returns the known values
// of a line's experiment.
func (s *Sheet) Checks(files fs.FS, in Input, of func(experiment, what string) map[string]any) []unit.Check {
	sums := map[string]string{}
	for _, l := range s.read().lines["sums"] {
		sums[l["id"]+"|"+l["what"]+"|"+l["quantity"]] = l["formula"]
	}
	r := &Run{Sheet: s, Values: map[string]any{}, input: &in}
	r.start()
	var out []unit.Check
	for _, p := range datafile.Must[printed](files, "checks.txt") {
		one := &Run{Sheet: s, Values: maps.Clone(r.Values), input: &in}
		if of != nil {
			maps.Copy(one.Values, of(p.ID, p.What))
		}
		if p.Formula == "" {
			_, part, _ := strings.Cut(p.What, ", ")
			p.Formula = sums[p.ID+"|"+part+"|"+p.Quantity]
		}
		out = append(out, unit.Check{ID: p.ID, What: p.What, Quantity: p.Quantity, Printed: p.Printed, Computed: one.number(p.Formula), Kind: p.Kind,
			Within: p.Within, Inconsistency: p.Inconsistency, Note: p.Note})
	}
	return out
}
