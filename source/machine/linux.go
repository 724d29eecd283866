package machine

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// Bounds of a plausible machine. Values outside are damaged.
const (
	maxCPU  = 1 << 13 // logical processors; Linux is built for 8192 at most
	maxNode = 1 << 10 // NUMA nodes; Linux is built for 1024 at most
)

const (
	cpuDir  = "sys/devices/system/cpu"
	nodeDir = "sys/devices/system/node"
)

// A tree is the files of a Linux kernel, with the data read so far.
type tree struct {
	fs.FS
	*Machine
}

// linux reads the machine whose files are below root. cpuid is nil without such an instruction.
func linux(root fs.FS, cpuid leafFunc) (*Machine, error) {
	t := tree{root, &Machine{Topology: Topology{Nodes: []Node{}, Caches: []Cache{}}}}
	t.identity(cpuid)
	if err := t.processors(); err != nil {
		return nil, err
	}
	t.nodes()
	t.caches()
	t.hotAdd()
	t.limits()
	return t.Machine, nil
}

// bytes returns the contents of a file.
func (t *tree) bytes(name string) ([]byte, error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(bounded.Reader(f, bounded.List))
	return b, errors.Join(err, f.Close())
}

// text returns the contents of a file, without surrounding spaces.
func (t *tree) text(name string) (string, error) {
	b, err := t.bytes(name)
	return strings.TrimSpace(string(b)), err
}

// int returns the whole number in a file, -1 when the file is missing or contains none.
func (t *tree) int(name string) int {
	s, err := t.text(name)
	if n, ok := number(s); ok && err == nil && n <= math.MaxInt32 {
		return int(n)
	}
	return -1
}

// list returns the numbers of a list in a file, see numbers.
func (t *tree) list(name string) []int {
	s, _ := t.text(name)
	return numbers(s)
}

// numbers parses a list such as "0-3,8", ascending, each once; empty when it is malformed.
func numbers(s string) []int {
	list, ok := text.Numbers(s, maxCPU, maxCPU)
	if !ok {
		return []int{}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// number parses a whole number from 0 on, in decimal or as 0x….
func number(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 0, 64)
	return n, err == nil && n >= 0
}

// numbered returns the numbers of the entries of dir whose names are prefix and a number, ascending.
func (t *tree) numbered(dir, prefix string, below int) []int {
	entries, _ := fs.ReadDir(t.FS, dir)
	list := []int{}
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), prefix)
		if n, err := strconv.Atoi(digits); ok && err == nil && n >= 0 && n < below && digits == strconv.Itoa(n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

func (t *tree) identity(cpuid leafFunc) {
	id := &t.Identity
	id.Architecture = runtime.GOARCH
	id.OS = "Linux"
	release, _ := t.text("etc/os-release")
	for line := range strings.Lines(release) {
		if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			id.OS = clean(strings.Trim(strings.TrimSpace(name), `"'`))
		}
	}
	kernel, _ := t.text("proc/sys/kernel/osrelease")
	id.Kernel = clean(kernel)
	if cpuid != nil {
		id.byCPUID(cpuid)
	}
	if info, err := t.text("proc/cpuinfo"); err != nil {
		t.missing("processor model", reason(err), "mount /proc")
	} else if cpuid == nil {
		id.byCPUInfo(info)
	}
	vendor, _ := t.text("sys/class/dmi/id/sys_vendor")
	product, _ := t.text("sys/class/dmi/id/product_name")
	id.byDMI(vendor, product, "/sys/class/dmi/id")
	if kind, err := t.text("sys/hypervisor/type"); err == nil && kind == "xen" {
		id.byDMI("Xen", "", "/sys/hypervisor/type")
	}
}

// processors reads the logical processors. Offline ones have no place: the kernel reports none.
func (t *tree) processors() error {
	online := t.list(cpuDir + "/online")
	if len(online) == 0 {
		online = t.numbered(cpuDir, "cpu", maxCPU) // a kernel that cannot switch processors off
	}
	if len(online) == 0 {
		return errors.New("/" + cpuDir + ": found no processors: want sysfs at /sys")
	}
	status, err := t.text("proc/self/status")
	if err != nil {
		t.missing("limits", reason(err), "mount /proc")
	}
	allowed := online // without /proc
	for line := range strings.Lines(status) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			allowed = numbers(strings.TrimSpace(list))
		}
		if list, ok := strings.CutPrefix(line, "Mems_allowed_list:"); ok {
			t.Limits.Nodes = numbers(strings.TrimSpace(list))
		}
	}
	present := slices.Concat(online, t.list(cpuDir+"/present"))
	slices.Sort(present)
	present = slices.Compact(present)
	top := &t.Topology
	top.From = "/sys/devices/system"
	top.Possible = max(len(t.list(cpuDir+"/possible")), len(present))
	cores := map[int]int{} // number by first thread
	for _, n := range present {
		p := Processor{Number: n, Node: -1, Socket: -1, Die: -1, Core: -1}
		_, p.Online = slices.BinarySearch(online, n)
		if p.Online {
			_, p.Allowed = slices.BinarySearch(allowed, n)
			t.place(&p, cores)
		}
		if p.Allowed {
			t.Limits.CPUs = append(t.Limits.CPUs, n)
		}
		top.Processors = append(top.Processors, p)
	}
	top.count()
	if top.Cores == 0 || top.Sockets == 0 {
		t.missing("sockets and cores", "the kernel does not show all of /"+cpuDir+"/cpu*/topology", "")
	}
	return nil
}

