package dump

import (
	"fmt"

	"homenode/numa"
)

// OneDump says that dumps overwrite each other and how to save one.
const OneDump = "One dump is kept, the next overwrites it (b-psods): copy it out after each PSOD with esxcfg-dumppart --file --copy."

// notes returns what limits the figures, and where dumps belong.
func (r *Result) notes() []string {
	out := []string{OneDump}
	if r.File.How == Extrapolated {
		out = append(out, "Outside 128 GB to 1.5 TB there is no measurement; use the upper bound.")
	}
	if p := r.Plan; p != nil {
		out = append(out, bootNotes(p)...)
	}
	return append(out, "ESX-OSData belongs on a durable device, not on USB or SD; send logs to a remote syslog as well (b-osdata).")
}

func bootNotes(p *Plan) []string {
	var out []string
	l := &p.Layout
	if l.Boot < LeastBoot {
		out = append(out, fmt.Sprintf("%s are less than the 32 GB that ESXi 7.0 and later want (VMware, ESXi Requirements).", l.Boot))
	}
	if system := l.Boot - l.Rest; p.File.RAM >= 512*numa.GiB && system < 64*GiB {
		out = append(out, "Less than VMware's systemMediaSize=small (64 GB), which is for servers with 512 GB of RAM or more (KB 81166).")
	}
	return out
}
