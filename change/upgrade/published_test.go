package upgrade

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// TestMeaningsCite checks that each meaning names statements, and that it is about some VM and not about every one.
func TestMeaningsCite(t *testing.T) {
	for _, m := range meanings(&vnuma.Choices{}) {
		if len(m.Book) == 0 || m.Before == "" || m.After == "" || strings.HasSuffix(m.After, ".") || m.Release+numa.Release(m.Hardware) == 0 || (m.ofVM == nil) == (m.ofHost == nil) {
			t.Errorf("%s: %+v", m.Setting, m)
		}
		if m.ofVM != nil && m.ofVM(&numa.VM{}, &numa.Host{}) {
			t.Errorf("%s is about a VM of which nothing is known", m.Setting)
		}
		for _, id := range m.Book {
			if _, ok := rulebook.Find(id); !ok {
				t.Errorf("%s cites %s, which the rule book lacks", m.Setting, id)
			}
		}
	}
}

// ofRelease matches a release or a virtual hardware version in a statement, and no amount.
var ofRelease = regexp.MustCompile(`(?:^|[^\d.])[3-9]\.[0-9x](?:[^\d.]|\.? |\.$)|hardware (?:version )?\d`)

// noMeanings are the statements that depend on releases and are no meaning of a setting, and why.
var noMeanings = map[string]string{
	"A-8":  "how ESXi measures distances changes no layout and no setting",
	"A-11": "it is about the API",
	"A-13": "it is about the API",
	"B-8":  "it is the wording of an API: a stored size counts in every release",
	"B-23": "it is about the lines of vmware.log",
	"B-26": "what a release or a hardware version refuses is among the layouts: the VM does not power on",
	"C-3":  "where clients are placed as they start is simulated, and no setting",
	"C-4":  "where clients are placed as they start is simulated, and no setting",
	"C-7":  "it is a known fault, which the check of known faults reports of hosts",
	"C-11": "it changes with 9.1, which is no target of an upgrade yet",
	"D-5":  "which hosts take a VM with a device of its host changes no setting of the VM",
	"C-24": "the setting is new with 8.0: no VM has it before",
}

// TestReleasesAreMeanings checks that each statement that depends on a release is among the meanings, or has a reason not to be.
func TestReleasesAreMeanings(t *testing.T) {
	cited := map[string]bool{}
	for _, ch := range []vnuma.Choices{{}, {HotAdd60: true}, {SocketNodes80: true}} {
		for _, m := range meanings(&ch) {
			for _, id := range m.Book {
				cited[id] = true
			}
		}
	}
	depend := 0
	for _, s := range rulebook.Statements {
		if !ofRelease.MatchString(s.Text) {
			continue
		}
		depend++
		if _, reason := noMeanings[s.ID]; cited[s.ID] == reason {
			t.Errorf("%s depends on a release; among the meanings: %v, with a reason not to be: %v\n%s", s.ID, cited[s.ID], reason, s.Text)
		}
	}
	for id := range noMeanings {
		if s, ok := rulebook.Find(id); !ok || !ofRelease.MatchString(s.Text) {
			t.Errorf("%s depends on no release", id)
		}
	}
	if depend < 30 {
		t.Errorf("%d statements depend on releases: the pattern finds too few", depend)
	}
}

// sameInAll are the choices that change no meaning, and why.
var sameInAll = map[string]string{
	"F-2":  "how 4.1 splits a VM is among the layouts",
	"F-5":  "both sides hold in every release",
	"F-6":  "both sides hold in every release",
	"F-9":  "both sides hold in every release",
	"F-12": "both sides hold in every release",
	"F-18": "both sides hold in every release",
	"F-22": "both sides hold in every release",
	"F-24": "both sides hold in every release",
	"F-30": "both sides hold in every release",
	"F-31": "both sides hold in every release",
}

// TestChoicesChangeMeanings takes the other side of each contradiction: the meanings of a fleet that has them all differ, or there is a reason not to.
func TestChoicesChangeMeanings(t *testing.T) {
	before := fleet(t, "host esx1 nodes=2 cores=12 memory=256GB release=5.5\nhost epyc1 nodes=8 cores=4 memory=256GB release=5.5 cpu=\"AMD EPYC 7301 16-Core Processor\" vendor=AMD\n"+
		"vm eight host=esx1 vcpus=8 memory=8GB coresPerSocket=2 hw=10\nvm fits host=esx1 vcpus=10 memory=8GB coresPerSocket=2 hw=10\nvm few host=esx1 vcpus=4 memory=8GB hw=10 numa.vcpu.coresPerNode=2\n"+
		"vm hot host=esx1 vcpus=16 memory=8GB hw=10 hotAdd=on\nvm stored host=esx1 vcpus=16 memory=8GB hw=10 numa.autosize.cookie=160001\nvm spread host=esx1 vcpus=10 memory=8GB hw=10 numa.consolidate=FALSE\n"+
		"vm huge host=esx1 vcpus=40 memory=8GB hw=10\nvm hand host=esx1 vcpus=4 memory=8GB hw=10 numa.vcpu.maxPerVirtualNode=2\nvm small host=epyc1 vcpus=6 memory=8GB hw=10\n")
	after := fleet(t, "host x nodes=2 cores=12 memory=256GB release=9.0\nvm y host=x vcpus=2 memory=8GB hw=22\n")
	then := *before
	then.Hosts, then.VMs = slices.Clone(before.Hosts), slices.Clone(before.VMs)
	for i := range then.Hosts {
		then.Hosts[i].Release = after.Hosts[0].Release
	}
	for i := range then.VMs {
		then.VMs[i].Hardware = after.VMs[0].Hardware
	}
	text := func(ch vnuma.Choices) string {
		var b strings.Builder
		for _, c := range concerns(before, &then, ch) {
			fmt.Fprintln(&b, c.Setting, c.Release, c.Hardware, c.Before, c.After, c.VMs, c.Hosts)
		}
		return b.String()
	}
	by := text(vnuma.Choices{})
	for _, c := range vnuma.ChoiceList {
		var ch vnuma.Choices
		*c.Field(&ch) = true
		if _, reason := sameInAll[c.ID]; (text(ch) == by) != reason {
			t.Errorf("%s changes the meanings: %v, with a reason not to: %v", c.ID, text(ch) != by, reason)
		}
	}
	if strings.Count(by, "\n") < 15 {
		t.Errorf("a fleet that has them all has few meanings:\n%s", by)
	}
}
