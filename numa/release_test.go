package numa

import (
	"strings"
	"testing"
)

func TestParseRelease(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Release
		name string
	}{
		{"7.0", ESXi70, "7.0"},
		{"7.0.0", ESXi70, "7.0"},
		{"7.0.3", NewRelease(7, 0, 3), "7.0 U3"},
		{"7.0U3", NewRelease(7, 0, 3), "7.0 U3"},
		{"7.0 u3c", NewRelease(7, 0, 3), "7.0 U3"},
		{"7.0 U3", NewRelease(7, 0, 3), "7.0 U3"},
		{"8.0 Update 2b", NewRelease(8, 0, 2), "8.0 U2"},
		{"8.0  update 3", NewRelease(8, 0, 3), "8.0 U3"},
		{"VMware ESXi 7.0.3 build-21930508", NewRelease(7, 0, 3), "7.0 U3"},
		{"VMware ESXi 8.0.1 build-21495797", NewRelease(8, 0, 1), "8.0 U1"},
		{"VMware ESX 4.1.0 build-260247", ESX41, "4.1"},
		{"VMware ESX Server 3.5.0 build-64607", ESX35, "3.5"},
		{"6.5", ESXi65, "6.5"},
		{"6.7.0", ESXi67, "6.7"},
		{"7.0.3.1", NewRelease(7, 0, 3), "7.0 U3"}, // a fourth number is a patch
		{"9.0.1.0", NewRelease(9, 0, 1), "9.0 U1"},
		{"10.2", NewRelease(10, 2, 0), "10.2"},
	} {
		got, err := ParseRelease(tt.text)
		if err != nil || got != tt.want || got.String() != tt.name {
			t.Errorf("ParseRelease(%q) = %v, %v; want %s", tt.text, got, err, tt.name)
		}
		again, err := ParseRelease(got.String())
		if err != nil || again != got {
			t.Errorf("ParseRelease(%q) = %v, %v", got.String(), again, err)
		}
	}
	for _, text := range []string{"", "7", "ESXi", "seven", "7,0", "build-21930508", "123.456", "unknown release"} {
		want := `found "` + text + `", want a release such as 7.0 U3`
		if r, err := ParseRelease(text); err == nil || err.Error() != want || r != 0 {
			t.Errorf("ParseRelease(%q) = %v, %v; want %s", text, r, err, want)
		}
	}
}

func TestReleaseText(t *testing.T) {
	b, err := NewRelease(7, 0, 3).MarshalText()
	var r Release
	if err != nil || string(b) != "7.0 U3" || r.UnmarshalText(b) != nil || r != NewRelease(7, 0, 3) {
		t.Errorf("%s, %v, %v", b, err, r)
	}
	if err := r.UnmarshalText([]byte("new")); err == nil || r != 0 {
		t.Errorf("after an error: %v, %v", r, err)
	}
	if got := Release(0).String(); got != "unknown release" {
		t.Errorf("no release is %q", got)
	}
	if r := NewRelease(6, 7, 2); r.Base() != ESXi67 || r.Update() != 2 || r != ESXi67U2 || r >= ESXi70 || r <= ESXi65U3 {
		t.Errorf("6.7 U2: base %v, update %d", r.Base(), r.Update())
	}
}

func TestWithBuild(t *testing.T) {
	for _, tt := range []struct {
		release Release
		build   int
		want    string
	}{
		{ESX41, 260247, "4.1"},
		{ESX41, 348481, "4.1 U1"},
		{ESXi55, 1331820, "5.5"}, // GA
		{ESXi55, 3029944, "5.5 U3"},
		{ESXi60, 2494585, "6.0"}, // GA
		{ESXi60, 3029758, "6.0 U1"},
		{ESXi60, 5050592, "6.0 U2"},
		{ESXi60, 5050593, "6.0 U3"},
		{ESXi65, 4564106, "6.5"}, // GA
		{ESXi65, 13932383, "6.5 U3"},
		{ESXi65, 99999999, "6.5 U3"},
		{ESXi67, 8169922, "6.7"}, // GA
		{ESXi67, 13006603, "6.7 U2"},
		{ESXi67 + 1, 99999999, "6.7 U1"}, // the update is stated
		{ESXi70, 99999999, "7.0"},        // states its update itself
		{ESXi67, 0, "6.7"},
		{ESXi67, -1, "6.7"},
	} {
		if got := tt.release.WithBuild(tt.build).String(); got != tt.want {
			t.Errorf("%v.WithBuild(%d) = %s, want %s", tt.release, tt.build, got, tt.want)
		}
	}
	for i := 1; i < len(firstBuilds); i++ {
		a, b := firstBuilds[i-1], firstBuilds[i]
		if a.release >= b.release || a.release.Base() == b.release.Base() && a.build >= b.build {
			t.Errorf("%v %d does not come before %v %d", a.release, a.build, b.release, b.build)
		}
	}
}

func TestModelOf(t *testing.T) {
	for _, tt := range []struct {
		release Release
		want    Release
		own, ok bool
	}{
		{0, 0, false, false},
		{NewRelease(2, 5, 0), 0, false, false},
		{NewRelease(3, 0, 0), 0, false, false},
		{ESX35, ESX35, true, true},
		{NewRelease(3, 5, 4), NewRelease(3, 5, 4), true, true},
		{NewRelease(4, 2, 0), 0, false, false},
		{ESXi60, ESXi60, true, true},
		{NewRelease(5, 9, 0), 0, false, false},
		{NewRelease(6, 6, 1), 0, false, false},
		{ESXi67U2, ESXi67U2, true, true},
		{NewRelease(7, 1, 0), 0, false, false},
		{NewRelease(8, 0, 3), NewRelease(8, 0, 3), true, true},
		{NewRelease(9, 1, 0), ESXi90, false, true},
		{NewRelease(12, 0, 0), ESXi90, false, true},
	} {
		model, own, ok := ModelOf(tt.release)
		if model != tt.want || own != tt.own || ok != tt.ok {
			t.Errorf("ModelOf(%v) = %v, %v, %v; want %v, %v, %v", tt.release, model, own, ok, tt.want, tt.own, tt.ok)
		}
	}
	for i, r := range Modelled[1:] {
		if r <= Modelled[i] {
			t.Errorf("%v does not come after %v", r, Modelled[i])
		}
	}
}

// FuzzParseRelease demands that what is read has a name that reads the same, and
// that words around a release do not matter.
func FuzzParseRelease(f *testing.F) {
	for _, s := range []string{"7.0U3", "VMware ESXi 7.0.3 build-21930508", "8.0 Update 2b", "99.99.99", "0.0", "6.7.0.1", "7.0u"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRelease(s)
		if err != nil {
			if r != 0 || !strings.HasPrefix(err.Error(), "found ") {
				t.Errorf("ParseRelease(%q) = %v, %v", s, r, err)
			}
			return
		}
		if r == 0 {
			return // "0.0" is the zero release, which has no name
		}
		again, err := ParseRelease("VMware ESXi " + r.String() + " Server")
		if err != nil || again != r {
			t.Errorf("ParseRelease(%q) = %v, and its name gives %v, %v", s, r, again, err)
		}
		model, own, ok := ModelOf(r)
		if newer := r > ESXi90; ok != (newer || own) || own && model != r || ok && model.Base() > r.Base() {
			t.Errorf("ModelOf(%v) = %v, %v, %v", r, model, own, ok)
		}
		if b := r.WithBuild(13932383); b < r || b.Base() != r.Base() {
			t.Errorf("%v.WithBuild = %v", r, b)
		}
	})
}
