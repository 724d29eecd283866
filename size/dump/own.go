package dump

import (
	"fmt"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/hostcmd"
)

// Own returns the core dump files of the user's hosts. Each host has a file with the output of
// esxcli system coredump file list, for the active dump file, and of esxcli hardware memory get.
// Where the latter is missing the host has ram; 0 is an error.
func Own(p *evidence.Piece, ram numa.Bytes) ([]Host, error) {
	var names []string
	hosts := map[string]*Host{}
	for _, d := range p.Docs {
		o, ok := d.(*hostcmd.Output)
		if !ok {
			continue
		}
		file := o.File()
		name := file.Name
		if o.Host.Name != "" {
			name = o.Host.Name + " (" + file.Name + ")"
		}
		h := hosts[name]
		if h == nil {
			h = &Host{Name: name, RAM: ram}
			hosts[name], names = h, append(names, name)
		}
		if o.Host.Memory.Known() {
			h.RAM = o.Host.Memory.Value
		}
		if o.Host.Release.Known() {
			h.Release = o.Host.Release.Value
		}
		active := map[string]bool{} // by subject: the dump file
		for _, f := range file.Facts {
			if f.Name == "active" && f.Value == true {
				active[f.Subject] = true
			}
		}
		for _, f := range file.Facts {
			if size, ok := f.Value.(int64); ok && active[f.Subject] && f.Name == "size" {
				h.File = numa.Bytes(size)
			}
		}
	}
	var out []Host
	for _, name := range names {
		switch h := hosts[name]; {
		case h.File == 0:
		case h.RAM == 0:
			return nil, fmt.Errorf("%s: found no memory of the host, want esxcli hardware memory get beside it, or --ram", name)
		default:
			out = append(out, *h)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%s: found no active dump file, want esxcli system coredump file list of a host", p.Name)
	}
	return out, nil
}

// file returns the core dump file of the requested host. A measurement of the user's own on a host
// with the same memory is preferred to the published ones; of several the largest counts, within their range.
func (q *Question) file(ram numa.Bytes) (File, error) {
	f, err := Of(ram, q.Release)
	if err != nil {
		return f, err
	}
	own, other := []string(nil), false
	for i := range q.Own {
		h := &q.Own[i]
		if !same(ram, h) && !same(h.RAM, &Host{RAM: ram}) {
			continue
		}
		if size := float64(h.File); own == nil {
			f.How, f.Size = Measured, unit.Exactly(size, unit.Measured, "--evidence", "")
		} else {
			f.Size.Value, f.Size.High, f.Size.Low = max(f.Size.Value, size), max(f.Size.High, size), min(f.Size.Low, size)
		}
		own, other = append(own, h.Name), other || q.Release != 0 && h.Release != 0 && h.Release != q.Release
		f.Size.Note = "measured on " + strings.Join(own, ", ")
	}
	if other {
		f.Size.Note += fmt.Sprintf("; %s not measured", q.Release)
	}
	return f, nil
}
