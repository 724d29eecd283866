package headroom

import (
	"fmt"
	"time"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// A Peak describes the memory of a node before a load peak.
type Peak struct {
	Node int
	Free numa.Bytes // now
	Took numa.Bytes // maximum growth in the next hours one day ago, less the memory that was released since
	At   time.Time  // time of that maximum
}

// leastPeak is the minimum growth of a peak.
const leastPeak = numa.GiB

// Foresee reports the nodes of the host that will have less free memory than the reserve if the next hours need as much
// as one day ago, less the memory that was released since.
func Foresee(p *rule.Pass, peaks []Peak, now time.Time) {
	h := p.Host
	reserve := numa.Bytes(float64(memory.Of(h, p.Choices.FillToMinFree).New) * p.Threshold("reserve"))
	for _, k := range peaks {
		rest := k.Free - k.Took
		if len(h.Nodes.Value) < 2 || k.Took <= leastPeak || rest >= reserve {
			continue
		}
		at := k.At.Add(24 * time.Hour).UTC().Format("15:04")
		f := finding.Finding{
			Severity: finding.Medium, Topic: fmt.Sprintf("node %d", k.Node),
			Message: fmt.Sprintf("node %d has %s free, and yesterday %s were taken of it from this hour to %s UTC, and given back since: %s would be left, less than the reserve of %s",
				k.Node, round(k.Free), round(k.Took), at, left(rest), round(reserve)),
			Advice: fmt.Sprintf("Free %s on the node before %s UTC: move a VM to another host", up(reserve-rest), at),
			Evidence: []finding.Evidence{
				rule.Saw("free memory of the node", round(k.Free).String(), "free memory of the node (NUMA row)", now),
				{Name: "taken yesterday and given back", Value: round(k.Took).String(), Origin: "derived: free memory of the node, kept samples", At: words.Moment(k.At)},
				{Name: "reserve of a node", Value: round(reserve).String(), Origin: "derived: memory of the host, release (C-23)", At: h.At},
			},
		}
		p.Report(f, nil)
	}
}
