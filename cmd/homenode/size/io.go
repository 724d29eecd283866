package size

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/numa/unit"
	"homenode/output/answer"
	show "homenode/output/size/io"
	"homenode/size/iocost"
)

// ioFlags say which traffic, on which hosts.
type ioFlags struct {
	common
	hosts         hosts
	path          string
	words         map[string]*string // by key: "iops", "block"
	workloads     []string
	budget, limit string
	disks         int
	rdma, rules   bool
	cluster       string
	own           coefficientsFlag
}

func newIO() *cobra.Command {
	var f ioFlags
	f.checks = show.Published
	cmd := f.command("io", cobra.MaximumNArgs(1), f.answer)
	fl := cmd.Flags()
	fl.StringVar(&f.path, "path", string(iocost.VSANESA), "what the traffic goes through: nvme, vsan-esa, network, ram")
	f.words = map[string]*string{}
	word := func(key, usage string) { f.words[key] = fl.String(key, "", usage) }
	word("iops", "I/Os a second of all hosts: 100k")
	word("throughput", "bytes a second instead of --iops: 2GB/s, 900MiB/s")
	word("block", "size of an I/O: 32k")
	word("read", "share of I/Os that are reads, in percent (default 70)")
	word("ipc", "work per cycle of your cores, compared with the measured CPU: 1.2 (default 1)")
	fl.StringArrayVar(&f.workloads, "workload", nil, "a workload in words, or one more: 'vsan-esa iops=100k block=32k read=70 random=50 policy=raid-6', 'network tx=10Gb/s rx=10Gb/s', 'ram throughput=20GB/s' (repeatable)")
	f.hosts.register(cmd, 1, "hosts that share the traffic evenly", "base frequency of a core: 3.6GHz; with a SOURCE for hosts that state none")
	fl.StringVar(&f.cluster, "cluster", "", "the cluster, or standalone host, of the SOURCE; not needed when there is one")
	fl.StringVar(&f.budget, "budget", "", "share of the CPU that I/O may have, in percent: how many hosts does it need; how much of a workload without traffic fits?")
	fl.IntVar(&f.disks, "vdisks", 0, "virtual disks that have the IOPS limit --iops-limit")
	fl.StringVar(&f.limit, "iops-limit", "", "IOPS limit of each virtual disk, counted in units of 32 KiB")
	fl.BoolVar(&f.rdma, "rdma", false, "vSAN over RDMA: the published saving, with its range")
	fl.BoolVar(&f.rules, "rules-of-thumb", false, "by the published rules of thumb instead of the measurements")
	f.own.register(cmd)
	f.src.RegisterOnly(cmd, flags.SourceShapes...)
	return cmd
}

func (f *ioFlags) answer(cmd *cobra.Command, args []string) (*answer.Answer, error) {
	q, err := f.question(cmd)
	if err == nil {
		err = f.on(cmd, args, &q)
	}
	if err == nil {
		err = f.consistent(&q)
	}
	if err != nil {
		return nil, err
	}
	own, err := f.own.load()
	if err != nil {
		return nil, err
	}
	var points []iocost.Point
	if own != nil {
		points, q.File = own.Points(), f.own.name()
	}
	model, err := iocost.New(points...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.own.name(), err)
	}
	s, err := model.Study(q)
	if err != nil {
		return nil, err
	}
	return show.Answer(model, s)
}

// on reads the hosts: of the flags, or of one cluster of a source.
func (f *ioFlags) on(cmd *cobra.Command, args []string, q *iocost.Question) error {
	core, err := f.hosts.check(cmd)
	switch {
	case err != nil:
		return err
	case len(args) > 0:
		if err := flags.Refuse(cmd, "not with a SOURCE, which states the hosts", "host-cores", "host-count"); err != nil {
			return err
		}
		fleet, err := f.src.Read(cmd, args[0])
		if err != nil {
			return err
		}
		q.Cluster, err = iocost.FindCluster(fleet, f.cluster, core)
		return err
	case f.cluster != "":
		return errors.New("--cluster: only with a SOURCE that has it")
	case core == 0 && f.hosts.cores > 0:
		return errors.New("--host-cores: want --core, the base frequency, beside it")
	case f.hosts.cores == 0 && cmd.Flags().Changed("host-count"):
		return errors.New("--host-count: want --host-cores and --core beside it")
	}
	q.Cluster = iocost.Cluster{Hosts: f.hosts.count, Cores: f.hosts.cores, Core: core}
	return nil
}

// wordKeys are the flags that are words of a workload, in the order in which errors look
// at them.
var wordKeys = []string{"iops", "throughput", "block", "read"}

// question returns what the flags ask.
func (f *ioFlags) question(cmd *cobra.Command) (q iocost.Question, err error) {
	if q.Workloads, err = f.asked(cmd); err != nil {
		return q, err
	}
	q.Options = iocost.Options{RDMA: f.rdma, Rules: f.rules}
	budget := func(text string) (unit.Share, error) {
		share, err := unit.ParsePercent(text)
		if err == nil && share == 0 {
			err = fmt.Errorf("found %q, want more than 0 %%", text)
		}
		return share, err
	}
	err = cmp.Or(flags.Set("ipc", *f.words["ipc"], &q.Options.IPC, iocost.ParseIPC), flags.Set("budget", f.budget, &q.Budget, budget),
		flags.Set("iops-limit", f.limit, &q.LimitEach, unit.ParseIORate))
	switch {
	case err != nil:
	case (f.disks != 0) != (f.limit != ""):
		err = errors.New("--vdisks and --iops-limit: want both or none")
	case f.disks < 0:
		err = fmt.Errorf("--vdisks: found %d, want 1 or more", f.disks)
	}
	q.Disks = f.disks
	return q, err
}

// consistent looks at the workloads together.
func (f *ioFlags) consistent(q *iocost.Question) error {
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
		if want == "" {
			want = "iops or throughput"
		}
		if w.Open && f.budget == "" {
			return fmt.Errorf("%s: found no traffic, want %s; or --budget, to ask how much fits", w.Path, want)
		}
	}
	vsan := slices.ContainsFunc(q.Workloads, func(a iocost.Asked) bool { return a.Path == iocost.VSANESA })
	switch {
	case open > 1:
		return errors.New("found two workloads without traffic, want at most one, which gets what the others leave")
	case f.budget != "" && q.Cluster.Cores == 0:
		return errors.New("--budget: of which CPU? want --host-cores and --core, or a SOURCE")
	case f.disks > 0 && storage != 1:
		return fmt.Errorf("--iops-limit: found %d workloads of storage, want one", storage)
	case f.rdma && f.rules:
		return errors.New("--rdma: not with --rules-of-thumb, which knows no RDMA")
	case f.rdma && !vsan:
		return errors.New("--rdma: want a workload of vsan-esa, whose saving was measured")
	}
	return nil
}

// asked returns the workloads: that of the flags, then those of --workload.
func (f *ioFlags) asked(cmd *cobra.Command) ([]iocost.Asked, error) {
	var out []iocost.Asked
	var words []iocost.Word
	for _, key := range wordKeys {
		if cmd.Flags().Changed(key) {
			words = append(words, iocost.Word{Key: key, Value: *f.words[key]})
		}
	}
	if len(words) > 0 || cmd.Flags().Changed("path") || len(f.workloads) == 0 {
		a, err := iocost.Ask(f.path, words, "--")
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	for _, text := range f.workloads {
		a, err := iocost.ParseWorkload(text)
		if err != nil {
			return nil, fmt.Errorf("--workload %q: %w", text, err)
		}
		out = append(out, a)
	}
	return out, nil
}
