package effect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/measure/quantity"
)

// A subject is a VM with its valid days.
type subject struct {
	vm     *VM
	days   []Day
	on     map[Date]float64
	report *Changed // nil for an unchanged VM
	period
}

// A period is the days by which a change is assessed, ascending.
type period struct{ before, after []Date }

func (p period) equal(q period) bool {
	return slices.Equal(p.before, q.before) && slices.Equal(p.after, q.after)
}

// A cluster is the VMs of one cluster that may be compared.
type cluster struct {
	name     string
	changed  []*subject
	others   []*subject
	controls []*subject
	periods  []period // each once
}

// clusters sorts the VMs that have days of the measure by cluster and ID; only clusters with a changed VM matter.
func clusters(vms []VM, m quantity.Quantity, zone *time.Location) (out []*cluster) {
	by := map[string]*cluster{}
	for i := range vms {
		v := &vms[i]
		s := &subject{vm: v, days: counting(v.Days[m.Name]), on: map[Date]float64{}}
		for _, d := range s.days {
			s.on[d.Date] = d.Mean
		}
		c := by[v.Cluster]
		if c == nil {
			c = &cluster{name: v.Cluster}
			by[v.Cluster] = c
		}
		if v.Changed.IsZero() {
			c.others = append(c.others, s)
		} else {
			s.report = &Changed{ID: v.ID, Name: v.Name, Cluster: v.Cluster}
			c.changed = append(c.changed, s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		c := by[name]
		if len(c.changed) == 0 {
			continue
		}
		for _, list := range [][]*subject{c.changed, c.others} {
			slices.SortFunc(list, func(a, b *subject) int { return cmp.Compare(a.vm.ID, b.vm.ID) })
		}
		watched := c.watched()
		for _, s := range c.changed {
			s.judgedBy(watched, zone)
		}
		out = append(out, c)
	}
	return out
}

// watched returns the days that are valid for at least half of the cluster's VMs. On other days data is missing, or few
// VMs ran.
func (c *cluster) watched() (out []Date) {
	count, vms := map[Date]int{}, 0
	for _, list := range [][]*subject{c.changed, c.others} {
		for _, s := range list {
			if len(s.on) > 0 {
				vms++
			}
			for d := range s.on {
				count[d]++
			}
		}
	}
	for d, n := range count {
		if 2*n >= vms {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// judgedBy determines the days by which a changed VM is assessed, its numbers, and the reason if it cannot be tested.
func (s *subject) judgedBy(watched []Date, zone *time.Location) {
	v, r := s.vm, s.report
	for _, d := range watched {
		switch {
		case d < DateOf(v.Changed, zone):
			s.before = append(s.before, d)
		case !v.Effective.IsZero() && d > DateOf(v.Effective, zone):
			s.after = append(s.after, d)
		}
	}
	s.before = s.before[max(0, len(s.before)-Window):]
	s.after = s.after[:min(len(s.after), Window)]
	r.Before, r.DaysBefore = s.mean(s.before)
	r.After, r.DaysAfter = s.mean(s.after)
	switch {
	case r.DaysBefore == 0:
		r.Alone = "no day before the change counts"
	case 2*r.DaysBefore < len(s.before):
		r.Alone = fmt.Sprintf("%d of %d days before the change count, fewer than half", r.DaysBefore, len(s.before))
	case v.Effective.IsZero():
		r.Alone = "the change is not in effect"
	case r.DaysAfter == 0:
		r.Alone = "no day after the change counts yet"
	case 2*r.DaysAfter < len(s.after):
		r.Alone = fmt.Sprintf("%d of %d days after the change count, fewer than half", r.DaysAfter, len(s.after))
	}
	if was, is := s.kinds(s.before), s.kinds(s.after); len(was) > 0 && len(is) > 0 && !slices.Equal(was, is) {
		r.Note = "ran on another kind of host after the change: part of the difference may be the host's"
	}
}

// mean returns the mean of the valid days, and their number.
func (s *subject) mean(dates []Date) (mean *float64, n int) {
	sum := 0.0
	for _, d := range dates {
		if x, ok := s.on[d]; ok {
			sum += x
			n++
		}
	}
	if n == 0 {
		return nil, 0
	}
	sum /= float64(n)
	return &sum, n
}

// kinds returns the kinds of hosts on the valid days, each once.
func (s *subject) kinds(dates []Date) (out []string) {
	for _, d := range s.days {
		if _, found := slices.BinarySearch(dates, d.Date); found {
			out = append(out, d.Kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// choose selects the controls of changed VMs and returns the reasons for rejecting others.
func (c *cluster) choose(tested []*subject) (left []Left) {
	c.changed, c.controls, c.periods = tested, nil, nil
	days := map[Date]bool{}
	for _, s := range tested {
		if !slices.ContainsFunc(c.periods, s.period.equal) {
			c.periods = append(c.periods, s.period)
		}
		for _, d := range slices.Concat(s.before, s.after) {
			days[d] = true
		}
	}
	all := slices.Sorted(maps.Keys(days))
	for _, s := range c.others {
		why := ""
		switch _, n := s.mean(all); {
		case !slices.ContainsFunc(tested, func(t *subject) bool { return similar(t.vm.VCPUs, s.vm.VCPUs) }):
			why = words.Plural(s.vm.VCPUs, "vCPU") + ": not of similar size"
		case n < len(all):
			why = fmt.Sprintf("%d of %d days count", n, len(all))
		case len(s.kinds(all)) > 1:
			why = "ran on several kinds of hosts"
		default:
			c.controls = append(c.controls, s)
			continue
		}
		left = append(left, Left{s.vm.ID, s.vm.Name, why})
	}
	return left
}

func similar(a, b int) bool { return a <= Similar*b && b <= Similar*a }
