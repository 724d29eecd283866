package hidden

import (
	"fmt"
	"math"
	"slices"

	"example.org/homenode/internal/stat"
	"example.org/homenode/internal/words"
	"example.org/homenode/source/measured"
)

// Methods of an answer.
const (
	crosswise = "fingerprint of pages, crosswise"
	rowsOnly  = "fingerprint of pages, one group farther from all of them"
	modes     = "two modes of single pages"
)

// Limits is the end of every result: the limits of this test.
const Limits = "Nodes that are less than 15 ns apart, and memory that the firmware interleaves, cannot be seen; " +
	"only the pages that were measured have been looked at, not the memory of other processes."

// Judge evaluates probes for nodes that the guest does not see. levels is the result of Clusters for the same processors, or nil.
//
// Differences between vCPUs come first; they also reveal memory that is all near or all far. Only if all vCPUs see the same latencies are the
// pages fitted with two modes. One mode is never reported as "all near".
func Judge(p *Probes, levels []measured.GroupLevel) *measured.Hidden {
	h := &measured.Hidden{Answer: measured.NotKnown, Pages: len(p.Pages), Blocks: p.blocks(func(int) bool { return true })}
	defer func() {
		h.Says += " " + Limits
		h.Probability, h.FalseAlarms = p.odds(h)
	}()
	if why := p.tooLittle(); why != "" {
		h.Why, h.Says = why, "Hidden nodes: not known, "+why+"."
		return h
	}
	s := p.view()
	f := s.fingerprint()
	for _, v := range slices.Concat(f.Moved, f.Few) {
		h.Unplaced = append(h.Unplaced, p.CPUs[v])
	}
	slices.Sort(h.Unplaced)
	if len(f.Few) == len(p.CPUs) {
		h.Why = "no vCPU has latencies of enough pages"
		h.Says = "Hidden nodes: not known, " + h.Why + "."
		return h
	}
	if len(f.Moved) > 0 {
		var moved []int
		for _, v := range f.Moved {
			moved = append(moved, p.CPUs[v])
		}
		h.Checks = append(h.Checks, measured.Check{Name: "vCPUs that stayed where they were", Found: "all but " + words.Ranges(moved), Want: "all"})
	}
	if f.Groups > 1 {
		p.several(h, f, levels)
		return h
	}
	// One group, or groups that differ, possibly for another reason.
	for _, d := range f.Between {
		h.Checks = append(h.Checks, d.Checks...)
	}
	y := columns(s.all, f)
	h.Histogram = histogram(y)
	if i := slices.IndexFunc(f.Between, func(d *Distance) bool { return d.Differ }); i >= 0 {
		h.Delta = f.Between[i].Delta
		h.Why = f.Between[i].Why
		h.Says = fmt.Sprintf("Hidden nodes: not known. Some vCPUs see all pages %.0f ns farther than others, but this may have another reason: %s.", h.Delta, h.Why)
		return h
	}
	if len(f.Moved) > 0 {
		h.Why = "vCPUs " + words.Ranges(h.Unplaced) + " changed how far pages are from them while it was measured: they may have been moved between nodes"
		h.Says = "Hidden nodes: not known. " + h.Why + "; measure again."
		return h
	}
	p.oneGroup(h, y, [2][]float64{columns(s.half[0], f), columns(s.half[1], f)})
	return h
}

// tooLittle returns the missing requirement for any answer; "" for none.
func (p *Probes) tooLittle() string {
	switch {
	case len(p.NS) < LeastRounds:
		return fmt.Sprintf("%s, %d are needed", words.Plural(len(p.NS), "round"), LeastRounds)
	case len(p.Pages) < LeastPages:
		return fmt.Sprintf("%s, %d are needed", words.Plural(len(p.Pages), "page"), LeastPages)
	case p.blocks(func(int) bool { return true }) < LeastPages/2:
		return fmt.Sprintf("the pages lie in %s of 2 MiB, %d are needed", words.Plural(p.blocks(func(int) bool { return true }), "block"), LeastPages/2)
	}
	return ""
}

// blocks returns the number of 2 MiB blocks that contain the selected pages.
func (p *Probes) blocks(of func(page int) bool) int {
	seen := map[int64]bool{}
	for i, page := range p.Pages {
		if of(i) {
			seen[page.Block] = true
		}
	}
	return len(seen)
}

