package size

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/homenode/ask"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/iocost"
)

// IO asks for the CPU cost of the I/O of a workload.
type IO struct {
	ask.Asked
	Published
	Fleet      string   `ask:"source,arg" label:"Fleet"`
	Path       string   `ask:"path" default:"vsan-esa" likely:"nvme,vsan-esa,network,ram" group:"Workload of all hosts" label:"Through" help:"path of the traffic: nvme, vsan-esa, network, ram"`
	IOPS       string   `ask:"iops" label:"I/Os a second" example:"100k" help:"I/Os a second of all hosts: 100k"`
	Throughput string   `ask:"throughput" label:"Instead: bytes a second" example:"2GB/s" help:"bytes a second instead of --iops: 2GB/s, 900MiB/s"`
	Block      string   `ask:"block" label:"Size of an I/O" example:"32k" help:"size of an I/O: 32k"`
	Reads      string   `ask:"read" label:"Reads, percent" example:"70" help:"share of I/Os that are reads, in percent (default 70)"`
	IPC        string   `ask:"ipc" label:"Work per cycle" example:"1.2" help:"work per cycle of your cores, compared with the measured CPU: 1.2 (default 1)"`
	Workloads  []string `ask:"workload" label:"Workload in words" example:"network tx=10Gb/s rx=10Gb/s" help:"a workload in words, or one more: 'vsan-esa iops=100k block=32k read=70 random=50 policy=raid-6', 'network tx=10Gb/s rx=10Gb/s', 'ram throughput=20GB/s' (repeatable)"`
	Hosts      int      `ask:"host-count" default:"1" group:"Hosts" label:"Hosts" help:"hosts that share the traffic evenly"`
	Cores      int      `ask:"host-cores" label:"Cores of a host" example:"64" help:"cores of a host, all sockets"`
	Core       string   `ask:"core" label:"Frequency of a core" example:"3.6GHz" help:"base frequency of a core: 3.6GHz; with a SOURCE for hosts that state none"`
	Cluster    string   `ask:"cluster" help:"the cluster, or standalone host, of the SOURCE; not needed when there is one"`
	Budget     string   `ask:"budget" group:"Limits" label:"CPU that I/O may have, percent" example:"10" help:"share of the CPU that I/O may have, in percent: how many hosts does it need; how much of a workload without traffic fits?"`
	Disks      int      `ask:"vdisks" label:"Virtual disks with a limit" example:"8" help:"virtual disks that have the IOPS limit --iops-limit"`
	Limit      string   `ask:"iops-limit" label:"IOPS limit of each" example:"5000" help:"IOPS limit of each virtual disk, counted in units of 32 KiB"`
	RDMA       bool     `ask:"rdma" label:"vSAN over RDMA" help:"vSAN over RDMA: the published saving, with its range"`
	Rules      bool     `ask:"rules-of-thumb" label:"By rules of thumb" help:"by the published rules of thumb instead of the measurements"`
	Own        string   `ask:"coefficients,local" help:"your own costs of I/O, from size calibrate (default: homenode-size.json of the working directory, if there is one; none takes the published ones)"`
	ask.Source `only:"nodes-per-socket assume-host" group:"Source"`
}

// Answer answers the question.
func (f *IO) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	r, err := f.or(f, "size io", iocost.Checks, func() (*answer.Answer, error) { return f.answer(ctx, e) })
	return ask.Partly(r, err, f.Source.Incomplete())
}

func (f *IO) answer(ctx context.Context, e *ask.Env) (*answer.Answer, error) {
	q, err := f.question()
	if err == nil {
		err = f.on(ctx, e, &q)
	}
	if err == nil {
		err = f.consistent(&q)
	}
	if err != nil {
		return nil, err
	}
	own, err := load(f.Own, e)
	if err != nil {
		return nil, err
	}
	var points []iocost.Point
	if own != nil {
		points, q.File = own.Points(), nameOf(f.Own)
	}
	model, err := iocost.New(points...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nameOf(f.Own), err)
	}
	s, err := model.Study(q)
	if err != nil {
		return nil, err
	}
	return size.Answer("size io", s), nil
}

