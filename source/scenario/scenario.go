// Package scenario reads fleets written by hand: one line a host or VM, in words
// that a vSphere administrator can review. Tests, published experiments and the
// demo fleet are scenarios.
//
//	release 7.0U3
//	cluster prod
//	host esx[01-08] nodes=2 cores=18 memory=1024GB
//	vm   sql01      host=esx01 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
//	vm   web[01-40] vcpus=4 memory=16GB
//
// What a line does not state has the default of vSphere, and key=? makes it
// unknown; memory alone has no default. A name with a range stands for several
// objects; VMs without host= spread over the hosts of their cluster in turn.
package scenario

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"homenode/numa"
)

// A SyntaxError says where a scenario is malformed.
type SyntaxError struct {
	File      string
	Line, Col int // from 1; Col in bytes
	Msg       string
}

// Error returns file:line:col: message.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Section is the section of a txtar file that holds the fleet.
const Section = "in"

// ReadFile reads the scenario in the file: a txtar archive with a section
// "-- in --", or the lines alone.
func ReadFile(path string) (*numa.Fleet, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Read(path, b)
}

// Read reads the scenario in data; name stands in errors and origins.
func Read(name string, data []byte) (*numa.Fleet, error) {
	line := 1
	if ar := txtar.Parse(data); len(ar.Files) > 0 {
		line += strings.Count(string(ar.Comment), "\n")
		i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == Section })
		if i < 0 {
			return nil, &SyntaxError{name, line, 1, fmt.Sprintf("no section %q", "-- "+Section+" --")}
		}
		for _, f := range ar.Files[:i] {
			line += 1 + strings.Count(string(f.Data), "\n")
		}
		line++ // the marker
		data = ar.Files[i].Data
	}
	p := &parser{file: name, fleet: &numa.Fleet{Source: name}, line: line}
	for text := range strings.Lines(string(data)) {
		if err := p.parseLine(strings.TrimRight(text, "\r\n")); err != nil {
			return nil, err
		}
		p.line++
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	if err := p.fleet.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p.fleet, nil
}

// parser holds the state between lines.
type parser struct {
	file    string
	line    int
	fleet   *numa.Fleet
	release numa.Release // of hosts that name none
	cluster string       // of hosts and VMs that name none
	unset   []unset      // of each VM: what its line left to defaults
}

// unset notes what a VM's line did not state and its host decides.
type unset struct {
	host, hardware, coresPerSocket bool
	stored                         int // stored=; 0 when absent
	line                           int
}

// Bounds of a scenario: enough for benchmarks, too few to exhaust memory.
const (
	maxRange   = 200_000
	maxObjects = 1_000_000
)

func (p *parser) errorf(col int, format string, args ...any) error {
	return &SyntaxError{p.file, p.line, col, fmt.Sprintf(format, args...)}
}

// A word is one blank-separated part of a line with its column.
type word struct {
	key, value string
	hasValue   bool
	col        int
}

// words splits a line; values may stand in double quotes.
func (p *parser) words(text string) ([]word, error) {
	var out []word
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\t' {
			i++
			continue
		}
		if text[i] == '#' {
			break
		}
		start := i
		for i < len(text) && text[i] != ' ' && text[i] != '\t' && text[i] != '=' && text[i] != '#' {
			i++
		}
		w := word{key: text[start:i], col: start + 1}
		if i < len(text) && text[i] == '=' {
			w.hasValue = true
			i++
			if i < len(text) && text[i] == '"' {
				end := strings.IndexByte(text[i+1:], '"')
				if end < 0 {
					return nil, p.errorf(i+1, "found no closing quote")
				}
				w.value = text[i+1 : i+1+end]
				i += end + 2
			} else {
				start = i
				for i < len(text) && text[i] != ' ' && text[i] != '\t' {
					i++
				}
				w.value = text[start:i]
			}
		}
		if w.key == "" {
			return nil, p.errorf(w.col, "found %q, want key=value", text[w.col-1:i])
		}
		out = append(out, w)
	}
	return out, nil
}

func (p *parser) parseLine(text string) error {
	ws, err := p.words(text)
	if err != nil || len(ws) == 0 {
		return err
	}
	if len(ws) < 2 || ws[0].hasValue || ws[1].hasValue {
		return p.errorf(ws[0].col, "found %q, want: release R, cluster NAME, host NAME … or vm NAME …", text)
	}
	switch ws[0].key {
	case "release":
		r, err := numa.ParseRelease(ws[1].key)
		if err != nil {
			return p.errorf(ws[1].col, "%v", err)
		}
		p.release = r
	case "cluster":
		p.cluster = ws[1].key
		p.addCluster(p.cluster)
	case "host", "vm":
		names, err := p.expand(ws[1])
		if err != nil {
			return err
		}
		if len(p.fleet.Hosts)+len(p.fleet.VMs)+len(names) > maxObjects {
			return p.errorf(ws[1].col, "more than %d hosts and VMs", maxObjects)
		}
		for _, name := range names {
			if ws[0].key == "host" {
				err = p.addHost(name, ws[2:])
			} else {
				err = p.addVM(name, ws[2:])
			}
			if err != nil {
				return err
			}
		}
	default:
		return p.errorf(ws[0].col, "found %q, want release, cluster, host or vm", ws[0].key)
	}
	return nil
}

