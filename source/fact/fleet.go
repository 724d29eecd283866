package fact

import (
	"fmt"
	"reflect"
	"strings"

	"homenode/numa"
)

// OfFleet returns what a fleet states, as the facts of a file: a fleet has no lines, so the
// origin of a fact stands where a unit would.
func OfFleet(name, format string, f *numa.Fleet) File {
	out := File{Name: name, Format: format}
	for i := range f.Hosts {
		addFacts(&out, "host "+f.Hosts[i].Name, &f.Hosts[i])
	}
	for i := range f.VMs {
		addFacts(&out, "VM "+f.VMs[i].Name, &f.VMs[i])
	}
	for _, n := range f.Notes {
		out.Warn(0, 0, "%s", n)
	}
	return out
}

// addFacts adds every known fact of a host or VM under the name it has in
// snapshots. The facts of a fleet are many and of one form, so the fields are
// walked and not listed.
func addFacts(to *File, subject string, object any) {
	v := reflect.ValueOf(object).Elem()
	for _, field := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		origin, value, ok := factOf(v.FieldByIndex(field.Index))
		if field.Anonymous || !ok || origin.Kind == numa.Unknown {
			continue
		}
		if settings, ok := value.(numa.Settings); ok {
			for _, s := range settings {
				to.Add(0, 0, subject, s.Key, s.Value, "["+origin.String()+"]")
			}
			continue
		}
		if nodes, ok := value.([]numa.Node); ok {
			for _, n := range nodes {
				text := fmt.Sprintf("%d cores, %d threads", n.Cores, n.Threads)
				if n.Memory.Known() {
					text += ", " + n.Memory.Value.String()
				}
				to.Add(0, 0, subject, fmt.Sprintf("node %d", n.ID), text, "["+origin.String()+"]")
			}
			continue
		}
		to.Add(0, 0, subject, name, fmt.Sprint(value), "["+origin.String()+"]")
	}
}

// factOf returns the origin and value of a numa.Fact of any type.
func factOf(v reflect.Value) (numa.Origin, any, bool) {
	if v.Kind() != reflect.Struct || v.NumField() != 2 {
		return numa.Origin{}, nil, false
	}
	origin, ok := v.Field(1).Interface().(numa.Origin)
	return origin, v.Field(0).Interface(), ok
}
