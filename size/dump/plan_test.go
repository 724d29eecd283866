package dump

import (
	"math"
	"testing"

	"homenode/numa"
)

func TestDivide(t *testing.T) {
	for _, tt := range []struct {
		name               string
		boot               Size
		media              Media
		bank, osdata, rest Size
		datastore          bool
	}{
		{"published, 32 GB", 32 * GiB, "", 4 * GiB, 24475 * MiB, 0, false},                          // 23.9 GiB
		{"published, 128 GB", 128 * GiB, MediaDefault, 4 * GiB, 122779 * MiB, 0, false},             // 119.9 GiB
		{"too little for a datastore", 130 * GiB, "", 4 * GiB, 122779 * MiB, 2 * GiB, false},        // 139.6 GB
		{"a datastore", 240 * GiB, MediaDefault, 4 * GiB, 122779 * MiB, 112 * GiB, true},            //
		{"small", 240 * GiB, MediaSmall, 4 * GiB, 57243 * MiB, 176 * GiB, true},                     // 55.9 GiB
		{"min", 80 * GiB, MediaMin, 4 * GiB, 33*GB - 8293*MiB, 80*GiB - 33*GB, true},                // 22.6 GiB
		{"max", 240 * GiB, MediaMax, 4 * GiB, 237467 * MiB, 0, false},                               //
		{"below 32 GB", 16 * GiB, "", GiB, 14235 * MiB, 0, false},                                   //
		{"the least", 8 * GB, "", 500 * MiB, 8*GB - 1101*MiB, 0, false},                             //
		{"32 decimal GB are of the larger class", 32 * GB, "", 4 * GiB, 32*GB - 8293*MiB, 0, false}, //
	} {
		l, err := Divide(tt.boot, tt.media)
		if err != nil {
			t.Fatal(err)
		}
		if l.Bank != tt.bank || l.OSData != tt.osdata || l.Rest != tt.rest || l.Datastore() != tt.datastore {
			t.Errorf("%s: %+v, datastore %v", tt.name, l, l.Datastore())
		}
		if sum := l.Loader + 2*l.Bank + l.OSData + l.Rest; sum != tt.boot {
			t.Errorf("%s: the parts are %v of %v", tt.name, float64(sum), float64(tt.boot))
		}
	}
	for boot, want := range map[Size]string{
		0:                   "found 0 B, want at least 7.5GB (8 decimal GB): boot banks and ESX-OSData do not fit",
		4 * GiB:             "found 4 GB, want at least 7.5GB (8 decimal GB): boot banks and ESX-OSData do not fit",
		Size(65 * numa.TiB): "found 65 TB, want at most 64 TB",
	} {
		if _, err := Divide(boot, ""); err == nil || err.Error() != want {
			t.Errorf("%v: %v; want %s", float64(boot), err, want)
		}
	}
}

