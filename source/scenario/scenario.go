// Package scenario reads handwritten fleets: one line for each host or VM, in terms
// that a vSphere administrator can review. Tests, published experiments and the
// demo fleet are scenarios.
//
//	release 7.0U3
//	cluster prod
//	host esx[01-08] nodes=2 cores=18 memory=1024GB
//	vm   sql01      host=esx01 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
//	vm   web[01-40] vcpus=4 memory=16GB
//	seen sql01      by=lscpu nodes=32
//
// A setting that a line does not state has the vSphere default; key=? makes it
// unknown. Only memory has no default. A name with a range stands for several
// objects; VMs without host= are distributed round-robin over the hosts of their cluster.
package scenario

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// Read reads the scenario in data; name is used in errors and origins.
func Read(name string, data []byte) (*numa.Fleet, error) {
	p := &parser{file: name, fleet: &numa.Fleet{Source: name}, hosts: map[string]int{}, vms: map[string]int{}, clusters: map[string]bool{}}
	var err error
	if data, p.line, err = word.Section(name, data); err != nil {
		return nil, err
	}
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

// parser is the state between lines.
type parser struct {
	file       string
	line       int
	fleet      *numa.Fleet
	hosts, vms map[string]int  // the line of each name
	clusters   map[string]bool // that the fleet has
	release    numa.Release    // of hosts without release=
	cluster    string          // of hosts and VMs without cluster=
	unset      []unset         // of each VM
}

// unset records the words of a VM line that are checked or completed with data of the host.
type unset struct {
	line                     int
	hostCol, clusterCol      int // columns of host= and cluster=; 0 if absent
	stored                   int // stored=; 0 if absent
	hardware, coresPerSocket bool
}

// maxObjects is the maximum number of hosts and of VMs in a scenario.
const maxObjects = word.MostNames

func (p *parser) errorf(col int, format string, args ...any) error {
	return &numa.SyntaxError{File: p.file, Line: p.line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// located adds the file and the line to the error of a word.
func (p *parser) located(err error) error { return word.Located(err, p.file, p.line) }

func (p *parser) parseLine(text string) error {
	ws, err := word.Split(text)
	if err != nil || len(ws) == 0 {
		return p.located(err)
	}
	if len(ws) < 2 || ws[0].HasValue || ws[1].HasValue {
		return p.errorf(ws[0].Col, "found %q, want: release R, cluster NAME, host NAME …, vm NAME … or seen NAME …", word.Short(strings.TrimSpace(text)))
	}
	switch ws[0].Key {
	case "release": // 7.0U3, 7.0 U3, 7.0 Update 3
		p.release, err = word.Release(ws[1].Col, strings.TrimSpace(text[ws[1].Col-1:ws[len(ws)-1].Col-1]+ws[len(ws)-1].Key))
		return p.located(err)
	case "cluster":
		if len(ws) > 2 {
			return p.errorf(ws[2].Col, "found %q after the name of the cluster", word.Short(ws[2].Key))
		}
		p.cluster = p.clusterNamed(ws[1].Key)
		return nil
	case "host", "vm":
		return p.located(p.objects(ws))
	case "seen":
		return p.located(p.seen(ws))
	}
	return p.errorf(ws[0].Col, "found %q, want release, cluster, host, vm or seen", word.Short(ws[0].Key))
}

// objects adds the hosts or VMs of a line, which differ in their names only.
func (p *parser) objects(ws []word.Word) error {
	names, err := word.Expand(ws[1].Key, ws[1].Col)
	if err != nil {
		return err
	}
	if len(p.fleet.Hosts)+len(p.fleet.VMs)+len(names) > maxObjects {
		return p.errorf(ws[1].Col, "found more than %d hosts and VMs", maxObjects)
	}
	for _, w := range ws[2:] {
		if !w.HasValue {
			return p.located(w.NoValue())
		}
		if w.Value == "" && !strings.Contains(w.Key, ".") { // a setting may be empty
			return p.errorf(w.Col, "found %s= without a value", word.Short(w.Key))
		}
	}
	if ws[0].Key == "host" {
		return p.addHosts(names, ws)
	}
	return p.addVMs(names, ws)
}

func (p *parser) addHosts(names []string, ws []word.Word) error {
	h, err := p.host(ws[2:])
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := p.once(p.hosts, name, ws[:2]); err != nil {
			return err
		}
		h.ID, h.Name = name, name
		p.fleet.Hosts = append(p.fleet.Hosts, *h)
	}
	// Check knows the bounds that depend on several words.
	alone := *h
	alone.Cluster = ""
	if err := (&numa.Fleet{Hosts: []numa.Host{alone}}).Check(); err != nil {
		return p.errorf(ws[0].Col, "%v", err)
	}
	return nil
}

func (p *parser) addVMs(names []string, ws []word.Word) error {
	v, u, err := p.vm(ws[2:])
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := p.once(p.vms, name, ws[:2]); err != nil {
			return err
		}
		v.ID, v.Name = name, name
		p.fleet.VMs = append(p.fleet.VMs, *v)
		p.unset = append(p.unset, u)
	}
	return nil
}

// once records the line of a name and rejects a second occurrence.
func (p *parser) once(lines map[string]int, name string, ws []word.Word) error {
	if line := lines[name]; line > 0 {
		return p.errorf(ws[1].Col, "found %s %s again, line %d has one", ws[0].Key, word.Short(name), line)
	}
	lines[name] = p.line
	return nil
}

// clusterNamed returns the ID of the cluster; "none" is no cluster, for a standalone host and
// its VMs.
func (p *parser) clusterNamed(name string) string {
	if name == "none" {
		return ""
	}
	if !p.clusters[name] {
		p.clusters[name] = true
		p.fleet.Clusters = append(p.fleet.Clusters, numa.Cluster{ID: name, Name: name, At: p.at()})
	}
	return name
}

// at returns the place of the current line, which is stored in objects.
func (p *parser) at() string { return p.file + ":" + strconv.Itoa(p.line) }

// finish assigns VMs to hosts and sets the defaults that depend on the host.
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
		if u.hostCol == 0 {
			if hosts := byCluster[v.Cluster]; len(hosts) > 0 {
				v.Host = p.fleet.Hosts[hosts[next[v.Cluster]%len(hosts)]].ID
				next[v.Cluster]++
			}
		} else if _, ok := byName[v.Host]; !ok {
			return p.errorf(u.hostCol, "found host=%s, want a host of this scenario", word.Short(v.Host))
		}
		var release numa.Release
		if v.Host != "" {
			h := &p.fleet.Hosts[byName[v.Host]]
			if u.clusterCol > 0 && v.Cluster != h.Cluster {
				return p.errorf(u.clusterCol, "found cluster=%s, host %s is not in it", word.Short(cmp.Or(v.Cluster, "none")), word.Short(v.Host))
			}
			v.Cluster = h.Cluster
			release = h.Release.Value
		}
		p.defaults(v, u, release)
	}
	return nil
}
