// Package qemu reads QEMU arguments: from a file, or from a process list, with the options in sequence.
package qemu

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/definition"
	"example.org/homenode/source/text"
)

// maxFile is the maximum size of a file in bytes, more than the arguments of any VM have.
const maxFile = 4 << 20

var options = pattern.Of(`(?:^|\s)-(?:smp|numa)\s+\S|(?:^|\s)-m\s+(?:size=)?\d`)

// Detect reports whether head, the beginning of a file, contains QEMU arguments.
func Detect(head []byte) bool { return options.Match(head) }

// listed matches a line of ps: a QEMU command with its path.
var listed = pattern.Of(`(?m)^\s*(?:\S+\s+)*?/\S*/(?:qemu-system-[a-z0-9_]+|qemu-kvm|kvm)\s.*\s-(?:smp|m)\s`)

// Listed reports whether head, the beginning of a file, lists QEMU processes with their arguments.
func Listed(head []byte) bool { return listed.Match(head) }

// most is the maximum number, more than any VM has.
const most = 1 << 14

// arguments are the QEMU arguments that define a topology. Backends may follow the nodes that refer to them, so everything is linked at
// the end.
type arguments struct {
	*definition.VM
	s        *numa.Stated
	line     int            // current line
	begun    int            // line of the command; 0 for options without a command
	width    int            // of that line; 0 if others follow, or without a command
	backed   string         // memory-backend of -machine
	smp      int            // line of -smp; 0 without one
	machine  string         // machine type
	l3       string         // part of a socket that shares a cache of level 3; "" for the default, a die
	hmat     bool           // it tells the guest the latencies of memory
	latency  int            // line of the first setting that needs hmat; 0 without one
	cpu      string         // processor model with its properties
	old      int            // line of the first -numa node with mem=, which machine types from 5.1 on reject; 0 without one
	topology map[string]int // topology in -smp, by key
	all, now int            // maximum number of vCPUs in -smp, and the number at start
	levels   [6]int         // number of each of partsOfCPU
	backends map[string]backing
	nodes    []guestNode
	cpus     []cpuOfNode
	distance [][3]int // src, dst, val
	modules  []module
	size     int        // line of -m
	most     numa.Bytes // maxmem
	slots    int        // memory modules
	page     numa.Bytes // of -mem-path, for memory without a backend
	taken    bool       // QEMU allocates all memory at start
	host     []int      // host CPUs of QEMU set by taskset; nil for all
	pins     map[int]pin
}

// A pin is the set of host CPUs that taskset sets for the thread of a vCPU.
type pin struct {
	cpus []int
	at   string
}

// A backing is a memory backend: its size, the size of its huge pages (0 for ordinary pages) and the host nodes that it is bound to.
type backing struct {
	size, page numa.Bytes
	taken      bool // allocated when QEMU starts
	bound      numa.Bound
}

// A guestNode is -numa node.
type guestNode struct {
	id        int
	backend   string // memdev
	initiated bool   // the node whose vCPUs are nearest is stated
	cell      numa.Cell
}

// A cpuOfNode is -numa cpu: it assigns the vCPUs of some parts to a node.
type cpuOfNode struct {
	node int
	part map[int]int // numbers, by the index in partsOfCPU
}

// partsOfCPU are the levels of the topology, the largest first (docs/system/qemu-manpage, -smp and -numa cpu).
var partsOfCPU = [6]string{"socket", "die", "cluster", "module", "core", "thread"}

// unnamed are the keys of the first values of options, which may be omitted.
var unnamed = map[string]string{"-m": "size", "-smp": "cpus", "-object": "qom-type", "-numa": "type", "-device": "driver", "-name": "guest", "-uuid": "uuid", "-machine": "type", "-M": "type", "-cpu": "model", "-mem-path": "path", "-overcommit": "mem-lock", "-realtime": "mlock"}

// word matches a word of a line, which may be quoted.
var word = pattern.Of(`'[^']*'|"[^"]*"|\S+`)

// tasksets matches the command before QEMU, with a list or a mask of CPUs, or the one for vCPU threads in the form that homenode move writes, also
// in a comment.
var tasksets = pattern.Of(`taskset +(?:(?:-a|--all-tasks) +)?(?:(?:-a?c|--cpu-list) +([0-9,:-]+)|(?:0x)?([0-9a-fA-F,]+)) [^;&|#]*?(?:qemu|\bkvm\b)|taskset -pc ([0-9,-]+) THREAD-ID, of vCPUs ([0-9,-]+)`)

// numactls matches the command before QEMU with its options, and numactlOption one of them.
var (
	numactls      = pattern.Of(`numactl +(-.*?) +\S*(?:qemu|kvm\b)`)
	numactlOption = pattern.Of(`--?(N|cpunodebind|C|physcpubind|m|membind|i|interleave|p|preferred|P|preferred-many)[= ]*([0-9,-]+|all)(?: |$)`)
)

