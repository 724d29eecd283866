package dump

import (
	"errors"

	"homenode/numa"
)

// A Question is about one host.
type Question struct {
	RAM     numa.Bytes
	Release numa.Release // 0: 7.0 or later
	Boot    Size         // 0: not asked
	Needs   Needs
	Own     []Host // measured by the user
}

// A Result answers a Question.
type Result struct {
	RAM     numa.Bytes   `json:"ram"`
	Release numa.Release `json:"release,omitzero"`
	// Partition reports a release that keeps dumps in a partition; the rest is empty then.
	Partition bool `json:"partition,omitempty"`
	File      File `json:"file,omitzero"`
	// LeastBoot is the smallest boot device that leaves enough with the upper bound of the
	// file; nil when none does.
	LeastBoot *Size `json:"leastBoot,omitempty"`
	Plan      *Plan `json:"plan,omitempty"` // nil when no boot device was named
	// MostRAM is the most of a host that surely fits on this boot device; nil when none
	// does or no device was named.
	MostRAM *numa.Bytes `json:"mostRAM,omitempty"`
	If      []Otherwise `json:"otherwise,omitempty"`
	Notes   []string    `json:"-"`
}

// Otherwise is the plan with one thing changed.
type Otherwise struct {
	What string `json:"what"`
	File File   `json:"file"`
	Plan *Plan  `json:"plan,omitempty"` // nil when no boot device was named
}

// Answer sizes the file and, if a boot device is named, what is left on it.
func Answer(q Question) (Result, error) {
	r := Result{RAM: q.RAM, Release: q.Release}
	f, err := q.file(q.RAM, q.Release)
	var partition *PartitionError
	if errors.As(err, &partition) {
		r.Partition = true
		return r, nil
	}
	if err != nil {
		return Result{}, err
	}
	r.File = f
	least, err := LeastBootFor(f, q.Needs)
	switch {
	case err == nil:
		r.LeastBoot = &least
	case !errors.Is(err, ErrNoBoot):
		return Result{}, err
	}
	if q.Boot != 0 {
		p, err := Fit(f, q.Boot, q.Needs)
		if err != nil {
			return Result{}, err
		}
		r.Plan = &p
		most, ok, err := MostRAM(q.Boot, q.Needs)
		if err != nil {
			return Result{}, err
		}
		if ok {
			r.MostRAM = &most
		}
	}
	r.If, r.Notes = otherwise(q, f), r.notes()
	return r, nil
}

// otherwise changes the RAM, the file and the boot device, one at a time.
func otherwise(q Question, f File) []Otherwise {
	var out []Otherwise
	add := func(what string, f File, boot Size) {
		o := Otherwise{What: what, File: f}
		if boot != 0 {
			p, err := Fit(f, boot, q.Needs)
			if err != nil {
				return
			}
			o.Plan = &p
		}
		out = append(out, o)
	}
	if twice, err := q.file(2*q.RAM, q.Release); err == nil {
		add("twice the RAM", twice, q.Boot)
	}
	if f.Size.High > f.Size.Value {
		high := f
		high.Size.Value, high.Size.Low = f.Size.High, f.Size.High
		add("the file at its upper bound", high, q.Boot)
	}
	if q.Boot != 0 {
		for _, boot := range []Size{32 * GiB, 64 * GiB, 128 * GiB} {
			if boot != q.Boot {
				add("a boot device of "+boot.String(), f, boot)
			}
		}
	}
	return out
}
