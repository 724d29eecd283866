package report

import "strings"

// The words in which a report of recordings and one of a simulation differ: what was
// simulated must never read as if somebody had seen it.
type words struct {
	the    string // what was judged: the capture
	seen   string // recorded
	title  string // of pages and documents, before the source: NUMA in
	about  string // what stands over a page
	kind   string // of judgement, in the ids of SARIF runs
	format string // of the JSON
}

// words returns those of the report.
func (c *captured) words() words {
	if c.sim != nil {
		return words{"the simulation", "simulated", "Simulated: NUMA in", "Simulation, nothing here was observed", "simulate/", "homenode-simulation"}
	}
	return words{"the capture", "recorded", "NUMA in", "NUMA in a capture", "capture/", "homenode-capture"}
}

// simulatedVerdict words the verdict of a simulation.
func (c *captured) simulatedVerdict(verdict, rest string) (string, string) {
	verdict = strings.Replace(verdict, "NUMA was not the cause", "NUMA does no harm", 1)
	verdict = strings.Replace(verdict, "NUMA had a part in it", "NUMA does harm", 1)
	if trouble := c.sim.trouble(); len(trouble) > 0 {
		text := strings.Join(trouble, "; ")
		if strings.HasPrefix(verdict, "NUMA does no harm") {
			rest = strings.TrimSpace("Of NUMA nothing was found" + strings.TrimPrefix(verdict, "NUMA does no harm") + " " + rest)
			return "Simulated: the hosts cannot carry all of it: " + text + ".", rest
		}
		rest = strings.TrimSpace("Beside NUMA: " + text + ". " + rest)
	}
	if v := c.sim.slowest(); v != nil && v.speed.Mean < fullSpeed {
		slow := "Lowest performance index: " + v.Name + ", " + indexText(v.speed.Mean, v.speed.Low, v.speed.High, v.speed.Extrapolated) + "."
		rest = strings.TrimSpace(slow + " " + rest)
	}
	return "Simulated: " + verdict, rest
}
