package pages

import (
	"homenode/numa"
	"homenode/numa/unit"
)

// The published figures: what sharing freed once large pages were small.
const (
	// exp C-1 (hypervisor.fr, 3 September 2014, vSphere 5.x): 1.5 TB allotted to VMs.
	publishedMemory = 1536 * numa.GiB
	publishedLarge  = 40 * numa.GiB
	publishedGain   = 0.20
	// vSphere 4.1 Resource Management Guide, "Memory sharing".
	fewAlike  = 0.05 // "less than five percent" for a diverse workload
	manyAlike = 0.30 // "more than thirty percent" for many nearly identical VMs
	// vxpertise.net, 2015: a lab of equal Windows 2012 R2 and nested ESXi, large pages and salting off.
	labBefore, labAfter = 55.0, 44.8 // GB consumed
)

// PublishedGain is the share of memory that sharing freed. What it is a share of, the
// article does not say.
func PublishedGain() unit.Figure[unit.Share] {
	return unit.Figure[unit.Share]{
		Value: publishedGain, Low: fewAlike, High: manyAlike, Origin: unit.Published,
		Source: "exp C-1; range: vSphere 4.1 manual", Note: "a share of what is not said",
	}
}

// PublishedLarge is the share of memory for which guests themselves asked for large pages.
func PublishedLarge() unit.Figure[unit.Share] {
	return unit.Exactly(unit.Share(float64(publishedLarge)/float64(publishedMemory)), unit.Published, "exp C-1", "")
}

// Checks are the published figures beside what they come to.
func Checks() []unit.Check {
	saving := func(source string, shared, common numa.Bytes, printed string) unit.Check {
		c := Count([]Host{{Shared: &shared, Common: &common}})
		return unit.Check{ID: "esxtop", What: "shared less common, " + source, Quantity: "MB", Printed: printed, Computed: float64(*c.Sum.Saved) / float64(numa.MiB)}
	}
	gib := func(b numa.Bytes) float64 { return float64(b) / float64(numa.GiB) }
	e := Estimate(&Request{Memory: publishedMemory, Gain: PublishedGain(), Large: PublishedLarge(), GainAt: PublishedLarge().Value})
	return []unit.Check{
		{ID: "C-1", What: "large pages left, of 1.5 TB", Quantity: "%", Printed: "2.6", Computed: float64(publishedLarge) / float64(publishedMemory) * 100},
		{ID: "C-1", What: "large pages left", Quantity: "GB", Printed: "40", Computed: gib(e.Large)},
		{ID: "C-1", What: "gained, if of what is allotted", Quantity: "GB", Printed: "307", Computed: gib(e.OfAllotted.Value.Bytes())},
		{ID: "vxpertise.net", What: "lab of 96 GB, consumed 55 before, 44.8 after", Quantity: "%", Printed: "~20", Computed: (labBefore - labAfter) / labBefore * 100,
			Within: 2, Note: "rounded to tens: 18.5 % of what was consumed"},
		saving("aumezawa/log-analysis", 12920*numa.MiB, 4321*numa.MiB, "8599"),
		saving("rach-sharp/esxtopd", 1732*numa.MiB, 225*numa.MiB, "1507"),
	}
}