func (p *parser) addCluster(name string) {
	if !slices.ContainsFunc(p.fleet.Clusters, func(c numa.Cluster) bool { return c.ID == name }) {
		p.fleet.Clusters = append(p.fleet.Clusters, numa.Cluster{ID: name, Name: name, At: p.at()})
	}
}

// at returns the position of the current line, which objects carry.
func (p *parser) at() string { return p.file + ":" + strconv.Itoa(p.line) }

// expand returns the names that "esx[01-08]" stands for.
func (p *parser) expand(w word) ([]string, error) {
	before, rest, ok := strings.Cut(w.key, "[")
	if !ok {
		return []string{w.key}, nil
	}
	body, after, ok := strings.Cut(rest, "]")
	lo, hi, ok2 := strings.Cut(body, "-")
	from, err1 := strconv.Atoi(lo)
	to, err2 := strconv.Atoi(hi)
	if !ok || !ok2 || err1 != nil || err2 != nil || from < 0 || from > to || to-from >= maxRange {
		return nil, p.errorf(w.col, "found %q, want a range such as esx[01-08]", w.key)
	}
	names := make([]string, 0, to-from+1)
	for i := from; i <= to; i++ {
		names = append(names, fmt.Sprintf("%s%0*d%s", before, len(lo), i, after))
	}
	return names, nil
}

// finish gives VMs their hosts and the defaults that depend on them.
func (p *parser) finish() error {
	next := map[string]int{}
	byCluster := map[string][]int{}
	byName := map[string]int{}
	for i := range p.fleet.Hosts {
		h := &p.fleet.Hosts[i]
		byCluster[h.Cluster] = append(byCluster[h.Cluster], i)
		byName[h.Name] = i
	}
	for i := range p.fleet.VMs {
		v, u := &p.fleet.VMs[i], &p.unset[i]
		p.line = u.line
		if u.host {
			hosts := byCluster[v.Cluster]
			if len(hosts) > 0 {
				v.Host = p.fleet.Hosts[hosts[next[v.Cluster]%len(hosts)]].ID
				next[v.Cluster]++
			}
		} else if _, ok := byName[v.Host]; !ok {
			return p.errorf(1, "vm %s: found host=%s, want a host of this scenario", v.Name, v.Host)
		}
		var release numa.Release
		if v.Host != "" {
			h := &p.fleet.Hosts[byName[v.Host]]
			v.Cluster = h.Cluster
			release = h.Release.Value
		}
		p.defaults(v, u, release)
	}
	return nil
}

// hardwareOf lists the virtual hardware that a release creates VMs with. Source:
// Broadcom KB 315655 (old 1003746), virtual machine hardware versions.
var hardwareOf = []struct {
	release  numa.Release
	hardware int
}{
	{numa.ESX35, 4}, {numa.ESX40, 7}, {numa.ESXi50, 8}, {numa.ESXi51, 9}, {numa.ESXi55, 10}, {numa.ESXi60, 11},
	{numa.ESXi65, 13}, {numa.ESXi67, 14}, {numa.ESXi70, 17}, {numa.ESXi70 + 1, 18}, {numa.ESXi70 + 2, 19},
	{numa.ESXi80, 20}, {numa.ESXi80 + 2, 21}, {numa.ESXi90, 22},
}

const byDefault = "default of vSphere: the line does not state it"

// defaults sets what depends on the release of the VM's host: the hardware
// version, automatic cores per socket (B-18) and the form of a stored cookie (B-9).
func (p *parser) defaults(v *numa.VM, u *unset, release numa.Release) {
	if u.hardware {
		for _, h := range hardwareOf {
			if release >= h.release {
				v.Hardware = numa.DerivedFrom(h.hardware, byDefault)
			}
		}
	}
	if u.coresPerSocket {
		v.CoresPerSocket = numa.DerivedFrom(1, byDefault)
		v.AutoCoresPerSocket = numa.DerivedFrom(release >= numa.ESXi80 && v.Hardware.Value >= 20, byDefault)
	}
	if u.stored > 0 {
		n, cps := v.VCPUs.Value, max(1, v.CoresPerSocket.Value)
		cookie := n*10000 + 1
		if v.Hardware.Value >= 16 {
			cookie = n*10000 + cps*10 + 2
		}
		v.Settings.Value = append(v.Settings.Value,
			numa.Setting{Key: "numa.autosize.vcpu.maxPerVirtualNode", Value: strconv.Itoa(u.stored)},
			numa.Setting{Key: "numa.autosize.cookie", Value: strconv.Itoa(cookie)})
	}
	slices.SortFunc(v.Settings.Value, func(a, b numa.Setting) int { return cmp.Compare(a.Key, b.Key) })
}
