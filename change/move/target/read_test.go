package target

import (
	"example.org/homenode/internal/golden"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRead reads folders and files, each with the hosts and their names that come of it, or the error.
func TestRead(t *testing.T) {
	capabilities := golden.Read(t, "../../../source/libvirt/testdata/host.xml")
	const lscpu = "# The following is the parsable format, which can be fed to other\n# CPU,Core,Socket,Node\n0,0,0,0\n1,1,0,0\n2,2,1,1\n3,3,1,1\n4,0,0,0\n5,1,0,0\n6,2,1,1\n7,3,1,1\n"
	const plain = "CPU(s):              8\nOn-line CPU(s) list: 0-7\nThread(s) per core:  1\nCore(s) per socket:  4\nSocket(s):           2\nNUMA node(s):        2\nNUMA node0 CPU(s):   0,1,4,5\nNUMA node1 CPU(s):   2,3,6,7\n"
	caps := string(capabilities)
	const scenario = "release 8.0U3\nhost [kvm1-kvm2] nodes=2 cores=8 memory=64GB\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a file a host", map[string]string{"kvm02.xml": caps, "kvm01.xml": caps}, "kvm01 2+0 cores 4 CPUs, kvm02 2+0 cores 4 CPUs"},
		{"a folder a host", map[string]string{"kvm01/capabilities.xml": caps, "kvm02/virsh-capabilities.xml": caps, "kvm01/readme": "nothing"}, "kvm01 2+0 cores 4 CPUs, kvm02 2+0 cores 4 CPUs"},
		{"lscpu beside numactl", map[string]string{"a.lscpu.txt": lscpu, "a.numactl.txt": numactl}, "a 2+2 cores 8 CPUs"},
		{"both in one file", map[string]string{"a.txt": lscpu + "\n" + numactl}, "a 2+2 cores 8 CPUs"},
		{"with prompts", map[string]string{"all.txt": "root@h1:~# lscpu -p\n" + lscpu + "root@h1:~# numactl -H\n" + numactl + "root@h2:~# lscpu -p\n" + lscpu + "root@h2:~# numactl -H\n" + numactl}, "h1 2+2 cores 8 CPUs, h2 2+2 cores 8 CPUs"},
		{"several in one file", map[string]string{"rack.xml": caps + "\n" + caps}, "rack-1 2+0 cores 4 CPUs, rack-2 2+0 cores 4 CPUs"},
		{"lscpu without columns", map[string]string{"a.lscpu.txt": plain, "a.numactl.txt": numactl}, "a 4+4 cores 8 CPUs, numbered"},
		{"twice", map[string]string{"k.xml": caps, "k-virsh.xml": caps}, "k.xml:2: host k is described in DIR/k-virsh.xml too"},
		{"memory missing", map[string]string{"k.txt": lscpu}, "DIR/k.txt:1: k: no output states the memory of its nodes: numactl -H does"},
		{"cut", map[string]string{"k.xml": caps[:len(caps)/2]}, "DIR/k.xml:"},
		{"another architecture", map[string]string{"k1.xml": strings.Replace(caps, "x86_64", "aarch64", 1), "k2.xml": caps}, "k2 2+0 cores 4 CPUs"},
		{"another architecture alone", map[string]string{"k1.xml": strings.Replace(caps, "x86_64", "aarch64", 1)}, "DIR/k1.xml:2: a host of aarch64, which does not run VMs of x86_64: it is left out"},
		{"lscpu of POWER alone", map[string]string{"a.lscpu.txt": "Architecture:        ppc64le\n" + plain, "a.numactl.txt": numactl}, "DIR/a.lscpu.txt:1: a host of ppc64le, which does not run VMs of x86_64: it is left out"},
		{"lscpu of POWER, and its CPUs", map[string]string{"a.txt": "$ lscpu\nArchitecture: ppc64le\n" + plain + "\n$ lscpu -p\n" + lscpu + "\n$ numactl -H\n" + numactl}, "DIR/a.txt:2: a host of ppc64le, which does not run VMs of x86_64: it is left out"},
		{"lscpu -J of ARM", map[string]string{"a.txt": "{\"lscpu\": [{\"field\": \"Architecture:\", \"data\": \"aarch64\"}, {\"field\": \"CPU(s):\", \"data\": \"8\"}]}\n" + numactl}, "DIR/a.txt:1: a host of aarch64, which does not run VMs of x86_64: it is left out"},
		{"lscpu of x86", map[string]string{"a.lscpu.txt": "Architecture: x86_64\n" + plain, "a.numactl.txt": numactl}, "a 4+4 cores 8 CPUs, numbered"},
		{"nothing", map[string]string{"k.txt": "hello"}, "DIR: found no inventory: it holds 1 file (k.txt), and no inventory that is read from a folder: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				golden.Write(t, path, []byte(text))
			}
			hosts, _, err := Read(dir)
			var got []string
			for _, h := range hosts {
				cores, cpus := []string{}, 0
				for _, n := range h.Nodes {
					cores = append(cores, fmt.Sprint(n.Cores))
					cpus += n.Threads
				}
				text := fmt.Sprintf("%s %s cores %d CPUs", h.Name, strings.Join(cores, "+"), cpus)
				if strings.Contains(tt.want, "numbered") && len(h.Nodes[0].CPUs) == h.Nodes[0].Cores {
					text += ", numbered"
				}
				got = append(got, text)
			}
			text := strings.Join(got, ", ")
			if err != nil {
				text = strings.ReplaceAll(err.Error(), dir, "DIR")
			}
			if !strings.HasPrefix(text, tt.want) && !strings.HasPrefix(text, "DIR/"+tt.want) || hosts != nil && text != tt.want {
				t.Errorf("read %s\nwant %s", text, tt.want)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "hosts.txtar")
	golden.Write(t, path, []byte(strings.Replace(scenario, "[kvm1-kvm2]", "kvm[1-2]", 1)))
	if hosts, _, err := Read(path); err != nil || len(hosts) != 2 || hosts[1].Name != "kvm2" || hosts[1].Nodes[1].Cores != 8 {
		t.Errorf("read %+v, %v of a scenario", hosts, err)
	}
}

