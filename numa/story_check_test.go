package numa

import (
	"math"
	"testing"
	"time"
)

// whole returns a story in which everything is, and all of it can be.
func whole() *Story {
	nodes := []Node{{ID: 0, Cores: 8, Threads: 16}, {ID: 1, Cores: 8, Threads: 16}}
	load := Load{CPU: Demand{Low: 0.1, High: 0.6, Peak: 14 * time.Hour, Noise: 0.05, Points: []DemandPoint{{0, 0.5}, {time.Minute, 1}}},
		Memory: -1, Over: time.Minute, Active: 1, Zero: 0.4, Common: 0.5, Image: "win2019", AsksLarge: 0.02, Workload: "database"}
	config := Config{VCPUs: ReadAt(8, "vcpus"), Memory: ReadAt(8*GiB, "memory")}
	return &Story{
		Name: "story.txt",
		Fleet: &Fleet{
			Hosts: []Host{{ID: "h1", Name: "esx01", Nodes: ReadAt(nodes, "nodes")}, {ID: "h2", Name: "esx02"}},
			VMs:   []VM{{ID: "v1", Name: "db01", Host: "h1", Config: config}, {ID: "v2", Name: "db02", Host: "h1", Config: config}},
		},
		Start: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), Length: time.Hour, Every: 20 * time.Second,
		Used:     []NodeUse{{"h1", 1, GiB}, {"h2", 63, GiB}},
		Loads:    []VMLoad{{"v1", load}},
		Talks:    []Talk{{"v1", "v2", 800}},
		Unstated: AssumedFor(load, "why"),
		Seen:     []SeenVM{{VM: "v1", Host: "h1", Homes: SetOf(0, 1), Local: GiB, Remote: GiB, OnNode: []MemoryOnNode{{0, GiB, -1}, {1, GiB, -1}}}},
		Events: []Event{
			{At: 0, Kind: PowerOff, VM: "v1"},
			{At: 0, Kind: PowerOn, VM: "v1", Host: "h2"},
			{At: time.Minute, Kind: VMotion, VM: "v1", Host: "h1"},
			{At: time.Minute, Kind: Resize, VM: "v1", Config: &config},
			{At: time.Minute, Kind: LoadChange, VM: "v1", Load: &load},
			{At: time.Minute, Kind: TalkChange, Talk: &Talk{"v1", "v2", 0}},
			{At: time.Minute, Kind: OptionChange, Host: "h1", Options: Settings{{"Numa.PageMigEnable", "0"}}},
			{At: time.Hour, Kind: Fail, Host: "h1"},
		},
	}
}

