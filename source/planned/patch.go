package planned

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"example.org/homenode/numa"
	"example.org/homenode/source/jsontree"
)

// A Hunk replaces a line of a file, or inserts lines behind it.
type Hunk struct {
	Line     int    // from 1; 0 inserts before the first line
	Old, New string // without line ends; Old is "" for lines that are inserted
}

// Patch returns what makes the edits of the VMs, by their ID in the file, in a file that people edit: lines are replaced or inserted, and all
// other bytes stay. It also returns what cannot be edited, and why.
func Patch(name string, data []byte, edits map[string][]numa.Edit) (hunks []Hunk, cannot []string, err error) {
	f := formatOf(data)
	if f == nil || f.read == nil {
		return nil, nil, fmt.Errorf("%s: found no file that people edit", name)
	}
	r := &reader{file: name, fleet: &numa.Fleet{}, ids: map[string]int{}}
	if err := f.read(r, data); err != nil {
		return nil, nil, err
	}
	p := &patch{reader: r, lines: strings.SplitAfter(string(data), "\n"), edits: edits, changed: map[int]string{}, added: map[int][]string{}}
	for i := range r.fleet.VMs {
		v := &r.fleet.VMs[i]
		for j := range edits[v.ID] {
			e := &edits[v.ID][j]
			if why := p.edit(v, &r.sites[i], e); why != "" {
				cannot = append(cannot, fmt.Sprintf("%s: %s = %s: %s", v.Name, e.Name(), e.To, why))
			}
		}
	}
	hunks = p.hunks()
	return hunks, cannot, p.verify(f, data, hunks)
}

// Made reports whether files of the form are made of others, which people edit: a plan of .tf files.
func Made(form string) bool { return form == terraformForm.name }

// A patch collects what is changed.
type patch struct {
	*reader
	lines   []string // with their ends
	edits   map[string][]numa.Edit
	changed map[int]string   // by line, from 1
	added   map[int][]string // behind a line
	made    []made
}

// made is an edit that is in the patch.
type made struct {
	id   string
	edit *numa.Edit
}

// edit changes the value, or adds the attribute; why says why not.
func (p *patch) edit(v *numa.VM, s *site, e *numa.Edit) (why string) {
	a, why := s.form.attribute(e, func(path string) bool { return s.values[path] != nil })
	if why != "" {
		return why
	}
	key := a.path
	if a.word == wordSettings {
		key = e.Key
	}
	if other := p.shared(v, s.values[key], e); other != "" {
		return other + " has the same line and needs no such change"
	}
	if n := s.values[key]; n != nil {
		why = p.replace(s.form, n, a.value(e))
	} else {
		why = p.add(s, a, e)
	}
	if why == "" {
		p.made = append(p.made, made{v.ID, e})
	}
	return why
}

// shared names a VM that has the value of the same place and no such edit; "" for none.
func (p *patch) shared(v *numa.VM, n *jsontree.Value, e *numa.Edit) string {
	for i := range p.fleet.VMs {
		o := &p.fleet.VMs[i]
		alike := slices.ContainsFunc(p.edits[o.ID], func(x numa.Edit) bool { return x.Kind == e.Kind && x.Key == e.Key && x.To == e.To })
		if n == nil || o.ID == v.ID || alike {
			continue
		}
		for _, m := range p.sites[i].values {
			if m.Line == n.Line && m.Col == n.Col {
				return o.Name
			}
		}
	}
	return ""
}

// line returns a line as it is changed so far, without its end.
func (p *patch) line(n int) string {
	if text, ok := p.changed[n]; ok {
		return text
	}
	return strings.TrimRight(p.lines[n-1], "\r\n")
}

