package published

import (
	"regexp"
	"strings"

	"homenode/numa"
)

var (
	exactForm  = regexp.MustCompile(`\d{1,2}\.\d{1,2}(?:\.\d{1,2}|\s*[Uu]\d{1,2})?`)
	familyForm = regexp.MustCompile(`(\d{1,2})\.x`)
)

// releasesIn returns the releases that the words of a case may mean: "6.0",
// "7.0U3", "6.7 era (…)", "6.5-7.0", "5.0+", "6.0 and earlier", "3.5/4.0",
// "6.x/7.x". Without a release, and for hosted products of the same code, it
// returns every release that shows vNUMA.
func releasesIn(s string) []numa.Release {
	outside, inside, _ := strings.Cut(s, "(")
	hosted := regexp.MustCompile(`(?i)workstation|player|fusion`).MatchString(s)
	if hosted {
		return from(numa.ESXi50)
	}
	words := outside
	if !exactForm.MatchString(words) && !familyForm.MatchString(words) {
		words = inside // "not stated (5.5/6.0 era)"
	}
	var out []numa.Release
	for _, m := range familyForm.FindAllStringSubmatch(words, -1) {
		for _, r := range numa.Modelled {
			if strings.HasPrefix(r.String(), m[1]+".") {
				out = append(out, r)
			}
		}
	}
	for _, m := range exactForm.FindAllString(words, -1) {
		r, err := numa.ParseRelease(m)
		if err != nil {
			continue
		}
		if _, own, ok := numa.ModelOf(r); ok && own {
			out = append(out, r)
		}
	}
	switch {
	case len(out) == 0 && strings.Contains(s, "not stated") || strings.TrimSpace(s) == "":
		return from(numa.ESXi50)
	case len(out) == 1 && strings.Contains(outside, "earlier"):
		return between(numa.ESXi50, out[0])
	case len(out) == 1 && strings.Contains(outside, "+"):
		return from(out[0])
	case len(out) == 2 && regexp.MustCompile(`\d\s*[-–]\s*\d`).MatchString(words):
		return between(out[0], out[1])
	}
	return out
}

func from(least numa.Release) []numa.Release { return between(least, ^numa.Release(0)) }

func between(least, most numa.Release) []numa.Release {
	var out []numa.Release
	for _, r := range numa.Modelled {
		if r >= least.Base() && r <= most {
			out = append(out, r)
		}
	}
	return out
}
