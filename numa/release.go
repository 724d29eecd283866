package numa

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"example.org/homenode/numa/pattern"
)

// A Release is a release of ESX or ESXi with its update. Releases compare with
// < and >. The zero value is no release.
type Release uint32

// NewRelease returns the release major.minor update update; 7, 0, 3 is 7.0 U3.
func NewRelease(major, minor, update int) Release {
	return Release(major<<16 | minor<<8 | update)
}

// The releases that changed the NUMA model (docs/evidence/model.md).
const (
	ESX35    Release = 3<<16 | 5<<8
	ESX40    Release = 4 << 16
	ESX41    Release = 4<<16 | 1<<8
	ESXi50   Release = 5 << 16
	ESXi51   Release = 5<<16 | 1<<8
	ESXi55   Release = 5<<16 | 5<<8
	ESXi60   Release = 6 << 16
	ESXi65   Release = 6<<16 | 5<<8
	ESXi65U3         = ESXi65 + 3
	ESXi67   Release = 6<<16 | 7<<8
	ESXi67U2         = ESXi67 + 2
	ESXi70   Release = 7 << 16
	ESXi80   Release = 8 << 16
	ESXi90   Release = 9 << 16
)

// Modelled lists the releases whose NUMA model is described, oldest first.
var Modelled = []Release{ESX35, ESX40, ESX41, ESXi50, ESXi51, ESXi55, ESXi60, ESXi65, ESXi67, ESXi70, ESXi80, ESXi90}

// Base returns r without its update: the release family such as 7.0.
func (r Release) Base() Release { return r &^ 0xff }

// Update returns the update number; 3 for 7.0 U3.
func (r Release) Update() int { return int(r & 0xff) }

// String returns the release as administrators write it: "7.0 U3".
func (r Release) String() string {
	if r == 0 {
		return "unknown release"
	}
	s := fmt.Sprintf("%d.%d", r>>16, r>>8&0xff)
	if r.Update() > 0 {
		s += fmt.Sprintf(" U%d", r.Update())
	}
	return s
}

// MarshalText writes the release as String does.
func (r Release) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses a release with ParseRelease.
func (r *Release) UnmarshalText(b []byte) error {
	v, err := ParseRelease(string(b))
	*r = v
	return err
}

// releaseForm matches "7.0", "7.0.3", "7.0U3", "7.0 u3c", "8.0 Update 3".
var releaseForm = pattern.Of(`(?i)\b(\d{1,2})\.(\d{1,2})(?:\.(\d{1,2})(?:\.\d+)?|\s*(?:u|update\s*)(\d{1,2})[a-z]?)?\b`)

// ParseRelease reads the first release named in s: "7.0", "7.0.3", "7.0U3",
// "7.0 Update 3" or the product line "VMware ESXi 7.0.3 build-21930508".
func ParseRelease(s string) (Release, error) {
	m := releaseForm.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("found %q, want a release such as 7.0 U3", s)
	}
	n := func(i int) int { v, _ := strconv.Atoi(m[i]); return v } // an absent group is 0
	return NewRelease(n(1), n(2), max(n(3), n(4))), nil
}

// firstBuilds lists the first build of each update that its version string does not name: up to 6.7 the API reports "6.7.0" for all
// updates. Source: Broadcom KB 316595 (old 2143832), “Build numbers and versions of VMware ESXi/ESX”.
var firstBuilds = []struct {
	release Release
	build   int
}{
	{ESX40 + 1, 208167}, {ESX40 + 2, 261974}, {ESX40 + 3, 398348}, {ESX40 + 4, 504850},
	{ESX41 + 1, 348481}, {ESX41 + 2, 502767}, {ESX41 + 3, 800380},
	{ESXi50 + 1, 623860}, {ESXi50 + 2, 914586}, {ESXi50 + 3, 1311175},
	{ESXi51 + 1, 1065491}, {ESXi51 + 2, 1483097}, {ESXi51 + 3, 2323236},
	{ESXi55 + 1, 1623387}, {ESXi55 + 2, 2068190}, {ESXi55 + 3, 3029944},
	{ESXi60 + 1, 3029758}, {ESXi60 + 2, 3620759}, {ESXi60 + 3, 5050593},
	{ESXi65 + 1, 5969303}, {ESXi65 + 2, 8294253}, {ESXi65 + 3, 13932383},
	{ESXi67 + 1, 10302608}, {ESXi67 + 2, 13006603}, {ESXi67 + 3, 14320388},
}

// WithBuild returns r with the update of its build number, if the version string does not contain it: releases up to 6.7 report "6.7.0"
// for all updates.
func (r Release) WithBuild(build int) Release {
	if r.Update() != 0 {
		return r
	}
	for _, b := range firstBuilds {
		if b.release.Base() == r.Base() && build >= b.build {
			r = max(r, b.release)
		}
	}
	return r
}

// ReleaseOf returns the newest release of the hosts, and whether each of them has it.
func ReleaseOf(hosts []*Host) (newest Fact[Release], all bool) {
	for _, h := range hosts {
		if h.Release.Known() && (!newest.Known() || h.Release.Value > newest.Value) {
			newest = DerivedFrom(h.Release.Value, "that of the hosts beside it")
		}
	}
	return newest, newest.Known() && !slices.ContainsFunc(hosts, func(h *Host) bool { return !h.Release.Known() || h.Release.Value != newest.Value })
}

// LastUpdate returns the newest known update of r's family; false for a family that may have newer ones. Source: as for firstBuilds.
func LastUpdate(r Release) (last Release, ok bool) {
	i := slices.IndexFunc(lastUpdates, func(l Release) bool { return l.Base() == r.Base() })
	if i < 0 {
		return 0, false
	}
	return lastUpdates[i], true
}

var lastUpdates = []Release{ESX35 + 5, ESX40 + 4, ESX41 + 3, ESXi50 + 3, ESXi51 + 3, ESXi55 + 3, ESXi60 + 3, ESXi65U3, ESXi67 + 3, ESXi70 + 3, ESXi80 + 3}

// Offered returns the releases for selection lists, the newest first: all updates of the families since 6.5 whose last update is known.
func Offered() (out []Release) {
	for _, family := range slices.Backward(Modelled) {
		last := family
		if l, ok := LastUpdate(family); ok && family >= ESXi65 {
			last = l
		}
		for r := last; r >= family; r-- {
			out = append(out, r)
		}
	}
	return out
}

// NotModelled returns an error that explains why r has no model.
func NotModelled(r Release) error {
	if r < Modelled[0] {
		return fmt.Errorf("release %s is older than ESX %s, the first described", r, Modelled[0])
	}
	i, _ := slices.BinarySearch(Modelled, r.Base())
	return fmt.Errorf("there is no release %s: %s is followed by %s", r, Modelled[i-1], Modelled[i])
}

// ModelOf returns the release whose model is used for r, and whether it is r's own family: 9.1 is modelled as 9.0. Releases before 3.5
// are not modelled, nor are numbers between two described families, such as 5.9: no such release exists.
func ModelOf(r Release) (model Release, own, ok bool) {
	i, found := slices.BinarySearchFunc(Modelled, r.Base(), cmp.Compare[Release])
	if found {
		return r, true, true
	}
	if i < len(Modelled) {
		return 0, false, false
	}
	return Modelled[i-1], false, true
}