func TestStoryCheck(t *testing.T) {
	if err := whole().Check(); err != nil {
		t.Fatal(err)
	}
	load := func(change func(*Load)) func(*Story) {
		return func(s *Story) { change(&s.Loads[0].Load) }
	}
	for _, tt := range []struct {
		name   string
		damage func(*Story)
		want   string
	}{
		{"no fleet", func(s *Story) { s.Fleet = nil }, "no fleet"},
		{"a fleet that cannot be", func(s *Story) { s.Fleet.VMs[1].ID = "v1" }, `VM "db02": id "v1" is used twice`},
		{"no length", func(s *Story) { s.Length = 0 }, "length of 0s, want more than 0 and at most 8784h0m0s"},
		{"too long", func(s *Story) { s.Length = MostLength + Step }, "length of 8784h0m2s, want more than 0 and at most 8784h0m0s"},
		{"off the grid", func(s *Story) { s.Length++ }, "length of 1h0m0.000000001s, want a multiple of 2s"},
		{"no ticks", func(s *Story) { s.Every = 0 }, "ticks every 0s, want a multiple of 2s"},
		{"ticks off the grid", func(s *Story) { s.Every = time.Second }, "ticks every 1s, want a multiple of 2s"},
		{"not UTC", func(s *Story) { s.Start = s.Start.In(time.FixedZone("CET", 3600)) }, "start in CET, want UTC"},
		{"used on no host", func(s *Story) { s.Used[0].Host = "h9" }, `used memory 1: host "h9" is not in the fleet`},
		{"used on no node", func(s *Story) { s.Used[0].Node = 2 }, `used memory 1: host "esx01" has no node 2`},
		{"used on no node of an unknown host", func(s *Story) { s.Used[1].Node = 64 }, `used memory 2: host "esx02" has no node 64`},
		{"used less than none", func(s *Story) { s.Used[0].Memory = -1 }, "used memory 1: -1 bytes"},
		{"load of nobody", func(s *Story) { s.Loads[0].VM = "v9" }, `load of VM "v9": VM "v9" is not in the fleet`},
		{"two loads", func(s *Story) { s.Loads = append(s.Loads, s.Loads[0]) }, `load of VM "v1": it has another`},
		{"too much CPU", load(func(l *Load) { l.CPU.High = 1.01 }), `load of VM "v1": CPU of 1.01, want a share in [0, 1]`},
		{"CPU that is no number", load(func(l *Load) { l.CPU.High = math.NaN() }), `load of VM "v1": CPU of NaN, want a share in [0, 1]`},
		{"least above most", load(func(l *Load) { l.CPU.Low = 0.7 }), `load of VM "v1": CPU from 0.7 to 0.6`},
		{"peak tomorrow", load(func(l *Load) { l.CPU.Peak = 24 * time.Hour }), `load of VM "v1": peak at 24h0m0s, want a time of day`},
		{"zero and common", load(func(l *Load) { l.Zero = 0.6 }), `load of VM "v1": pages of zeros and common pages of 1.1, want a share in [0, 1]`},
		{"common to whom", load(func(l *Load) { l.Image = "" }), `load of VM "v1": common pages without an image`},
		{"workload", load(func(l *Load) { l.Workload = "databse" }), `load of VM "v1": workload "databse", want one of latency, bandwidth, database, cached, mixed`},
		{"too much memory", load(func(l *Load) { l.Memory = MaxVMMemory + 1 }), `load of VM "v1": memory of 70368744177665 bytes`},
		{"grows backwards", load(func(l *Load) { l.Over = -Step }), `load of VM "v1": memory grows over -2s, want a multiple of 2s`},
		{"points out of order", load(func(l *Load) { l.CPU.Points[1].At = 0 }), `load of VM "v1": CPU at 0s does not come after that at 0s`},
		{"a point of too much", load(func(l *Load) { l.CPU.Points[1].Share = 2 }), `load of VM "v1": CPU of 2 at 1m0s, want a share in [0, 1]`},
		{"unstated", func(s *Story) { s.Unstated.Value.Active = -1 }, "load of VMs that are not described: active of -1, want a share in [0, 1]"},
		{"talks to itself", func(s *Story) { s.Talks[0].B = "v1" }, `talk 1: VM "v1" with itself`},
		{"rate", func(s *Story) { s.Talks[0].Rate = math.NaN() }, "talk 1: rate of NaN a second"},
		{"seen nowhere", func(s *Story) { s.Seen[0].Host = "" }, `VM "v1" as it was seen: host "" is not in the fleet`},
		{"seen on no node", func(s *Story) { s.Seen[0].Homes = SetOf(2) }, `VM "v1" as it was seen: host "esx01" has no node 2`},
		{"seen memory on no node", func(s *Story) { s.Seen[0].OnNode[1].Node = 5 }, `VM "v1" as it was seen: host "esx01" has no node 5`},
		{"seen twice", func(s *Story) { s.Seen = append(s.Seen, s.Seen[0]) }, `VM "v1" as it was seen: it is seen twice`},
		{"seen less than nothing", func(s *Story) { s.Seen[0].Remote = -1 }, `VM "v1" as it was seen: 1073741824 bytes local and -1 remote`},
		{"out of order", func(s *Story) { s.Events[2].At = 2 * time.Minute }, "event 4, resize at 1m0s: comes after an event at 2m0s"},
		{"before the start", func(s *Story) { s.Events[0].At = -Step }, "event 1, power-off at -2s: comes after an event at 0s"},
		{"after the end", func(s *Story) { s.Length -= Step }, "event 8, fail at 1h0m0s: is after the end at 59m58s"},
		{"event off the grid", func(s *Story) { s.Events[7].At -= time.Second }, "event 8, fail at 59m59s: is not at a multiple of 2s"},
		{"event of no VM", func(s *Story) { s.Events[0].VM = "" }, "event 1, power-off at 0s: no VM"},
		{"event of no VM of the fleet", func(s *Story) { s.Events[0].VM = "v9" }, `event 1, power-off at 0s: VM "v9" is not in the fleet`},
		{"on no host of the fleet", func(s *Story) { s.Events[1].Host = "h9" }, `event 2, power-on at 0s: host "h9" is not in the fleet`},
		{"to no host", func(s *Story) { s.Events[2].Host = "" }, "event 3, vmotion at 1m0s: no host to move to"},
		{"no configuration", func(s *Story) { s.Events[3].Config = nil }, "event 4, resize at 1m0s: no configuration"},
		{"no such configuration", func(s *Story) { s.Events[3].Config = &Config{VCPUs: ReadAt(0, "")} }, "event 4, resize at 1m0s: 0 vCPUs"},
		{"no load", func(s *Story) { s.Events[4].Load = nil }, "event 5, load at 1m0s: no load"},
		{"no talk", func(s *Story) { s.Events[5].Talk = nil }, "event 6, talk at 1m0s: no talk"},
		{"no options", func(s *Story) { s.Events[6].Options = nil }, "event 7, set at 1m0s: no options"},
		{"no host", func(s *Story) { s.Events[7].Host = "" }, "event 8, fail at 1h0m0s: no host"},
		{"no kind", func(s *Story) { s.Events[7].Kind = Repair + 1 }, "event 8, repair at 1h0m0s: kind 14"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := whole()
			tt.damage(s)
			if err := s.Check(); err == nil || err.Error() != tt.want {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
		})
	}
}
