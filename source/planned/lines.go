package planned

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// A Line is a change of an attribute as the file of a planned VM writes it.
type Line struct {
	Attribute string    `json:"attribute"`
	Text      string    `json:"line"`
	At        string    `json:"at,omitempty"` // of the present value; "" where the file has none
	Edit      numa.Edit `json:"-"`
}

// A syntax is how files of a form write an attribute.
type syntax uint8

const (
	hclSyntax syntax = iota
	yamlSyntax
	jsonSyntax
	xmlSyntax
)

// syntaxes are those of the forms, by name.
var syntaxes = map[string]syntax{"Terraform": hclSyntax, "Packer": jsonSyntax, "OVF": xmlSyntax}

func (f *form) syntax() syntax {
	if s, ok := syntaxes[f.name]; ok {
		return s
	}
	return yamlSyntax
}

// forms are those of planned VMs.
var forms = []*form{terraformForm, clusterAPI, openShift, eksAnywhere, machineClass, packerForm, ovfForm}

// formNamed returns the form of a planned VM; nil for none.
func formNamed(name string) *form {
	if i := slices.IndexFunc(forms, func(f *form) bool { return f.name == name }); i >= 0 {
		return forms[i]
	}
	return nil
}

// sets reports whether the attribute states what the edit changes.
func (a *attribute) sets(e *numa.Edit) bool {
	switch a.word {
	case wordNUMANode:
		return e.Kind == numa.EditCoresPerNUMANode
	case wordSettings:
		return e.Kind == numa.EditExtraConfig
	}
	p := numa.Of(numa.VMFacts, a.word)
	return p != nil && p.Edit == e.Kind && e.Key == ""
}

// attribute returns the attribute that the edit sets, or why there is none. Of several the one that the file has is meant.
func (f *form) attribute(e *numa.Edit, has func(path string) bool) (attribute, string) {
	var found []attribute
	for _, a := range f.attributes {
		if a.sets(e) {
			found = append(found, a)
		}
	}
	slices.Reverse(found) // the last one wins
	i := slices.IndexFunc(found, func(a attribute) bool { return has(a.path) })
	switch {
	case found == nil:
		return attribute{}, f.name + " has no attribute for it"
	case !e.To.Set:
		return attribute{}, "take it out of " + found[0].path
	case e.To.Text == "0" && e.Kind == numa.EditCoresPerSocket && !found[max(i, 0)].auto:
		return attribute{}, f.name + " has no value for cores per socket that are assigned at power-on"
	}
	return found[max(i, 0)], ""
}

// value returns what the edit sets as the attribute is written, without quotes.
func (a *attribute) value(e *numa.Edit) string {
	p := numa.Of(numa.VMFacts, a.word)
	switch {
	case a.word == "hw" && (a.path == "hardwareVersion" || a.path == "VirtualSystemType" || a.path == "configSpec.version"):
		return "vmx-" + e.To.Text
	case p != nil && p.Unit == "bytes" && a.unit == "" && a.path != "VirtualQuantity of the memory":
		return e.To.Text + "Mi"
	}
	return e.To.Text
}

// bare reports whether a value is written without quotes: a number, true or false.
func bare(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil || s == "true" || s == "false"
}

// line returns the attribute with the value as files of the form write it.
func (f *form) line(a attribute, e *numa.Edit) string {
	value := a.value(e)
	quoted := value
	if !bare(value) || a.word == wordSettings {
		quoted = strconv.Quote(value)
	}
	names := strings.Split(a.path, ".")
	name := names[len(names)-1]
	setting := a.word == wordSettings
	switch f.syntax() {
	case hclSyntax:
		quoted = strings.NewReplacer("${", "$${", "%{", "%%{").Replace(quoted)
		if setting {
			return fmt.Sprintf("%s = { %s = %s }", name, strconv.Quote(e.Key), quoted)
		}
		return name + " = " + quoted
	case jsonSyntax:
		if setting {
			return fmt.Sprintf("%q: {%q: %s}", name, e.Key, quoted)
		}
		return fmt.Sprintf("%q: %s", name, quoted)
	case xmlSyntax:
		return xmlLine(a, e, value)
	}
	switch {
	case setting && f == machineClass:
		return fmt.Sprintf("%s: [{key: %s, value: %s}]", name, e.Key, quoted)
	case setting:
		return fmt.Sprintf("%s: {%s: %s}", name, e.Key, quoted)
	}
	return name + ": " + quoted
}

// xmlLine returns an element of a descriptor.
func xmlLine(a attribute, e *numa.Edit, value string) string {
	switch {
	case a.word == wordSettings:
		return fmt.Sprintf(`<vmw:ExtraConfig ovf:required="false" vmw:key=%q vmw:value=%q/>`, e.Key, value)
	case a.word == "hotAdd" || a.word == "memoryHotAdd":
		return fmt.Sprintf(`<vmw:Config ovf:required="false" vmw:key=%q vmw:value=%q/>`, a.path, value)
	case a.word == "coresPerSocket":
		return fmt.Sprintf(`<vmw:CoresPerSocket ovf:required="false">%s</vmw:CoresPerSocket>`, value)
	case a.word == "hw":
		return fmt.Sprintf("<vssd:VirtualSystemType>%s</vssd:VirtualSystemType>", value)
	}
	name, _, _ := strings.Cut(a.path, " ")
	return fmt.Sprintf("<rasd:%s>%s</rasd:%[1]s>", name, value)
}

// Lines returns what edits of a planned VM change in its file, and what of them the file cannot state, with the reason.
func Lines(v *numa.VM, edits []numa.Edit) (lines []Line, cannot []string) {
	f := formNamed(v.Planned.Form)
	if f == nil {
		return nil, []string{"nothing is known of files of " + v.Planned.Form}
	}
	for i := range edits {
		e := &edits[i]
		a, why := f.attribute(e, func(path string) bool { return placeOf(v, e, path) != "" })
		if why != "" {
			cannot = append(cannot, fmt.Sprintf("%s = %s: %s", e.Name(), e.To, why))
			continue
		}
		lines = append(lines, Line{Attribute: a.path, Text: f.line(a, e), At: placeOf(v, e, a.path), Edit: *e})
	}
	return lines, cannot
}

// Place returns where the file has the value that the edit changes; "" where it does not state it.
func Place(v *numa.VM, e *numa.Edit) string {
	f := formNamed(v.Planned.Form)
	if f == nil {
		return ""
	}
	for _, a := range f.attributes {
		if at := placeOf(v, e, a.path); a.sets(e) && at != "" {
			return at
		}
	}
	return ""
}

// placeOf returns file:line:column of the value of an attribute from the origin of its fact: "num_cpus, line 12:7".
func placeOf(v *numa.VM, e *numa.Edit, path string) string {
	where := ""
	if e.Kind == numa.EditExtraConfig {
		if _, ok := v.Settings.Value.Lookup(e.Key); ok {
			where = v.Settings.Origin.Where
		}
	} else if o := e.Origin(&v.Config); o.Kind == numa.Read {
		where = o.Where
	}
	place, ok := strings.CutPrefix(where, path+", line ")
	if !ok {
		return ""
	}
	return v.Planned.File + ":" + place
}
