package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/capture"
	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/rules/finding"
)

// watched are two hosts with VMs of one name on each and a VM that was powered on anew.
func watched() *rules.Watched {
	w := &rules.Watched{Recordings: []*capture.Recording{
		{Host: "esx01", VMs: []capture.VM{{Name: "sql01", GID: 7}, {Name: "sql01", GID: 9}, {Name: "web", GID: 8}}},
		{Host: "esx02", VMs: []capture.VM{{Name: "web", GID: 3}}},
	}}
	w.Findings = []finding.Finding{
		{Rule: "M001", Severity: finding.High, Host: "esx01", VM: "sql01", GID: 9},
		{Rule: "M009", Severity: finding.Medium, Host: "esx01.example.com", VM: "web", GID: 8}, // as the inventory names it
		{Rule: "M004", Severity: finding.Medium, Host: "esx01"},
	}
	return w
}

// TestWatched checks which lives are shown with which findings, and which findings about
// what is shown are muted.
func TestWatched(t *testing.T) {
	for _, tt := range []struct {
		o               filter.Options
		vms, found, mut string
	}{
		{filter.Options{VMs: []string{"sql01"}}, "esx01/7 esx01/9", "M001", "M004"},
		{filter.Options{VMs: []string{"sql01 (gid 9)"}}, "esx01/9", "M001", "M004"},
		{filter.Options{VMs: []string{"sql01 (gid 7)"}}, "esx01/7", "", "M004"},
		{filter.Options{VMs: []string{"WEB"}}, "esx01/8 esx02/3", "M009", "M004"},
		{filter.Options{VMs: []string{"esx02/*"}}, "esx02/3", "", ""},
		{filter.Options{Hosts: []string{"esx01"}}, "esx01/7 esx01/9 esx01/8", "M001 M009 M004", ""},
		{filter.Options{Rules: []string{"M004"}}, "esx01/7 esx01/9 esx01/8 esx02/3", "M004", "M001 M009"},
		{filter.Options{Severity: "high", Hosts: []string{"esx0?"}}, "esx01/7 esx01/9 esx01/8 esx02/3", "M001", "M009 M004"},
	} {
		f, err := filter.New(tt.o)
		if err != nil {
			t.Fatal(err)
		}
		w, err := f.Watched(watched())
		if err != nil {
			t.Fatal(err)
		}
		var vms, found, muted []string
		for _, rec := range w.Recordings {
			for _, v := range rec.VMs {
				vms = append(vms, fmt.Sprintf("%s/%d", rec.Host, v.GID))
			}
		}
		for _, f := range w.Findings {
			found = append(found, f.Rule)
		}
		for _, m := range w.Muted {
			muted = append(muted, m.Rule)
		}
		if got, want := strings.Join(vms, " ")+"|"+strings.Join(found, " ")+"|"+strings.Join(muted, " "), tt.vms+"|"+tt.found+"|"+tt.mut; got != want {
			t.Errorf("%+v: %s, want %s", tt.o, got, want)
		}
	}
}

// TestWatchedNothing checks what is said when nothing is shown.
func TestWatchedNothing(t *testing.T) {
	for _, tt := range []struct {
		o    filter.Options
		want string
	}{
		{filter.Options{VMs: []string{"sql02"}}, "nothing is shown: no VM is named sql02; alike: sql01"},
		{filter.Options{VMs: []string{"esx02"}}, "nothing is shown: esx02 is a host: --host esx02"},
		{filter.Options{VMs: []string{"sap*"}}, "nothing is shown: no VM is named sap*; known: sql01, web"},
		{filter.Options{Tags: []string{"a"}}, "tag a: recordings state neither cluster nor folder, tag or setting: give the inventory with --fleet"},
	} {
		f, err := filter.New(tt.o)
		if err == nil {
			_, err = f.Watched(watched())
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v, want %s", tt.o, err, tt.want)
		}
	}
}
