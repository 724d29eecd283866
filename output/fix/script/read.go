package script

import (
	"fmt"
	"strings"

	"example.org/homenode/numa"
)

// A reader has the expressions of a language that return a VM setting as text. Each format has two parameters: the path of the field below config, and the
// text for an absent setting.
type reader struct {
	path                  func(path string) string
	number, truth, choice string
	list                  string
	between               string
}

// read returns the readers of all VM facts that an edit can change, by kind, so that every row can be compared. Settings with more than one API field are
// read by runtime.
func (r *reader) read() string {
	var out []string
	for i := range numa.VMFacts {
		p := &numa.VMFacts[i]
		format := ""
		switch p.Fact(&numa.Config{}).(type) {
		case *numa.Fact[int], *numa.Fact[numa.Bytes]:
			format = r.number
		case *numa.Fact[bool]:
			format = r.truth
		case *numa.Fact[string]:
			format = r.choice
		case *numa.Fact[[]int]:
			format = r.list
		}
		if p.Edit != "" && p.Edit != numa.EditHardware && p.Edit != numa.EditCoresPerSocket {
			out = append(out, strings.NewReplacer("KIND", string(p.Edit), "PATH", r.path(p.Where), "ABSENT", absent(p.Edit)).Replace(format))
		}
	}
	return strings.Join(out, r.between)
}

// absent returns the text for an absent setting: the default of vSphere.
func absent(kind numa.EditKind) string {
	switch kind {
	case numa.EditCPUHotAdd, numa.EditMemoryHotAdd, numa.EditVNUMAHotAdd, numa.EditReserveAll, numa.EditIOMMU:
		return "FALSE"
	case numa.EditVCPUs, numa.EditMemory, numa.EditCoresPerNUMANode, numa.EditCPUReservation, numa.EditMemoryReservation:
		return "0"
	case numa.EditLatency:
		return "normal"
	}
	return ""
}

var inJQ = reader{
	path:   func(path string) string { return "$c." + path },
	number: `KIND: (PATH // ABSENT | tostring)`, truth: `KIND: (PATH | truth)`, choice: `KIND: (PATH // "ABSENT")`,
	list: `KIND: (PATH // [] | map(tostring) | join(","))`, between: ",\n\t\t\t",
}

var inPowerShell = reader{
	path: func(path string) string {
		parts := strings.Split(path, ".")
		for i, p := range parts {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
		return "$config." + strings.Join(parts, ".")
	},
	number: `'KIND' { return [string][long]PATH }`, truth: `'KIND' { return [string][bool]PATH }`,
	choice: `'KIND' { if (PATH) { return [string]PATH } else { return 'ABSENT' } }`,
	list:   `'KIND' { return @(PATH | Where-Object { $null -ne $_ }) -join ',' }`, between: "\n        ",
}

var inJinja = reader{
	path: func(path string) string {
		if object, field, ok := strings.Cut(path, "."); ok {
			return fmt.Sprintf("(c.%s | default({}, true)).%s", object, field)
		}
		return "c." + path
	},
	number: `'KIND': PATH | default(ABSENT, true) | string`, truth: `'KIND': PATH | default(false, true) | string | upper`,
	choice: `'KIND': PATH | default('ABSENT', true)`, list: `'KIND': PATH | default([], true) | join(',')`, between: ",\n            ",
}