func of(t *testing.T, ram numa.Bytes) File {
	t.Helper()
	f, err := Of(ram, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func fit(t *testing.T, f File, boot Size, n Needs) Plan {
	t.Helper()
	p, err := Fit(f, boot, n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFit(t *testing.T) {
	// The published design, all in binary units: 23.901 × 0.8 − 15.
	p := fit(t, of(t, 1536*numa.GiB), 32*GiB, Published)
	if got, want := float64(p.Left.Value/GiB), 0.8*24475/1024-15; math.Abs(got-want) > 1e-9 || p.Verdict != Fits {
		t.Errorf("left %.4f GiB, %s; want %.4f, fits", got, p.Verdict, want)
	}
	for _, tt := range []struct {
		ram  numa.Bytes
		logs Size
		want Verdict
	}{
		{1024 * numa.GiB, 3 * GiB, Fits},
		{1024 * numa.GiB, 5 * GiB, FitsMaybe}, // 7.45 left, 4.12 at the upper bound
		{1024 * numa.GiB, 8 * GiB, ShortLogs},
		{2048 * numa.GiB, 0, DoesNotFit}, // 20 of 19.1 GiB
		{1900 * numa.GiB, 0, FitsMaybe},
	} {
		n := Published
		n.Logs = tt.logs
		if p := fit(t, of(t, tt.ram), 32*GiB, n); p.Verdict != tt.want {
			t.Errorf("%s, %s for logs: %s, want %s", tt.ram, tt.logs, p.Verdict, tt.want)
		}
	}
	for _, n := range []Needs{{Reserve: -0.1}, {Reserve: 0.95}, {Logs: -1}} {
		if _, err := Fit(File{}, 32*GiB, n); err == nil {
			t.Errorf("%+v: no error", n)
		}
	}
}

// TestLeft checks that what is left falls with the RAM, and grows with the boot device
// where the boot banks stay the same.
func TestLeft(t *testing.T) {
	last := Size(math.Inf(1))
	for ram := leastRAM; ram <= 4*numa.TiB; ram += numa.GiB {
		p := fit(t, of(t, ram), 64*GiB, Published)
		if p.Left.Value > last {
			t.Fatalf("%s leaves more than less RAM does", ram)
		}
		last = p.Left.Value
	}
	f := of(t, 768*numa.GiB)
	for _, media := range Medias {
		n := Published
		n.Media = media
		last := Size(math.Inf(-1))
		for boot := 30 * GiB; boot <= 400*GiB; boot += GiB / 2 {
			p := fit(t, f, boot, n)
			if p.Left.Value < last {
				t.Fatalf("%s, %s: %s leaves less than a smaller device", media, boot, boot)
			}
			if !(p.Left.Low <= p.Left.Value && p.Left.Value <= p.Left.High) {
				t.Fatalf("%s: %+v", boot, p.Left)
			}
			last = p.Left.Value
		}
	}
}

// TestInverse checks that the smallest boot device fits and none smaller by a GiB does, and
// that the most RAM fits and one GiB more does not.
func TestInverse(t *testing.T) {
	for _, n := range []Needs{Published, {Logs: 10 * GiB, Reserve: 0.5, Media: MediaMax}, {Logs: GiB, Reserve: 0, Media: MediaSmall}} {
		for ram := 16 * numa.GiB; ram <= 3*numa.TiB; ram += 40 * numa.GiB {
			f := of(t, ram)
			boot, err := LeastBootFor(f, n)
			if err == ErrNoBoot {
				if p := fit(t, f, 64*Size(numa.TiB), n); p.Verdict == Fits {
					t.Fatalf("%s, %+v: no device is found, but 64 TB fit", ram, n)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if p := fit(t, f, boot, n); p.Verdict != Fits {
				t.Errorf("%s, %+v: %s is named and %s", ram, n, boot, p.Verdict)
			}
			if boot > 32*GiB {
				if p := fit(t, f, boot-GiB, n); p.Verdict == Fits {
					t.Errorf("%s, %+v: %s is named but %s fits", ram, n, boot, boot-GiB)
				}
			}
			most, ok, err := MostRAM(boot, n)
			if err != nil || !ok || most < ram {
				t.Errorf("%s: on %s the most RAM is %s, %v, %v", ram, boot, most, ok, err)
			}
		}
	}
	// 8.25 + (2.27 + 3) ÷ 0.8 are 14.8 GiB; 7.0 and later want 32 GB all the same.
	if boot, err := LeastBootFor(of(t, 128*numa.GiB), Published); boot != 32*GiB || err != nil {
		t.Errorf("128 GB: found %s, %v; want 32 GiB", boot, err)
	}
	for _, tt := range []struct {
		boot Size
		want numa.Bytes
		ok   bool
	}{
		{32 * GiB, 1536 * numa.GiB, true}, // an extrapolated file may be much larger
		{9 * GiB, 188 * numa.GiB, true},   // 3420 MiB ÷ 18.19 MiB per GB
	} {
		most, ok, err := MostRAM(tt.boot, Published)
		if most != tt.want || ok != tt.ok || err != nil {
			t.Errorf("on %s: %s, %v, %v; want %s", tt.boot, most, ok, err, tt.want)
		}
		if p := fit(t, of(t, most), tt.boot, Published); p.Verdict != Fits {
			t.Errorf("on %s: %s is named and %s", tt.boot, most, p.Verdict)
		}
		if p := fit(t, of(t, most+numa.GiB), tt.boot, Published); p.Verdict == Fits {
			t.Errorf("on %s: %s fits as well", tt.boot, most+numa.GiB)
		}
	}
	if most, ok, err := MostRAM(8*GB, Published); ok || most != 0 || err != nil { // 2150 of 2328 MiB
		t.Errorf("found %s, %v, %v; want none", most, ok, err)
	}
}

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
	hosts := []numa.Host{
		host("b", 524178*numa.MiB, numa.ESXi80), host("a", 524170*numa.MiB, numa.ESXi80), host("old", 256*numa.GiB, numa.ESXi67),
		host("big", 3*numa.TiB, numa.ESXi80), host("blind", 0, numa.ESXi80), host("nameless", 512*numa.GiB, 0), host("tiny", 4*numa.GiB, numa.ESXi80),
	}
	f, err := OfFleet(hosts, Question{Boot: 32 * GiB, Needs: Published})
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		hosts     int
		first     string
		partition bool
		assumed   bool
		verdict   Verdict
	}
	var got []row
	for _, k := range f.Kinds {
		r := row{len(k.Hosts), k.Hosts[0], k.Partition, k.Assumed, ""}
		if k.Plan != nil {
			r.verdict = k.Plan.Verdict
		}
		got = append(got, r)
	}
	want := []row{{1, "big", false, false, DoesNotFit}, {1, "nameless", false, true, Fits}, {2, "a", false, false, Fits}, {1, "old", true, false, ""}}
	if len(got) != len(want) {
		t.Fatalf("found %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("found %+v, want %+v", got[i], want[i])
		}
	}
	if ram := f.Kinds[2].RAM; ram != 524178*numa.MiB {
		t.Errorf("hosts a and b: %s, want that of the larger", ram)
	}
	// 54.56 GiB of file and 3 for logs in 80 % of ESX-OSData.
	if f.LeastBoot == nil || *f.LeastBoot != 81*GiB || f.MostRAM == nil || *f.MostRAM != 1536*numa.GiB {
		t.Errorf("least boot %v, most RAM %v", f.LeastBoot, f.MostRAM)
	}
	if len(f.LeftOut) != 2 || f.LeftOut[0] != (LeftOut{"blind", "its memory is not known"}) || f.LeftOut[1].Host != "tiny" {
		t.Errorf("left out: %+v", f.LeftOut)
	}
	if _, err := OfFleet(nil, Question{Boot: GiB, Needs: Published}); err == nil {
		t.Error("a boot device of 1 GiB: no error")
	}
}

// TestVerdictEdges checks that what fits to the byte fits.
func TestVerdictEdges(t *testing.T) {
	f, err := Of(200*numa.GiB, 0)
	if err != nil {
		t.Fatal(err)
	}
	usable := Size(24475 * MiB) // of 32 GiB, nothing kept free
	for _, tt := range []struct {
		name string
		logs Size
		file Size // value of it; 0: as it is
		want Verdict
	}{
		{"to the byte with the upper bound", usable - f.Size.High, 0, Fits},
		{"a byte more than that", usable - f.Size.High + 1, 0, FitsMaybe},
		{"to the byte with the value", usable - f.Size.Value, 0, FitsMaybe},
		{"a byte more than the value leaves", usable - f.Size.Value + 1, 0, ShortLogs},
		{"all for the file", 0, usable, Fits},
		{"logs, and all for the file", 1, usable, ShortLogs},
		{"a byte too large", 0, usable + 1, DoesNotFit},
	} {
		g := f
		if tt.file != 0 {
			g.Size.Low, g.Size.Value, g.Size.High = tt.file, tt.file, tt.file
		}
		p, err := Fit(g, 32*GiB, Needs{Logs: tt.logs})
		if err != nil || p.Verdict != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, p.Verdict, err, tt.want)
		}
	}
}
