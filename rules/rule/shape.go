package rule

import (
	"strings"

	"homenode/esxi/vnuma"
)

// Short returns a layout in the field's short form: clients × vCPUs, then what is
// wrong with them.
//
//	1×8          one client of 8 vCPUs
//	2×16         two clients, and the guest sees two nodes
//	2×16 blind   the guest sees one
//	1×36 sees 2×18
//	1×16 +31 %   31 % of the memory is on another node than the vCPU that uses it
//	1×8 no home  not NUMA-managed
func Short(l *vnuma.Layout) string {
	s := shortSplit(l.PPDs)
	switch {
	case l.Wide() && !l.GuestSeesNUMA():
		s += " blind"
	case l.GuestSeesNUMA() && !l.VPDs.Equal(l.PPDs):
		s += " sees " + shortSplit(l.VPDs)
	}
	if !l.Managed {
		return s + " no home"
	}
	if far := l.FarShare(); far > 0 {
		s += " +" + Percent(far)
	}
	return s
}

func shortSplit(s vnuma.Split) string {
	if s.Len() <= 1 {
		return "1×" + s.String()
	}
	if text := s.String(); !strings.Contains(text, "of") { // "9 groups of 2 to 4" stays in words
		return strings.ReplaceAll(text, " ", "")
	}
	return s.String()
}
