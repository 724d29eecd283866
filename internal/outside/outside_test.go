package outside

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestFacts: each fact has a version and a source, and says when it was checked; what is older than a year is marked.
func TestFacts(t *testing.T) {
	for _, f := range Facts {
		if f.About == "" || f.Version == "" || f.Text == "" || f.Source == "" {
			t.Errorf("%+v is not whole", f)
		}
		checked, err := time.Parse(time.DateOnly, f.Checked)
		if err != nil {
			if text := f.Cite(time.Now()); !strings.Contains(text, "not checked lately") {
				t.Errorf("%s: %s; want that it was not checked", f.Key, text)
			}
			continue
		}
		for days, old := range map[int]bool{0: false, 360: false, 370: true} {
			if text := f.Cite(checked.AddDate(0, 0, days)); strings.Contains(text, "more than a year ago") != old || !strings.Contains(text, f.Checked) {
				t.Errorf("%s after %d days: %s; marked as old: want %v", f.Key, days, text, old)
			}
		}
		if strings.Contains(f.Cite(time.Time{}), "year") {
			t.Errorf("%s without a date: %s", f.Key, f.Cite(time.Time{}))
		}
	}
}

// TestAttributesSince: the version that scripts ask for has all attributes that they write.
func TestAttributesSince(t *testing.T) {
	number := regexp.MustCompile(`\d+(\.\d+)+`)
	for at, since := range attributes {
		needs, asks := number.FindString(since), number.FindString(Of(at[0]).Version)
		if needs != "" && compareVersions(needs, asks) > 0 {
			t.Errorf("%s of %s is there since %s, and scripts ask for %s", at[1], at[0], needs, asks)
		}
	}
}

func compareVersions(a, b string) int {
	parts := func(v string) (out []int) {
		for part := range strings.SplitSeq(v, ".") {
			n, _ := strconv.Atoi(part)
			out = append(out, n)
		}
		return out
	}
	return slices.Compare(parts(a), parts(b))
}
