package recording

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/rules/finding"
)

// TestStories joins what overlaps about one VM, on whatever host, and keeps apart what does not, what is about another VM, and what has no time.
func TestStories(t *testing.T) {
	at := func(clock string) time.Time {
		x, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	found := func(rule string, s finding.Severity, host, vm, id, from, to string) *finding.Finding {
		return &finding.Finding{Rule: rule, Title: "title of " + rule, Severity: s, Host: host, VM: vm, VMID: id, From: at(from), To: at(to)}
	}
	low := found("M001", finding.Medium, "esx1", "db", "vm-1", "01:00", "01:20")
	low.Bad, low.Because, low.Advice = "55 % local", []string{"it came by vMotion", "node 1 was full"}, "Move a VM away. Wait"
	all := []*finding.Finding{
		found("M005", finding.Low, "esx2", "db", "vm-1", "01:15", "02:00"), low, // it moved meanwhile
		found("M001", finding.Medium, "esx1", "db", "vm-1", "02:06", "02:07"),
		found("M001", finding.High, "esx1", "app", "", "01:00", "01:10"), found("M001", finding.High, "esx2", "app", "", "01:00", "01:10"), // two VMs of one name
		found("M004", finding.Medium, "esx1", "", "", "01:00", "01:30"), found("M012", finding.Low, "esx1", "", "", "01:30", "01:31"),
		{Rule: "M006", Severity: finding.Low, VM: "x", Host: "esx1"},
	}
	stories := Stories(all)
	var got []string
	for _, s := range stories {
		f := s.Worst()
		got = append(got, strings.Join(append(s.Rules(), f.Host, f.VM, s.Length().String()), " "))
	}
	want := []string{"M001 esx1 app 10m0s", "M001 esx2 app 10m0s", "M001 M005 esx1 db 1h0m0s", "M004 M012 esx1  31m0s", "M001 esx1 db 1m0s", "M006 esx1 x 0s"}
	if !slices.Equal(got, want) {
		t.Fatalf("%q\nwant %q", got, want)
	}
	if s := stories[2]; s.Bad() != "55 % local" || s.Why() != "it came by vMotion; node 1 was full" || s.Do() != "Move a VM away" || s.State() || !stories[5].State() {
		t.Errorf("%q, %q, %q, %v", s.Bad(), s.Why(), s.Do(), s.State())
	}
	if got := strings.Join(stories[2].Hosts(), " → "); got != "esx1 → esx2" {
		t.Errorf("hosts %q, want where the VM ran in the order of time", got)
	}
	if groups := Alike(stories, func(s *Story) string { return s.From.String() + s.To.String() }); len(groups) != 5 || len(groups[0]) != 2 {
		t.Errorf("%d groups", len(groups))
	}
}
