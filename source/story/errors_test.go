package story

import (
	"strings"
	"testing"
)

// The fleet of the errors: 8 lines.
const errorFleet = `release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=8 memory=256GB
host esx03 nodes=?
vm db01 host=esx01 vcpus=8 coresPerSocket=4 memory=64GB
vm db02 host=esx01 vcpus=8 memory=64GB power=off
vm web[1-2] host=esx02 vcpus=2 memory=8GB hotAdd=on memoryHotAdd=on
vm golden host=esx02 vcpus=2 memory=8GB template=on power=off
`

func TestErrors(t *testing.T) {
	huge, cut := strings.Repeat("x", 300_000), strings.Repeat("x", 60)+"…"
	const step = ", the period of the NUMA scheduler"
	for _, tt := range []struct{ name, in, want string }{
		// Lines.
		{"misspelt line", "lode db01 cpu=5%", `9:1: found "lode", is load meant?`},
		{"unknown line", "\n disk d1", `10:2: found "disk", want one of release, cluster, host, vm, seen, run, used, load, talk, placed, at`},
		{"event without its time", "power-on db02", `9:1: found "power-on", want when it happens before it: at TIME power-on …`},
		{"line of the fleet", "vm db01 vcpus=4", `9:4: found vm db01 again, line 5 has one`},
		{"word of the fleet", "vm db09 vcpu=4", `9:9: found "vcpu", which no vm line knows; is vcpus meant?`},
		{"no blank", "load=db01", `9:1: found load=, want load and a blank`},
		{"no key", "=5", `9:1: found "=5", want key=value`},
		{"open quote", `load db01 image="x`, `9:17: found no closing quote`},
		{"twice", "load db01 cpu=5% CPU=7%", `9:18: found CPU twice`},
		{"huge line", huge + " a", `9:1: found "` + cut + `", want one of release, cluster, host, vm, seen, run, used, load, talk, placed, at`},
		// Run.
		{"run alone", "run", "9:1: found run alone, want how long: run 24h"},
		{"run again", "run 1h\nrun 2h", "10:1: found run again, line 9 has one"},
		{"length", "run long", `9:5: found "long", want a time such as 90s, 42m, 1h42m or 2d`},
		{"length of a number", "run 24", `9:5: found "24", want a time such as 90s, 42m, 1h42m or 2d`},
		{"negative length", "run -1h", `9:5: found "-1h", want a time such as 90s, 42m, 1h42m or 2d`},
		{"no length", "run 0s", `9:5: found a length of 0, want more`},
		{"off the grid", "run 45s", "9:5: found 45s, want a multiple of 2s" + step},
		{"too long", "run 366d2s", "9:5: found 366d2s, want at most 366d"},
		{"far too long", "run 2000000h", "9:5: found 2000000h, want at most 366d"},
		{"every", "run 1h every=5s", "9:8: found 5s, want a multiple of 2s" + step},
		{"every nothing", "run 1h every=0s", "9:8: found every=0, want more"},
		{"every empty", "run 1h every=", "9:8: found nothing, want a time such as 90s, 42m, 1h42m or 2d"},
		{"start", "run 1h start=noon", `9:8: found "noon", want a time in UTC such as 2018-01-10T11:42:00Z`},
		{"start elsewhere", "run 1h start=2018-01-10T11:42:00+01:00", `9:8: found "2018-01-10T11:42:00+01:00", want a time in UTC such as 2018-01-10T11:42:00Z`},
		{"seed", "run 1h seed=-1", `9:8: found seed="-1", want a whole number`},
		{"length twice", "run 1h 2h", `9:8: found "2h", which no run line knows; want LENGTH, every, start, seed`},
		{"word of run", "run 1h evry=20s", `9:8: found "evry", which no run line knows; is every meant?`},
		{"word of run without value", "run 1h every", `9:8: found "every" without a value, want WORD=VALUE, such as memory=512GB`},
		// Used.
		{"used alone", "used", "9:1: found used alone, want used HOST node=N memory=4GB"},
		{"used nothing", "used esx01 node=1", "9:1: found no node= or no memory=, want used HOST node=N memory=4GB"},
		{"used nowhere", "used esx09 node=1 memory=4GB", `9:6: found no host "esx09"; alike: esx01, esx02, esx03`},
		{"used of a host of unknown nodes", "used esx* node=* memory=4GB", `9:11: found host esx03, whose nodes are unknown`},
		{"used of no node", "used esx01 node=2 memory=4GB", `9:12: found node=2, which esx01 does not have`},
		{"used of no such node", "used esx01 node=64 memory=4GB", `9:12: found node="64", want a number from 0 to 63`},
		{"used more than there is", "used esx01 node=0 memory=129GB", `9:12: found 129 GB used of node 0 of esx01, which has 128 GB`},
		{"used again", "used esx01 node=0 memory=1GB\nused esx01 node=* memory=1GB", `10:12: found used memory of node 0 of esx01 again`},
		{"word of used", "used esx01 nodes=0 memory=1GB", `9:12: found "nodes", which no used line knows; is node meant?`},
		{"used without a host", "used node=0 memory=1GB", `9:6: found node=, want the name of a host first`},
		// Loads.
		{"load alone", "load db01", "9:1: found no VM or nothing of its load, want load VM cpu=20% …"},
		{"load of nobody", "load db03 cpu=5%", `9:6: found no VM "db03"; alike: db01, db02`},
		{"load of no pattern", "load sql* cpu=5%", `9:6: found no VM "sql*"; known: db01, db02, golden, web1, web2`},
		{"load of a hole in a range", "load web[1-3] cpu=5%", `9:6: found no VM "web3"; alike: web1, web2`},
		{"load of a list", "load db01,,web1 cpu=5%", `9:11: found no VM ""; known: db01, db02, golden, web1, web2`},
		{"share without a unit", "load db01 cpu=5", `9:11: found cpu="5", want a share from 0% to 100%`},
		{"share of too much", "load db01 cpu=101%", `9:11: found cpu="101%", want a share from 0% to 100%`},
		{"share that is no number", "load db01 active=NaN%", `9:11: found active="NaN%", want a share from 0% to 100%`},
		{"share below", "load db01 noise=-1%", `9:11: found noise="-1%", want a share from 0% to 100%`},
		{"curve upside down", "load db01 cpu=60..5%", `9:11: found cpu=60..5%, want the lesser first`},
		{"peak of a line", "load db01 cpu=5% peak=14:00", `9:18: found peak= of a load that is always the same, want cpu=5..60%`},
		{"peak", "load db01 cpu=5..9% peak=25:00", `9:21: found peak="25:00", want a time of day such as 14:00`},
		{"over nothing", "load db01 over=5m", `9:11: found over= without memory=, which is what grows`},
		{"over off the grid", "load db01 memory=1GB over=3s", `9:22: found 3s, want a multiple of 2s` + step},
		{"memory", "load db01 memory=lots", `9:11: found memory="lots", want memory such as 24GB, a share of what is configured such as 80%, or all`},
		{"more than configured", "load db01,web1 memory=10GB", `9:16: found memory=10GB, more than the 8 GB of web1`},
		{"common to whom", "load db01 common=5%", `9:11: found common= without image=, the name of what VMs have in common`},
		{"more than all", "load db01 common=50% zero=51% image=a", `9:11: found more than 100% of pages that are zero or common`},
		{"word of a load", "load db01 cpus=5%", `9:11: found "cpus", which no load line knows; is cpu meant?`},
		{"misspelt workload", "load db01 workload=Databse", `9:11: found workload=Databse, is database meant?`},
		{"unknown workload", "load db01 workload=fast", `9:11: found workload=fast, want one of latency, bandwidth, database, cached, mixed`},
		{"no value of a load", "load db01 cpu=", `9:11: found cpu= without a value`},
		{"no value", "load db01 cpu", `9:11: found "cpu" without a value, want WORD=VALUE, such as memory=512GB`},
		// Talks.
		{"talk alone", "talk db01", "9:1: found no two VMs and a rate, want talk VM VM rate=800"},
		{"talk to itself", "talk db01 DB01 rate=5", "9:11: found DB01 talking to itself"},
		{"talk to several", "talk db01 web* rate=5", "9:11: found web*, which names 2 VMs, want one"},
		{"rate", "talk db01 db02 rate=-5", `9:16: found rate="-5", want how often a second, such as 800`},
		{"no rate", "talk db01 db02 rate=0", `9:1: found rate=0, want more; at TIME talk db01 db02 rate=0 ends it`},
		{"talk again", "talk db01 db02 rate=5\ntalk db02 db01 rate=6", `10:1: found talk of db02 and db01 again`},
		// Placed.
		{"placed nobody", "placed homes=1", "9:1: found no VM, want placed VM homes=0 local=60GB remote=4GB"},
		{"placed and off", "placed db02 homes=1 local=1GB remote=0", "9:8: found placed db02, which is off at the start"},
		{"placed again", "placed db01 homes=1 local=1GB remote=0\nplaced db01 homes=1 local=1GB remote=0", "10:8: found placed db01 again"},
		{"placed nowhere", "placed db01 local=1GB remote=0", "9:1: found no homes=, want homes=0,1, or homes=- for a VM that the NUMA scheduler does not manage"},
		{"placed without memory", "placed db01 homes=1 local=1GB", "9:1: found no local= and remote=, and no onNode="},
		{"placed on no node", "placed db01 homes=2 local=1GB remote=0", "9:13: found homes=2, and no node 2 of the host"},
		{"placed on what", "placed db01 homes=a local=1GB remote=0", `9:13: found homes="a", want nodes below 64 such as 0,1, or - for none`},
		{"placed on more nodes", "placed db01 homes=1 onNode=1GB,1GB,1GB", "9:21: found memory on 3 nodes, esx01 has 2"},
		{"placed against itself", "placed db01 homes=1 onNode=1GB,3GB remote=2GB", "9:1: found local= or remote= that onNode= contradicts: 3 GB on home nodes, 1 GB on others"},
		{"placed too much", "placed db01 homes=1 local=60GB remote=5GB", "9:1: found 65 GB of db01, which has 64 GB"},
		// Times.
		{"at alone", "at 5m", "9:1: found no time or no event, want at 42m power-on VM"},
		{"time", "at noon power-on db02", `9:4: found "noon", want a time such as 90s, 42m, 1h42m or 2d`},
		{"time off the grid", "at 42s power-on db02\nat 43s power-off db02", "10:4: found 43s, want a multiple of 2s" + step},
		{"time of day", "at 24:00 power-on db02", `9:4: found "24:00", want a time of day such as 14:30`},
		{"time of day off the grid", "run 24h start=2018-01-10T10:00:01Z\nat 14:00 power-on db02", "10:4: found 14:00, 3h59m59s after the start: want a multiple of 2s" + step},
		{"before the start", "at 2026-01-04T23:00:00Z power-on db02", "9:4: found 2026-01-04T23:00:00Z, want a time from the start on, 2026-01-05T00:00:00Z"},
		{"whole time", "at 2026-01-32T23:00:00Z power-on db02", `9:4: found "2026-01-32T23:00:00Z", want a time in UTC such as 2018-01-10T11:42:00Z`},
		{"after the end", "run 1h\nat 1h2s power-on db02", "10:4: found 1h2s, after the end of the run at 1h"},
		{"time of day after the end", "run 1h start=2018-01-10T10:00:00Z\nat 09:30 power-on db02", "10:4: found 09:30, after the end of the run at 1h"},
		// Events.
		{"event", "at 5m power-onn db02", `9:7: found "power-onn", which is no event; is power-on meant?`},
		{"no event", "at 5m explode db02", `9:7: found "explode", which is no event; want power-on, power-off, power-cycle, reboot, vmotion, resize, hot-add, load, talk, set, maintenance, leave-maintenance, fail, repair`},
		{"event with a value", "at 5m power-on=db02 x", `9:7: found "power-on", which is no event; is power-on meant?`},
		{"event of nobody", "at 5m vmotion", `9:7: found vmotion alone, want vmotion VM host=HOST`},
		{"power-on of one that runs", "at 5m power-on db01", `9:16: found power-on of db01, which runs`},
		{"power-on again", "at 5m power-on db02\nat 4m power-on db02", `9:16: found power-on of db02, which runs`},
		{"power-on of a template", "at 5m power-on golden", `9:16: found power-on of golden, which is a template`},
		{"power-on of all that run", "at 5m power-on web*", `9:16: found power-on of web1, which runs`},
		{"power-on on a failed host", "at 5m fail esx01\nat 6m power-on db02", `10:16: found power-on of db02 on esx01, which has failed`},
		{"power-on in maintenance", "at 5m maintenance esx02\nat 6m power-on db02 host=esx02", `10:21: found power-on of db02 on esx02, which is in maintenance`},
		{"power-on in maintenance from the start", "host esx04 maintenance=on\nat 6m power-on db02 host=esx04", `10:21: found power-on of db02 on esx04, which is in maintenance`},
		{"power-on nowhere", "vm lost cluster=none vcpus=1 memory=1GB power=off\nat 6m power-on lost", `10:16: found power-on of lost, whose host is unknown: say host=`},
		{"power-off again", "at 5m power-off db02", `9:17: found power-off of db02, which is off`},
		{"reboot of one that is off", "at 5m reboot db02", `9:14: found reboot of db02, which is off`},
		{"word of a reboot", "at 5m reboot db01 host=esx01", `9:19: found "host", want nothing more after reboot`},
		{"word of a power-on", "at 5m power-on db02 on=esx01", `9:21: found "on", which no power-on line knows; want host`},
		{"vmotion nowhere", "at 5m vmotion db01", `9:7: found no host=, want vmotion VM host=HOST`},
		{"vmotion to no host", "at 5m vmotion db01 host=esx9", `9:20: found no host "esx9"; alike: esx01, esx02, esx03`},
		{"vmotion to several", "at 5m vmotion db01 host=esx*", `9:20: found esx*, which names 3 hosts, want one`},
		{"vmotion to where it is", "at 5m vmotion db01 host=esx01", `9:20: found vmotion of db01 to esx01, where it is`},
		{"vmotion with a rate of writes alone", "at 5m vmotion db01 host=esx02 dirty=1GB/s", `9:31: found dirty= without link=: the time of a vMotion follows from both`},
		{"vmotion over what is no link", "at 5m vmotion db01 host=esx02 link=fast", `9:31: link: found "fast", want traffic such as 10Gb/s (bits), 1.2GB/s or 900MiB/s (bytes)`},
		{"vmotion without a value", "at 5m vmotion db01 host", `9:20: found "host" without a value, want WORD=VALUE, such as memory=512GB`},
		{"resize of one that is off", "at 5m resize db02 vcpus=4", `9:14: found resize of db02, which is off; a resize powers it off and on itself`},
		{"resize to nothing", "at 5m resize db01", `9:7: found nothing to change, want resize VM vcpus=16 memory=64GB`},
		{"resize that does not divide", "at 5m resize db01 vcpus=10", `9:19: VM db01: 10 vCPUs do not divide into sockets of 4 cores: say coresPerSocket= too`},
		{"resize too large", "at 5m resize db01 vcpus=9999", `9:19: found vcpus="9999", want a number from 1 to 4096`},
		{"resize to the unknown", "at 5m resize db01 vcpus=?", `9:19: found vcpus=?, want a value`},
		{"resize to another host", "at 5m resize db01 host=esx02", `9:19: found host= of a resize; vmotion moves a VM, power-on VM host=HOST starts it elsewhere`},
		{"resize of its power", "at 5m resize db01 power=off", `9:19: found "power", which no resize line knows; want ` + strings.Join(resizeWords, ", ")},
		{"resize stored", "at 5m resize db01 stored=0", `9:19: found stored="0", want a number from 1 to 4096`},
		{"hot-add without hot add", "at 5m hot-add db01 vcpus=12", `9:20: found hot-add of vCPUs to db01, for which CPU hot add is off: say hotAdd=on in its vm line`},
		{"hot-add of memory without", "at 5m hot-add db01 memory=72GB", `9:20: found hot-add of memory to db01, for which memory hot add is off: say memoryHotAdd=on in its vm line`},
		{"hot-add of nothing", "at 5m hot-add web1 vcpus=2", `9:20: found hot-add of web1 to 2 vCPUs, want more than its 2`},
		{"hot-add of less", "at 5m hot-add web1 memory=4GB", `9:20: found hot-add of web1 to 4 GB, want more than its 8 GB`},
		{"hot-add of as much", "at 5m hot-add web1 memory=8GB", `9:20: found hot-add of web1 to 8 GB, want more than its 8 GB`},
		{"hot-add of what", "at 5m hot-add web1 coresPerSocket=2", `9:20: found "coresPerSocket", which no hot-add line knows; want vcpus, memory`},
		{"load of more than it has then", "at 5m resize web1 memory=4GB\nat 6m load web1 memory=5GB", `10:17: found memory=5GB, more than the 4 GB of web1`},
		{"talk then", "at 5m talk db01 rate=5", `9:7: found no two VMs and a rate, want talk VM VM rate=800`},
		{"set nothing", "at 5m set esx01", `9:7: found no option, want set HOST Numa.PageMigEnable=0`},
		{"set what", "at 5m set esx01 Net.TcpipHeapSize=3", `9:17: found option "Net.TcpipHeapSize", want one of Numa.*, LPage.*, Mem.* or a kernel setting about NUMA`},
		{"set to nothing", "at 5m set esx01 Numa.PreferHT=", `9:17: found option Numa.PreferHT without a value`},
		{"set misspelt", "at 5m set esx01 Numa.PageMigEnabel=0", `9:17: found option Numa.PageMigEnabel; is Numa.PageMigEnable meant?`},
		{"set twice", "at 5m set esx01 Numa.PreferHT=1 numa.preferHT=0", `9:33: found numa.preferHT twice`},
		{"maintenance again", "at 5m maintenance esx01\nat 6m maintenance esx01", `10:19: found maintenance of esx01, which is in maintenance`},
		{"leave what", "at 5m leave-maintenance esx01", `9:25: found leave-maintenance of esx01, which is not in maintenance`},
		{"fail again", "at 5m fail esx01\nat 6m fail esx*", `10:12: found fail of esx01, which has failed`},
		{"repair what works", "at 5m repair esx01", `9:14: found repair of esx01, which has not failed`},
		{"word of a failure", "at 5m fail esx01 now", `9:18: found "now", want nothing more after fail`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read("s", []byte(errorFleet+tt.in))
			if err == nil || err.Error() != "s:"+tt.want {
				t.Errorf("%v\nwant s:%s", err, tt.want)
			}
		})
	}
}

