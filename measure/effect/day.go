package effect

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	// LeastRan is the minimum run time of a VM on a valid day. It is an assumption: four hours include a part of the day's
	// work.
	LeastRan = 4 * time.Hour

	// Settling is excluded after each power-on, while the guest touches its memory for the first time.
	Settling = time.Hour
)

// A Date is a calendar day in the form 2006-01-02. Dates sort as text.
type Date string

// DateOf returns the day of a time in a zone; nil is UTC.
func DateOf(t time.Time, zone *time.Location) Date { return Date(t.In(in(zone)).Format(time.DateOnly)) }

func in(zone *time.Location) *time.Location { return cmp.Or(zone, time.UTC) }

// A Sample is a value of a measure, in its unit, for the time up to Time.
type Sample struct {
	Time  time.Time
	Value float64
}

// A Stay is the host of a VM from a time until the next Stay; a change of hosts is a vMotion.
type Stay struct {
	From time.Time
	Host string
	Kind string // of the host: hosts of one kind give every VM the same layout; "" is unknown
}

// A Day is the value of a VM for one day.
type Day struct {
	Date Date          `json:"date"`
	Mean float64       `json:"mean"` // over the run time, in the unit of the measure
	Ran  time.Duration `json:"ran"`  // run time without exclusions
	Host string        `json:"host,omitempty"`
	Kind string        `json:"kind,omitempty"` // of the host; of the longer stay if there were several
	Out  string        `json:"out,omitempty"`  // why the day is not valid; "" if it is
}

// DaysOf computes the days of a VM from its samples in time order. A sample covers the time since the previous one, but at
// most every: during a longer gap the VM counts as off. NaN values, the first hour after each power-on and the time between
// the change and its effect are excluded. A day is invalid if it belongs to the change, if the VM ran for less than
// LeastRan, or if a vMotion moved it to another kind of host.
func (v *VM) DaysOf(samples []Sample, every time.Duration, zone *time.Location) []Day {
	b := days{vm: v, zone: in(zone), powerOns: slices.SortedFunc(slices.Values(v.PowerOns), time.Time.Compare)}
	var last time.Time
	for _, s := range samples {
		from := s.Time.Add(-every)
		if !last.IsZero() && last.After(from) {
			from = last
		}
		last = s.Time
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			continue
		}
		for from.Before(s.Time) {
			to := b.nextDay(from)
			if s.Time.Before(to) {
				to = s.Time
			}
			b.add(from, to, s.Value)
			from = to
		}
	}
	for i := range b.all {
		b.finish(&b.all[i])
	}
	return b.all
}

// days is the state of DaysOf.
type days struct {
	vm       *VM
	zone     *time.Location
	powerOns []time.Time // ascending
	all      []Day
}

// nextDay returns the start of the day after that of t.
func (b *days) nextDay(t time.Time) time.Time {
	y, m, d := t.In(b.zone).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, b.zone)
}

// add adds a value for a time within one day. Mean is a sum until finish.
func (b *days) add(from, to time.Time, value float64) {
	counted := to.Sub(from) - b.settling(from, to)
	date := DateOf(from, b.zone)
	if n := len(b.all); n == 0 || b.all[n-1].Date != date {
		b.all = append(b.all, Day{Date: date})
	}
	d := &b.all[len(b.all)-1]
	d.Mean += float64(value * counted.Seconds())
	d.Ran += counted
}

// settling returns the part of a time that lies in the first hour after a power-on.
func (b *days) settling(from, to time.Time) (out time.Duration) {
	for _, on := range b.powerOns {
		if from.Before(on) {
			from = on
		}
		end := on.Add(Settling)
		if to.Before(end) {
			end = to
		}
		if from.Before(end) {
			out += end.Sub(from)
			from = end
		}
	}
	return out
}

// finish computes the mean, the host, and whether the day is valid.
func (b *days) finish(d *Day) {
	if d.Ran > 0 {
		d.Mean /= d.Ran.Seconds()
	}
	begin, _ := time.ParseInLocation(time.DateOnly, string(d.Date), b.zone) // it is in our own format
	end := b.nextDay(begin)
	var before *Stay
	var longest time.Duration
	moved := false
	for i := range b.vm.Stays {
		s := &b.vm.Stays[i]
		from, to := s.From, end
		if i == 0 || from.Before(begin) {
			from = begin // assume its first known host for the time before
		}
		if i+1 < len(b.vm.Stays) && b.vm.Stays[i+1].From.Before(end) {
			to = b.vm.Stays[i+1].From
		}
		if !from.Before(to) {
			continue
		}
		if before != nil && s.Host != before.Host && (s.Kind != before.Kind || s.Kind == "") {
			moved = true
		}
		if before = s; to.Sub(from) > longest {
			longest, d.Host, d.Kind = to.Sub(from), s.Host, s.Kind
		}
	}
	switch {
	case b.vm.changing(d.Date, b.zone):
		d.Out = "day of the change"
	case d.Ran < LeastRan:
		d.Out = "ran " + d.Ran.Round(time.Minute).String() + " that count, fewer than " + LeastRan.String()
	case moved:
		d.Out = "vMotion, not known to be to the same kind of host"
	}
}

// changing reports whether the day belongs to the change: from the write until it took effect.
func (v *VM) changing(d Date, zone *time.Location) bool {
	return !v.Changed.IsZero() && d >= DateOf(v.Changed, zone) && (v.Effective.IsZero() || d <= DateOf(v.Effective, zone))
}

// counting returns the valid days in time order.
func counting(days []Day) (out []Day) {
	for _, d := range days {
		if d.Out == "" {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Day) int { return cmp.Compare(a.Date, b.Date) })
	return out
}
