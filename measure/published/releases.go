package published

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
)

var (
	exactForm  = regexp.MustCompile(`(?i)\b(\d{1,2}\.\d{1,2})(?:\.\d{1,2}\b|\s*(?:u|update\s*)\d{1,2})?`)
	familyForm = regexp.MustCompile(`(?i)\b(\d{1,2})\.x`)
	bareForm   = regexp.MustCompile(`(?i)(?:^|esxi?|vsphere)\s*(\d{1,2})\s*(?:$|(?:u|update\s*)(\d{1,2}))`)
	buildForm  = regexp.MustCompile(`\b\d{6,9}\b`)

	hostedForm  = regexp.MustCompile(`(?i)workstation|player|fusion`)
	unsaidForm  = regexp.MustCompile(`(?i)^\s*$|not (stated|given|known)|unknown|unspecified|^\s*n/?a\s*$`)
	earlierForm = regexp.MustCompile(`(?i)earlier|older|up to`)
	laterForm   = regexp.MustCompile(`(?i)\d\s*\+|later|newer|onwards?`)
	beforeForm  = regexp.MustCompile(`(?i)^\s*before`)
	spanForm    = regexp.MustCompile(`(?i)\d\s*([-–]|to|through)\s*(esxi|vsphere)?\s*\d`)
)

// releasesIn returns the releases that the words of a case may mean: "6.0",
// "7.0U3", "6.7 era (…)", "6.5-7.0", "5.0+", "6.0 and earlier", "3.5/4.0",
// "6.x/7.x", "ESXi 8". Without a release, and for hosted products of the same code,
// it returns every release that shows vNUMA.
func releasesIn(s string) []numa.Release {
	outside, inside, _ := strings.Cut(s, "(")
	if hostedForm.MatchString(s) {
		return from(numa.ESXi50)
	}
	out := named(outside)
	words := outside
	if len(out) == 0 {
		out, words = named(inside), inside // "not stated (5.5/6.0 era)"
	}
	switch {
	case len(out) == 0 && unsaidForm.MatchString(s):
		return from(numa.ESXi50)
	case len(out) == 1 && beforeForm.MatchString(outside):
		return between(numa.ESXi50, out[0]-1)
	case len(out) == 1 && earlierForm.MatchString(outside):
		return between(numa.ESXi50, out[0])
	case len(out) == 1 && laterForm.MatchString(outside):
		return from(out[0])
	case len(out) == 2 && spanForm.MatchString(words):
		return between(out[0], out[1])
	}
	return out
}

// releases returns the releases that the case may be about. On EPYC 6.5 U3 and
// 6.7 U2 changed the model (rule book F-16): a case that names 6.5 or 6.7 alone
// leaves open which.
func (c *Case) releases() []numa.Release {
	out := releasesIn(c.Release)
	cpu := strings.ToUpper(facts{m: c.Host}.words("cpu_model"))
	if !strings.Contains(cpu, "AMD") && !strings.Contains(cpu, "EPYC") || strings.Contains(c.Release, "before 6.5U3") {
		return out
	}
	for _, r := range slices.Clone(out) {
		switch r {
		case numa.ESXi65:
			out = append(out, numa.ESXi65U3)
		case numa.ESXi67:
			out = append(out, numa.ESXi67U2)
		}
	}
	return out
}

// named returns the releases that the words name, in their order.
func named(words string) []numa.Release {
	var out []numa.Release
	add := func(r numa.Release) {
		if _, own, ok := numa.ModelOf(r); ok && own && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	family := func(major string, update int) {
		for _, r := range numa.Modelled {
			if strings.HasPrefix(r.String(), major+".") {
				add(r + numa.Release(update))
			}
		}
	}
	for _, m := range familyForm.FindAllStringSubmatch(words, -1) {
		family(m[1], 0)
	}
	build, _ := strconv.Atoi(buildForm.FindString(words)) // 0 is before all builds
	for _, m := range exactForm.FindAllString(words, -1) {
		if r, err := numa.ParseRelease(m); err == nil {
			add(r.WithBuild(build))
		}
	}
	if len(out) == 0 {
		if m := bareForm.FindStringSubmatch(strings.TrimSpace(words)); m != nil {
			update, _ := strconv.Atoi(m[2]) // none is 0
			family(m[1], update)
		}
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