// replace puts a value where the file has another one.
func (p *patch) replace(f *form, n *jsontree.Value, value string) (why string) {
	const odd = "its value is written in a way that is not edited: change it by hand"
	if n.Line < 1 || n.Line > len(p.lines) {
		return odd
	}
	text := p.line(n.Line)
	at := min(n.Col-1, len(text))
	if f.syntax() == yamlSyntax { // its columns count characters
		at = 0
		for i := 1; i < n.Col && at < len(text); i++ {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
	}
	begin, end := at, -1
	switch rest := text[at:]; {
	case p.changed[n.Line] != "": // by another VM of the same value
		return ""
	case f.syntax() == xmlSyntax && strings.HasSuffix(text[:at], ">") && strings.Contains(text[:at], `value="`) && !strings.Contains(rest, "</"):
		begin = strings.LastIndex(text[:at], `value="`) + len(`value="`)
		end = begin + strings.IndexByte(text[begin:at], '"')
	case f.syntax() == xmlSyntax:
		end = at + strings.IndexByte(rest, '<')
	case strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'"):
		begin = at + 1
		end = begin + strings.IndexByte(text[begin:], rest[0])
	case strings.HasPrefix(rest, n.Text) && n.Text != "":
		end = at + len(n.Text)
	}
	if end < begin || strings.ContainsAny(text[begin:max(begin, end)], `\&*|`) {
		return odd
	}
	if begin == at && f.syntax() != xmlSyntax && !bare(value) {
		value = fmt.Sprintf("%q", value)
	}
	p.changed[n.Line] = text[:begin] + value + text[end:]
	return ""
}

// add adds an attribute beside another one of the object.
func (p *patch) add(s *site, a attribute, e *numa.Edit) (why string) {
	const none = "the file has no line beside which it belongs: add it by hand"
	beside, below := p.beside(s, a)
	if beside == nil {
		return none
	}
	text := p.line(beside.Line)
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t-"))]
	indent = strings.ReplaceAll(indent, "-", " ")
	switch {
	case s.form.syntax() == xmlSyntax:
		for n := beside.Line; n <= len(p.lines); n++ {
			if strings.Contains(p.lines[n-1], "Item>") && strings.Contains(p.lines[n-1], "</") && a.word == "coresPerSocket" {
				p.added[n-1] = append(p.added[n-1], indent+s.form.line(a, e))
				return ""
			}
		}
		return none
	case s.form.syntax() == jsonSyntax:
		if !strings.HasPrefix(strings.TrimLeft(text, " \t"), `"`) || a.word == wordSettings && !below {
			return none
		}
		p.added[beside.Line-1] = append(p.added[beside.Line-1], indent+p.entry(s.form, a, e, below)+",")
	default:
		if strings.ContainsAny(text, "{}") || a.word == wordSettings && s.form == machineClass {
			return none
		}
		entry := p.entry(s.form, a, e, below)
		if a.word == wordSettings && !below {
			entry = lastKey(a.path) + ":\n" + indent + "  " + p.entry(s.form, a, e, true)
		}
		p.added[beside.Line] = append(p.added[beside.Line], indent+entry)
	}
	return ""
}

// entry returns the line of an attribute; below says that it is one of the settings.
func (p *patch) entry(f *form, a attribute, e *numa.Edit, below bool) string {
	switch {
	case !below:
		return f.line(a, e)
	case f.syntax() == jsonSyntax:
		return fmt.Sprintf("%q: %q", e.Key, e.To.Text)
	}
	return fmt.Sprintf("%s: %q", e.Key, e.To.Text)
}

func lastKey(path string) string { return path[strings.LastIndex(path, ".")+1:] }

// beside returns a value of one line beside which the attribute belongs: another setting, or an attribute of the same object.
func (p *patch) beside(s *site, a attribute) (n *jsontree.Value, below bool) {
	parent := strings.TrimSuffix(a.path, lastKey(a.path))
	settings := &jsontree.Value{}
	if s.object != nil {
		settings = s.object.At(strings.Split(a.path, ".")...)
	}
	if a.word == wordSettings && settings.Kind == jsontree.Object {
		for _, m := range settings.List() {
			if n == nil || m.Line > n.Line {
				n = m
			}
		}
		return n, n != nil
	}
	for _, other := range s.form.attributes {
		m := s.values[other.path]
		scalar := m != nil && m.Kind != jsontree.Object && m.Kind != jsontree.List
		if s.form.syntax() == xmlSyntax {
			scalar = scalar && other.path == "VirtualQuantity of the processors"
		} else {
			scalar = scalar && strings.TrimSuffix(other.path, lastKey(other.path)) == parent
		}
		if scalar && (n == nil || m.Line > n.Line) {
			n = m
		}
	}
	return n, false
}

// hunks returns the changes in the order of the file.
func (p *patch) hunks() (out []Hunk) {
	for n := 0; n <= len(p.lines); n++ {
		if text, ok := p.changed[n]; ok {
			out = append(out, Hunk{n, strings.TrimRight(p.lines[n-1], "\r\n"), text})
		}
		seen := map[string]bool{}
		for _, text := range p.added[n] {
			if !seen[text] { // several VMs of one object
				out = append(out, Hunk{n, "", text})
			}
			seen[text] = true
		}
	}
	return out
}

// Apply returns the file with the changes. Each line keeps its end.
func Apply(data []byte, hunks []Hunk) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	end := "\n"
	if bytes.HasSuffix(lines[0], []byte("\r\n")) {
		end = "\r\n"
	}
	var out bytes.Buffer
	for n := 0; n <= len(lines); n++ {
		text := []byte(nil)
		if n > 0 {
			text = lines[n-1]
		}
		for _, h := range hunks {
			if h.Line == n && h.Old != "" {
				text = append([]byte(h.New), text[len(bytes.TrimRight(text, "\r\n")):]...)
			}
		}
		out.Write(text)
		for _, h := range hunks {
			if h.Line == n && h.Old == "" {
				if b := out.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
					out.WriteString(end)
				}
				out.WriteString(strings.ReplaceAll(h.New, "\n", end) + end)
			}
		}
	}
	return out.Bytes()
}

// verify reads the changed file: each VM has what its edits set, and no VM was lost.
func (p *patch) verify(f *format, data []byte, hunks []Hunk) error {
	again := &reader{file: p.file, fleet: &numa.Fleet{}, ids: map[string]int{}}
	if err := f.read(again, Apply(data, hunks)); err != nil {
		return fmt.Errorf("the changed file cannot be read: %w", err)
	}
	vms := again.fleet.VMsByID()
	for _, m := range p.made {
		if v := vms[m.id]; v == nil || !m.edit.ValueOf(&v.Config).Same(m.edit.To) {
			return fmt.Errorf("%s: the changed file does not state %s = %s of %s", p.file, m.edit.Name(), m.edit.To, m.id)
		}
	}
	return nil
}
