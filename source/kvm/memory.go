package kvm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// A usage is the memory of one process on the nodes of its host, and the source.
type usage struct {
	line, col int
	on        map[int]numa.Bytes
}

var (
	nodeColumn = pattern.Of(`\bNode (\d+)`)
	// A numastat row is "2947 (qemu-kvm)    1802      0  1802". A long name leaves no room for its closing bracket.
	processRow = pattern.Of(`^\s*(\d+) \(([^\s)]*)\)?(?:\s+(\d.*))?$`)
	// For one process, numastat -p has the PID in the title, and one row for each kind of memory.
	oneProcess = pattern.Of(`^Per-node process memory usage \(in MBs\) for PID (\d+)`)
	totalRow   = pattern.Of(`^\s*Total\s+(\d.*)$`)
	// With two decimals columns may run together: "32816.6332818.26".
	decimals = pattern.Of(`\d+\.\d\d`)
	// The command line of a QEMU process contains the name of its guest: -name guest=sql01,debug-threads=on
	guestName = pattern.Of(`-name (?:guest=)?([^,\s]+)`)
)

// maxMB is more than any host has.
const maxMB = 1 << 30

// numastat parses the tables of numastat, numastat -c and numastat -p: the memory of each process, by PID. If there are several
// tables, the last is used. warn receives the lines that could not be parsed.
func numastat(data []byte, warn func(line, col int, format string, args ...any)) (map[int]*usage, error) {
	out := map[int]*usage{}
	lines := text.NewLines(bytes.NewReader(data))
	var nodes []int
	of := -1 // PID of a table of one process
	table := false
	for lines.Scan() {
		line := lines.Text()
		if title := oneProcess.FindStringSubmatch(line); title != nil {
			of, nodes = pidOf(title[1]), nil
			continue
		}
		if strings.HasPrefix(line, "Found no process") { // on a host without VMs
			table = true
		}
		if strings.HasPrefix(line, "Per-node ") {
			of, nodes = -1, nil
			continue
		}
		if columns := nodeColumn.Regexp().FindAllStringSubmatch(line, -1); columns != nil {
			nodes, table = nil, true
			for _, c := range columns {
				if n, err := strconv.Atoi(c[1]); err == nil && n < 1<<10 {
					nodes = append(nodes, n)
				}
			}
			continue
		}
		pid, numbers := of, ""
		if row := processRow.FindStringSubmatchIndex(line); row != nil && row[6] >= 0 && of < 0 {
			pid, numbers = pidOf(line[row[2]:row[3]]), line[row[6]:row[7]]
		} else if row := totalRow.FindStringSubmatch(line); row != nil && of >= 0 {
			numbers = row[1]
		}
		if numbers == "" || pid < 0 || nodes == nil {
			continue
		}
		values, err := megabytes(numbers, len(nodes))
		if err != nil {
			warn(lines.Line(), strings.LastIndex(line, numbers)+1, "%v", err)
			continue
		}
		u := out[pid]
		if u == nil || u.on == nil {
			u = &usage{on: map[int]numa.Bytes{}}
			out[pid] = u
		}
		u.line, u.col = lines.Line(), 1+len(line)-len(strings.TrimLeft(line, " \t"))
		for i, n := range nodes {
			u.on[n] = values[i]
		}
	}
	if err := lines.Err(); err != nil || table {
		return out, err
	}
	return out, errors.New("found no table of numastat")
}

