package story

import "testing"

func TestSketch(t *testing.T) {
	s, err := Read("x", []byte(`release 6.0
cluster c
host esx[01-02] nodes=2 cores=12 nodeMemory=132000MB
vm   cli3 host=esx01 vcpus=12 memory=110GB
vm   cli  host=esx01 vcpus=24 memory=48GB power=off set:numa.vcpu.maxPerMachineNode=6 hotAdd=on
vm web[1-3] vcpus=2 memory=8GB
run  3h every=20s start=2018-01-10T10:00:00Z seed=1
used esx01 node=1 memory=24334MB
load cli3 cpu=2% memory=100GB active=0% over=1m
load web* cpu=5..60% peak=14:00 noise=5% zero=3% common=20% image=win2019 asksLarge=2% workload=database
load *   cpu=10%                          # the others
talk cli cli3 rate=800
at 42m      power-on cli # starts
at 1h42m    load cli cpu=90% memory=24GB over=5m
at 12:14     power-cycle cli
at 2h20m    vmotion cli3 host=esx02
at 2h30m    reboot cli
at 2h30m    resize cli vcpus=16 memory=64GB
at 2h31m    hot-add cli vcpus=28
at 3h       set esx01 Numa.PageMigEnable=0 LPage.LPageAlwaysTryForNPT=0
at 3h       fail esx01
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.Loads {
		t.Logf("%+v", l)
	}
	for _, e := range s.Events {
		t.Logf("%+v", e)
	}
	t.Logf("%+v", s.Used)
}
