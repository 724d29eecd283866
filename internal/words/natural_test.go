package words

import (
	"slices"
	"testing"
)

// TestNatural sorts names as the script of a page does.
func TestNatural(t *testing.T) {
	want := []string{"", "-", "2", "10", "010x", "ESX1", "esx02", "esx2-a", "esx10", "sql", "web_1", "web01", "Ära"}
	got := []string{"esx10", "web01", "sql", "10", "ESX1", "esx2-a", "", "Ära", "esx02", "010x", "2", "-", "web_1"}
	slices.SortStableFunc(got, Natural)
	if !slices.Equal(got, want) {
		t.Errorf("sorted %q, want %q", got, want)
	}
}