func pidOf(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// megabytes parses the numbers of a row: one for each node, optionally with their sum.
func megabytes(s string, nodes int) ([]numa.Bytes, error) {
	words := strings.Fields(s)
	if strings.Contains(s, ".") {
		words = decimals.Regexp().FindAllString(s, -1)
	}
	if len(words) != nodes && len(words) != nodes+1 {
		return nil, fmt.Errorf("found %d numbers, want one for each of %d nodes, and their sum", len(words), nodes)
	}
	var out []numa.Bytes
	for _, w := range words[:nodes] {
		mb, err := strconv.ParseFloat(w, 64)
		if err != nil || mb < 0 || mb > maxMB {
			return nil, fmt.Errorf("found %q, want a number of MB", text.Short(w))
		}
		out = append(out, numa.Bytes(mb*float64(numa.MiB)))
	}
	return out, nil
}

// pids parses the mapping of processes to VMs: lines "PID NAME", or lines of ps with the QEMU arguments.
func pids(data []byte, warn func(line, col int, format string, args ...any)) (map[int]string, error) {
	out := map[int]string{}
	lines := text.NewLines(bytes.NewReader(data))
	for lines.Scan() {
		number, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		rest = strings.TrimSpace(rest)
		pid, err := strconv.Atoi(number)
		name := rest
		if of := guestName.FindStringSubmatch(rest); of != nil {
			name = of[1]
		} else if strings.ContainsAny(rest, " \t") {
			name = ""
		}
		switch {
		case err != nil && number == "PID" || number == "": // the header of ps
		case err != nil || pid < 0 || name == "":
			warn(lines.Line(), 1, "found %q, want the PID of a process of QEMU and the name of its VM", text.Short(lines.Text()))
		default:
			out[pid] = name
		}
	}
	return out, lines.Err()
}

// addMemory merges numastat.txt and pids.txt of each folder into the VMs.
func (r *reader) addMemory() {
	used := map[string]map[int]*usage{}
	names := map[string]map[int]string{}
	for _, file := range r.texts {
		dir, base := path.Dir(filepath.ToSlash(file)), strings.ToLower(filepath.Base(file))
		warn := func(line, col int, format string, args ...any) { r.note(r.at(file, line, col), format, args...) }
		data, err := r.read(file)
		switch {
		case err != nil:
		case base == numastatName:
			used[file], err = numastat(data, warn)
		default:
			names[dir], err = pids(data, warn)
		}
		if err != nil {
			r.unread(file, err)
		}
	}
	for _, file := range r.texts {
		if used[file] != nil {
			r.addUsage(file, used[file], names[path.Dir(filepath.ToSlash(file))])
		}
	}
}

func (r *reader) read(file string) (data []byte, err error) {
	f, err := r.fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(bounded.Reader(f, maxText))
}

// addUsage sets the memory of the VMs of a host to that of their processes.
func (r *reader) addUsage(file string, used map[int]*usage, names map[int]string) {
	h, _ := r.hostIn(path.Dir(filepath.ToSlash(file)))
	if h == nil {
		r.note(r.at(file, 0, 0), "no capabilities beside it say which host it is of: where memory is is not judged")
		return
	}
	unknown := 0
	for _, pid := range slices.Sorted(maps.Keys(used)) {
		u := used[pid]
		name, ok := names[pid]
		if !ok {
			unknown++
			continue
		}
		i := slices.IndexFunc(r.fleet.VMs, func(v numa.VM) bool { return v.Host == h.ID && v.Name == name })
		if i < 0 {
			r.note(r.at(file, u.line, u.col), "process %d is of the VM %q, whose definition is not there", pid, name)
			continue
		}
		o := numa.Observation{By: numa.ByNumastat, At: r.at(file, u.line, u.col), Host: h.Name}
		var on []numa.MemoryOnNode
		for _, n := range slices.Sorted(maps.Keys(u.on)) {
			on = append(on, numa.MemoryOnNode{Node: n, Guest: u.on[n], Overhead: -1})
		}
		o.OnNode = numa.ReadAt(on, fmt.Sprintf("line %d", u.line))
		r.fleet.VMs[i].Observed = append(r.fleet.VMs[i].Observed, o)
	}
	if unknown > 0 {
		r.note(r.at(file, 0, 0), "which VM is that of %d of %d processes is unknown: %s with lines \"PID NAME\" says it", unknown, len(used), pidsName)
	}
}
