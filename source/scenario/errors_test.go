package scenario

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/source/word"
)

func TestErrors(t *testing.T) {
	long := strings.Repeat("x", 300)
	vmWords := "; want host, cluster, " + strings.Join(word.VMKeys, ", ") + ", stored, settings, a setting such as numa.vcpu.preferHT"
	huge, cut := strings.Repeat("x", 3_000_000), strings.Repeat("x", 60)+"…"
	for _, tt := range []struct{ name, in, want string }{
		// Lines and words.
		{"unknown line", "disk d1", `1:1: found "disk", want release, cluster, host, vm or seen`},
		{"seen of no VM", "seen db01 by=lscpu", `1:6: found seen db01, want a VM of an earlier line`},
		{"seen by nobody", "vm db01 vcpus=4\nseen db01 nodes=4", `2:1: found no by=, want what saw it: vmware.log, sched-stats, esxtop, lscpu, numactl, coreinfo or measure`},
		{"seen by a stranger", "vm db01 vcpus=4\nseen db01 by=top", `2:11: found by="top", want vmware.log, sched-stats, esxtop, lscpu, numactl, coreinfo or measure`},
		{"seen groups", "vm db01 vcpus=4\nseen db01 by=lscpu nodes=2y2", `2:20: found nodes="2y2", want the vCPUs of each, such as 16+14 or 2x16`},
		{"seen too many", "vm db01 vcpus=4\nseen db01 by=lscpu nodes=2x4000", `2:20: found nodes="2x4000", want the vCPUs of each, such as 16+14 or 2x16`},
		{"seen start", "vm db01 vcpus=4\nseen db01 by=vmware.log start=now", `2:25: found start="now", want first, power-on or checkpoint`},
		{"seen release", "vm db01 vcpus=4\nseen db01 by=vmware.log release=new", `2:25: found "new", want a release such as 7.0 U3`},
		{"seen time", "vm db01 vcpus=4\nseen db01 by=vmware.log time=noon", `2:25: found time="noon", want RFC 3339, such as 2026-03-01T08:00:00Z`},
		{"seen memory", "vm db01 vcpus=4\nseen db01 by=vmware.log memory=4", `2:25: found memory="4", want memory such as 512GB, at most 64 TB`},
		{"seen word", "vm db01 vcpus=4\nseen db01 by=vmware.log seen", `2:25: found "seen" without a value, want WORD=VALUE, such as memory=512GB`},
		{"one word", "host", `1:1: found "host", want: release R, cluster NAME, host NAME …, vm NAME … or seen NAME …`},
		{"no name", "\n  host nodes=2", `2:3: found "host nodes=2", want: release R, cluster NAME, host NAME …, vm NAME … or seen NAME …`},
		{"value first", "vm=db01 vcpus=4", `1:1: found "vm=db01 vcpus=4", want: release R, cluster NAME, host NAME …, vm NAME … or seen NAME …`},
		{"no key", "vm db01 =4", `1:9: found "=4", want key=value`},
		{"no value", "vm db01 vcpus=4 template", `1:17: found "template" without a value, want WORD=VALUE, such as memory=512GB`},
		{"empty value", "vm db01 host= vcpus=4", `1:9: found host= without a value`},
		{"empty quotes", `host esx01 cpu=""`, `1:12: found cpu= without a value`},
		{"open quote", `host esx01 cores=4 cpu="Xeon`, `1:24: found no closing quote`},
		{"text after the quote", `host esx01 cpu="Xeon"E5`, `1:22: found "E" after the closing quote, want a blank`},
		{"word after the quote", `host esx01 cpu="Xeon"cores=4`, `1:22: found "c" after the closing quote, want a blank`},
		{"twice", "vm db01 vcpus=4 memory=1GB vcpus=8", `1:28: found vcpus twice`},
		{"setting twice", "vm db01 numa.vcpu.min=4 NUMA.vcpu.min=8", `1:25: found NUMA.vcpu.min twice`},
		{"unknown word of a host", "host esx01 sockets=2", `1:12: found "sockets", which no host line knows; is packages meant?`},
		{"misspelt word of a host", "host esx01 node=2", `1:12: found "node", which no host line knows; is nodes meant?`},
		{"strange word of a host", "host esx01 colour=red", `1:12: found "colour", which no host line knows; want ` + strings.Join(slices.Concat(word.NodeKeys, word.HostKeys), ", ") + `, cluster, an option such as Numa.PreferHT`},
		{"unknown word of a VM", "vm db01 cores=2", `1:9: found "cores", which no vm line knows` + vmWords},
		{"after the cluster", "cluster prod a", `1:14: found "a" after the name of the cluster`},
		{"columns count bytes", "vm größe cps=2", `1:12: found "cps", which no vm line knows; is coresPerSocket meant?`},
		// What is quoted is cut: a line can be as long as the file.
		{"huge line", huge, `1:1: found "` + cut + `", want: release R, cluster NAME, host NAME …, vm NAME … or seen NAME …`},
		{"huge first word", huge + " a", `1:1: found "` + cut + `", want release, cluster, host, vm or seen`},
		{"huge value", "vm db01 vcpus=" + huge, `1:9: found vcpus="` + cut + `", want a number from 1 to 4096`},
		{"huge key", "vm db01 " + huge + "=4", `1:9: found "` + cut + `", which no vm line knows` + vmWords},
		{"huge word", "vm db01 " + huge, `1:9: found "` + cut + `" without a value, want WORD=VALUE, such as memory=512GB`},
		{"huge host", "vm db01 host=" + huge, `1:9: found host=` + cut + `, want a host of this scenario`},
		{"huge cluster", "host a\nvm b host=a cluster=" + huge, `2:13: found cluster=` + cut + `, host a is not in it`},
		{"huge release", "release 7.0 " + huge, `1:9: found "7.0 ` + cut[4:] + `", want a release such as 7.0 U3`},
		{"huge setting", "vm db01 " + huge + ".x=1", `1:9: found setting "` + cut + `", want one of numa.*, cpuid.*, sched.* …`},
		// Releases.
		{"release", "release seven", `1:9: found "seven", want a release such as 7.0 U3`},
		{"words after a release", "release 7.0 with patches", `1:9: found "7.0 with patches", want a release such as 7.0 U3`},
		{"value after a release", "release 7.0 build=1", `1:9: found "7.0 build", want a release such as 7.0 U3`},
		{"release of a host", "host esx01 cores=4 release=new", `1:20: found "new", want a release such as 7.0 U3`},
		// Names and ranges.
		{"host again", "host esx01\nhost esx[01-02]", `2:6: found host esx01 again, line 1 has one`},
		{"VM again", "vm a[1-3]\nvm a2", `2:4: found vm a2 again, line 1 has one`},
		{"open range", "vm a[1-3", `1:4: found "a[1-3", want a range such as esx[01-08]`},
		{"range of one end", "vm a[1]", `1:4: found "a[1]", want a range such as esx[01-08]`},
		{"range of letters", "vm a[a-c]", `1:4: found "a[a-c]", want a range such as esx[01-08]`},
		{"range with a sign", "vm a[+1-3]", `1:4: found "a[+1-3]", want a range such as esx[01-08]`},
		{"two ranges", "vm a[1-2]b[1-2]", `1:4: found "a[1-2]b[1-2]", want a range such as esx[01-08]`},
		{"wide end of a range", "vm a[0000000001-2]", `1:4: found "a[0000000001-2]", want a range such as esx[01-08]`},
		{"falling range", "vm a[3-1]", `1:4: found "a[3-1]", want a range that ascends`},
		{"huge range", "vm a[0-999999999]", `1:4: found a range of 1000000000, want at most 200000`},
		{"too many objects", "vm a[1-150000]\nvm b[1-50001]", `2:4: found more than 200000 hosts and VMs`},
		{"long name", "vm " + long, `1:4: found a name of 300 bytes, want at most 240`},
		// Values of hosts.
		{"nodes", "host esx01 nodes=65", `1:12: found nodes="65", want a number from 1 to 64`},
		{"no cores", "host esx01 cores=0", `1:12: found cores="0", want a number from 1 to 4096`},
		{"cores of a word", "host esx01 cores=many", `1:12: found cores="many", want a number from 1 to 4096`},
		{"cores unknown", "host esx01 cores=?", `1:12: found cores="?", want a number from 1 to 4096`},
		{"threads", "host esx01 cores=4 threads=32769", `1:20: found threads="32769", want a number from 1 to 32768`},
		{"fewer threads than cores", "host esx01 threads=4 cores=8", `1:12: found 4 threads on 8 cores of a node`},
		{"packages", "host esx01 packages=-1", `1:12: found packages="-1", want a number from 1 to 64`},
		{"memory without a unit", "host esx01 memory=512", `1:12: found memory="512", want memory such as 512GB, at most 1024 TB`},
		{"memory of a part of a MB", "host esx01 memory=0.4MB", `1:12: found memory="0.4MB", want memory such as 512GB, at most 1024 TB`},
		{"memory of nothing", "host esx01 memory=0GB", `1:12: found memory="0GB", want memory such as 512GB, at most 1024 TB`},
		{"too much memory", "host esx01 memory=1025TB", `1:12: found memory="1025TB", want memory such as 512GB, at most 1024 TB`},
		{"memory beyond all numbers", "host esx01 memory=99999999999999999999TB", `1:12: found memory="99999999999999999999TB", want memory such as 512GB, at most 1024 TB`},
		{"node memory", "host esx01 cores=4 nodes=2 nodeMemory=1GB,2", `1:28: found nodeMemory="2", want memory such as 512GB, at most 1024 TB`},
		{"node memory of three", "host esx01 cores=4 nodes=2 nodeMemory=1GB,1GB,1GB", `1:28: found the memory of 3 nodes, want 2 or one for all`},
		{"node memory of two", "host esx01 cores=4 nodes=4 nodeMemory=1GB,1GB", `1:28: found the memory of 2 nodes, want 4 or one for all`},
		{"memory of all nodes", "host esx01 cores=4 nodes=2 nodeMemory=1024TB", `1:1: host "esx01": memory of 2251799813685248 bytes`},
		{"threads of all nodes", "host esx[1-2] nodes=64 cores=4096 threads=4097", `1:1: host "esx2": 262208 threads`},
		{"ht", "host esx01 ht=1", `1:12: found ht="1", want on or off`},
		{"build", "host esx01 build=x", `1:12: found build="x", want a number from 1 to 2147483647`},
		{"mhz", "host esx01 mhz=0", `1:12: found mhz="0", want a number from 1 to 100000`},
		{"connection", "host esx01 connection=lost", `1:12: found connection="lost", want connected, disconnected or notResponding`},
		{"option", "host esx01 UserVars.X=1", `1:12: found option "UserVars.X", want one of Numa.*, LPage.*, Mem.* or a kernel setting about NUMA`},
		// Values of VMs.
		{"a limit of nothing", "vm db01 cpuLimit=0", `1:9: found cpuLimit="0", want a number of MHz, or none`},
		{"a memory limit of nothing", "vm db01 memoryLimit=0", `1:9: found memoryLimit="0", want memory such as 512GB, at most 64 TB`},
		{"a limit with its unit", "vm db01 cpuLimit=4GHz", `1:9: found cpuLimit="4GHz", want a number of MHz, or none`},
		{"no vCPUs", "vm db01 vcpus=0", `1:9: found vcpus="0", want a number from 1 to 4096`},
		{"too many vCPUs", "vm db01 vcpus=4097", `1:9: found vcpus="4097", want a number from 1 to 4096`},
		{"cores per socket", "vm db01 coresPerSocket=all", `1:9: found coresPerSocket="all", want a number from 1 to 4096`},
		{"VM memory", "vm db01 memory=65TB", `1:9: found memory="65TB", want memory such as 512GB, at most 64 TB`},
		{"hardware", "vm db01 hw=vmx-19", `1:9: found hw="vmx-19", want a number from 3 to 99`},
		{"power", "vm db01 power=poweredOn", `1:9: found power="poweredOn", want on, off or suspended`},
		{"latency", "vm db01 latency=hihg", `1:9: found latency="hihg", want low, normal, medium or high`},
		{"affinity", "vm db01 cpuAffinity=0-3,x", `1:9: found cpuAffinity="0-3,x", want a list such as 0-3,8, of at most 4096, or none`},
		{"falling affinity", "vm db01 cpuAffinity=3-0", `1:9: found cpuAffinity="3-0", want a list such as 0-3,8, of at most 4096, or none`},
		{"huge affinity", "vm db01 cpuAffinity=0-4096", `1:9: found cpuAffinity="0-4096", want a list such as 0-3,8, of at most 4096, or none`},
		{"affinity in parts", "vm db01 cpuAffinity=0-4000,0-4000", `1:9: found cpuAffinity="0-4000,0-4000", want a list such as 0-3,8, of at most 4096, or none`},
		{"affinity beyond any host", "vm db01 memoryAffinity=262144", `1:9: found memoryAffinity="262144", want a list such as 0-3,8, of at most 4096, or none`},
		{"setting", "vm db01 disk.enableUUID=TRUE", `1:9: found setting "disk.enableUUID", want one of numa.*, cpuid.*, sched.* …`},
		{"settings", "vm db01 settings=none", `1:9: found settings="none", want settings=? or a setting such as numa.vcpu.preferHT`},
		{"settings unknown and known", "vm db01 numa.vcpu.min=4 settings=?", `1:1: found settings=? beside stored= or a setting`},
		{"settings unknown and stored", "vm db01 vcpus=4 settings=? stored=4", `1:1: found settings=? beside stored= or a setting`},
		{"stored of nothing", "vm db01 stored=4", `1:1: found stored= without vcpus=`},
		{"stored of unknown vCPUs", "vm db01 vcpus=? stored=4", `1:1: found stored= without vcpus=`},
		// Places.
		{"no such host", "host esx01\n\nvm db01 vcpus=4 host=esx02", `3:17: found host=esx02, want a host of this scenario`},
		{"other cluster", "cluster a\nhost esx01\nvm db01 cluster=b host=esx01", `3:9: found cluster=b, host esx01 is not in it`},
		{"no cluster", "cluster a\nhost esx01\nvm db01 host=esx01 cluster=none", `3:20: found cluster=none, host esx01 is not in it`},
		// Line numbers.
		{"section", "words\n-- in --\nrelease 7.0\n\nvm a vcpus=x", `5:6: found vcpus="x", want a number from 1 to 4096`},
		{"first section", "-- in --\nvm a vcpus=x\n", `2:6: found vcpus="x", want a number from 1 to 4096`},
		{"section after others", "words\nwords\n-- note --\na\nb\n-- empty --\n-- in --\nhost esx01\nvm a vcpus=x\n-- findings --\n", `9:6: found vcpus="x", want a number from 1 to 4096`},
		{"CRLF", "words\r\n-- note --\r\na\r\n-- in --\r\nhost esx01\r\nvm a vcpus=x\r\n", `6:6: found vcpus="x", want a number from 1 to 4096`},
		{"byte order mark", "\ufeff-- in --\nvm a vcpus=x", `2:6: found vcpus="x", want a number from 1 to 4096`},
		{"comments", "# a\n\t# b\n\nvm a vcpus=x # c", `4:6: found vcpus="x", want a number from 1 to 4096`},
		{"no section", "words\n-- out --\n", `2:1: found no section "in"`},
		{"section twice", "-- in --\nhost a\n-- x --\n-- in --\n", `4:1: found section "in" twice`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Read("fleet.txt", []byte(tt.in))
			if f != nil || err == nil {
				t.Fatalf("Read returned a fleet: %v, %v", f, err)
			}
			if got, want := err.Error(), "fleet.txt:"+tt.want; got != want {
				t.Errorf("Read:\n got %s\nwant %s", got, want)
			}
		})
	}
}