// launched parses the commands before QEMU: the last one counts for CPUs.
func (a *arguments) launched(line string) {
	if strings.Index(line, "numactl") < strings.Index(line, "taskset") {
		a.under(line)
		a.affinity(line)
		return
	}
	a.affinity(line)
	a.under(line)
}

// under parses the nodes that numactl states for QEMU, https://man7.org/linux/man-pages/man8/numactl.8.html.
func (a *arguments) under(line string) {
	part := numactls.FindStringSubmatch(line)
	if part == nil {
		return
	}
	u := &definition.Under{Line: a.line}
	for _, option := range numactlOption.Regexp().FindAllStringSubmatch(part[1]+" ", -1) {
		numbers, err := definition.List("nodes", strings.Replace(option[2], "all", "", 1))
		all := option[2] == "all"
		switch key := option[1]; {
		case err != nil:
		case all && key != "i" && key != "interleave":
		case key == "N" || key == "cpunodebind":
			u.CPUs, a.host = numbers, nil
		case key == "C" || key == "physcpubind":
			a.host, a.s.VCPUsAt = numbers, a.place()
		case key == "m" || key == "membind":
			u.Memory, u.Mode = numbers, "strict"
		case key == "i" || key == "interleave":
			u.Memory, u.Mode, u.Everywhere = numbers, "interleave", all
		default:
			u.Memory, u.Mode = numbers, "preferred"
		}
	}
	a.Under = u
}

// affinity parses the CPU affinity that taskset sets for QEMU and vCPU threads.
func (a *arguments) affinity(line string) {
	part := tasksets.FindStringSubmatch(line)
	if part == nil {
		return
	}
	cpus, err := definition.List("CPUs", part[1]+part[3])
	vcpus, wrong := definition.List("vCPUs", part[4])
	if part[2] != "" {
		cpus, err = masked(part[2])
	}
	if err != nil || wrong != nil {
		return
	}
	if part[4] == "" {
		a.host, a.s.VCPUsAt = cpus, a.place()
	}
	for _, v := range vcpus {
		a.pins[v] = pin{cpus, a.place()}
	}
}