// several fills in groups of vCPUs that are apart.
func (p *Probes) several(h *measured.Hidden, f *Fingerprint, levels []measured.GroupLevel) {
	h.Answer, h.Method, h.Delta = measured.SeveralNodes, rowsOnly, f.Delta
	for _, d := range f.Between {
		if d.Crosswise {
			h.Method = crosswise
		}
		h.Checks = append(h.Checks, d.Checks...)
	}
	groups := members(f.Group)
	text := ""
	for g, vs := range groups {
		named := make([]int, len(vs))
		for i, v := range vs {
			named[i] = p.CPUs[v]
		}
		h.Groups = append(h.Groups, named)
		switch {
		case g == 0:
		case g == len(groups)-1:
			text += " and "
		default:
			text += ", "
		}
		text += words.Ranges(named)
	}
	placed := words.Count(f.Node, func(n int) bool { return n >= 0 })
	h.Checks = append(h.Checks, measured.Check{Name: "pages whose node is clear", Found: fmt.Sprintf("%d of %d", placed, len(f.Node)), Want: "9 of 10 or more", OK: 10*placed >= 9*len(f.Node)})
	agrees := p.confirm(h, levels)
	p.shares(h, f, groups)

	h.Says = fmt.Sprintf("vCPUs %s are on different NUMA nodes of the host, which the guest was not told: ", text)
	if h.Method == crosswise {
		h.Says += fmt.Sprintf("each group reaches some pages %.0f ns faster than the other.", h.Delta)
	} else {
		h.Says += fmt.Sprintf("one group reaches all pages %.0f ns later than the other. A processor that is slower by itself would look alike; what was checked against that is listed.", h.Delta)
	}
	if agrees {
		h.Says += " Cache lines between the vCPUs show the same groups."
	}
	for _, s := range h.Shares {
		if s.Of == "all" && len(s.From) == 0 {
			h.Says += fmt.Sprintf(" %.0f %% of the pages are remote, on average of the vCPUs (95 %% interval %.0f to %.0f %%).", 100*s.Remote, 100*s.Low, 100*s.High)
		}
	}
	if f.Elsewhere > 0 {
		h.Says += " Some pages are far from all of these vCPUs: on another node."
	}
	if len(h.Unplaced) > 0 {
		h.Says += fmt.Sprintf(" Where vCPUs %s are is not known.", words.Ranges(h.Unplaced))
	}
}

// confirm compares the groups with those of cache lines: equal groups at any level confirm them, groups that split one of them contradict
// them.
func (p *Probes) confirm(h *measured.Hidden, levels []measured.GroupLevel) (same bool) {
	if len(levels) == 0 {
		return false
	}
	group := map[int]int{}
	for g, cpus := range h.Groups {
		for _, cpu := range cpus {
			group[cpu] = g
		}
	}
	unions := false // groups of memory are unions of those of lines
	for _, level := range levels {
		ok, joined := true, map[int]bool{}
		count := 0
		for _, line := range level.Groups {
			of := map[int]bool{}
			for _, cpu := range line {
				if g, known := group[cpu]; known {
					of[g] = true
				}
			}
			ok = ok && len(of) <= 1
			for g := range of {
				joined[g] = true
				count++
			}
		}
		if ok {
			unions = true
			same = same || count == len(joined) && count > 1
		}
	}
	found := "other groups"
	switch {
	case same:
		found = "the same groups"
	case unions:
		found = "groups within these"
	}
	h.Checks = append(h.Checks, measured.Check{Name: "groups of vCPUs by cache lines", Found: found, Want: "the same, or groups within these", OK: same || unions})
	return same
}

// shares fills in the share of far pages, for each kind of page and all, for each group and on average over the vCPUs.
func (p *Probes) shares(h *measured.Hidden, f *Fingerprint, groups [][]int) {
	vcpus := 0
	for _, g := range groups {
		vcpus += len(g)
	}
	for _, of := range []Kind{Fresh, Cached, "all"} {
		in := func(i int) bool { return f.Node[i] >= 0 && (of == "all" || p.Pages[i].Kind == of) }
		blocks := p.blocks(in)
		if blocks == 0 {
			continue
		}
		pages, all := 0, 0.0
		var each []measured.Share
		for g, vs := range groups {
			far := 0.0
			pages = 0
			for i, n := range f.Node {
				if in(i) {
					pages++
					if n != g {
						far++
					}
				}
			}
			far /= float64(pages)
			all += far * float64(len(vs)) / float64(vcpus)
			each = append(each, share(of, h.Groups[g], pages, blocks, far))
		}
		h.Shares = append(h.Shares, share(of, nil, pages, blocks, all))
		h.Shares = append(h.Shares, each...)
	}
}

// share returns a share with its interval, for as many independent draws as there are blocks.
func share(of Kind, from []int, pages, blocks int, far float64) measured.Share {
	low, high := stat.ShareInterval(far*float64(blocks), float64(blocks))
	return measured.Share{Of: string(of), From: from, Pages: pages, Remote: far, Low: low, High: high}
}

