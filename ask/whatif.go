package ask

import (
	"fmt"
	"strings"

	"example.org/homenode/change/whatif"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/size/fit"
)

// WhatIf changes the fleet before the assessment. Changes apply in the order in which they were
// given.
type WhatIf struct {
	WhatIfs []string `ask:"what-if" label:"Change" help:"judge the fleet with this change beside today's: 'vm=sql* hotAdd=off', 'host=esx* nodesPerSocket=2', 'release=8.0U3 hw=21', 'lose-host=esx07' (its VMs where it suits them worst), 'add-host=2x32c/1TB' or 'add-host=esx01 count=2', or @FILE with such lines (repeatable)"`
}

// Changes parses changes in the syntax of the field what-if.
func Changes(texts []string) (out []whatif.Change, err error) {
	for _, text := range texts {
		if path, isFile := strings.CutPrefix(text, "@"); isFile {
			lines, err := changesIn(path)
			if err != nil {
				return nil, err
			}
			out = append(out, lines...)
			continue
		}
		c, err := change("--what-if", 1, text)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// described matches an added host that is given as a shape, not as the name of an existing host.
var described = pattern.Of(`^add-host=([^:/ ]*:)?\d+[x×]\d+\D?`)

// change parses one change from this line of a file.
func change(file string, line int, text string) (whatif.Change, error) {
	if text = strings.TrimSpace(text); !described.MatchString(text) {
		return whatif.ParseAt(file, line, text)
	}
	shape, rest, _ := strings.Cut(strings.TrimPrefix(text, "add-host="), " ")
	kind, err := fit.ParseType(shape, 0)
	if err != nil {
		return whatif.Change{}, fmt.Errorf("%s:%d: add-host: %w", file, line, err)
	}
	return whatif.AddShapeAt(file, line, shape, kind.Host, rest)
}

// changesIn parses a file with one change per line; # begins a comment.
func changesIn(path string) ([]whatif.Change, error) {
	b, err := bounded.File(path, bounded.List)
	if err != nil {
		return nil, err
	}
	var out []whatif.Change
	line := 0
	for text := range strings.Lines(string(b)) {
		line++
		text = strings.TrimRight(text, "\r\n")
		if bare := strings.TrimSpace(text); bare == "" || bare[0] == '#' {
			continue
		}
		c, err := change(path, line, text)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if out == nil {
		return nil, fmt.Errorf("%s: found no change", path)
	}
	return out, nil
}
