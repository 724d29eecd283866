package asker

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/ask/change"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/ask/recording"
	"example.org/homenode/numa"
	"example.org/homenode/source/open"
)

// Paths of the page. Objects of an answer link to the paths of VMs, hosts, clusters and rules.
const (
	shapePath   = "/shape"
	fleetPath   = "/"
	capturePath = "/capture"
	filePath    = "/file"
	planPath    = "/plan"
	whatIfPath  = "/what-if"
	findPath    = "/find" // finds a VM, host or cluster by its name
)

// pages returns the paths that can be opened now.
func (a *Asker) pages() []string {
	out := []string{shapePath}
	if a.held != nil {
		out = append(out, fleetPath)
	}
	if a.held != nil && a.held.Result.Fleet.Hypervisor != numa.KVM { // whose definitions state their layouts
		out = append(out, whatIfPath)
		if open.Whole(a.held.Sources) {
			out = append(out, planPath)
		}
	}
	if a.captures != nil {
		out = append(out, capturePath)
	}
	if a.held == nil && a.captures == nil && a.names != nil {
		out = append(out, filePath)
	}
	return out
}

// question returns the question of a path with the fields of the query. Query values that are no fields are the state of tables. With the error of a field
// it returns the question as well.
func (a *Asker) question(path string, query url.Values) (*ask.Entry, ask.Question, error) {
	t, given, err := a.entry(path, query)
	if err != nil {
		return nil, nil, err
	}
	q := t.Ask()
	fields := ask.Fields(q)
	for _, one := range given {
		err = cmp.Or(err, set(fields, one.Name, one.Values))
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if stated[name] != "" || slices.ContainsFunc(given, func(g value) bool { return g.Name == name }) {
			continue
		}
		named := slices.Contains([]string{"vm", "host", "cluster"}, name) // a name may begin with it
		if !named && slices.ContainsFunc(query[name], func(v string) bool { return strings.HasPrefix(v, "@") }) {
			err = cmp.Or(err, ask.Wrong(name, ask.ErrFiles))
			continue
		}
		err = cmp.Or(err, set(fields, name, query[name]))
	}
	return t, q, err
}

// set gives a field its values; "" is none. A name without a field is no error.
func set(fields []*ask.Field, name string, values []string) (err error) {
	i := slices.IndexFunc(fields, func(f *ask.Field) bool { return f.Name == name })
	for _, v := range values {
		if i >= 0 && v != "" {
			err = cmp.Or(err, fields[i].Set(v))
		}
	}
	return err
}

// A value is the value of a field.
type value struct {
	Name   string
	Values []string
}

// entry returns the question of a path, with the field values that follow from the path.
func (a *Asker) entry(path string, query url.Values) (*ask.Entry, []value, error) {
	source := []value{{"source", a.sources()}}
	for name, values := range a.stated { // the command shown on the page needs them too
		source = append(source, value{name, values})
	}
	switch path {
	case shapePath:
		return fleet.ExplainEntry, []value{{"source", nil}}, nil
	case "/rule":
		return fleet.RulesEntry, []value{{"id", query["rule"]}}, nil
	case filePath:
		if len(a.names) == 0 {
			return nil, nil, errNothing
		}
		return fleet.ExplainEntry, []value{{"source", a.names[:1]}}, nil
	case capturePath:
		if a.captures == nil {
			return nil, nil, errNothing
		}
		return recording.CaptureEntry, []value{{"file", a.captures}, {"fleet", a.sources()}}, nil
	case fleetPath, whatIfPath, planPath, findPath, "/vm", "/host", "/cluster":
	default:
		return nil, nil, fmt.Errorf("%s: no such page", path)
	}
	switch {
	case a.held == nil && a.hostless:
		return nil, nil, fmt.Errorf("%s names no host: state its nodes=, cores=, memory= and release=", a.names[0])
	case a.held == nil:
		return nil, nil, errNothing
	}
	switch path {
	case planPath:
		if !open.Whole(a.held.Sources) {
			return nil, nil, errors.New("a plan is about one source: drop its file alone")
		}
		source[0].Values = a.held.Sources[:1]
		return change.FixEntry, append(source, value{"beside", a.held.Sources[1:]}), nil
	case findPath:
		if query.Get("name") == "" {
			return nil, nil, errors.New("name a VM, host or cluster")
		}
		source[0].Values = slices.Concat(source[0].Values, query["name"])
		return fleet.ExplainEntry, source, nil
	case fleetPath, whatIfPath:
		return fleet.AssessEntry, source, nil
	}
	return fleet.ExplainEntry, source, nil
}

// sources returns the names of the open fleet; nil for none.
func (a *Asker) sources() []string {
	if a.held == nil {
		return nil
	}
	return a.held.Sources
}
