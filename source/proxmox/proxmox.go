// Package proxmox reads the configuration of a Proxmox VE VM, /etc/pve/qemu-server/VMID.conf, up to its first snapshot: the values for
// the next start of the VM, including pending ones.
//
// The values that Proxmox rejects are those of config in PVE::QemuServer::Memory (https://git.proxmox.com/?p=qemu-server.git).
package proxmox

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/definition"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// maxFile is the maximum size of a file in bytes, more than any configuration with its snapshots has.
const maxFile = 4 << 20

var keys = pattern.Of(`(?m)^(?:name|cores|sockets|memory|numa[0-7]?|affinity|hugepages|hotplug|vcpus|scsihw|ostype|vmgenid|bootdisk|args|agent|boot|smbios1|net[0-9]+): `)

// Detect reports whether head, the beginning of a file, is the configuration of a VM. Those of containers have a rootfs.
func Detect(head []byte) bool {
	if len(keys.Regexp().FindAll(head, 2)) < 2 {
		return false
	}
	lines := bytes.Split(head, []byte("\n"))
	for _, line := range lines[:max(1, len(lines)-1)] { // the last may be truncated
		if line = bytes.TrimSpace(line); len(line) > 0 && (!other.Match(line) || bytes.HasPrefix(line, []byte("rootfs:"))) {
			return false
		}
	}
	return true
}

// other matches a line with any key, a comment, or the heading of a section.
var other = pattern.Of(`^(#|\[|[a-z][a-z0-9_-]*:)`)

// A node is numaN.
type node struct {
	id, line     int
	cell         numa.Cell
	hosts        []int
	policy       string
	cpus, memory bool // are stated
}

// A config is a configuration while it is read.
type config struct {
	*definition.VM
	line     int
	value    map[string]string
	at       map[string]int
	nodes    [8]*node
	affinity []int
}

// Read reads a configuration. For a value that should be a number and is not, the error contains its place.
func Read(name string, r io.Reader) ([]fact.Document, error) {
	f := &fact.File{Name: name, Format: "Proxmox VE configuration"}
	c := &config{VM: definition.New(f, 1, 1), value: map[string]string{}, at: map[string]int{}}
	if id := strings.TrimSuffix(path.Base(filepath.ToSlash(name)), ".conf"); strings.Trim(id, "0123456789") == "" {
		c.Key = id // the VMID
	}
	var end ending
	if err := c.lines(text.NewLines(io.TeeReader(io.LimitReader(r, maxFile), &end))); err != nil {
		return nil, err
	}
	last := c.line
	for _, key := range slices.SortedFunc(maps.Keys(c.at), func(a, b string) int { return c.at[a] - c.at[b] }) {
		c.line = c.at[key]
		if err := c.take(key, c.value[key]); err != nil {
			return nil, &numa.SyntaxError{File: name, Line: c.line, Col: 1, Msg: fmt.Sprintf("%s: %v", key, err)}
		}
	}
	c.line = last
	if err := c.layout(); err != nil {
		return nil, &numa.SyntaxError{File: name, Line: c.line, Col: 1, Msg: err.Error()}
	}
	if end != '\n' && end != 0 && c.Stated != nil {
		c.Doubt(c.line, 1, "the file ends without a line break, which Proxmox writes: its last line may be cut, and others lost")
	}
	f.Sort()
	return []fact.Document{c.VM}, nil
}

// pending is the section with values that apply from the next start of a running VM; its key "delete" lists the values that are removed
// then.
const pending = "[PENDING]"

// lines reads the values for the next start of the VM.
func (c *config) lines(lines *text.Lines) error {
	what, from := "VM", 0
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		key, value, ok := strings.Cut(line, ":")
		if line == pending {
			what, from = "VM at its next start", lines.Line()
			continue
		}
		if strings.HasPrefix(key, "[") {
			break
		}
		if value = strings.TrimSpace(value); !ok || strings.HasPrefix(key, "#") {
			continue
		}
		c.line = lines.Line()
		c.File().Add(c.line, 1, what, key, value, "")
		if from == 0 || key != "delete" {
			c.value[key], c.at[key] = value, c.line
			continue
		}
		for _, gone := range words.Lists([]string{value})[0] {
			gone = strings.TrimPrefix(gone, "!") // prefix for forced deletion
			delete(c.value, gone)
			delete(c.at, gone)
		}
	}
	if from > 0 {
		c.Note(from, 1, "the VM is judged as it starts the next time, with the values below %s: it runs without them", pending)
	}
	return lines.Err()
}