// masked returns the CPUs of a mask in base 16, as taskset takes it: "ff", "1,000000ff".
func masked(mask string) (cpus []int, err error) {
	bits, ok := new(big.Int).SetString(strings.ReplaceAll(mask, ",", ""), 16)
	if !ok || bits.BitLen() > most {
		return nil, notNumber("mask", mask)
	}
	for cpu := range bits.BitLen() {
		if bits.Bit(cpu) == 1 {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// stray adds an argument that QEMU rejects.
func (a *arguments) stray(format string, args ...any) { a.Stray(a.line, 1, true, format, args...) }

func (a *arguments) place() string { return numa.Place(a.File().Name, a.line, 1) }

// values returns the values of an option by their keys, from key=value,… or JSON, as libvirt writes it.
func values(in, first string) (map[string][]string, error) {
	out := map[string][]string{}
	if strings.HasPrefix(in, "{") {
		decoder := json.NewDecoder(strings.NewReader(in))
		decoder.UseNumber()
		var object map[string]any
		if err := decoder.Decode(&object); err != nil {
			return nil, fmt.Errorf("found %s, want JSON without blanks, or in quotes: %w", text.Short(in), err)
		}
		for key, v := range object {
			all, list := v.([]any)
			if !list {
				all = []any{v}
			}
			for _, one := range all {
				out[key] = append(out[key], fmt.Sprint(one))
			}
		}
		return out, nil
	}
	for i, part := range strings.Split(in, ",") {
		key, v, named := strings.Cut(part, "=")
		switch {
		case i == 0 && !named:
			key, v = first, part
		case part != "" && !named && (first == "cpus" || first == "size" || first == "type" && strings.HasPrefix(in, "node")): // of -smp, -m, -numa: they have no keys without values
			return nil, fmt.Errorf("found %q, want a key with a value", text.Short(part))
		}
		out[key] = append(out[key], v)
	}
	return out, nil
}

// add parses an option.
func (a *arguments) add(option, value string) error {
	first := unnamed[option]
	a.taken = a.taken || option == "-mem-prealloc"
	if first == "" || option == "-device" && !devices.MatchString(value) {
		return nil
	}
	named, err := values(value, first)
	if err != nil {
		return err
	}
	last := func(key string) string {
		if all := named[key]; all != nil {
			return all[len(all)-1]
		}
		return ""
	}
	switch option {
	case "-m":
		err = a.memory(last)
	case "-device":
		err = a.device(last)
	case "-smp":
		if a.smp > 0 && a.begun == 0 && a.line != a.smp {
			return fmt.Errorf("found a second -smp, and the first on line %d: want one for each VM, behind its command qemu-system-…", a.smp)
		}
		a.smp = a.line
		err = a.arrange(last)
	case "-object":
		if strings.HasPrefix(last("qom-type"), "memory-backend-") {
			err = a.backend(last, named)
		}
	case "-machine", "-M":
		a.machine, a.backed = cmp.Or(last("type"), a.machine), cmp.Or(last("memory-backend"), a.backed)
		if hmat := last("hmat"); hmat != "" {
			a.hmat = isOn(hmat)
		}
		for i := range 8 { // SmpCacheProperties, from QEMU 9.2 on
			if key := fmt.Sprint("smp-cache.", i, "."); last(key+"cache") == "l3" {
				a.l3 = last(key + "topology")
			}
		}
	case "-cpu":
		a.cpu = value
	case "-overcommit", "-realtime": // locked memory is allocated at once; mem-lock=on-fault locks pages when they are touched
		a.taken = a.taken || isOn(last("mem-lock")) || isOn(last("mlock"))
	case "-mem-path":
		a.page = pageAt(last("path"))
	case "-name":
		a.Name = last("guest")
	case "-uuid":
		a.UUID = last("uuid")
	case "-numa":
		err = a.numa(last, named["cpus"])
	}
	return err
}

// memory parses the memory of the VM.
func (a *arguments) memory(last func(key string) string) (err error) {
	if last("size") != "" {
		a.s.Memory, err = sizeOf(last("size"), "M")
		a.s.MemoryAt, a.size = a.place(), a.line
	}
	if last("maxmem") != "" && err == nil {
		a.most, err = sizeOf(last("maxmem"), "M")
	}
	if value := last("slots"); value != "" && err == nil {
		if a.slots, err = strconv.Atoi(value); err != nil {
			err = notNumber("slots", value)
		}
	}
	return err
}

// backend parses a memory backend.
func (a *arguments) backend(last func(key string) string, named map[string][]string) (err error) {
	b := backing{page: pageAt(last("mem-path")), taken: isOn(last("prealloc"))}
	if isOn(last("hugetlb")) {
		b.page = numa.DefaultPage
	}
	if b.size, err = sizeOf(last("size"), "B"); err == nil && named["hugetlbsize"] != nil {
		b.page, err = sizeOf(last("hugetlbsize"), "B")
	}
	if nodes := strings.Join(named["host-nodes"], ","); nodes != "" && err == nil {
		b.bound = numa.Bound{Mode: definition.Modes[last("policy")], At: a.place()}
		b.bound.Nodes, err = definition.List("nodes of the host", nodes)
	}
	if _, twice := a.backends[last("id")]; twice || last("id") == "" {
		a.stray("the memory backend %q has no id of its own: QEMU refuses it", text.Short(last("id")))
	}
	switch policy := last("policy"); {
	case policy != "" && policy != "default" && definition.Modes[policy] == "":
		a.stray("the memory backend %s has the policy %s, but QEMU accepts only default, preferred, bind and interleave", text.Short(last("id")), text.Short(policy))
	case b.bound.Nodes != nil && (policy == "" || policy == "default"):
		a.stray("the memory backend %s has host-nodes and no policy: QEMU refuses it", text.Short(last("id")))
	case b.bound.Nodes == nil && policy != "" && policy != "default":
		a.stray("the memory backend %s has the policy %s and no host-nodes: QEMU refuses it", text.Short(last("id")), text.Short(policy))
	}
	a.backends[last("id")] = b
	return err
}

// unused returns an error if an option, the last, states a memory backend that nothing before it uses: a node or a device comes behind its backend.
// A value that ends with , or = lacks the rest too.
func (a *arguments) unused(option, value string) error {
	if end := strings.TrimRight(value, ",="); end != value && unnamed[option] != "" {
		return fmt.Errorf("found %q, want a value behind it", text.Short(value))
	}
	for id := range a.backends {
		used := id == a.backed || slices.ContainsFunc(a.nodes, func(n guestNode) bool { return n.backend == id }) || slices.ContainsFunc(a.modules, func(m module) bool { return m.backend == id })
		if option == "-object" && !used {
			return fmt.Errorf("found the memory backend %s, and nothing that uses it", text.Short(id))
		}
	}
	return nil
}

func notNumber(key, value string) error {
	return fmt.Errorf("found %s=%q, want a number", key, text.Short(value))
}

func isOn(value string) bool { return slices.Contains([]string{"on", "yes", "true"}, value) }

// sizeText matches "1024M", "1.5G" or "1024".
var sizeText = pattern.Of(`^([0-9]+(?:\.[0-9]+)?)([BKMGT]?)$`)

// sizeOf parses "1024M", "1.5G", or "1024" in a unit: B or M.
func sizeOf(size, unit string) (numa.Bytes, error) {
	const most = 1 << 50
	if part := sizeText.FindStringSubmatch(strings.ToUpper(size)); part != nil {
		n, err := strconv.ParseFloat(part[1], 64) // exact up to 2^53
		if n *= float64(int64(1) << (10 * strings.Index("BKMGT", cmp.Or(part[2], unit)))); err == nil && n <= most {
			return numa.Bytes(n), nil
		}
	}
	return 0, fmt.Errorf("found %q, want memory such as 1024M", text.Short(size))
}
