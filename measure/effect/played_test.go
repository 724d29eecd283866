package effect

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/measure/quantity"
	"example.org/homenode/numa"
	"example.org/homenode/source/story"
)

// farShare is one that a simulation knows and no counter tells.
var farShare = quantity.Quantity{Name: "farShare", Title: "far share", Unit: "share", Least: 0.01}

// wide is a cluster of wide VMs with CPU hot add over nine days: their guests see one node, so half of their memory is far.
const wide = `release 8.0U2
cluster prod
host esx[01-04] cluster=prod nodes=2 cores=16 memory=512GB
vm sql[01-04] host=esx01 vcpus=20 memory=48GB hotAdd=on
vm sql[05-08] host=esx02 vcpus=20 memory=48GB hotAdd=on
vm sql[09-12] host=esx03 vcpus=20 memory=48GB hotAdd=on
vm sql[13-16] host=esx04 vcpus=20 memory=48GB hotAdd=on
run 9d every=30m start=2026-11-02T00:00:00Z seed=1
load * cpu=5..40% noise=10% memory=90% active=40%
`

// large is a cluster in which one VM of each host has more memory than a node, beside VMs that move between nodes as their
// load changes.
const large = `release 8.0U2
cluster prod
host esx[01-16] cluster=prod nodes=2 cores=16 memory=512GB
HOSTS
run 9d every=30m start=2026-11-02T00:00:00Z seed=1
load sql* cpu=20..60% noise=30% memory=all active=20%
load web* cpu=10..90% noise=80% memory=90% active=40%
`

// play returns the VMs of the story with their days. At noon of the fifth day four of them are changed.
func play(t *testing.T, text, event, words string) []VM {
	t.Helper()
	hosts := ""
	for i := range 16 {
		hosts += fmt.Sprintf("vm sql%02d host=esx%02d vcpus=8 memory=300GB\nvm web[%03d-%03d] host=esx%02d vcpus=3 memory=30GB\n", i+1, i+1, 12*i+1, 12*i+12, i+1)
	}
	text = strings.Replace(text, "HOSTS\n", hosts, 1) + "at 108h " + event + " sql01,sql06,sql11,sql16 " + words + "\n"
	s, err := story.Read("played", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	far, local, ready := make([][]Sample, len(s.Fleet.VMs)), make([][]Sample, len(s.Fleet.VMs)), make([][]Sample, len(s.Fleet.VMs))
	out, err := scheduler.Run(context.Background(), s, scheduler.Options{Observe: func(_ int, tick *numa.Tick, look *scheduler.Look) {
		for i := range tick.VMs {
			v := &tick.VMs[i]
			of, _ := look.VM(i)
			far[of] = append(far[of], Sample{tick.Time, farOf(look, i, v.VCPUs)})
			local[of] = append(local[of], Sample{tick.Time, float64(v.Local) / float64(v.Local+v.Remote)})
			ready[of] = append(ready[of], Sample{tick.Time, v.Ready / float64(v.VCPUs)})
		}
	}})
	if err != nil || len(out.Problems) > 0 {
		t.Fatal(err, out)
	}
	at := s.Start.Add(108 * time.Hour)
	vms := make([]VM, len(s.Fleet.VMs))
	for i := range vms {
		v := &s.Fleet.VMs[i]
		vms[i] = VM{ID: v.ID, Name: v.Name, Cluster: "prod", VCPUs: v.Config.VCPUs.Value, Stays: []Stay{{s.Start, v.Host, "2x16"}}}
		if strings.Contains("sql01,sql06,sql11,sql16", v.Name) {
			vms[i].Changed, vms[i].Effective, vms[i].PowerOns = at, at, []time.Time{at}
		}
		vms[i].Days = map[string][]Day{}
		for m, samples := range map[quantity.Quantity][]Sample{farShare: far[i], quantity.LocalPercent: local[i], quantity.Ready: ready[i]} {
			vms[i].Days[m.Name] = vms[i].DaysOf(samples, 30*time.Minute, nil)
		}
	}
	return vms
}

// farOf returns the share of a VM's memory on another node than the vCPUs that use it.
func farOf(look *scheduler.Look, vm int, vcpus int) float64 {
	near, all := 0.0, 0.0
	on := map[int]float64{} // share of the vCPUs
	look.Clients(vm, func(c *scheduler.ClientState) { on[c.Home] += float64(c.VCPUs) / float64(vcpus) })
	look.Clients(vm, func(c *scheduler.ClientState) {
		for node, memory := range c.OnNode {
			all += float64(memory)
			switch {
			case c.Interleaved:
				near += float64(memory) * on[node]
			case node == c.Home:
				near += float64(memory)
			}
		}
	})
	return 1 - near/all
}

// TestPlayed changes VMs of the simulated scheduler: by what takes CPU hot add off, and by a power cycle alone.
func TestPlayed(t *testing.T) {
	for _, tt := range []struct {
		text         string
		event, words string
		measure      quantity.Quantity
		want         Answer
	}{
		{wide, "resize", "hotAdd=off", farShare, Helped},
		{wide, "power-cycle", "", farShare, NotKnown},
		{large, "resize", "memory=200GB", quantity.LocalPercent, Helped},
		{large, "reboot", "", quantity.LocalPercent, NotKnown},
	} {
		vms := play(t, tt.text, tt.event, tt.words)
		r := Of(vms, tt.measure, nil)
		if r.Main.Test == nil {
			t.Fatalf("%s: %s", tt.event, r.Main.Why)
		}
		t.Logf("%s %s: %s %s, p %.4f, %s %s; %s", tt.event, tt.words, tt.measure.Title, tt.measure.Text(r.Main.Effect), r.Main.P, r.Main.Answer, r.Main.Why, r.Main.CouldSee(0))
		if r.Main.Answer != tt.want || len(r.Main.Controls) < 12 || r.Main.After != 4 || r.Main.Before != 4 {
			t.Errorf("%s: %s of %d controls, %d and %d days; want %s", tt.event, r.Main.Answer, len(r.Main.Controls), r.Main.Before, r.Main.After, tt.want)
		}
		if worse := r.Worse(); len(worse) > 0 {
			t.Errorf("%s: %s is worse by %s", tt.event, worse[0].Measure.Name, worse[0].Measure.Text(worse[0].Effect))
		}
	}
}
