package published

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/testdeps"
)

// shipped returns the cases of measure/published/testdata by ID.
func shipped(t testing.TB) map[string]Case {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no published cases: %v", err)
	}
	out := map[string]Case{}
	for _, path := range paths {
		cases := testdeps.Input(t, path, Read)
		if id := strings.TrimSuffix(filepath.Base(path), ".txtar"); len(cases) != 1 || cases[0].ID != id {
			t.Fatalf("%s holds %d cases, the first of id %q", path, len(cases), cases[0].ID)
		}
		out[cases[0].ID] = cases[0]
	}
	return out
}

// TestScore pins the score over the shipped cases: it may only get better, and
// that with a reader of the diff.
func TestScore(t *testing.T) {
	all := shipped(t)
	var cases []Case
	for _, id := range slices.Sorted(maps.Keys(all)) {
		cases = append(cases, all[id])
	}
	s := NewScore(cases, vnuma.Choices{})
	if s.All != (ReleaseScore{"all", 110, 69, 68}) || s.Unexplained() != 0 || len(s.Open) != 110-69 {
		t.Errorf("%+v, %d fields unexplained, %d cases open; want 110, 69, 68; 0; 41", s.All, s.Unexplained(), len(s.Open))
	}
	kinds := []KindScore{{"blind", 16, 15, 35}, {"fitted", 43, 43, 161}, {"trivial", 10, 10, 20}}
	if !slices.Equal(s.Kinds, kinds) {
		t.Errorf("kinds %+v, want %+v", s.Kinds, kinds)
	}
	if f := &s.Fields; f.Stated != 324 || f.Compared != 216 || f.Agree != 215 || len(f.Open) != 6 {
		t.Errorf("fields %+v", f)
	}
	open := 0
	for _, r := range s.Fields.Open {
		open += r.Fields
	}
	if open != s.Fields.Stated-s.Fields.Compared {
		t.Errorf("%d fields have a reason, want %d", open, s.Fields.Stated-s.Fields.Compared)
	}
	var misses []string
	for _, m := range s.Misses {
		misses = append(misses, m.ID+" "+m.Name+" "+m.Predicted+" "+m.Observed+" "+m.Reason)
	}
	want := []string{"fd-2011-magnycours-8vcpu vcpus_per_ppd [4 4] [6 2] F-2, sources disagree: ESX 4.1 splits evenly, " +
		"8 vCPUs on 6-core nodes are 4+4 (VMware KB 309166); the case follows: ESX 4.1 fills nodes, 6+2 (Denneman 2011)"}
	if !slices.Equal(misses, want) {
		t.Errorf("misses:\n%s\nwant:\n%s", strings.Join(misses, "\n"), strings.Join(want, "\n"))
	}
	if other := NewScore(cases, vnuma.Choices{Fill41: true}); other.All.Reproduced != 69 {
		t.Errorf("with choice F-2 %d are reproduced, want 69", other.All.Reproduced)
	}
	total := ReleaseScore{Release: "all"}
	rows := s.Releases
	for i, r := range rows {
		total.Cases, total.Compared, total.Reproduced = total.Cases+r.Cases, total.Compared+r.Compared, total.Reproduced+r.Reproduced
		if i > 0 && rows[i-1].Release >= r.Release {
			t.Errorf("%s comes after %s", r.Release, rows[i-1].Release)
		}
	}
	if want := (ReleaseScore{"all", 110, 69, 68}); total != want {
		t.Errorf("the releases add up to %v, want %v", total, want)
	}
}
