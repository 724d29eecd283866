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
		s, err = readArguments(name, data)
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
		if d.VCPU.Most > 1 {
			fault(move.CheckTopology, "no topology: each of %d vCPUs is a socket", d.VCPU.Most)
		}
	}
	if s.Most() != d.VCPU.Most {
		fault(move.CheckTopology, "a topology of %d vCPUs, and %d vCPUs", s.Most(), d.VCPU.Most)
		return nil, faults, nil
	}
	if d.Backing != nil && d.Backing.Huge != nil && len(d.Backing.Huge.Pages) == 1 {
		if s.Page, err = inBytes(d.Backing.Huge.Pages[0].Size, d.Backing.Huge.Pages[0].Unit); err != nil {
			return nil, nil, at(root.child("memoryBacking"), "page", err)
		}
	}
	if i, err := d.cells(s, fault); err != nil {
		return nil, nil, at(root.child("cpu").child("numa").all("cell")[i], fmt.Sprintf("cell %d", i), err)
	}
	d.pins(s, fault)
	return s, faults, nil
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

// readArguments reads the shape of arguments of QEMU.
func readArguments(name string, data []byte) (*move.Shape, error) {
	s := &move.Shape{Dies: 1, Threads: 1}
	backends := map[string]numa.Bytes{}
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		words := strings.Fields(text)
		for i, option := range words {
			if strings.HasPrefix(option, "#") {
				break
			}
			if i+1 == len(words) || !strings.HasPrefix(option, "-") {
				continue
			}
			if err := argument(s, backends, option, strings.Trim(words[i+1], `'"`)); err != nil {
				return nil, &numa.SyntaxError{File: name, Line: line, Col: strings.Index(text, option) + 1, Msg: err.Error()}
			}
		}
	}
	if s.Sockets == 0 {
		if s.Memory == 0 {
			return nil, &numa.SyntaxError{File: name, Line: 1, Col: 1, Msg: "found no -smp and no -m"}
		}
		s.Sockets, s.Cores, s.VCPUs = 1, 1, 1 // as QEMU does
	}
	if s.Cells == nil {
		s.Cells = []move.Cell{{CPUs: upTo(s.Most()), Memory: s.Memory}}
	}
	return s, nil
}

func argument(s *move.Shape, backends map[string]numa.Bytes, option, value string) (err error) {
	kind, rest, _ := strings.Cut(value, ",")
	named := map[string][]string{}
	for _, w := range strings.Split(rest, ",") {
		key, value, _ := strings.Cut(w, "=")
		named[key] = append(named[key], value)
	}
	last := func(key string) string {
		if all := named[key]; all != nil {
			return all[len(all)-1]
		}
		return ""
	}
	switch option {
	case "-m":
		s.Memory, err = megabytes(kind)
	case "-smp":
		if key, n, ok := strings.Cut(kind, "="); ok { // as of other arguments, the first has a name
			named[key] = append(named[key], n)
			kind = last("cpus")
		}
		if kind != "" {
			if s.VCPUs, err = strconv.Atoi(kind); err != nil || s.VCPUs < 1 || s.VCPUs > mostCPUs {
				return fmt.Errorf("found -smp %q, want a number of vCPUs", value)
			}
		}
		return arranged(s, last)
	case "-object":
		if strings.HasPrefix(kind, "memory-backend-") {
			backends[last("id")], err = megabytes(last("size"))
		}
		if err == nil && named["hugetlbsize"] != nil {
			s.Page, err = megabytes(last("hugetlbsize"))
		}
	case "-numa":
		if kind != "node" {
			return nil
		}
		cell := move.Cell{Memory: backends[last("memdev")]}
		if old := last("mem"); old != "" && named["memdev"] == nil {
			if cell.Memory, err = megabytes(old); err != nil {
				return err
			}
		}
		if cell.CPUs, err = list(strings.Join(named["cpus"], ",")); err == nil {
			s.Cells = append(s.Cells, cell)
		}
	}
	return err
}

