package ask_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/ask/size"
	"example.org/homenode/change/upgrade"
	"example.org/homenode/change/whatif"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/scenario/random"
)

// TestUpgradeIsWhatIf asks the upgrade adviser and the what-if about the same change, of the demo and of random fleets: they have the same layouts and findings.
func TestUpgradeIsWhatIf(t *testing.T) {
	f := given.Demo(t)
	changed := sameUpgrade(t, "demo", f, upgrade.Ask{Release: numa.ESXi90, Hardware: 22}) + sameUpgrade(t, "demo", f, upgrade.Ask{Cluster: "prod-*", Release: numa.ESXi80}) + sameUpgrade(t, "demo", f, upgrade.Ask{Hardware: 21}, "F-25")
	for seed := range uint64(100) {
		text := random.Fleet(rand.New(rand.NewPCG(seed, 43)))
		f := given.Fleet(t, "random", []byte(text))
		if len(f.VMs) == 0 {
			continue
		}
		a := []upgrade.Ask{{Release: numa.ESXi90, Hardware: 22}, {Release: numa.ESXi90}, {Cluster: "c0", Release: numa.ESXi90}}[seed%3]
		changed += sameUpgrade(t, fmt.Sprintf("seed %d\n%s", seed, text), f, a)
	}
	if changed < 100 {
		t.Errorf("%d VMs get another layout: the fleets are broken", changed)
	}
	t.Logf("%d VMs get another layout", changed)
}

// TestUpgradeWrong names the field that is wrong, and no place inside the program.
func TestUpgradeWrong(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\ncluster prod\nhost esx1 nodes=2 cores=18 memory=512GB\nvm db host=esx1 vcpus=24 memory=128GB hw=19\n"))
	e := &ask.Env{Held: &ask.Held{Sources: []string{"SOURCE"}, Result: rules.Run(f, rules.Options{})}, Today: time.Now()}
	for _, tt := range []struct{ release, cluster, want string }{
		{"9.0", "nosuch", `--cluster: found no cluster "nosuch"`}, {"9.0", "pro", `--cluster: found no cluster "pro"; alike: prod`}, {"9.0", `a"b`, "found cluster \"a\\\"b\", want no quote and no line break"},
		{"1.0", "", "--release: found 1.0, want one of"},
	} {
		q := ask.Named(size.Entries, "size upgrade").Ask().(*size.Upgrade)
		q.Fleet, q.Release, q.Cluster = []string{"SOURCE"}, tt.release, strings.Fields(tt.cluster)
		if _, err := q.Answer(t.Context(), e); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// sameUpgrade returns how many VMs get another layout.
func sameUpgrade(t *testing.T, name string, f *numa.Fleet, a upgrade.Ask, choices ...string) int {
	t.Helper()
	u, w := ask.Named(size.Entries, "size upgrade").Ask().(*size.Upgrade), fleet.AssessEntry.Ask().(*fleet.Assess)
	u.Fleet, w.Sources, u.Cluster, u.IDs, w.IDs = []string{"SOURCE"}, []string{"SOURCE"}, strings.Fields(a.Cluster), choices, choices
	of := ""
	if a.Cluster != "" {
		of = `cluster="` + a.Cluster + `" `
	}
	set := func(field, value, what string) {
		for _, q := range ask.Fields(u) {
			if q.Name == field {
				if err := q.Set(value); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.WhatIfs = append(w.WhatIfs, of+what+"="+value)
	}
	if a.Release != 0 {
		set("release", strings.ReplaceAll(a.Release.String(), " ", ""), "release")
	}
	if a.Hardware != 0 {
		set("hardware", fmt.Sprint(a.Hardware), "hw")
	}
	e := &ask.Env{Held: &ask.Held{Sources: []string{"SOURCE"}, Result: rules.Run(f, rules.Options{})}, Today: time.Now()}
	adviser, err := u.Answer(t.Context(), e)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	beside, err := w.Answer(t.Context(), e)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	up, what := adviser.Answers[0].Result.(*upgrade.Result), beside.Answers[0].Result.(*whatif.Result)
	if got, want := jsonOf(t, up.Drift), jsonOf(t, what.Drift); got != want {
		t.Errorf("%s: size upgrade finds\n%s\nassess --what-if finds\n%s", name, got, want)
	}
	today, later := layoutsOf(what.A), layoutsOf(what.B)
	want := map[string]string{}
	for at, layout := range today {
		if then := later[at]; then != "" && then != layout {
			want[at] = layout + " → " + then
		}
	}
	got := map[string]string{}
	changed := 0
	for i := range up.VMs {
		for _, on := range up.VMs[i].On {
			for _, host := range on.Hosts {
				got[up.VMs[i].ID+" on "+host] = rule.Short(on.Before) + " → " + rule.Short(on.After)
			}
		}
		if len(up.VMs[i].On) > 0 {
			changed++
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: size upgrade has the layouts\n%v\nassess --what-if has\n%v", name, got, want)
	}
	if changed != up.Layouts {
		t.Errorf("%s: %d VMs get another layout, counted are %d", name, changed, up.Layouts)
	}
	return changed
}

// layoutsOf returns the layout of each VM on each host, in short.
func layoutsOf(r *rules.Result) map[string]string {
	out := map[string]string{}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			for _, on := range slices.Concat(v.On, v.Refused) {
				for _, host := range on.Kind.HostNames() {
					out[v.ID+" on "+host] = rule.Short(&on.Layout)
				}
			}
		}
	}
	return out
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
