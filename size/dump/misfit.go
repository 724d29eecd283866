package dump

import "homenode/numa/unit"

// A Misfit is what comes of taking the file for proportional to something: the straight
// line through the origin with the least squares, and how far it is off at each host.
type Misfit struct {
	On   string    `json:"on"`   // "RAM" or "VMkernel memory"
	Per  float64   `json:"per"`  // file for each byte of it
	Rows []Residue `json:"rows"` // by RAM, as Hosts
}

// A Residue is one host on the line.
type Residue struct {
	Host     string     `json:"host"`
	RAM      Size       `json:"ram"`
	X        Size       `json:"x"` // RAM, or VMkernel memory in maintenance mode
	Measured Size       `json:"measured"`
	Line     Size       `json:"line"`
	Off      unit.Share `json:"off"` // line ÷ measured − 1
}

// Worst returns the residue that is farthest off.
func (m *Misfit) Worst() Residue {
	worst := m.Rows[0]
	for _, r := range m.Rows {
		if max(r.Off, -r.Off) > max(worst.Off, -worst.Off) {
			worst = r
		}
	}
	return worst
}

// Misfits returns the lines on RAM and on VMkernel memory: neither serves to size a file.
func Misfits() []Misfit {
	return []Misfit{
		misfit("RAM", func(h *Host) Size { return Size(h.RAM) }),
		misfit("VMkernel memory", func(h *Host) Size { return Size(h.Idle().VMkernel) * MiB }),
	}
}

func misfit(on string, x func(*Host) Size) Misfit {
	m := Misfit{On: on}
	var xy, xx float64
	for i := range Hosts {
		v := float64(x(&Hosts[i]))
		xy += v * float64(Hosts[i].File)
		xx += v * v
	}
	m.Per = xy / xx
	for i := range Hosts {
		h := &Hosts[i]
		r := Residue{Host: h.Name, RAM: Size(h.RAM), X: x(h), Measured: Size(h.File)}
		r.Line = bytes(float64(r.X) * m.Per)
		r.Off = unit.Share(r.Line/r.Measured - 1)
		m.Rows = append(m.Rows, r)
	}
	return m
}
