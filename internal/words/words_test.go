package words

import (
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Plural(1, "VM"), "1 VM"}, {Plural(0, "VM"), "0 VMs"}, {Plural(1204, "VM"), "1,204 VMs"}, {Verb(2, "loses", "lose"), "2 lose"},
		{Thousands(999), "999"}, {Thousands(1234567), "1,234,567"}, {Thousands(-999), "-999"}, {Thousands(-1234), "-1,234"}, {Paragraph(" a\n  b "), "a b"},
	} {
		if tt.got != tt.want {
			t.Errorf("found %q, want %q", tt.got, tt.want)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"sql01", "sql01"}, {"größe-01.example.com", "größe-01.example.com"}, {"", "''"}, {"a b", "'a b'"}, {"it's", `'it'\''s'`}, {"$(reboot)", "'$(reboot)'"},
		{"#1", "'#1'"}, {"~root", "'~root'"}, {"a!b", "'a!b'"}, {"--host=x", "--host=x"},
	} {
		if got := Command("homenode", tt.word); got != "homenode "+tt.want {
			t.Errorf("%s, want homenode %s", got, tt.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                               "0 s",
		50*time.Second + 900*1e6:        "50 s",
		99*time.Minute + 40*time.Second: "1 h 40 min", // its finding and its row of a table alike
		59*time.Minute + 59*time.Second: "59 min 59 s",
		time.Minute:                     "1 min",
		12*time.Minute + 20*1e9:         "12 min 20 s",
		3 * time.Hour:                   "3 h",
		3*time.Hour + 20*60*1e9 + 1e9:   "3 h 20 min",
		52*time.Hour + 59*time.Minute:   "2 d 5 h",
		24*time.Hour + 59*60*1e9 + 1e9:  "24 h 59 min",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for want, names := range map[string][]string{
		"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b, c and d": {"a", "b", "c", "d"}, "a, b, c and 2 more": {"a", "b", "c", "d", "e"},
	} {
		if got := List(names); got != want {
			t.Errorf("List(%q) = %q, want %q", names, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 0.001: "< 1 %", 0.334: "33 %", 0.5: "50 %", 1: "100 %"} {
		if got := Percent(share); got != want {
			t.Errorf("Percent(%v) = %q, want %q", share, got, want)
		}
	}
}

func TestRanges(t *testing.T) {
	for _, tt := range []struct {
		numbers []int
		want    string
	}{
		{nil, ""},
		{[]int{4}, "4"},
		{[]int{4, 5}, "4-5"},
		{[]int{0, 1, 2, 3, 8}, "0-3, 8"},
		{[]int{0, 2, 3, 4}, "0, 2-4"},
	} {
		if got := Ranges(tt.numbers); got != tt.want {
			t.Errorf("Ranges(%v) = %q, want %q", tt.numbers, got, tt.want)
		}
	}
}

// TestCapital starts sentences: names of settings and files keep their letters.
func TestCapital(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "the host is full": "The host is full", "virtual: as before": "Virtual: as before", "done.": "Done.", "numa.vcpu.preferHT came after": "numa.vcpu.preferHT came after",
		"vmware.log at line 3 ends": "vmware.log at line 3 ends", "esx01.demo: no VM": "esx01.demo: no VM",
	} {
		if got := Capital(s); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	}
}
