package pages

import (
	"embed"

	"homenode/numa"
	"homenode/numa/unit"
)

// The published figures: what sharing freed once large pages were small.
const (
	// c-largepages (hypervisor.fr, 3 September 2014, vSphere 5.x): 1.5 TB allotted to VMs.
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
		Source: "c-largepages; range: vSphere 4.1 manual", Note: "a share of what is not said",
	}
}

// PublishedLarge is the share of memory for which guests themselves asked for large pages.
func PublishedLarge() unit.Figure[unit.Share] {
	return unit.Exactly(unit.Share(float64(publishedLarge)/float64(publishedMemory)), unit.Published, "c-largepages", "")
}

// published is what the articles print of these figures.
//
//go:embed checks.txt
var published embed.FS

// Checks are the published figures beside what they come to.
func Checks() []unit.Check {
	saved := func(shared, common numa.Bytes) float64 {
		shared, common = shared*numa.MiB, common*numa.MiB
		return float64(*Count([]Host{{Shared: &shared, Common: &common}}).Sum.Saved) / float64(numa.MiB)
	}
	gib := func(b numa.Bytes) float64 { return float64(b) / float64(numa.GiB) }
	e := Estimate(&Request{Memory: publishedMemory, Gain: PublishedGain(), Large: PublishedLarge(), GainAt: PublishedLarge().Value})
	return unit.Checks(published, map[string][]float64{
		"c-largepages":  {float64(publishedLarge) / float64(publishedMemory) * 100, gib(e.Large), gib(e.OfAllotted.Value.Bytes())},
		"vxpertise.net": {(labBefore - labAfter) / labBefore * 100},
		"esxtop":        {saved(12920, 4321), saved(1732, 225)},
	})
}
