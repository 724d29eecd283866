package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"homenode/internal/texttab"
	"homenode/numa/unit"
	show "homenode/output/size/io"
	"homenode/size/iocost"
)

// sizeIOFlags say which traffic, on which hosts.
type sizeIOFlags struct {
	sizeFlags
	path      string
	words     map[string]*string // by key: "iops", "block"
	workloads []string
	cores     int
	core      string
	hosts     int
	budget    string
	disks     int
	limit     string
	rdma      bool
	rules     bool
	published bool
	cluster   string
	source    sourceFlags
	own       coefficientsFlag
}

func newSizeIO() *cobra.Command {
	var f sizeIOFlags
	cmd := &cobra.Command{
		Use:   "io [SOURCE]",
		Short: "CPU that I/O costs: local NVMe, vSAN ESA, network and RAM traffic",
		Long: `size io says how much CPU a workload's I/O costs: GHz, cores and the share of the hosts; or, with --budget, how much
I/O a share of the CPU allows. Costs are those of published measurements; between them it interpolates, and what is
outside of them is marked. The traffic is that of all hosts together (docs/size/io.md).`,
		Example: `  homenode size io --iops 100k --block 32k --read 70 --host-cores 32 --core 3.6GHz --hosts 6
  homenode size io --block 32k --budget 60% --host-cores 32 --core 3.6GHz --hosts 6
  homenode size io --workload 'vsan-esa iops=100k block=32k' --workload 'network tx=10Gb/s rx=10Gb/s' --core 3.6GHz`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.published {
				return f.writePublished(cmd, args)
			}
			return f.run(cmd, args)
		},
	}
	f.register(cmd)
	return cmd
}

// run answers the question of the flags.
func (f *sizeIOFlags) run(cmd *cobra.Command, args []string) error {
	q, err := f.question(cmd)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		err = f.inventory(cmd, args[0], &q)
	} else {
		err = f.host(cmd, &q)
	}
	if err != nil {
		return err
	}
	if err := f.consistent(&q); err != nil {
		return err
	}
	own, err := f.own.load()
	if err != nil {
		return err
	}
	var points []iocost.Point
	if own != nil {
		points, q.File = own.Points(), f.own.name()
	}
	model, err := iocost.New(points...)
	if err != nil {
		return fmt.Errorf("%s: %w", f.own.name(), err)
	}
	s, err := model.Study(q)
	if err != nil {
		return err
	}
	a, err := show.Answer(model, s)
	if err != nil {
		return err
	}
	if err := f.write(cmd, a); err != nil {
		return err
	}
	return f.source.incomplete()
}

func (f *sizeIOFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.path, "path", string(iocost.VSANESA), "what the traffic goes through: nvme, vsan-esa, network, ram")
	f.words = map[string]*string{}
	word := func(key, usage string) { f.words[key] = fl.String(key, "", usage) }
	word("iops", "I/Os a second of all hosts: 100k")
	word("throughput", "bytes a second instead of --iops: 2GB/s, 900MiB/s")
	word("block", "size of an I/O: 32k")
	word("read", "share of I/Os that are reads, in percent (default 70)")
	word("random", "share of I/Os that are random, in percent (default 100)")
	word("tx", "what a network sends: 10Gb/s")
	word("rx", "what a network receives: 10Gb/s")
	word("policy", "of vSAN: raid-5, raid-6, raid-1, raid-0; only RAID-5 was measured (default raid-5)")
	word("ipc", "work per cycle of your cores, compared with the measured CPU: 1.2 (default 1)")
	fl.StringArrayVar(&f.workloads, "workload", nil, "one more workload in words: 'vsan-esa iops=100k block=32k read=70', 'network tx=10Gb/s rx=10Gb/s', 'ram throughput=20GB/s' (repeatable)")
	fl.IntVar(&f.cores, "host-cores", 0, "cores of a host, all sockets")
	fl.StringVar(&f.core, "core", "", "base frequency of a core: 3.6GHz; with a SOURCE for hosts that state none")
	fl.IntVar(&f.hosts, "hosts", 1, "hosts that share the traffic evenly")
	fl.StringVar(&f.cluster, "cluster", "", "the cluster, or standalone host, of the SOURCE; not needed when there is one")
	fl.StringVar(&f.budget, "budget", "", "share of the CPU that I/O may have, in percent: how much of the workload without traffic fits?")
	fl.IntVar(&f.disks, "vdisks", 0, "virtual disks that have the IOPS limit --iops-limit")
	fl.StringVar(&f.limit, "iops-limit", "", "IOPS limit of each virtual disk, counted in units of 32 KiB")
	fl.BoolVar(&f.rdma, "rdma", false, "vSAN over RDMA: the published saving, with its range")
	fl.BoolVar(&f.rules, "rule", false, "by the published rules of thumb instead of the measurements")
	fl.BoolVar(&f.published, "published", false, "every figure of the published articles beside what their raw figures give")
	f.own.register(cmd)
	f.source.register(cmd)
	f.sizeFlags.register(cmd)
}

