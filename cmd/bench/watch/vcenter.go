//go:build linux

package main

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/vsphere/lab"
)

// fleetOf returns hosts with vms VMs each.
func fleetOf(hosts, vms int) *numa.Fleet {
	const where = "benchmark"
	f := &numa.Fleet{}
	for i := range hosts {
		cluster := fmt.Sprintf("domain-c%d", i/25)
		if i%25 == 0 {
			f.Clusters = append(f.Clusters, numa.Cluster{ID: cluster, Name: fmt.Sprintf("cluster-%02d", i/25)})
		}
		var nodes []numa.Node
		for n := range 2 {
			nodes = append(nodes, numa.Node{ID: n, Package: n, Cores: 14, Threads: 28, Memory: numa.ReadAt(1024*numa.GiB, where)})
		}
		h := numa.Host{ID: fmt.Sprintf("host-%d", i), Name: fmt.Sprintf("esx%04d.example.com", i), Cluster: cluster,
			Release: numa.ReadAt(numa.ESXi80+3, where), Connection: numa.ReadAt("connected", where), Packages: numa.ReadAt(2, where),
			Cores: numa.ReadAt(28, where), Threads: numa.ReadAt(56, where), Memory: numa.ReadAt(2048*numa.GiB, where), Nodes: numa.ReadAt(nodes, where)}
		f.Hosts = append(f.Hosts, h)
		for k := range vms {
			f.VMs = append(f.VMs, numa.VM{ID: fmt.Sprintf("vm-%d-%d", i, k), Name: fmt.Sprintf("app-%04d-%02d", i, k), Cluster: cluster, Host: h.ID,
				Config: numa.Config{Power: numa.ReadAt(numa.PoweredOn, where), Hardware: numa.ReadAt(21, where), VCPUs: numa.ReadAt(2+k%4*2, where),
					CoresPerSocket: numa.ReadAt(1, where), Memory: numa.ReadAt(32*numa.GiB, where)}})
		}
	}
	return f
}

// tickOf returns a tick of a host.
func tickOf(f *numa.Fleet, host, vms, round int, now time.Time) *numa.Tick {
	t := &numa.Tick{Host: f.Hosts[host].Name, Time: now, Since: 20 * time.Second, Has: numa.HasFree | numa.HasMinFree | numa.HasState, Free: 100 << 30, MinFree: 8 << 30}
	for n := range 2 {
		t.Nodes = append(t.Nodes, numa.NodeTick{ID: n, Has: numa.HasTotal | numa.HasFree | numa.HasUsed | numa.HasUtil | numa.HasCore, Total: 1 << 40, Free: numa.Bytes(50+round%7) << 30, Used: 0.4, Util: 0.5, Core: 0.6})
	}
	for k := range vms {
		v := &f.VMs[host*vms+k]
		remote := numa.Bytes((round*37+k*11)%100) << 24
		t.VMs = append(t.VMs, numa.VMTick{GID: int64(host*1000 + k + 1), Name: v.Name, Has: numa.HasHomes | numa.HasMemory | numa.HasMoves | numa.HasKinds | numa.HasUsed | numa.HasRun | numa.HasReady | numa.HasCoStop | numa.HasSize | numa.HasGranted | numa.HasActive | numa.HasShared | numa.HasZero | numa.HasBalloon | numa.HasSwapped,
			VCPUs: v.VCPUs.Or(2), Homes: numa.SetOf(k % 2), Local: 28<<30 - remote, Remote: remote, Used: 0.3, Run: 0.31, Ready: 0.01,
			Size: 32 << 30, Granted: 28 << 30, Active: numa.Bytes(1+round%5) << 30,
			OnNode: []numa.MemoryOnNode{{Node: 0, Guest: 14 << 30}, {Node: 1, Guest: 14 << 30}}})
	}
	return t
}

// padding is the rest of a real answer, in the measured size: 987 kB with 40 VMs, of which the list of objects
// is 28 % and interrupts are 19 %.
func padding() (objects, rows string) {
	var o, r strings.Builder
	for i := 0; o.Len() < 276_000; i++ {
		fmt.Fprintf(&o, "|SchedGroup|%d|CPUClient,1|MemClient,1|VCPU,3|\n", 90000000+i)
	}
	for i := 0; r.Len() < 190_000; i++ {
		fmt.Fprintf(&r, "|InterruptVector|%d|%d|vmnic%d-rx-%d|\n", i, i*7919, i%8, i%32)
	}
	for i := 0; r.Len() < 420_000; i++ {
		fmt.Fprintf(&r, "|MemClient|%d|1|%d|0|0|%d|0|0|\n", 90000000+i, i*4096, i*77)
	}
	return o.String(), r.String()
}

// answers generates the answers of the hosts.
type answers struct {
	mu    sync.Mutex
	fleet *numa.Fleet
	vms   int
	index map[string]int
	hosts []struct {
		w     *fetchstats.Writer
		round int
	}
	objects, rows string
}

func newAnswers(f *numa.Fleet, vms int) *answers {
	a := &answers{fleet: f, vms: vms, index: map[string]int{}}
	a.objects, a.rows = padding()
	for i := range f.Hosts {
		a.index[f.Hosts[i].ID] = i
		a.hosts = append(a.hosts, struct {
			w     *fetchstats.Writer
			round int
		}{w: &fetchstats.Writer{Machine: &f.Hosts[i], Boot: time.Now().Add(-time.Hour)}})
	}
	return a
}

func (a *answers) answer(host, command string) (string, error) {
	a.mu.Lock()
	i := a.index[host]
	a.mu.Unlock()
	h := &a.hosts[i] // requests to a host are serialized
	if command != "FetchStats" {
		return h.w.Info(), nil
	}
	h.round++
	text := h.w.Answer(tickOf(a.fleet, i, a.vms, h.round, time.Now().Truncate(time.Second)))
	return strings.Replace(text, "==COUNTER-VALUE==\n", a.objects+"==COUNTER-VALUE==\n"+a.rows, 1), nil
}

// vcenter serves a simulated vCenter until it is interrupted, and prints its address.
func vcenter(args []string) error {
	n, err := numbers(args, 2)
	if err != nil {
		return err
	}
	f := fleetOf(n[0], n[1])
	v, err := lab.Start(f)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := v.ServeEsxtop(newAnswers(f, n[1]).answer); err != nil {
		return err
	}
	fmt.Println(v.URL.String())
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt)
	<-end
	return nil
}

// startVCenter starts vcenter as another process.
func startVCenter(hosts, vms int) (u *url.URL, stop func(), err error) {
	cmd := exec.Command(os.Args[0], "vcenter", fmt.Sprint(hosts), fmt.Sprint(vms))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // its exit code after a signal is irrelevant
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("the simulated vCenter does not start: %w", err)
	}
	u, err = url.Parse(strings.TrimSpace(line))
	return u, stop, err
}