// TestSections holds where lines of an archive are.
func TestSections(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"after words", "Words.\r\nMore.\r\n-- note --\r\nx\r\n-- in --\r\n" + errorFleet + "at 5m fly db01\r\n", `s:14:7: found "fly", which is no event; want power-on, power-off, power-cycle, reboot, vmotion, resize, hot-add, load, talk, set, maintenance, leave-maintenance, fail, repair`},
		{"a mark of the byte order", "\ufefflode", `s:1:1: found "lode", is load meant?`},
		{"no section", "Words.\n-- out --\nrun 1h\n", `s:2:1: found no section "in"`},
		{"two sections", "-- in --\nrun 1h\n-- in --\n", `s:3:1: found section "in" twice`},
	} {
		_, err := Read("s", []byte(tt.in))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

// TestAddErrors checks the errors of lines that are added, and of those that do not fit
// any more; the story stays as it was.
func TestAddErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"line of a fleet", "vm db09 vcpus=4", "--at:1:1: found a line of a fleet, want one of run, used, load, talk, placed, at"},
		{"unknown", "\nat 5m", "--at:2:1: found no time or no event, want at 42m power-on VM"},
		{"no key", "=5", `--at:1:1: found "=5", want key=value`},
		{"start of events", "run start=2018-01-10T11:42:00Z", "--at:1:5: found start= for a story that has events"},
		{"done already", "at 15m power-on db02", "s:9: at 20m power-on db02: found power-on of db02, which runs"},
		{"too small now", "at 5m resize web1 memory=4GB", "s:10: at 30m load web1 memory=6GB: found memory=6GB, more than the 4 GB of web1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Read("s", []byte(errorFleet+"at 20m power-on db02\nat 30m load web1 memory=6GB\n"))
			if err != nil {
				t.Fatal(err)
			}
			before := dump(s)
			err = Add(s, tt.in, "--at")
			if err == nil || err.Error() != tt.want {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
			if after := dump(s); after != before {
				t.Errorf("the story is now\n%s\nwant\n%s", after, before)
			}
		})
	}
}

// TestMostEvents checks the bound of events, which a few lines about many VMs can pass.
func TestMostEvents(t *testing.T) {
	defer func(most int) { mostEvents = most }(mostEvents)
	mostEvents = 5
	text := errorFleet + "at 5m reboot web*\nat 6m reboot *\n"
	if _, err := Read("s", []byte(text)); err != nil {
		t.Error(err)
	}
	const want = "s:11:1: found more than 5 events"
	if _, err := Read("s", []byte(text+"at 7m reboot db01\n")); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
