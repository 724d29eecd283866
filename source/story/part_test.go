package story_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/story"
)

// TestPart leaves of a fleet the hosts that are named and the VMs on them.
func TestPart(t *testing.T) {
	f := given.Fleet(t, "fleet.txt", []byte("release 7.0U3\ncluster prod\nhost esx01.lab nodes=2 cores=8 memory=64GB\nhost esx02.lab nodes=2 cores=8 memory=64GB\nvm a host=esx01.lab vcpus=2 memory=4GB\nvm b host=esx02.lab vcpus=2 memory=4GB\ncluster test\nhost old nodes=1 cores=8 memory=64GB\nvm c host=old vcpus=2 memory=4GB\n"))
	for text, want := range map[string]string{
		"prod": "2 hosts, a b", "esx01": "1 hosts, a", "ESX02.lab": "1 hosts, b", "esx*": "2 hosts, a b", "prod,old": "3 hosts, a b c", "test,test": "1 hosts, c",
		"nope": `found no host or cluster "nope"`, "prod,nope": `found no host or cluster "nope"`, "": `found no host or cluster ""`,
	} {
		got := ""
		part, err := story.Part(f, strings.Split(text, ","))
		if err != nil {
			got = err.Error()
		} else {
			var vms []string
			for i := range part.VMs {
				vms = append(vms, part.VMs[i].Name)
			}
			got = fmt.Sprintf("%d hosts, %s", len(part.Hosts), strings.Join(vms, " "))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if len(f.Hosts) != 3 || len(f.VMs) != 3 {
		t.Error("the fleet has changed")
	}
}

// TestMoment reads times of a story.
func TestMoment(t *testing.T) {
	s := &numa.Story{Start: time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC), Length: 4 * time.Hour}
	for text, want := range map[string]string{
		"30m": "2026-01-05T22:30:00Z", "22:30": "2026-01-05T22:30:00Z", "01:00:02": "2026-01-06T01:00:02Z", "2026-01-06T01:00:00Z": "2026-01-06T01:00:00Z", " 4h ": "2026-01-06T02:00:00Z",
		"5h": "error", "21:00": "error", "25:00": "error", "x": "error", "2026-01-05T21:00:00Z": "error", "1s": "error",
	} {
		at, err := story.Moment(s, text)
		got := at.Format(time.RFC3339)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", text, got, err, want)
		}
	}
}