// shapes matches the QEMU options that change the meaning of the other keys.
var shapes = pattern.Of(`\s--?(?:smp|m|numa)\b`)

var nodeKey = pattern.Of(`^numa(\d+)$`)

// take parses a key with a structured value.
func (c *config) take(key, value string) (err error) {
	part := nodeKey.FindStringSubmatch(key)
	switch {
	case part != nil:
		i, _ := strconv.Atoi(part[1]) // digits
		if i >= len(c.nodes) {
			c.Stray(c.line, 1, false, "%s is ignored: there are numa0 to numa7", key)
			return nil
		}
		c.nodes[i], err = c.nodeOf(i, value)
	case key == "name":
		c.Name = value
	case key == "template":
		c.Template = numa.ReadAt(value == "1", text.Where(c.line, 1))
	case key == "ostype":
		c.GuestOS = numa.ReadAt(value, text.Where(c.line, 1))
	case key == "smbios1":
		if found := regexp.MustCompile(`uuid=([0-9a-fA-F-]+)`).FindStringSubmatch(value); found != nil {
			c.UUID = found[1]
		}
	case key == "affinity":
		c.affinity, err = definition.List("numbers", strings.ReplaceAll(value, ";", ","))
	case key == "args":
		if found := shapes.FindString(" " + value); found != "" {
			c.Doubt(c.line, 1, "args adds%s to the arguments of QEMU, which is not read: the guest may see another shape than cores, sockets, memory and numa state", found)
			c.Stated.Partial = true
		}
	case key == "arch":
		c.Arch = value
	case key == "kvm":
		c.Emulated = value == "0"
	}
	return err
}

func (c *config) nodeOf(id int, value string) (n *node, err error) {
	n = &node{id: id, line: c.line}
	n.cell.At = numa.Place(c.File().Name, c.line, 1)
	for _, w := range strings.Split(value, ",") {
		key, value, named := strings.Cut(w, "=")
		if !named {
			key, value = "cpus", w
		}
		switch key {
		case "cpus":
			n.cpus = true
			n.cell.CPUs, err = definition.List("numbers", strings.ReplaceAll(value, ";", ","))
		case "memory":
			var mb float64
			if mb, err = strconv.ParseFloat(value, 64); err == nil && mb >= 0 && mb < 1<<30 {
				n.memory, n.cell.Memory = mb > 0, numa.Bytes(mb*float64(numa.MiB))
			} else {
				err = fmt.Errorf("found %q, want memory in MiB", text.Short(value))
			}
		case "hostnodes":
			n.hosts, err = definition.List("numbers", strings.ReplaceAll(value, ";", ","))
		case "policy":
			n.policy = value
		}
		if err != nil {
			return nil, err
		}
	}
	return n, nil
}

// number returns the value of a key, or otherwise if it is absent.
func (c *config) number(key string, otherwise int) (int, error) {
	s, ok := c.value[key]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(s, "current="))
	if err != nil || n < 1 || n > 1<<30 {
		c.line = c.at[key]
		return 0, fmt.Errorf("%s: found %q, want a number", key, text.Short(s))
	}
	return n, nil
}

