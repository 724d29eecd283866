package fact

import (
	"fmt"
	"reflect"
	"strings"

	"example.org/homenode/numa"
)

// OfFleet returns the facts of a fleet as a file. A fleet has no lines, so its facts have
// origins.
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

// addFacts adds every known fact of a host or VM under its name in snapshots. A fleet has many
// facts of the same form, so addFacts walks the fields instead of listing them.
func addFacts(to *File, subject string, object any) {
	v := reflect.ValueOf(object).Elem()
	for _, field := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known, ok := v.FieldByIndex(field.Index).Addr().Interface().(numa.AnyFact)
		if field.Anonymous || !ok || !known.Known() {
			continue
		}
		add := func(name string, value any) {
			value, unit := exact(value)
			to.Facts = append(to.Facts, Fact{Subject: subject, Name: name, Value: value, Unit: unit, Origin: known.From().String()})
		}
		switch value := known.Any().(type) {
		case numa.Settings:
			for _, s := range value {
				add(s.Key, s.Value)
			}
		case []numa.Node:
			for _, n := range value {
				text := fmt.Sprintf("%d cores, %d threads", n.Cores, n.Threads)
				if n.Memory.Known() {
					memory, unit := exact(n.Memory.Value)
					text += fmt.Sprintf(", %d %s", memory, unit)
				}
				add(fmt.Sprintf("node %d", n.ID), text)
			}
		default:
			add(name, value)
		}
	}
}

// exact returns a value in the form of a Fact: numbers stay numbers, and memory is not rounded.
func exact(value any) (_ any, unit string) {
	switch v := value.(type) {
	case numa.Bytes:
		if v < 0 {
			return "none", "" // no limit
		}
		if v%numa.MiB == 0 {
			return int64(v / numa.MiB), "MiB"
		}
		return int64(v), "B"
	case int:
		if v < 0 {
			return "none", "" // no limit
		}
		return v, ""
	case string, bool, int64, float64:
		return v, ""
	}
	return fmt.Sprint(value), ""
}
