package fix

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/zone"
)

// Window reads when VMs may be begun: "Sat 22:00-04:00", "22:00-04:00" for every day, with a zone behind it or in the
// local one. A window that ends before it begins goes over midnight; its day is that of its begin.
func Window(text string) (open func(time.Time) bool, err error) {
	want := fmt.Errorf("found %q, want [DAY] HH:MM-HH:MM [ZONE], such as 'Sat 22:00-04:00 Europe/Berlin'", text)
	words := strings.Fields(text)
	day := -1
	if len(words) > 0 {
		day = slices.IndexFunc([]time.Weekday{0, 1, 2, 3, 4, 5, 6}, func(d time.Weekday) bool {
			return strings.EqualFold(words[0], d.String()) || strings.EqualFold(words[0], d.String()[:3])
		})
	}
	if day >= 0 {
		words = words[1:]
	}
	where := time.Local
	if len(words) == 2 {
		if where, err = zone.Load(words[1]); err != nil {
			return nil, err
		}
		words = words[:1]
	}
	if len(words) != 1 {
		return nil, want
	}
	a, b, ok := strings.Cut(words[0], "-")
	from, errA := time.Parse("15:04", a)
	to, errB := time.Parse("15:04", b)
	if !ok || errA != nil || errB != nil || from.Equal(to) {
		return nil, want
	}
	minutes := func(t time.Time) int { return t.Hour()*60 + t.Minute() }
	begin, end := minutes(from), minutes(to)
	return func(t time.Time) bool {
		t = t.In(where)
		at, on := minutes(t), t.Weekday()
		within := at >= begin && at < end
		if end < begin {
			if within = at >= begin || at < end; at < end {
				on = t.AddDate(0, 0, -1).Weekday()
			}
		}
		return within && (day < 0 || int(on) == day)
	}, nil
}
