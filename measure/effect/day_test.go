package effect

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// hourly returns samples of the hours that end after from, to to inclusive.
func hourly(from, to time.Time, value func(time.Time) float64) (out []Sample) {
	for t := from.Add(time.Hour); !t.After(to); t = t.Add(time.Hour) {
		out = append(out, Sample{t, value(t)})
	}
	return out
}

func TestDaysOf(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err) // a machine without zones
	}
	const every = time.Hour
	one := func(time.Time) float64 { return 1 }
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name    string
		vm      VM
		zone    *time.Location
		samples []Sample
		want    string // date, mean, ran, host and why it does not count
	}{
		{"two days", VM{}, nil, hourly(at(2, 0, 0), at(4, 0, 0), func(t time.Time) float64 { return float64(t.Add(-time.Minute).Day()) }),
			"2026-11-02 2.00 24h0m0s; 2026-11-03 3.00 24h0m0s"},
		{"a sample over midnight counts by parts", VM{}, nil, append(hourly(at(2, 16, 30), at(2, 23, 30), one), Sample{at(3, 0, 30), 5}, Sample{at(3, 1, 30), 1}),
			"2026-11-02 1.27 7h30m0s; 2026-11-03 2.33 1h30m0s ran 1h30m0s that count, fewer than 4h0m0s"},
		{"days of the zone", VM{}, berlin, hourly(at(2, 23, 0), at(4, 23, 0), one), "2026-11-03 1.00 24h0m0s; 2026-11-04 1.00 24h0m0s"},
		{"the clock goes back", VM{}, berlin, hourly(time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 23, 0, 0, 0, time.UTC), one), "2026-10-25 1.00 25h0m0s"},
		{"the first hour after power-ons", VM{PowerOns: []time.Time{at(2, 12, 20), at(2, 8, 30), at(2, 12, 0)}}, nil,
			hourly(at(2, 8, 0), at(2, 16, 0), func(t time.Time) float64 {
				switch t.Hour() {
				case 9, 10, 13, 14:
					return 7
				}
				return 1
			}), "2026-11-02 2.76 5h40m0s"}, // without 8:30 to 9:30 and 12:00 to 13:20: 1 h 40 min of 7 and 4 h of 1
		{"a gap", VM{}, nil, append(hourly(at(2, 0, 0), at(2, 4, 0), one), hourly(at(2, 20, 0), at(2, 22, 0), one)...), "2026-11-02 1.00 6h0m0s"},
		{"no number", VM{}, nil, hourly(at(2, 0, 0), at(2, 12, 0), func(t time.Time) float64 {
			if t.Hour() > 6 {
				return math.NaN()
			}
			return 1
		}), "2026-11-02 1.00 6h0m0s"},
		{"written, then in effect", VM{Changed: at(3, 20, 0), Effective: at(4, 2, 0)}, nil, hourly(at(2, 0, 0), at(6, 0, 0), one),
			"2026-11-02 1.00 24h0m0s; 2026-11-03 1.00 24h0m0s day of the change; 2026-11-04 1.00 24h0m0s day of the change; 2026-11-05 1.00 24h0m0s"},
		{"written, not in effect", VM{Changed: at(3, 20, 0)}, nil, hourly(at(2, 0, 0), at(5, 0, 0), one),
			"2026-11-02 1.00 24h0m0s; 2026-11-03 1.00 24h0m0s day of the change; 2026-11-04 1.00 24h0m0s day of the change"},
		{"vMotion to the same kind", VM{Stays: []Stay{{at(1, 0, 0), "esx01", "2x16"}, {at(2, 18, 0), "esx02", "2x16"}}}, nil, hourly(at(2, 0, 0), at(3, 0, 0), one),
			"2026-11-02 1.00 24h0m0s esx01"},
		{"vMotion to another kind", VM{Stays: []Stay{{at(2, 1, 0), "esx01", "2x16"}, {at(2, 6, 0), "esx02", "4x8"}}}, nil, hourly(at(2, 0, 0), at(4, 0, 0), one),
			"2026-11-02 1.00 24h0m0s esx02 vMotion, not known to be to the same kind of host; 2026-11-03 1.00 24h0m0s esx02"},
		{"vMotion between unknown kinds", VM{Stays: []Stay{{at(1, 0, 0), "esx01", ""}, {at(2, 6, 0), "esx02", ""}}}, nil, hourly(at(2, 0, 0), at(3, 0, 0), one),
			"2026-11-02 1.00 24h0m0s esx02 vMotion, not known to be to the same kind of host"},
		{"nothing", VM{}, nil, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, d := range tt.vm.DaysOf(tt.samples, every, tt.zone) {
				got = append(got, strings.TrimSpace(strings.Join(strings.Fields(fmt.Sprintf("%s %.2f %v %s %s", d.Date, d.Mean, d.Ran, d.Host, d.Out)), " ")))
			}
			if s := strings.Join(got, "; "); s != tt.want {
				t.Errorf("found %s\nwant  %s", s, tt.want)
			}
		})
	}
}
