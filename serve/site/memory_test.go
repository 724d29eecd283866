package site

import (
	"html"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/serve/held"
)

// TestMemoryPages shows the states of memory on the pages of a VM, its host, its cluster and those that a filter shows, and nothing of a VM or host of
// which nothing is known.
func TestMemoryPages(t *testing.T) {
	now := time.Now().Truncate(time.Second).UTC()
	l, f := night(t, now)
	for minute := range 60 { // of the last hour
		x := numa.Tick{Host: f.Hosts[0].Name, Time: now.Add(time.Duration(minute-60) * time.Minute), Since: time.Minute, VMs: []numa.VMTick{{GID: 5, Name: "db", VCPUs: 4,
			Has: numa.HasGranted | numa.HasShared | numa.HasSwapped, Granted: 10 * numa.GiB, Shared: 4 * numa.GiB, Swapped: numa.GiB}}}
		l.Board.Past("vc", f.Hosts[0].ID, &x)
	}
	fleet := &held.Fleet{Name: "vc", Result: rules.Run(f, rules.Options{})}
	s := &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{fleet} }, Live: l}
	const known = `aria-label="private: 6 GB at first, 6 GB at last, at most 6 GB"`
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, _, body := get(t, s, "/vm?vm=db"); strings.Contains(body, known) {
			break
		} else if time.Now().After(end) {
			t.Fatal("the page of the VM shows no memory")
		}
	}
	for address, title := range map[string]string{"/vm?vm=db": "Memory of db by state", "/host?host=esx1": "Memory of the VMs on esx1 by state", "/cluster?cluster=c": "Memory of c by state",
		"/?cluster=c": "Memory of 1 VM by state", "/?vm=d*": "Memory of 1 VM by state"} {
		_, _, body := get(t, s, address)
		for _, want := range []string{known, `<title id="memory-states__name">` + html.EscapeString(title) + "</title>", `aria-label="swapped: 1 GB at first`, ">ballooned: unknown</text>", ">compressed: unknown</text>",
			": 1 VM, private 6 GB, shared 4 GB, ballooned unknown, compressed unknown, swapped 1 GB</title>"} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: %q is not on the page", address, want)
			}
		}
	}
	for _, address := range []string{"/host?host=esx2", "/?severity=low"} {
		if code, _, body := get(t, s, address); code != 200 || strings.Contains(body, "memory-states") {
			t.Errorf("%s: status %d, and memory of which nothing is known", address, code)
		}
	}
}
