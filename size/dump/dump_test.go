package dump

import (
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/size/sheet"
)

// design is the question of the published design.
func design(ram, boot numa.Bytes) Question {
	return Question{RAM: ram, Boot: boot, Logs: 3 * numa.GiB, Reserve: 0.2, Media: "default"}
}

func answer(t *testing.T, q Question) *sheet.Run {
	t.Helper()
	r, err := Answer(q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAnswer checks how a boot device is divided and what is left on it, in expressions that hold.
func TestAnswer(t *testing.T) {
	with := func(ram, boot numa.Bytes, change func(*Question)) Question {
		q := design(ram, boot)
		change(&q)
		return q
	}
	media := func(name string) func(*Question) { return func(q *Question) { q.Media = name } }
	logs := func(n numa.Bytes) func(*Question) { return func(q *Question) { q.Logs, q.Reserve = n, 0 } }
	const gb = numa.Bytes(1e9)
	usable := numa.Bytes(24475 * numa.MiB)
	high := numa.Bytes(answer(t, design(200*numa.GiB, 0)).Get("high(file.size)").(sheet.Value).Value)
	value := numa.Bytes(answer(t, design(200*numa.GiB, 0)).Get("file.size").(sheet.Value).Value)
	for _, tt := range []struct {
		q    Question
		want string
	}{
		// The published design, all in binary units: 23.901 × 0.8 − 15.
		{design(1536*numa.GiB, 32*numa.GiB), `abs(plan.left / GiB - (0.8 * 24475 / 1024 - 15)) < 1e-9 && plan.verdict == "fits" && plan.layout.esxOSData == 24475 * MiB`},
		{design(numa.TiB, 32*numa.GiB), `plan.verdict == "fits"`},
		{with(numa.TiB, 32*numa.GiB, func(q *Question) { q.Logs = 5 * numa.GiB }), `plan.verdict == "may not fit"`}, // 7.45 left, 4.12 at the upper bound
		{with(numa.TiB, 32*numa.GiB, func(q *Question) { q.Logs = 8 * numa.GiB }), `plan.verdict == "too little for logs"`},
		{design(2048*numa.GiB, 32*numa.GiB), `plan.verdict == "does not fit"`}, // 20 of 19.1 GiB
		{design(128*numa.GiB, 128*numa.GiB), `plan.layout.esxOSData == 122779 * MiB && plan.layout.rest == 0`},
		{design(128*numa.GiB, 240*numa.GiB), `plan.layout.esxOSData == 122779 * MiB && plan.layout.rest == 112 * GiB`},
		{with(128*numa.GiB, 240*numa.GiB, media("small")), `plan.layout.esxOSData == 57243 * MiB && plan.layout.rest == 176 * GiB`},
		{with(128*numa.GiB, 80*numa.GiB, media("min")), `plan.layout.esxOSData == 33 * GB - 8293 * MiB && plan.layout.rest == 80 * GiB - 33 * GB`},
		{with(128*numa.GiB, 240*numa.GiB, media("max")), `plan.layout.esxOSData == 237467 * MiB && plan.layout.rest == 0`},
		{design(128*numa.GiB, 16*numa.GiB), `plan.layout.bootBank == GiB && plan.layout.esxOSData == 14235 * MiB`},
		{design(128*numa.GiB, 8*gb), `plan.layout.bootBank == 500 * MiB && plan.layout.esxOSData == 8 * GB - 1101 * MiB && mostRAM == nil`},
		{design(128*numa.GiB, 32*gb), `plan.layout.bootBank == 4 * GiB`}, // 32 decimal GB are of the larger class
		{design(128*numa.GiB, 0), `leastBoot == 32 * GiB && plan.left == nil`},
		// What fits to the byte fits.
		{with(200*numa.GiB, 32*numa.GiB, logs(usable-high)), `plan.verdict == "fits"`},
		{with(200*numa.GiB, 32*numa.GiB, logs(usable-high+1)), `plan.verdict == "may not fit"`},
		{with(200*numa.GiB, 32*numa.GiB, logs(usable-value)), `plan.verdict == "may not fit"`},
		{with(200*numa.GiB, 32*numa.GiB, logs(usable-value+1)), `plan.verdict == "too little for logs"`},
		{design(128*numa.GiB, 9*numa.GiB), `mostRAM == 188 * GiB`}, // 3420 MiB ÷ 18.19 MiB per GB
		{with(256*numa.GiB, 16*numa.GiB, func(q *Question) { q.Release = numa.ESXi67 }), `partition && file.size == nil && leastBoot == nil`},
	} {
		r := answer(t, tt.q)
		if unknown := r.Unknown(); unknown != nil {
			t.Fatalf("nothing has %q", unknown)
		}
		if r.Get(tt.want) != true {
			t.Errorf("%+v: %s does not hold: %v", tt.q, tt.want, r.Values)
		}
	}
	for boot, want := range map[numa.Bytes]string{
		4 * numa.GiB: "found 4 GB, want at least 7.5GB (8 decimal GB): boot banks and ESX-OSData do not fit", 65 * numa.TiB: "found 65 TB, want at most 64 TB",
	} {
		if err := CheckBoot(boot); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", boot, err, want)
		}
	}
}

// TestInverse checks that the smallest boot device fits and none smaller by a GiB does, that the most RAM fits and one GiB more does not, and
// that a larger device leaves no less.
func TestInverse(t *testing.T) {
	holds := func(q Question, want string) {
		t.Helper()
		if answer(t, q).Get(want) != true {
			t.Errorf("%+v: %s does not hold", q, want)
		}
	}
	for _, q := range []Question{design(0, 0), {Logs: 10 * numa.GiB, Reserve: 0.5, Media: "max"}, {Logs: numa.GiB, Media: "small"}} {
		for q.RAM = 16 * numa.GiB; q.RAM <= 3*numa.TiB; q.RAM += 120 * numa.GiB {
			q.Boot = 0
			least, ok := answer(t, q).Values["leastBoot"].(sheet.Value)
			if !ok {
				q.Boot = 64 * numa.TiB
				holds(q, `plan.verdict != "fits"`)
				continue
			}
			q.Boot = numa.Bytes(least.Value)
			r := answer(t, q)
			if r.Get(`plan.verdict == "fits" && mostRAM >= ram`) != true {
				t.Errorf("%+v: the least boot device does not fit", q)
			}
			most := q
			most.RAM = numa.Bytes(r.Values["mostRAM"].(sheet.Value).Value)
			holds(most, `plan.verdict == "fits"`)
			most.RAM += numa.GiB
			holds(most, `plan.verdict != "fits"`)
			if q.Boot > 32*numa.GiB {
				q.Boot -= numa.GiB
				holds(q, `plan.verdict != "fits"`)
			}
		}
		q.RAM = 768 * numa.GiB
		last := -1e18
		for q.Boot = 30 * numa.GiB; q.Boot <= 400*numa.GiB; q.Boot += 5 * numa.GiB {
			left := answer(t, q).Values["plan.left"].(sheet.Value)
			if left.Value < last || !(left.Low <= left.Value && left.Value <= left.High) {
				t.Errorf("%+v: %v, with less %v", q, left, last)
			}
			last = left.Value
		}
	}
}

// TestOfFleet checks how hosts are grouped by kind, and the totals of the fleet.
func TestOfFleet(t *testing.T) {
	host := func(name string, mem numa.Bytes, release numa.Release) numa.Host {
		h := numa.Host{Name: name}
		if mem != 0 {
			h.Memory = numa.ReadAt(mem, "test")
		}
		if release != 0 {
			h.Release = numa.ReadAt(release, "test")
		}
		return h
	}
	r := OfFleet("test", []numa.Host{
		host("b", 524178*numa.MiB, numa.ESXi80), host("a", 524170*numa.MiB, numa.ESXi80), host("old", 256*numa.GiB, numa.ESXi67),
		host("big", 3*numa.TiB, numa.ESXi80), host("blind", 0, numa.ESXi80), host("nameless", 512*numa.GiB, 0), host("tiny", 4*numa.GiB, numa.ESXi80),
	}, design(0, 32*numa.GiB))
	if unknown := r.Unknown(); unknown != nil {
		t.Fatalf("nothing has %q", unknown)
	}
	const want = "1 big 3,072 GiB does not fit; 1 nameless 512 GiB fits; 2 a 511.9 GiB fits; 1 old 256 GiB partition"
	if got := r.Get(`join(true, _n + " " + first + " " + ram + " " + (partition == true ? "partition" : plan.verdict))`); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	// 54.56 GiB of file and 3 for logs in 80 % of ESX-OSData.
	const all = `leastBoot == 81 * GiB && mostRAM == 1536 * GiB && leftOut == "Left out: tiny: found 4 GB, want at least 8 GB: ESXi 7.0 and later need that much. Left out: blind: its memory is not known."`
	if r.Get(all) != true {
		t.Errorf("found %v", r.Values)
	}
}

// TestChecks checks that every published figure is reproduced or listed as the article's
// own inconsistency, and how many there are of each.
func TestChecks(t *testing.T) {
	count := map[string]int{}
	for _, p := range Checks() {
		count[p.Verdict()]++
		if p.Inconsistency != "" && p.Reproduced() {
			t.Errorf("%s %s, %s: listed as %s but reproduced", p.ID, p.What, p.Quantity, p.Inconsistency)
		}
	}
	for verdict, n := range map[string]int{"restated": 25, "unit": 5, "circular": 1, "I-15": 4, "I-16": 3, "I-17": 2, "MISSED": 0} {
		if count[verdict] != n {
			t.Errorf("%s: found %d, want %d", verdict, count[verdict], n)
		}
	}
}
