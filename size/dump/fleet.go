package dump

import (
	"cmp"
	"math"
	"slices"

	"homenode/numa"
)

// A Kind is the hosts of one RAM and release.
type Kind struct {
	Hosts  []string `json:"hosts"`
	Result          // of the host with the most RAM of the kind
	// Assumed reports that the source does not state their release.
	Assumed bool `json:"releaseAssumed,omitempty"`
}

// A Fleet is the dump files of all hosts.
type Fleet struct {
	Boot  Size   `json:"boot,omitempty"` // of all; 0 when none was named
	Needs Needs  `json:"needs"`
	Kinds []Kind `json:"kinds"`
	// MostRAM is as in Result.
	MostRAM *numa.Bytes `json:"mostRAM,omitempty"`
	// LeastBoot is the smallest boot device that all hosts fit on; nil when none does.
	LeastBoot *Size     `json:"leastBoot,omitempty"`
	LeftOut   []LeftOut `json:"leftOut,omitempty"`
}

// A LeftOut is a host that cannot be sized.
type LeftOut struct {
	Host string `json:"host"`
	Why  string `json:"why"`
}

// OfFleet sizes all hosts: those of one RAM, rounded to GiB, and release together. q is
// what is asked of each; its RAM is ignored, its Release taken where the source states
// none.
func OfFleet(hosts []numa.Host, q Question) (Fleet, error) {
	type key struct {
		gib     int64
		release numa.Release
		known   bool
	}
	groups := map[key][]*numa.Host{}
	out := Fleet{Boot: q.Boot, Needs: q.Needs}
	if q.Boot != 0 {
		// What is wrong with the flags is wrong for all hosts.
		if _, err := Fit(File{}, q.Boot, q.Needs); err != nil {
			return Fleet{}, err
		}
	}
	if err := q.Needs.check(); err != nil {
		return Fleet{}, err
	}
	for i := range hosts {
		h := &hosts[i]
		if !h.Memory.Known() {
			out.LeftOut = append(out.LeftOut, LeftOut{h.Name, "its memory is not known"})
			continue
		}
		k := key{int64(math.Round(float64(h.Memory.Value) / float64(numa.GiB))), h.Release.Or(q.Release), h.Release.Known()}
		groups[k] = append(groups[k], h)
	}
	for k, hosts := range groups {
		kind := Kind{Assumed: !k.known}
		one := q
		one.Release, one.RAM = k.release, 0
		for _, h := range hosts {
			one.RAM = max(one.RAM, h.Memory.Value)
			kind.Hosts = append(kind.Hosts, h.Name)
		}
		slices.Sort(kind.Hosts)
		var err error
		if kind.Result, err = Answer(one); err != nil {
			for _, name := range kind.Hosts {
				out.LeftOut = append(out.LeftOut, LeftOut{name, err.Error()})
			}
			continue
		}
		kind.If = nil
		out.Kinds = append(out.Kinds, kind)
	}
	slices.SortFunc(out.Kinds, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(b.RAM, a.RAM), cmp.Compare(b.Release, a.Release), slices.Compare(a.Hosts, b.Hosts))
	})
	slices.SortFunc(out.LeftOut, func(a, b LeftOut) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Why, b.Why)) })
	out.sum()
	return out, nil
}

// sum fills in what is of all kinds.
func (f *Fleet) sum() {
	var least Size
	for i := range f.Kinds {
		k := &f.Kinds[i]
		if k.MostRAM != nil {
			f.MostRAM = k.MostRAM
		}
		if k.Partition {
			continue
		}
		if k.LeastBoot == nil {
			return
		}
		least = max(least, *k.LeastBoot)
	}
	if least > 0 {
		f.LeastBoot = &least
	}
}