// columns returns the latency of each page over all placed vCPUs: the median of their latencies, each minus the vCPU's mean, so that a slow
// vCPU shifts no page, plus the common level.
func columns(rows [][]float64, f *Fingerprint) []float64 {
	var placed [][]float64
	var levels []float64
	for v, g := range f.Group {
		if g >= 0 {
			placed = append(placed, rows[v])
			levels = append(levels, mean(clipped(rows[v])))
		}
	}
	level := stat.MedianOf(slices.Clone(levels))
	out, values := make([]float64, len(rows[0])), make([]float64, len(placed))
	for i := range out {
		for v, row := range placed {
			values[v] = row[i] - levels[v]
		}
		out[i] = level + stat.MedianOf(values)
	}
	return out
}

// clipped returns the known values, limited to the clip around their median. Their mean is more stable than the median if half of the pages
// are far.
func clipped(row []float64) []float64 {
	out := slices.DeleteFunc(slices.Clone(row), math.IsNaN)
	middle := stat.MedianOf(slices.Clone(out))
	for i, x := range out {
		out[i] = min(max(x, middle-clip), middle+clip)
	}
	return out
}

// oneGroup fills in the result for vCPUs with equal latencies: whether there are two kinds of memory.
func (p *Probes) oneGroup(h *measured.Hidden, y []float64, halves [2][]float64) {
	m := Fit(y, halves)
	level := stat.MedianOf(slices.Clone(y))
	seen := "All vCPUs see the same pages near and far"
	if len(p.CPUs) == 1 {
		seen = "One vCPU looked"
	}
	if !m.Two {
		h.Answer, h.Why = measured.OneKind, m.Why
		h.Says = fmt.Sprintf("%s, and there is one kind of memory, at %.0f ns: all near, all far, or one node. This cannot be distinguished from inside.", seen, level)
		return
	}
	h.Method, h.Delta = modes, m.Far-m.Near
	h.Modes = &measured.Modes{Near: m.Near, Far: m.Far, Spread: m.Sigma, Share: m.Share}
	for _, of := range []Kind{Fresh, Cached, "all"} {
		far, pages := 0.0, 0
		in := func(i int) bool { return !math.IsNaN(m.Chance[i]) && (of == "all" || p.Pages[i].Kind == of) }
		for i := range y {
			if in(i) {
				far, pages = far+m.Chance[i], pages+1
			}
		}
		if pages > 0 {
			h.Shares = append(h.Shares, share(of, nil, pages, p.blocks(in), far/float64(pages)))
		}
	}
	if len(h.Shares) == 3 { // both kinds
		fresh, cached := h.Shares[0].Remote, h.Shares[1].Remote
		ok := math.Abs(fresh-cached) < 0.8
		h.Checks = append(h.Checks, measured.Check{Name: "slow pages are of both kinds", Found: fmt.Sprintf("%.0f %% of the fresh pages, %.0f %% of the page cache", 100*fresh, 100*cached), Want: "not nearly all of one kind and none of the other", OK: ok})
		if !ok {
			h.Why = "the slow pages are those of one kind, which may be slow for another reason than distance"
			h.Says = fmt.Sprintf("Hidden nodes: not known. Two kinds of memory are %.0f ns apart, but %s.", h.Delta, h.Why)
			return
		}
	}
	h.Answer = measured.FarPages
	s := h.Shares[len(h.Shares)-1]
	h.Says = fmt.Sprintf("%s, and there are two kinds of memory, %.0f and %.0f ns: %.0f %% of the pages (95 %% interval %.0f to %.0f %%) are on another node than these vCPUs.",
		seen, m.Near, m.Far, 100*s.Remote, 100*s.Low, 100*s.High)
}

// histogram counts latencies in bins of 5 ns, from the 1st to the 99th percentile.
func histogram(y []float64) (bins []measured.HistoCount) {
	const width = 5
	sorted := slices.DeleteFunc(slices.Clone(y), math.IsNaN)
	slices.Sort(sorted)
	if len(sorted) == 0 {
		return nil
	}
	from, to := math.Floor(stat.Quantile(sorted, 0.01)/width), math.Floor(stat.Quantile(sorted, 0.99)/width)
	for b := from; b <= min(to, from+200); b++ {
		bins = append(bins, measured.HistoCount{Nanoseconds: (b + 0.5) * width})
	}
	for _, x := range sorted {
		if i := int(math.Floor(x/width) - from); i >= 0 && i < len(bins) {
			bins[i].Pages++
		}
	}
	return bins
}