// place sets socket, die and core of an online processor.
func (t *tree) place(p *Processor, cores map[int]int) {
	dir := path.Join(cpuDir, "cpu"+strconv.Itoa(p.Number), "topology")
	p.Socket = t.int(dir + "/physical_package_id")
	p.Die = t.int(dir + "/die_id")
	p.Threads = t.list(dir + "/thread_siblings_list")
	if len(p.Threads) == 0 {
		return
	}
	core, seen := cores[p.Threads[0]]
	if !seen {
		core = len(cores)
		cores[p.Threads[0]] = core
	}
	p.Core = core
}

// nodes reads the NUMA nodes.
func (t *tree) nodes() {
	top := &t.Topology
	ids := t.numbered(nodeDir, "node", maxNode)
	if len(ids) == 0 {
		t.missing("nodes", "/"+nodeDir+" shows none: a kernel without NUMA", "boot a kernel with CONFIG_NUMA and without numa=off")
	}
	distances := true
	for _, id := range ids {
		dir := path.Join(nodeDir, "node"+strconv.Itoa(id))
		n := Node{ID: id, CPUs: t.list(dir + "/cpulist"), Distance: t.distances(dir, len(ids))}
		n.Size, n.Free = t.memory(dir+"/meminfo", "MemTotal"), t.memory(dir+"/meminfo", "MemFree")
		n.MemoryOnly = len(n.CPUs) == 0 && n.Size.Value > 0
		n.Access = t.access(dir)
		for _, cpu := range n.CPUs {
			if p := top.processor(cpu); p != nil && p.Node < 0 {
				p.Node = id
			}
		}
		distances = distances && n.Distance != nil
		top.Nodes = append(top.Nodes, n)
	}
	if !distances {
		t.missing("distances", "the kernel does not show /"+nodeDir+"/node*/distance", "")
	}
	if len(ids) > 1 && !slices.ContainsFunc(top.Nodes, func(n Node) bool { return n.Access != nil }) {
		t.missing("HMAT", "the firmware or the kernel states no latency and bandwidth of nodes (/"+nodeDir+"/node*/access*)", "measure memory")
	}
}

// distances reads a node's row of n distances; nil when there is none.
func (t *tree) distances(dir string, n int) []int {
	s, _ := t.text(dir + "/distance")
	fields := strings.Fields(s)
	if len(fields) != n {
		return nil
	}
	row := make([]int, n)
	for i, f := range fields {
		d, err := strconv.Atoi(f)
		if err != nil || d < 0 {
			return nil
		}
		row[i] = d
	}
	return row
}

// memory parses a line of meminfo, of a node or of all, such as "Node 0 MemTotal: 12937420 kB".
func (t *tree) memory(name, key string) numa.Fact[numa.Bytes] {
	s, _ := t.text(name)
	for line := range strings.Lines(s) {
		before, after, _ := strings.Cut(line, key+":")
		size, ok := number(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(after), "kB")))
		if ok && (before == "" || strings.HasPrefix(before, "Node ")) && size < 1<<50 {
			return numa.ReadAt(numa.Bytes(size)*numa.KiB, "/"+name)
		}
	}
	return numa.Fact[numa.Bytes]{}
}

// access reads the kernel's data from HMAT.
func (t *tree) access(dir string) []Access {
	var list []Access
	for class := range 2 {
		at := dir + "/access" + strconv.Itoa(class) + "/initiators"
		a := Access{Class: class, Initiators: t.numbered(at, "node", maxNode)}
		for name, to := range map[string]*int{
			"read_latency": &a.ReadLatency, "write_latency": &a.WriteLatency,
			"read_bandwidth": &a.ReadBandwidth, "write_bandwidth": &a.WriteBandwidth,
		} {
			*to = max(t.int(at+"/"+name), 0)
		}
		if a.ReadLatency+a.WriteLatency+a.ReadBandwidth+a.WriteBandwidth > 0 {
			list = append(list, a)
		}
	}
	return list
}

// caches reads the caches of the online processors, each once.
func (t *tree) caches() {
	type key struct {
		level int
		kind  string
		first int
	}
	seen := map[key]bool{}
	for _, p := range t.Topology.Processors {
		dir := path.Join(cpuDir, "cpu"+strconv.Itoa(p.Number), "cache")
		if !p.Online {
			continue
		}
		for _, i := range t.numbered(dir, "index", 16) {
			at := dir + "/index" + strconv.Itoa(i)
			kind, _ := t.text(at + "/type")
			c := Cache{Level: t.int(at + "/level"), Type: strings.ToLower(clean(kind)), Line: max(t.int(at+"/coherency_line_size"), 0), CPUs: t.list(at + "/shared_cpu_list")}
			size, _ := t.text(at + "/size")
			if kib, ok := number(strings.TrimSuffix(size, "K")); ok && kib < 1<<40 {
				c.Size = numa.Bytes(kib) * numa.KiB
			}
			if c.Level < 1 || len(c.CPUs) == 0 || seen[key{c.Level, c.Type, c.CPUs[0]}] {
				continue
			}
			seen[key{c.Level, c.Type, c.CPUs[0]}] = true
			t.Topology.Caches = append(t.Topology.Caches, c)
		}
	}
	sortCaches(t.Topology.Caches)
	if len(t.Topology.Caches) == 0 {
		t.missing("caches", "the kernel shows no /"+cpuDir+"/cpu*/cache: the hypervisor states none", "")
	}
}

// reason returns in a few words why a file could not be read.
func reason(err error) string {
	if pathError := (*fs.PathError)(nil); errors.As(err, &pathError) {
		return "/" + strings.TrimPrefix(pathError.Path, "/") + ": " + pathError.Err.Error()
	}
	return err.Error()
}