// on sets the hosts from flags, or from one cluster of a source.
func (f *IO) on(ctx context.Context, e *ask.Env, q *iocost.Question) error {
	core, err := checkHosts(&f.Asked, f.Hosts, f.Cores, f.Core)
	switch {
	case err != nil:
		return err
	case f.Fleet != "":
		if err := f.Refuse("not with a SOURCE, which states the hosts", "host-cores", "host-count"); err != nil {
			return err
		}
		fleet, err := f.Read(ctx, e, f.Fleet)
		if err != nil {
			return err
		}
		q.Cluster, err = iocost.FindCluster(fleet, f.Cluster, core)
		return err
	case f.Cluster != "":
		return errors.New("--cluster: only with a SOURCE that has it")
	case core == 0 && f.Cores > 0:
		return errors.New("--host-cores: want --core, the base frequency, beside it")
	case f.Cores == 0 && f.Given("host-count"):
		return errors.New("--host-count: want --host-cores and --core beside it")
	}
	q.Cluster = iocost.Cluster{Hosts: f.Hosts, Cores: f.Cores, Core: core}
	return nil
}

// wordKeys are the flags that are words of a workload, in the order in which errors check them.
var wordKeys = []string{"iops", "throughput", "block", "read"}

// question parses the flags.
func (f *IO) question() (q iocost.Question, err error) {
	if q.Workloads, err = f.asked(); err != nil {
		return q, err
	}
	q.RDMA, q.Rules = f.RDMA, f.Rules
	budget := func(text string) (unit.Share, error) {
		share, err := unit.ParsePercent(text)
		if err == nil && share == 0 {
			err = fmt.Errorf("found %q, want more than 0 %%", text)
		}
		return share, err
	}
	err = cmp.Or(ask.Set("ipc", f.IPC, &q.IPC, iocost.ParseIPC), ask.Set("budget", f.Budget, &q.Budget, budget),
		ask.Set("iops-limit", f.Limit, &q.LimitEach, unit.ParseIORate))
	switch {
	case err != nil:
	case (f.Disks != 0) != (f.Limit != ""):
		err = errors.New("--vdisks and --iops-limit: want both or none")
	case f.Disks < 0:
		err = fmt.Errorf("--vdisks: found %d, want 1 or more", f.Disks)
	}
	q.Disks = f.Disks
	return q, err
}

// consistent checks that the workloads fit together.
func (f *IO) consistent(q *iocost.Question) error {
	open, storage := 0, 0
	for i := range q.Workloads {
		w := &q.Workloads[i]
		if w.Open {
			open++
		}
		if w.Path == iocost.NVMe || w.Path == iocost.VSANESA {
			storage++
		}
		want := map[iocost.Path]string{iocost.Network: "tx and rx", iocost.RAM: "throughput"}[w.Path]
		want = cmp.Or(want, "iops or throughput")
		if w.Open && f.Budget == "" {
			return fmt.Errorf("%s: found no traffic, want %s; or --budget, to ask how much fits", w.Path, want)
		}
	}
	vsan := slices.ContainsFunc(q.Workloads, func(a iocost.Asked) bool { return a.Path == iocost.VSANESA })
	switch {
	case open > 1:
		return errors.New("found two workloads without traffic, want at most one, which gets what the others leave")
	case f.Budget != "" && q.Cluster.Cores == 0:
		return errors.New("--budget: for which CPU? want --host-cores and --core, or a SOURCE")
	case f.Disks > 0 && storage != 1:
		return fmt.Errorf("--iops-limit: found %d workloads of storage, want one", storage)
	case f.RDMA && f.Rules:
		return errors.New("--rdma: not with --rules-of-thumb, which knows no RDMA")
	case f.RDMA && !vsan:
		return errors.New("--rdma: want a workload of vsan-esa, whose saving was measured")
	}
	return nil
}

// word returns the value of such a flag.
func (f *IO) word(key string) string {
	return map[string]string{"iops": f.IOPS, "throughput": f.Throughput, "block": f.Block, "read": f.Reads}[key]
}

// anyBlock is an I/O size for cases where it has no effect: the rules of thumb depend on bits.
var anyBlock = iocost.Word{Key: "block", Value: "32k"}

// asked returns the workloads: the one given by flags, then those of --workload.
func (f *IO) asked() ([]iocost.Asked, error) {
	var out []iocost.Asked
	var words []iocost.Word
	for _, key := range wordKeys {
		if f.Given(key) {
			words = append(words, iocost.Word{Key: key, Value: f.word(key)})
		}
	}
	if len(words) > 0 || f.Given("path") || len(f.Workloads) == 0 {
		blockless := f.Rules && !f.Given("block") && !f.Given("iops")
		if blockless {
			words = append(words, anyBlock)
		}
		a, err := iocost.Ask(f.Path, words, "--")
		if err != nil {
			return nil, err
		}
		if blockless {
			a.Assumed = append(a.Assumed, anyBlock.Key)
		}
		out = append(out, a)
	}
	for _, text := range f.Workloads {
		a, err := iocost.ParseWorkload(text)
		if err != nil {
			return nil, fmt.Errorf("--workload %q: %w", text, err)
		}
		out = append(out, a)
	}
	return out, nil
}
