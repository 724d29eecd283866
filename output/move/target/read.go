package target

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"homenode/change/move"
	"homenode/internal/words"
	"homenode/numa"
)

// ErrNotChecked is the error of Check for a file of a form that it does not read.
var ErrNotChecked = errors.New("no form that is checked")

// Checks reports whether Check reads a file of that name.
func Checks(name string) bool {
	return strings.HasSuffix(name, ".xml") || strings.HasSuffix(name, ".args") || strings.HasSuffix(name, ".conf")
}

// Check reads a domain of libvirt, arguments of QEMU or a configuration of Proxmox, by the end of its name, and returns the
// faults that no schema finds. The file may be written or edited by others.
func Check(name string, data []byte) ([]move.Fault, error) {
	var s *move.Shape
	var faults []move.Fault
	var err error
	switch {
	case strings.HasSuffix(name, ".xml"):
		s, faults, err = readDomain(name, data)
	case strings.HasSuffix(name, ".args"):
		s, faults, err = readArguments(name, data)
	case strings.HasSuffix(name, ".conf"):
		s, faults, err = readConf(name, data)
	default:
		return nil, ErrNotChecked
	}
	if err != nil || s == nil {
		return faults, err
	}
	return append(faults, move.Check(s, nil, !strings.HasSuffix(name, ".conf"))...), nil
}

// readDomain reads the shape of a domain.
func readDomain(name string, data []byte) (*move.Shape, []move.Fault, error) {
	root, err := parseDomain(name, data)
	if err != nil {
		return nil, nil, err
	}
	d := domain{CPU: cpu{Topology: topology{Dies: 1}}}
	decoder := xml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&d); err != nil {
		line, column := decoder.InputPos()
		return nil, nil, &numa.SyntaxError{File: name, Line: line, Col: column, Msg: notNumber(err).Error()}
	}
	var faults []move.Fault
	fault := func(check, text string, args ...any) {
		faults = append(faults, move.Fault{Check: check, Text: fmt.Sprintf(text, args...)})
	}
	at := func(n *node, what string, err error) error {
		n = cmp.Or(n, root)
		return &numa.SyntaxError{File: name, Line: n.line, Col: n.col, Msg: fmt.Sprintf("%s: %v", what, err)}
	}
	memory, err := inBytes(d.Memory.Value, d.Memory.Unit)
	if err != nil {
		return nil, nil, at(root.child("memory"), "memory", err)
	}
	t := d.CPU.Topology
	s := &move.Shape{Sockets: t.Sockets, Dies: max(1, t.Dies), Cores: t.Cores, Threads: t.Threads, VCPUs: d.VCPU.Most, Memory: memory}
	if d.VCPU.Current > 0 {
		s.VCPUs = d.VCPU.Current
	}
	if t.Sockets == 0 { // libvirt makes a socket of each vCPU
		s.Sockets, s.Cores, s.Threads = d.VCPU.Most, 1, 1
		if d.VCPU.Most > fewSockets {
			fault(move.CheckTopology, "no topology: each of %d vCPUs is a socket", d.VCPU.Most)
		}
	}
	if s.Most() != d.VCPU.Most {
		fault(move.CheckTopology, "a topology of %d vCPUs, and %d vCPUs", s.Most(), d.VCPU.Most)
		return nil, faults, nil
	}
	if i, err := d.cells(s, fault); err != nil {
		return nil, nil, at(root.child("cpu").child("numa").all("cell")[i], fmt.Sprintf("cell %d", i), err)
	}
	pages, err := d.pages(root)
	if err != nil {
		return nil, nil, at(root.child("memoryBacking"), "page", err)
	}
	paged(s, pages, fault)
	d.pins(s, fault)
	return s, faults, nil
}

// fewSockets is how many sockets are not judged, as in K012.
const fewSockets = 4

