package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/change/whatif"
	"homenode/internal/bounded"
	"homenode/output/format"
	"homenode/size/fit"
)

// WhatIf collects the changes of --what-if, --lose-host and --add-host in the
// order of the command line.
type WhatIf struct {
	Asked []Asked
}

// Asked is one change as it was typed.
type Asked struct{ Flag, Text string }

// Register adds the flags to a command.
func (f *WhatIf) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Var(&whatIfValue{f, "what-if"}, "what-if", "judge the fleet with this change beside today's: 'vm=sql* hotAdd=off', 'host=esx* nodesPerSocket=2', 'release=8.0U3 hw=21', or @FILE with such lines (repeatable)")
	fl.Var(&whatIfValue{f, "lose-host"}, "lose-host", "judge the fleet without these hosts, their VMs powered on where it suits them worst (repeatable)")
	fl.Var(&whatIfValue{f, "add-host"}, "add-host", "judge the fleet with further hosts: 'like=esx01' or '2x32c/1TB', also count=2, name=esx30, cluster=test (repeatable)")
}

// A whatIfValue is one of the flags; pflag calls Set for each occurrence in order.
type whatIfValue struct {
	to   *WhatIf
	flag string
}

func (v *whatIfValue) Set(text string) error {
	v.to.Asked = append(v.to.Asked, Asked{v.flag, text})
	return nil
}

func (v *whatIfValue) String() string { return "" }
func (v *whatIfValue) Type() string   { return "string" }

// Changes reads what the flags say; name is the format of the output.
func (f *WhatIf) Changes(name string) ([]whatif.Change, error) {
	if f.Asked != nil && !slices.Contains(format.Tables, name) {
		return nil, fmt.Errorf("--format: found %q, want one of %s for a what-if", name, strings.Join(format.Tables, ", "))
	}
	var out []whatif.Change
	for _, a := range f.Asked {
		var c whatif.Change
		var err error
		path, isFile := strings.CutPrefix(a.Text, "@")
		switch {
		case a.Flag == "lose-host":
			c, err = whatif.LoseHost(a.Text)
		case a.Flag == "add-host":
			c, err = addHost(a.Text)
		case isFile:
			lines, err := changesIn(path)
			if err != nil {
				return nil, err
			}
			out = append(out, lines...)
			continue
		default:
			c, err = whatif.Parse(a.Text)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// addHost reads what --add-host says: a host that the new ones are like, or their shape first.
func addHost(text string) (whatif.Change, error) {
	shape, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if at := strings.IndexAny(shape, "=/"); at < 0 || shape[at] == '=' {
		return whatif.AddHost(text)
	}
	kind, err := fit.ParseType(shape, 0)
	if err != nil {
		return whatif.Change{}, fmt.Errorf("--add-host: %w", err)
	}
	return whatif.AddShape(shape, kind.Host, rest)
}

// changesIn reads a file of changes, one a line; # begins a comment.
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
		c, err := whatif.ParseAt(path, line, text)
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
