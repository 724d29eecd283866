package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/change/diff"
	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
)

// TestLikeHosts: a finding about like hosts stays the same one when the host that it is
// told of leaves them, or another joins.
func TestLikeHosts(t *testing.T) {
	const three = `release 8.0U3
cluster prod
host esx[01-03] nodes=2 cores=16 memory=512GB power=Balanced
vm sql[1-3] host=esx03 vcpus=12 memory=32GB
vm web[1-3] host=esx02 vcpus=12 memory=32GB
vm app[1-3] host=esx01 vcpus=12 memory=32GB
`
	for _, tt := range []struct{ name, b, want string }{
		{"the first is gone", `release 8.0U3
cluster prod
host esx[02-03] nodes=2 cores=16 memory=512GB power=Balanced
vm sql[1-3] host=esx03 vcpus=12 memory=32GB
vm web[1-3] host=esx02 vcpus=12 memory=32GB
vm app[1-3] host=esx02 vcpus=12 memory=32GB
`, "0 better 0 worse 0 other 9 unchanged 3 moved 0 one-sided\ngone host esx01\n"},
		{"another policy on two", `release 8.0U3
cluster prod
host esx01 nodes=2 cores=16 memory=512GB power="High Performance"
host esx02 nodes=2 cores=16 memory=512GB power="Low Power"
host esx03 nodes=2 cores=16 memory=512GB power=Balanced
vm sql[1-3] host=esx03 vcpus=12 memory=32GB
vm web[1-3] host=esx02 vcpus=12 memory=32GB
vm app[1-3] host=esx01 vcpus=12 memory=32GB
`, `0 better 0 worse 0 other 9 unchanged 0 moved 0 one-sided
host esx01: power Balanced -> High Performance
host esx02: power Balanced -> Low Power
H006 prod/esx02 none -> medium
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, back := range []bool{false, true} {
				a, b := judge(t, three), judge(t, tt.b)
				if back {
					a, b = b, a
				}
				d := compare(t, a, b, diff.Options{})
				if !back {
					if got := text(d); got != tt.want {
						t.Errorf("got\n%s\nwant\n%s", got, tt.want)
					}
				} else if len(d.Findings) > 1 {
					t.Errorf("the other way %d findings differ: %+v", len(d.Findings), d.Findings)
				}
			}
		})
	}
}

// TestMixed: a change of a VM that brings a finding as severe as the worst that it takes away makes nothing better, on whichever host it is.
func TestMixed(t *testing.T) {
	const fleet = "cluster c\nrelease 6.0\nhost h1 nodes=2 cores=10 memory=256GB\nrelease 7.0U3\nhost h2 nodes=2 cores=20 memory=256GB\nvm a host=h2 vcpus=16 memory=20GB hw=11 coresPerSocket=4"
	a, b := judge(t, fleet+" stored=4\n"), judge(t, fleet+"\n")
	for _, d := range []*diff.Drift{compare(t, a, b, diff.Options{}), compare(t, b, a, diff.Options{})} {
		exit, _, _ := d.Worsens(finding.Medium)
		if d.Better != 0 || d.Worse != 0 || d.Other != 1 || exit == 0 {
			t.Errorf("%s\nexit %d", text(d), exit)
		}
	}
}

// TestWideAlready: hosts on which more VMs are wide than need be make no VM worse that is as wide where it was, and none better that stays as wide.
func TestWideAlready(t *testing.T) {
	const fleet = `release 8.0U3
cluster prod
host a[1-2] packages=2 nodes=4 cores=16 memory=512GB cpu="AMD EPYC 7543 32-Core Processor"
vm here host=a1 vcpus=24 memory=64GB hw=20
cluster other
host b nodes=2 cores=18 memory=512GB
host c packages=2 nodes=2 cores=32 memory=512GB
vm moves host=%s vcpus=%s memory=64GB hw=19 hotAdd=on
`
	for _, tt := range []struct{ vcpus, from, to, want string }{
		{"32", "b", "a1", "0 better 0 worse"},
		{"32", "a1", "b", "0 better 0 worse"},
		{"32", "c", "a1", "0 better 1 worse"}, // it fits one node of c
	} {
		a, b := judge(t, fmt.Sprintf(fleet, tt.from, tt.vcpus)), judge(t, fmt.Sprintf(fleet, tt.to, tt.vcpus))
		if got := text(compare(t, a, b, diff.Options{})); !strings.HasPrefix(got, tt.want) {
			t.Errorf("from %s to %s:\n%s\nwant %s", tt.from, tt.to, got, tt.want)
		}
	}
}

// TestRestated: a finding that is as severe as before, and of which no layout tells, tells its new numbers.
func TestRestated(t *testing.T) {
	const fleet = "release 8.0U3\ncluster c\nhost h nodes=2 cores=32 memory=512GB\nvm a host=h vcpus=%s coresPerSocket=1 memory=64GB hw=19 guest=windows2019srvNext_64Guest product=\"SQL Server 2022 Standard\"\n"
	d := compare(t, judge(t, fmt.Sprintf(fleet, "16")), judge(t, fmt.Sprintf(fleet, "24")), diff.Options{})
	want := "N033 still high: SQL Server 2022 Standard uses 4 of 24 vCPUs"
	if len(d.VMs) != 1 || d.VMs[0].Verdict != diff.Other || !strings.Contains(strings.Join(d.VMs[0].Why, ", "), want) || len(d.Findings) > 0 {
		t.Errorf("found %+v, want one other VM with %q", d.VMs, want)
	}
}

// TestTopics: another setting without effect is another finding, although rule, VM and
// severity are the same.
func TestTopics(t *testing.T) {
	const fleet = "release 7.0U3\ncluster prod\nhost esx01 nodes=2 cores=16 memory=512GB\nvm db vcpus=4 memory=32GB "
	d := compare(t, judge(t, fleet+"numa.vcpu.coresPerNode=2\n"), judge(t, fleet+"numa.allowHotadd=TRUE\n"), diff.Options{})
	got := text(d)
	want := `0 better 0 worse 0 other 1 unchanged 0 moved 0 one-sided
unchanged prod/db: N019 new (info), N019 gone
    numa.allowHotadd unset -> TRUE
    numa.vcpu.coresPerNode 2 -> unset
N019 prod/db none -> info
N019 prod/db info -> none
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBarred: newer virtual hardware keeps a VM from hosts of an older release. That
// findings about these hosts are gone then is no improvement.
func TestBarred(t *testing.T) {
	const fleet = `release 8.0U3
cluster prod
host new01 nodes=2 cores=24 memory=768GB
host old01 nodes=2 cores=14 memory=512GB release=7.0U3
vm app host=new01 vcpus=20 coresPerSocket=1 memory=64GB hw=%s
`
	got := text(compare(t, judge(t, strings.ReplaceAll(fleet, "%s", "19")), judge(t, strings.ReplaceAll(fleet, "%s", "20")), diff.Options{}))
	want := `0 better 0 worse 1 other 0 unchanged 0 moved 0 one-sided
other prod/app: no more on old01, N021 new (info), N014 gone, N032 new (medium)
    hw 19 -> 20
N032 prod/old01 none -> medium
N021 prod/app none -> info
N014 prod/app medium -> none
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBarredBesides: of a host that another reason keeps the VM from, newer virtual hardware is no cure and no loss, but it is named; nor is
// what is left of two reasons a cure.
func TestBarredBesides(t *testing.T) {
	const fleet = `release 7.0U3
cluster c
host new nodes=2 cores=20 threads=40 memory=768GB
host mid nodes=2 cores=20 threads=40 memory=768GB
host old nodes=2 cores=14 threads=14 ht=off memory=256GB release=6.5
vm v host=new `
	for _, tt := range []struct{ a, b, want string }{
		{"vcpus=32 memory=128GB hw=13", "vcpus=32 memory=128GB hw=19", `0 better 0 worse 1 other 0 unchanged 0 moved 0 one-sided
other c/v: virtual hardware 19 is not supported by old either, and the upgrade cannot be undone
    hw 13 -> 19
`},
		{"vcpus=8 memory=300GB reserveAll=on hw=13", "vcpus=8 memory=300GB reserveAll=on hw=19", `0 better 0 worse 1 other 0 unchanged 0 moved 0 one-sided
other c/v: virtual hardware 19 is not supported by old either, and the upgrade cannot be undone
    hw 13 -> 19
`},
		{"vcpus=32 memory=128GB hw=19", "vcpus=20 memory=128GB hw=19", `0 better 0 worse 1 other 0 unchanged 0 moved 0 one-sided
other c/v: fits one node, 32 → 20 sockets
    vcpus 32 -> 20
N032 c/old none -> low
`},
	} {
		if got := text(compare(t, judge(t, fleet+tt.a+"\n"), judge(t, fleet+tt.b+"\n"), diff.Options{})); got != tt.want {
			t.Errorf("%s to %s: got\n%s\nwant\n%s", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestStranded: a VM that has no host left is worse, whatever it had before.
func TestStranded(t *testing.T) {
	const hosts = `release 8.0U2
cluster c
host h1 nodes=2 cores=16 threads=16 ht=off memory=1024GB packages=2 pci=ca:00.0@1
host h2 nodes=2 cores=32 threads=64 memory=1024GB packages=2
vm v host=h1 hw=20 firmware=efi `
	for _, tt := range []struct{ vm, lost string }{
		{"vcpus=16 memory=256GB pci=ca:00.0 memoryReservation=128GB", "h1"}, // does not power on, and nothing else has its device
		{"vcpus=16 memory=256GB pci=ca:00.0 memoryReservation=128GB power=off", "h1"},
		{"vcpus=40 memory=64GB", "h2"}, // its host refuses it, and the one that takes it is lost
	} {
		base := judge(t, hosts+tt.vm+"\n")
		lose, err := whatif.Parse("lose-host=" + tt.lost)
		if err != nil {
			t.Fatal(err)
		}
		changed, _, err := whatif.Apply(t.Context(), base.Fleet, []whatif.Change{lose}, vnuma.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		d := compare(t, base, rules.Run(changed, rules.Options{}), diff.Options{})
		if len(d.VMs) != 1 || d.VMs[0].Verdict != diff.Worse || d.Stopped != 1 {
			t.Errorf("%s without %s: got\n%s%d stopped, want 1", tt.vm, tt.lost, text(d), d.Stopped)
		}
		back := compare(t, rules.Run(changed, rules.Options{}), base, diff.Options{})
		if tt.lost == "h2" && back.Better != 1 {
			t.Errorf("%s with %s: got\n%s", tt.vm, tt.lost, text(back))
		}
	}
}

// TestMoves: a finding about a host is new where another host of the cluster had the same one, and loses it.
func TestMoves(t *testing.T) {
	const fleet = `release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=16 memory=256GB
vm sql[1-3] host=esx%s vcpus=4 memory=72GB
vm web[1-3] host=esx%s vcpus=4 memory=%s
`
	fill := func(sql, web, memory string) *rules.Result {
		return judge(t, fmt.Sprintf(fleet, sql, web, memory))
	}
	for _, tt := range []struct {
		name string
		b    *rules.Result
		want string
	}{
		{"they change places", fill("02", "01", "8GB"), `0 better 0 worse 0 other 6 unchanged 6 moved 0 one-sided
H007 prod/esx02 none -> low
H007 prod/esx01 low -> none
`},
		{"a second host", fill("02", "01", "72GB"), `0 better 0 worse 0 other 6 unchanged 3 moved 0 one-sided
unchanged prod/web1: 
    memory 8 GB -> 72 GB
unchanged prod/web2: 
    memory 8 GB -> 72 GB
unchanged prod/web3: 
    memory 8 GB -> 72 GB
H007 prod/esx02 none -> low
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(compare(t, fill("01", "02", "8GB"), tt.b, diff.Options{})); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestOneSided: where a setting was unknown before, the reader is told that the VM may
// have had it all the time.
func TestOneSided(t *testing.T) {
	const fleet = "release 7.0U3\ncluster prod\nhost esx01 nodes=2 cores=16 memory=512GB\nvm db vcpus=24 memory=32GB hotAdd="
	got := text(compare(t, judge(t, fleet+"?\n"), judge(t, fleet+"on\n"), diff.Options{}))
	want := `0 better 1 worse 0 other 0 unchanged 0 moved 1 one-sided
worse prod/db: known on one side only: CPU hot add, the guest sees 1 node, 0 → 50 % of accesses remote, N001 new (high)
N001 prod/db none -> high
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestApart: in a comparison of two sources the same VM is neither drift nor worse, and
// what did change in spite of it is.
func TestApart(t *testing.T) {
	const fleet = `release 7.0U3
cluster prod
host esx01 nodes=2 cores=16 memory=512GB power=%s
vm db vcpus=24 memory=32GB hotAdd=%s
vm app vcpus=%s memory=32GB hotAdd=%[2]s
`
	options := diff.Options{Judge: func(f *numa.Fleet) (*rules.Result, error) { return rules.RunContext(t.Context(), f, rules.Options{}) }}
	for _, tt := range []struct {
		name                 string
		a, b                 *rules.Result
		want                 string
		told, findings, exit int
		differs              bool
	}{
		{"nothing changed", judge(t, fmt.Sprintf(fleet, "Balanced", "?", "4")), judge(t, fmt.Sprintf(fleet, "Balanced", "on", "4")), `0 better 0 worse 1 other 1 unchanged 0 moved 2 one-sided
other prod/db: known on one side only: CPU hot add, the guest sees 1 node, 0 → 50 % of accesses remote, N001 new (high)
`, 2, 0, 0, false},
		{"the other way", judge(t, fmt.Sprintf(fleet, "Balanced", "on", "4")), judge(t, fmt.Sprintf(fleet, "Balanced", "?", "4")), `0 better 0 worse 1 other 1 unchanged 0 moved 2 one-sided
other prod/db: known on one side only: CPU hot add, the guest sees its 2 nodes, 50 → 0 % of accesses remote, N001 gone
`, 2, 0, 0, false},
		{"a VM grew", judge(t, fmt.Sprintf(fleet, "Balanced", "?", "4")), judge(t, fmt.Sprintf(fleet, "Balanced", "on", "20")), `0 better 1 worse 1 other 0 unchanged 0 moved 2 one-sided
worse prod/app: the guest sees 1 node, 0 → 50 % of accesses remote, 4 → 20 sockets, N001 new (high), N002 gone
    vcpus 4 -> 20
other prod/db: known on one side only: CPU hot add, the guest sees 1 node, 0 → 50 % of accesses remote, N001 new (high)
N001 prod/app none -> high
N002 prod/app info -> none
`, 1, 2, 1, true},
		{"observed in A", judge(t, fmt.Sprintf(fleet, "Balanced", "off", "12")+"seen app by=sched-stats clients=5+7\n"), judge(t, fmt.Sprintf(fleet, "Balanced", "off", "12")), `0 better 0 worse 1 other 1 unchanged 0 moved 1 one-sided
other prod/app: known on one side only: observations, N030 gone
`, 1, 0, 0, false},
		{"observed in B", judge(t, fmt.Sprintf(fleet, "Balanced", "off", "12")), judge(t, fmt.Sprintf(fleet, "Balanced", "off", "12")+"seen app by=sched-stats clients=5+7\n"), `0 better 0 worse 1 other 1 unchanged 0 moved 1 one-sided
other prod/app: known on one side only: observations, N030 new (medium)
`, 1, 0, 0, false},
		{"observed otherwise in B", judge(t, fmt.Sprintf(fleet, "Balanced", "off", "12")+"seen app by=sched-stats clients=12\n"), judge(t, fmt.Sprintf(fleet, "Balanced", "off", "12")+"seen app by=sched-stats clients=5+7\n"), `0 better 1 worse 0 other 1 unchanged 0 moved 0 one-sided
worse prod/app: N030 new (medium)
N030 prod/app none -> medium
`, 0, 1, 1, true},
		{"a host, too", judge(t, fmt.Sprintf(fleet, "?", "off", "4")), judge(t, fmt.Sprintf(fleet, `"Low Power"`, "off", "4")), "0 better 0 worse 0 other 2 unchanged 0 moved 1 one-sided\n", 1, 0, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := compare(t, tt.a, tt.b, options)
			if got := text(d); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			exit, _, _ := d.Worsens(finding.Medium)
			if len(d.Told) != tt.told || len(d.Findings) != tt.findings || exit != tt.exit || d.Differs() != tt.differs {
				t.Errorf("%d told, %d findings, %d worsen, differs %v; want %d, %d, %d, %v", len(d.Told), len(d.Findings), exit, d.Differs(), tt.told, tt.findings, tt.exit, tt.differs)
			}
			if d.A != tt.a || d.B != tt.b {
				t.Error("the sides are not those that were given")
			}
		})
	}
}

// TestHiddenNodes: a VM that goes where node interleaving hides the nodes gets no better by it, and one that stays is told of it no more than before.
func TestHiddenNodes(t *testing.T) {
	const fleet = `release 8.0U3
cluster prod
host esx01 packages=2 nodes=2 cores=16 memory=512GB
host esx02 packages=2 nodes=1 cores=32 memory=512GB
vm sql host=%s vcpus=24 coresPerSocket=1 memory=128GB hotAdd=on
vm other host=esx02 vcpus=4 memory=16GB
`
	a, b := judge(t, fmt.Sprintf(fleet, "esx01")), judge(t, fmt.Sprintf(fleet, "esx02"))
	d := compare(t, a, b, diff.Options{})
	got := text(d)
	for _, want := range []string{"0 better 0 worse 1 other 1 unchanged", "the host hides its nodes", "now on hosts with H001 (high)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "fits one node") {
		t.Error(got)
	}
	if d := compare(t, b, b, diff.Options{}); len(d.Findings) > 0 {
		t.Errorf("beside itself: %s", text(d))
	}
}

// TestReclaimed checks that a share of memory that is reclaimed is told with the one before: "0 %" alone says nothing of a cure.
func TestReclaimed(t *testing.T) {
	const fleet = `release 7.0U3
cluster prod
host esx01 nodes=2 cores=16 memory=512GB
vm db host=esx01 vcpus=24 coresPerSocket=12 memory=%s hw=19
`
	large, small := judge(t, fmt.Sprintf(fleet, "600GB")), judge(t, fmt.Sprintf(fleet, "400GB"))
	if got := text(compare(t, large, small, diff.Options{})); !strings.Contains(got, "db: 16 → 0 % of its memory ballooned or swapped") {
		t.Error(got)
	}
	if got := text(compare(t, small, large, diff.Options{})); !strings.Contains(got, "db: 0 → 16 % of its memory ballooned or swapped") {
		t.Error(got)
	}
}

// TestLacksMore: a host that lacks more memory than before is worse, and one that lacks less is another one, although its finding is
// as severe.
func TestLacksMore(t *testing.T) {
	const fleet = "release 8.0U3\ncluster c\nhost h[1-2] nodes=2 cores=16 memory=256GB\nvm big[1-5] host=h1 vcpus=4 memory=64GB\n"
	small, large := judge(t, fleet+"vm one host=h2 vcpus=4 memory=64GB\n"), judge(t, fleet+"vm one host=h1 vcpus=4 memory=64GB\n")
	for _, tt := range []struct {
		a, b   *rules.Result
		change string
		worse  int
	}{{small, large, "lacks more", 1}, {large, small, "lacks less", 0}} {
		d := compare(t, tt.a, tt.b, diff.Options{})
		if len(d.Findings) != 1 || d.Findings[0].Of().Rule != "H007" || d.Findings[0].Change() != tt.change {
			t.Fatalf("got %+v, want H007 %s", d.Findings, tt.change)
		}
		if worse, _, _ := d.Worsens(finding.Medium); worse != tt.worse {
			t.Errorf("%s: %d findings are worse, want %d", tt.change, worse, tt.worse)
		}
	}
	if d := compare(t, small, small, diff.Options{}); len(d.Findings) > 0 {
		t.Errorf("%+v differ without a change", d.Findings)
	}
}