// arranged takes what -smp says of the topology, and the rest as QEMU does since 6.2: cores before sockets, one of what is not named
// (machine_parse_smp_config; docs/system/qemu-manpage, -smp).
func arranged(s *move.Shape, last func(key string) string) error {
	n := map[string]int{}
	for _, key := range []string{"maxcpus", "sockets", "dies", "clusters", "modules", "cores", "threads"} {
		text := last(key)
		if text == "" {
			continue
		}
		v, err := strconv.Atoi(text)
		if err != nil || v < 1 || v > mostCPUs {
			return fmt.Errorf("found %s=%q, want a number from 1", key, text)
		}
		n[key] = v
	}
	each := max(1, n["dies"]) * max(1, n["clusters"]) * max(1, n["modules"]) // in a socket
	all := cmp.Or(n["maxcpus"], s.VCPUs)
	sockets, cores, threads := n["sockets"], n["cores"], n["threads"]
	switch {
	case all == 0:
		sockets, cores, threads = max(1, sockets), max(1, cores), max(1, threads)
	case cores == 0:
		sockets, threads = max(1, sockets), max(1, threads)
		cores = all / (sockets * each * threads)
	case sockets == 0:
		threads = max(1, threads)
		sockets = all / (each * cores * threads)
	case threads == 0:
		threads = all / (sockets * each * cores)
	}
	if sockets*cores*threads == 0 {
		return fmt.Errorf("found -smp of %s, want so many as the topology has", words.Plural(all, "vCPU"))
	}
	// Clusters and modules count as more cores: nothing that is checked lies between a die and a core.
	s.Sockets, s.Dies, s.Cores, s.Threads = sockets, max(1, n["dies"]), cores*max(1, n["clusters"])*max(1, n["modules"]), threads
	if s.VCPUs == 0 {
		s.VCPUs = cmp.Or(all, s.Most())
	}
	return nil
}

// confNode matches the key of a node in a configuration of Proxmox.
var confNode = regexp.MustCompile(`^numa(\d+)$`)

// readConf reads the shape of a configuration of Proxmox, to the first snapshot.
func readConf(name string, data []byte) (*move.Shape, []move.Fault, error) {
	s := &move.Shape{Sockets: 1, Dies: 1, Cores: 1, Threads: 1}
	var faults []move.Fault
	on, cells := false, map[int]move.Cell{}
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
			if i > 7 {
				faults = append(faults, move.Fault{Check: move.CheckVCPUs, Text: fmt.Sprintf("line %d: %s is ignored: there are numa0 to numa7", line, key)})
				continue
			}
			cells[i], err = confCell(value)
		case key == "sockets":
			s.Sockets, err = strconv.Atoi(value)
		case key == "cores":
			s.Cores, err = strconv.Atoi(value)
		case key == "vcpus":
			s.VCPUs, err = strconv.Atoi(value)
		case key == "memory":
			s.Memory, err = megabytes(value)
		case key == "numa":
			on = value == "1"
		case key == "hugepages" && value != "any":
			s.Page, err = megabytes(value)
		}
		if err != nil {
			return nil, nil, &numa.SyntaxError{File: name, Line: line, Col: 1, Msg: fmt.Sprintf("%s: %v", key, notNumber(err))}
		}
	}
	if s.VCPUs == 0 {
		s.VCPUs = s.Most()
	}
	for i := range 8 {
		if c, ok := cells[i]; ok {
			s.Cells = append(s.Cells, c)
		}
	}
	switch {
	case on && len(cells) == 0 && s.Sockets > 1:
		faults = append(faults, move.Fault{Check: move.CheckVCPUs, Text: fmt.Sprintf("numa: 1 without numa0 makes a node of each of %d sockets", s.Sockets)})
		return nil, faults, nil
	case !on && len(cells) > 0:
		faults = append(faults, move.Fault{Check: move.CheckVCPUs, Text: "nodes are stated, and numa: 1 is not: the guest sees one"})
	}
	if len(cells) == 0 {
		s.Cells = []move.Cell{{CPUs: upTo(s.Most()), Memory: s.Memory}}
	}
	return s, faults, nil
}

func confCell(value string) (c move.Cell, err error) {
	for _, w := range strings.Split(value, ",") {
		switch key, value, _ := strings.Cut(w, "="); key {
		case "cpus":
			c.CPUs, err = list(strings.ReplaceAll(value, ";", ","))
		case "memory":
			c.Memory, err = megabytes(value)
		}
		if err != nil {
			return c, err
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

// megabytes reads "1024M", "1G" or "1024".
func megabytes(s string) (numa.Bytes, error) {
	number := strings.TrimRight(s, "MGK")
	n, err := strconv.ParseInt(number, 10, 64)
	unit := s[len(number):]
	if unit == "" {
		unit = "M"
	}
	if err != nil || units[unit] == 0 || n < 0 || n > mostMemory/int64(units[unit]) {
		return 0, fmt.Errorf("found %q, want memory such as 1024M", s)
	}
	return numa.Bytes(n) * units[unit], nil
}

// mostCPUs is more than any VM has.
const mostCPUs = 1 << 14

// list reads "0-3,8,^2", the numbers in ascending order; a number that is there twice stays, for Check to find.
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
		if err != nil || a < 0 || b < a || b >= mostCPUs || len(out) > mostCPUs {
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