// pages reads the huge pages of a domain, with the cells that they are for.
func (d *domain) pages(root *node) (out []numa.HugePages, err error) {
	if d.Backing == nil || d.Backing.Huge == nil {
		return nil, nil
	}
	elements := root.child("memoryBacking").child("hugepages").all("page")
	for i, p := range d.Backing.Huge.Pages {
		one := numa.HugePages{}
		if one.Size, err = inBytes(p.Size, p.Unit); err != nil {
			return nil, err
		}
		for _, a := range elements[i].attrs {
			if a.Name.Local == "nodeset" {
				if one.Cells, err = list(a.Value); err != nil {
					return nil, err
				}
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// paged gives a shape the huge pages of its cells. Where they differ, it has no size for all, and each cell is checked here.
func paged(s *move.Shape, pages []numa.HugePages, fault func(check, text string, args ...any)) {
	each, all := numa.PagesOf(pages, len(s.Cells))
	s.Page = all
	for i, page := range each {
		if memory := s.Cells[i].Memory; all == 0 && page > 0 && memory%page != 0 {
			fault(move.CheckPages, "the %s of cell %d are no whole pages of %s: %s are left over", memory, i, page, memory%page)
		}
	}
}

// cells reads the cells of a domain; all vCPUs are in one where there are none. An error is of the i-th cell.
func (d *domain) cells(s *move.Shape, fault func(check, text string, args ...any)) (i int, err error) {
	if d.CPU.NUMA == nil {
		s.Cells = []move.Cell{{CPUs: upTo(s.Most()), Memory: s.Memory}}
		return 0, nil
	}
	for i, c := range d.CPU.NUMA.Cells {
		if c.ID != i {
			fault(move.CheckVCPUs, "cell %d comes where %d is due: libvirt wants them from 0, without a gap", c.ID, i)
		}
		cpus, err := list(c.CPUs)
		if err != nil {
			fault(move.CheckVCPUs, "cell %d: %v", i, err)
		}
		memory, err := inBytes(c.Memory, c.Unit)
		if err != nil {
			return i, fmt.Errorf("memory: %w", err)
		}
		s.Cells = append(s.Cells, move.Cell{CPUs: cpus, Memory: memory})
	}
	for i, c := range d.CPU.NUMA.Cells {
		if c.Distances == nil {
			continue
		}
		if s.Distance == nil {
			s.Distance = usualDistance(len(s.Cells))
		}
		for _, to := range c.Distances.Siblings {
			if to.ID < 0 || to.ID >= len(s.Cells) {
				fault(move.CheckDistance, "cell %d has a distance to cell %d, of %s", i, to.ID, words.Plural(len(s.Cells), "cell"))
				continue
			}
			s.Distance[i][to.ID] = to.Value
		}
	}
	return 0, nil
}

// notNumber says of an error that a number was wanted, where it was.
func notNumber(err error) error {
	if n, ok := errors.AsType[*strconv.NumError](err); ok {
		if errors.Is(n.Err, strconv.ErrRange) {
			return fmt.Errorf("found %s, which is too large", n.Num)
		}
		return fmt.Errorf("found %q, want a number", n.Num)
	}
	return err
}

// usualDistance returns what libvirt takes where no distance is stated: 10 and 20.
func usualDistance(n int) [][]int {
	out := make([][]int, n)
	for i := range out {
		out[i] = slices.Repeat([]int{20}, n)
		out[i][i] = 10
	}
	return out
}

// pins checks what binds a domain to nodes of its host.
func (d *domain) pins(s *move.Shape, fault func(check, text string, args ...any)) {
	if d.CPUTune != nil {
		seen := map[int]bool{}
		for _, p := range d.CPUTune.Pins {
			if seen[p.VCPU] || p.VCPU < 0 || p.VCPU >= s.Most() {
				fault(move.CheckHost, "a pin of vCPU %d, of %d", p.VCPU, s.Most())
			}
			seen[p.VCPU] = true
		}
	}
	if d.Tune == nil {
		return
	}
	for _, n := range d.Tune.Nodes {
		if n.Cell < 0 || n.Cell >= len(s.Cells) {
			fault(move.CheckHost, "memory of cell %d, of %d cells", n.Cell, len(s.Cells))
		}
	}
}

// confNode matches the key of a node in a configuration of Proxmox.
var confNode = regexp.MustCompile(`^numa(\d+)$`)

// A confCell is a node in a configuration of Proxmox.
type confCell struct {
	id int
	move.Cell
	hosts, policy bool // hostnodes and policy are stated
}

// readConf reads the shape of a configuration of Proxmox, to the first snapshot. What Proxmox refuses is from its
// PVE::QemuServer::Memory::config.
func readConf(name string, data []byte) (*move.Shape, []move.Fault, error) {
	s := &move.Shape{Sockets: 1, Dies: 1, Cores: 1, Threads: 1}
	var faults []move.Fault
	fault := func(check, text string, args ...any) {
		faults = append(faults, move.Fault{Check: check, Text: fmt.Sprintf(text, args...)})
	}
	on, huge, cells := false, false, [8]*confCell{}
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		key, value, _ := strings.Cut(strings.TrimSpace(text), ":")
		if value = strings.TrimSpace(value); strings.HasPrefix(key, "[") {
			break
		}
		var err error
		switch node := confNode.FindStringSubmatch(key); {
		case node != nil:
			i, _ := strconv.Atoi(node[1]) // digits
			if i >= len(cells) {
				fault(move.CheckVCPUs, "line %d: %s is ignored: there are numa0 to numa7", line, key)
				continue
			}
			cells[i], err = readConfCell(i, value)
		case key == "sockets":
			s.Sockets, err = strconv.Atoi(value)
		case key == "cores":
			s.Cores, err = strconv.Atoi(value)
		case key == "vcpus":
			s.VCPUs, err = strconv.Atoi(value)
		case key == "memory":
			s.Memory, err = sizeOf(strings.TrimPrefix(value, "current="), "M")
		case key == "numa":
			on = value == "1"
		case key == "hugepages":
			if huge = true; value != "any" {
				s.Page, err = sizeOf(value, "M")
			}
		}
		if err != nil {
			return nil, nil, &numa.SyntaxError{File: name, Line: line, Col: 1, Msg: fmt.Sprintf("%s: %v", key, notNumber(err))}
		}
	}
	if s.VCPUs == 0 {
		s.VCPUs = s.Most()
	}
	stated := slices.DeleteFunc(cells[:], func(c *confCell) bool { return c == nil })
	for _, c := range stated {
		s.Cells = append(s.Cells, c.Cell)
	}
	switch {
	case on && len(stated) == 0:
		if s.Sockets > 1 && s.Cores == 1 {
			fault(move.CheckVCPUs, "numa: 1 without numa0 makes a node of each of %d sockets of a core", s.Sockets)
			return nil, faults, nil
		}
		s.Cells = perSocket(s)
	case on:
		confFaults(stated, huge, fault)
	case len(stated) > 0:
		fault(move.CheckVCPUs, "nodes are stated, and numa: 1 is not: the guest sees one")
	}
	if huge && !on {
		fault(move.CheckPages, "hugepages without numa: 1: Proxmox does not start the VM")
	}
	if s.Cells == nil {
		s.Cells = []move.Cell{{CPUs: upTo(s.Most()), Memory: s.Memory}}
	}
	return s, faults, nil
}

// confFaults finds what keeps a VM of stated nodes from starting.
func confFaults(cells []*confCell, huge bool, fault func(check, text string, args ...any)) {
	if i, n := gap(cells, func(c *confCell) int { return c.id }); i >= 0 {
		fault(move.CheckVCPUs, "numa%d comes where numa%d is due: QEMU wants nodes from 0, without a gap", n, i)
	}
	for _, c := range cells {
		switch {
		case c.hosts && !c.policy:
			fault(move.CheckHost, "numa%d has hostnodes and no policy: Proxmox does not start the VM", c.id)
		case !c.hosts && huge:
			fault(move.CheckHost, "numa%d has no hostnodes, which hugepages want: Proxmox does not start the VM", c.id)
		}
	}
}

// perSocket returns the cells that Proxmox makes where none are stated: one for each socket, with a part of the memory.
func perSocket(s *move.Shape) (out []move.Cell) {
	if s.Sockets < 1 || s.Cores < 1 || s.Most() > mostCPUs {
		return []move.Cell{{}} // which is a fault of the topology
	}
	part := s.Memory / numa.Bytes(s.Sockets)
	for i := range s.Sockets {
		c := move.Cell{Memory: part}
		if i == 0 {
			c.Memory += s.Memory - part*numa.Bytes(s.Sockets)
		}
		for v := range s.Cores {
			c.CPUs = append(c.CPUs, i*s.Cores+v)
		}
		out = append(out, c)
	}
	return out
}

func readConfCell(id int, value string) (c *confCell, err error) {
	c = &confCell{id: id}
	for _, w := range strings.Split(value, ",") {
		switch key, value, _ := strings.Cut(w, "="); key {
		case "cpus":
			c.CPUs, err = list(strings.ReplaceAll(value, ";", ","))
		case "memory":
			c.Memory, err = sizeOf(value, "M")
		case "hostnodes":
			c.hosts = true
		case "policy":
			c.policy = true
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// units are those of libvirt's sizes.
var units = map[string]numa.Bytes{"": numa.KiB, "b": 1, "bytes": 1, "KB": 1e3, "k": numa.KiB, "KiB": numa.KiB, "MB": 1e6, "M": numa.MiB, "MiB": numa.MiB, "GB": 1e9, "G": numa.GiB, "GiB": numa.GiB, "TB": 1e12, "T": numa.TiB, "TiB": numa.TiB}

// mostMemory is more than any VM has.
const mostMemory = 1 << 50

func inBytes(n int64, unit string) (numa.Bytes, error) {
	u, ok := units[unit]
	if !ok || n < 0 || n > mostMemory/int64(u) {
		return 0, fmt.Errorf("found %d %q, want a size such as 1048576 KiB", n, unit)
	}
	return numa.Bytes(n) * u, nil
}

// sizeText matches "1024M", "1.5G" or "1024".
var sizeText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([BKMGT]?)$`)

// sizeOf reads "1024M", "1.5G", or "1024" of a unit: B or M.
func sizeOf(text, unit string) (numa.Bytes, error) {
	if part := sizeText.FindStringSubmatch(strings.ToUpper(text)); part != nil {
		n, err := strconv.ParseFloat(part[1], 64) // whole to 2^53
		if n *= float64(int64(1) << (10 * strings.Index("BKMGT", cmp.Or(part[2], unit)))); err == nil && n <= mostMemory {
			return numa.Bytes(n), nil
		}
	}
	return 0, fmt.Errorf("found %q, want memory such as 1024M", text)
}

// mostCPUs is more than any VM has.
const mostCPUs = 1 << 14

// list reads "0-3,8,^2", the numbers in ascending order; a number that is there twice stays, for Check to find. Nothing takes a range
// behind ^.
func list(s string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(s, ",") {
		if part == "" {
			continue
		}
		without := strings.HasPrefix(part, "^")
		from, to, ranged := strings.Cut(strings.TrimPrefix(part, "^"), "-")
		a, err := strconv.Atoi(from)
		b := a
		if err == nil && ranged {
			b, err = strconv.Atoi(to)
		}
		if err != nil || without && ranged || a < 0 || b < a || b >= mostCPUs || len(out) > mostCPUs {
			return nil, fmt.Errorf("found %q, want a list of vCPUs such as 0-3,8", s)
		}
		for n := a; n <= b; n++ {
			if without {
				out = slices.DeleteFunc(out, func(v int) bool { return v == n })
			} else {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// upTo returns 0 to n-1; none beyond what any VM has.
func upTo(n int) []int {
	out := make([]int, max(0, min(n, mostCPUs)))
	for i := range out {
		out[i] = i
	}
	return out
}