// writePublished writes the figures of the articles; no other question goes with it.
func (f *sizeIOFlags) writePublished(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("--published: not with a SOURCE: found %s", texttab.Clean(args[0]))
	}
	var other string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "published", "format", "output":
		default:
			other = flag.Name
		}
	})
	if other != "" {
		return fmt.Errorf("--published: not with --%s: it prints what was published, and asks nothing", other)
	}
	if err := f.check(); err != nil {
		return err
	}
	a, err := show.Published()
	if err != nil {
		return err
	}
	return f.write(cmd, a)
}

// wordKeys are the flags that are words of a workload, in the order in which errors look
// at them.
var wordKeys = []string{"iops", "throughput", "block", "read", "random", "tx", "rx", "policy"}

// question returns what the flags ask.
func (f *sizeIOFlags) question(cmd *cobra.Command) (q iocost.Question, err error) {
	if err := f.check(); err != nil {
		return q, err
	}
	if q.Workloads, err = f.asked(cmd); err != nil {
		return q, err
	}
	q.Options = iocost.Options{RDMA: f.rdma, Rules: f.rules}
	if text := *f.words["ipc"]; text != "" {
		if q.Options.IPC, err = iocost.ParseIPC(text); err != nil {
			return q, fmt.Errorf("--ipc: %w", err)
		}
	}
	if f.budget != "" {
		if q.Budget, err = unit.ParsePercent(f.budget); err == nil && q.Budget == 0 {
			err = fmt.Errorf("found %q, want more than 0 %%", f.budget)
		}
		if err != nil {
			return q, fmt.Errorf("--budget: %w", err)
		}
	}
	if (f.disks != 0) != (f.limit != "") {
		return q, errors.New("--vdisks and --iops-limit: want both or none")
	}
	if f.disks < 0 {
		return q, fmt.Errorf("--vdisks: found %d, want 1 or more", f.disks)
	}
	if f.limit != "" {
		if q.LimitEach, err = unit.ParseIORate(f.limit); err != nil {
			return q, fmt.Errorf("--iops-limit: %w", err)
		}
		q.Disks = f.disks
	}
	return q, nil
}

// consistent looks at the workloads together.
func (f *sizeIOFlags) consistent(q *iocost.Question) error {
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
		return errors.New("--rdma: not with --rule, which knows no RDMA")
	case f.rdma && !vsan:
		return errors.New("--rdma: want a workload of vsan-esa, whose saving was measured")
	}
	return nil
}

// asked returns the workloads: that of the flags, then those of --workload.
func (f *sizeIOFlags) asked(cmd *cobra.Command) ([]iocost.Asked, error) {
	var out []iocost.Asked
	var words []iocost.Word
	for _, key := range wordKeys {
		if cmd.Flags().Changed(key) {
			words = append(words, iocost.Word{Key: key, Value: *f.words[key]})
		}
	}
	if len(words) > 0 || cmd.Flags().Changed("path") || len(f.workloads) == 0 {
		path := f.path
		if !cmd.Flags().Changed("path") && (*f.words["tx"] != "" || *f.words["rx"] != "") {
			path = string(iocost.Network)
		}
		a, err := iocost.Ask(path, words, "--")
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