// layout builds the layout from the parsed values.
func (c *config) layout() error {
	s := c.Stated
	var number [4]int
	for i, key := range []string{"sockets", "cores", "memory", "vcpus"} {
		n, err := c.number(key, []int{1, 1, 512, 0}[i])
		if err != nil {
			return err
		}
		number[i] = n
	}
	place := func(key string) string {
		if line := c.at[key]; line > 0 {
			return numa.Place(c.File().Name, line, 1)
		}
		return ""
	}
	s.Platform = "Proxmox VE"
	s.Sockets, s.Dies, s.Cores, s.Threads = number[0], 1, number[1], 1
	s.Shape.Memory = numa.Bytes(number[2]) * numa.MiB
	s.TopologyAt, s.MemoryAt, s.VCPUsAt = cmp.Or(place("sockets"), place("cores")), place("memory"), cmp.Or(place("affinity"), place("cores"))
	s.ACPI = numa.DerivedFrom(c.value["acpi"] != "0", "acpi")
	most := s.Most()
	if s.Sockets > numa.MaxVCPUs || s.Cores > numa.MaxVCPUs || most > numa.MaxVCPUs {
		return fmt.Errorf("found %d sockets of %d cores, want at most %d vCPUs", s.Sockets, s.Cores, numa.MaxVCPUs)
	}
	if number[3] > most {
		c.Stray(c.at["vcpus"], 1, true, "%d vCPUs at the start, of %d", number[3], most)
	}
	c.cells(c.value["numa"] == "1")
	c.hotplug()
	for range most {
		s.CPUs = append(s.CPUs, c.affinity)
	}
	c.pages()
	machine, _, _ := strings.Cut(c.value["machine"], ",") // https://pve.proxmox.com/pve-docs/qm.conf.5.html
	c.Limits(definition.Limits{Machine: strings.TrimPrefix(machine, "type="), Default: "pc", VCPUs: most, Memory: s.Shape.Memory, Bits: definition.BitsOf(c.value["cpu"]),
		More: "cpu: host, or phys-bits of cpu,", CPU: [2]int{max(1, cmp.Or(c.at["cores"], c.at["sockets"])), 1}, Size: [2]int{max(1, c.at["memory"]), 1}})
	c.Close(most, min(number[3], most))
	return nil
}

// cells builds the cells: those stated or, with numa: 1 only, one for each socket.
func (c *config) cells(on bool) {
	s := c.Stated
	stated := slices.DeleteFunc(slices.Clone(c.nodes[:]), func(n *node) bool { return n == nil })
	switch {
	case !on && len(stated) > 0:
		c.Stray(stated[0].line, 1, false, "nodes are stated, and numa: 1 is not: the guest sees one")
	case on && len(stated) == 0:
		if s.Sockets > 1 && s.Cores == 1 {
			c.Stray(c.at["numa"], 1, false, "numa: 1 without numa0 makes a node of each of %d sockets of a core", s.Sockets)
		}
		c.divides()
		for i := range s.Sockets {
			cell := numa.Cell{Memory: s.Shape.Memory / numa.Bytes(s.Sockets), At: numa.Place(c.File().Name, c.at["numa"], 1)}
			if i == 0 {
				cell.Memory = s.Shape.Memory - cell.Memory*numa.Bytes(s.Sockets-1)
			}
			for v := range s.Cores {
				cell.CPUs = append(cell.CPUs, i*s.Cores+v)
			}
			s.Cells = append(s.Cells, cell)
		}
	case on:
		for i, n := range stated {
			c.node(i, n)
		}
	}
}

// divides finds a number of sockets by which Proxmox cannot divide the memory: it writes the quotient as a decimal number of MiB, and QEMU
// refuses sizes that do not add up to the memory (sub config in PVE::QemuServer::Memory, 2026-08-17, with QEMU 7.2).
func (c *config) divides() {
	s := c.Stated
	memory, odd := int(s.Shape.Memory/numa.MiB), s.Sockets
	if c.hotplugged() {
		memory = int(c.least() / numa.MiB)
	}
	for odd%2 == 0 && odd > 0 {
		odd /= 2
	}
	if memory%odd != 0 {
		c.Stray(c.at["numa"], 1, true, "numa: 1 without numa0 divides the memory of %d MiB over %d sockets, which leaves a fraction: QEMU does not start the VM; use memory that is a multiple of %d MiB, or state numa0 to numa%d", memory, s.Sockets, odd, s.Sockets-1)
	}
}

// hotplugged reports whether memory can be hot-plugged.
func (c *config) hotplugged() bool {
	return slices.Contains(words.Lists([]string{c.value["hotplug"]})[0], "memory")
}

// least returns the memory at start of a VM whose memory can be hot-plugged.
func (c *config) least() numa.Bytes {
	if c.value["hugepages"] == "1024" {
		return numa.GiB * numa.Bytes(c.Stated.Sockets)
	}
	return numa.GiB
}

