package sweeps

import (
	"fmt"

	"homenode/change/sweep"
	"homenode/internal/texttab"
)

// mostFailed is how many failed points the table names one by one.
const mostFailed = 20

// Notes say what the numbers do not.
func Notes(r *sweep.Result) []string {
	var out []string
	failed := 0
	for i := range r.Points {
		for _, one := range r.Points[i].Runs {
			if one.Failed == "" {
				continue
			}
			if failed++; failed <= mostFailed {
				out = append(out, fmt.Sprintf("point %d could not be simulated: %s", i, one.Failed))
			}
			break
		}
	}
	if failed > mostFailed {
		out = append(out, fmt.Sprintf("%d more points could not be simulated: --format json names them all", failed-mostFailed))
	}
	out = append(out, unable(r)...)
	if !r.Alike(sweep.Asked) {
		out = append(out, "the points ask for different CPU time (CPU ASKED, cores on average): speeds are of different work. A load is a share of each vCPU: where vcpus= halves them, cpu=x2 beside it keeps the work as it is")
	}
	if !r.Alike(sweep.VMHours) {
		out = append(out, "not all points run the same VMs as long (VM HOURS): a point with more of them is better, whatever its speed")
	}
	switch {
	case r.Plan.Options.Silent:
		out = append(out, "the fleet is so large that nothing was judged and no speed worked out")
	case r.Extrapolated():
		out = append(out, "speed is the performance index (docs/cost.md), for some VMs extrapolated beyond what anybody measured; its interval is in --format json")
	default:
		out = append(out, "speed is the performance index (docs/cost.md); its interval is in --format json")
	}
	if f := r.Plan.Story.Unstated; f.Known() && len(r.Plan.Story.Loads) < len(r.Plan.Story.Fleet.VMs) {
		out = append(out, f.Origin.String())
	}
	return out
}

// unable says where hosts and VMs were left out of points.
func unable(r *sweep.Result) []string {
	points, first, what := 0, -1, ""
	for i := range r.Points {
		for _, one := range r.Points[i].Runs {
			if one.Record != nil && one.Record.Unable > 0 {
				if points++; first < 0 {
					first, what = i, one.Record.Problems[0]
				}
				break
			}
		}
	}
	if points == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s without hosts or VMs that could not be simulated, first of them point %d: %s", count(points, "point"), first, what)}
}

func (p *printer) notes(r *sweep.Result) {
	for i, text := range Notes(r) {
		if i == 0 {
			p.line("")
		}
		p.line("note   %s", texttab.Clean(text))
	}
}