// TestDistances: distances that any file of a host states are those of the host, and where they are not, a note says so.
func TestDistances(t *testing.T) {
	b := golden.Read(t, "../../../source/libvirt/testdata/host.xml")
	caps := string(b)
	bare := regexp.MustCompile(`(?s)<distances>.*?</distances>`).ReplaceAllString(caps, "")
	const numactl = "available: 2 nodes (0,2)\nnode 0 cpus: 0 1 4 5\nnode 0 size: 65536 MB\nnode 0 free: 60000 MB\nnode 2 cpus:\nnode 2 size: 32768 MB\nnode 2 free: 30000 MB\nnode distances:\nnode   0   2\n  0:  10  17\n  2:  17  10\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string // the distance of the two nodes, or a note
	}{
		{"capabilities", map[string]string{"k.xml": caps}, "12"},
		{"capabilities, and numactl beside them", map[string]string{"k.xml": bare, "k.numactl.txt": numactl}, "17"},
		{"both", map[string]string{"k.xml": caps, "k.numactl.txt": numactl}, "12"},
		{"a part of them", map[string]string{"k.xml": strings.Replace(caps, "<sibling id='2' value='12'/>", "", 1)}, "DIR/k.xml:9:7: node 0 has distances to some nodes alone: those of the host count as unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				golden.Write(t, filepath.Join(dir, name), []byte(text))
			}
			hosts, notes, err := Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.Join(notes, "; "), dir, "DIR")
			if d := hosts[0].Distance; d != nil {
				got = fmt.Sprint(d[0][1])
			}
			if got != tt.want {
				t.Errorf("found %s, want %s", got, tt.want)
			}
		})
	}
}