// node adds a stated node.
func (c *config) node(i int, n *node) {
	s := c.Stated
	refuse := func(format string, args ...any) {
		c.Stray(n.line, 1, true, "numa%d "+format+": Proxmox does not start the VM", append([]any{n.id}, args...)...)
	}
	if n.id != i {
		c.Stray(n.line, 1, true, "numa%d comes where numa%d is due: QEMU wants nodes from 0, without a gap", n.id, i)
	}
	switch {
	case !n.memory:
		refuse("states no memory")
	case !n.cpus || len(n.cell.CPUs) == 0:
		refuse("states no cpus")
	}
	switch {
	case n.hosts != nil && n.policy == "":
		refuse("has hostnodes and no policy")
	case n.hosts == nil && c.value["hugepages"] != "":
		refuse("has no hostnodes, which hugepages want")
	case len(n.hosts) > 1 && c.value["hugepages"] != "":
		refuse("has %d hostnodes, and hugepages want one", len(n.hosts))
	case n.policy != "" && definition.Modes[n.policy] == "":
		refuse("has the policy %s", text.Short(n.policy))
	}
	bound := numa.Bound{At: n.cell.At}
	if n.hosts != nil {
		bound.Nodes, bound.Mode = n.hosts, cmp.Or(definition.Modes[n.policy], "strict")
	} else {
		bound.At = ""
	}
	s.Cells, s.Bound = append(s.Cells, n.cell), append(s.Bound, bound)
}

// hotplug checks the requirements of memory hot-plug; "1" means disks, networks and USB.
func (c *config) hotplug() {
	if !c.hotplugged() {
		return
	}
	s, line := c.Stated, c.at["hotplug"]
	s.HotPlug = true
	least, step := c.least(), 512*numa.MiB
	if c.value["hugepages"] == "1024" {
		step = numa.GiB
	}
	sum := least
	for dimm := 1; dimm <= 256 && sum < s.Shape.Memory; dimm++ { // foreach_dimm: 32 of each size
		if sum += step; dimm%32 == 0 && sum < s.Shape.Memory {
			step *= 2
		}
	}
	switch {
	case c.value["numa"] != "1":
		c.Stray(line, 1, true, "hotplug of memory without numa: 1: Proxmox does not start the VM")
	case slices.ContainsFunc(c.nodes[:], func(n *node) bool { return n != nil }):
		c.Stray(line, 1, true, "hotplug of memory beside numa0: Proxmox does not start the VM")
	case s.Shape.Memory < least:
		c.Stray(line, 1, true, "hotplug of memory wants %s at least, and the VM has %s: Proxmox does not start it", least, s.Shape.Memory)
	case sum > s.Shape.Memory:
		c.Stray(cmp.Or(c.at["memory"], line), 1, true, "with memory hotplug, memory above the first %[2]s must be a multiple of %[1]s, but it is %[3]d MB in all: Proxmox does not start the VM; use %[4]d or %[5]d MB",
			step, sum-step, s.Shape.Memory/numa.MiB, (sum-step)/numa.MiB, sum/numa.MiB)
	}
}

func (c *config) pages() {
	value, line := c.value["hugepages"], c.at["hugepages"]
	if value == "" {
		return
	}
	c.Stated.Reserves = true // hugepages_allocate
	if c.value["numa"] != "1" {
		c.Stray(line, 1, true, "hugepages without numa: 1: Proxmox does not start the VM")
	}
	switch value {
	case "any":
		c.whole(line)
	case "2", "1024":
		size, _ := strconv.Atoi(value) // one of the two
		c.Pages([]numa.HugePages{{Size: numa.Bytes(size) * numa.MiB}}, len(c.Stated.Cells), line, 1)
	default:
		c.Stray(line, 1, true, "hugepages: found %q, want 2, 1024 or any", text.Short(value))
	}
}

// whole finds memory for which Proxmox has no suitable huge page size: each node needs an even number of MiB (hugepages_size).
func (c *config) whole(line int) {
	s := c.Stated
	for i := range s.Cells {
		if s.Cells[i].Memory%(2*numa.MiB) != 0 {
			c.Stray(line, 1, true, "hugepages: the memory of node %d, %d KiB, is no whole pages of 2 MB: Proxmox does not start the VM", i, s.Cells[i].Memory/numa.KiB)
		}
	}
}

// An ending stores the last byte written.
type ending byte

func (e *ending) Write(p []byte) (int, error) {
	if len(p) > 0 {
		*e = ending(p[len(p)-1])
	}
	return len(p), nil
}
