package alike

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	known := []string{"thresholds", "severities", "vm", "numa.vcpu.preferHT", "N005.seriousShare"}
	for _, tt := range []struct {
		word, want string
		exact      bool
	}{
		{"thresholds", "thresholds", true},
		{"Thresholds", "thresholds", true},
		{"treshold", "thresholds", false},
		{"numa.vcpu.perferHT", "numa.vcpu.preferHT", false},
		{"n005.seriousshares", "N005.seriousShare", false},
		{"suppressions", "", false},
		{"vms", "vm", false},
		{"xy", "", false},
		{"", "", false},
	} {
		if got, exact := Of(tt.word, known); got != tt.want || exact != tt.exact {
			t.Errorf("Of(%q) = %q, %v; want %q, %v", tt.word, got, exact, tt.want, tt.exact)
		}
	}
}

func TestNames(t *testing.T) {
	known := []string{"sql02", "sql01", "mysql-prod", "web01", "web02", "web03", "web04", "web05", "web06", "esx01.example.com", "db"}
	for _, tt := range []struct{ name, want string }{
		{"sql1", "sql01 sql02 mysql-prod"}, // one letter, two letters, the same word
		{"SQL", "sql01 sql02 mysql-prod"},
		{"slq01", "sql01"},
		{"web", "web01 web02 web03 web04 web05"},
		{"esx02", "esx01.example.com"},
		{"esx01.example.org", "esx01.example.com"},
		{"zz", ""},
		{"", ""},
	} {
		if got := strings.Join(Names(tt.name, known), " "); got != tt.want {
			t.Errorf("Names(%q) = %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := After("sql02", []string{"sql01"}); got != "; alike: sql01" {
		t.Errorf("After: %q", got)
	}
	if got := After("erp*", []string{"sql01"}); got != "; known: sql01" {
		t.Errorf("After: %q", got)
	}
	if got := After("prod/web*", []string{"a", "b", "c", "d", "e", "f"}); got != "" {
		t.Errorf("After, of many names: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"abc", "acb", 2}, {"abc", "b", 2}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
