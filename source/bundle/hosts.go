package bundle

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// hosts returns the hosts named in logs and bundles, and sets the last host of each VM.
func (c *collector) hosts(entries []*entry) []numa.Host {
	list := c.commandHosts()
	for i := range c.logs {
		l := &c.logs[i]
		for k := range l.hosts {
			h := l.hosts[k]
			if h.Name == "" {
				h.Name = c.bundleHost(l.name)
			}
			if h.Name != "" {
				list = addHost(list, h)
			}
		}
	}
	for _, e := range entries {
		name := ""
		for i := range e.Observed {
			name = cmp.Or(e.Observed[i].Host, name)
		}
		name = cmp.Or(name, c.bundleHost(e.At))
		if i := slices.IndexFunc(list, func(h numa.Host) bool { return numa.SameHost(h.Name, name) }); i >= 0 {
			e.Host = list[i].ID
		}
	}
	for i := range list {
		assumeNodes(&list[i])
	}
	return list
}

// addHost adds h, or merges it into the host with the same name.
func addHost(list []numa.Host, h numa.Host) []numa.Host {
	i := slices.IndexFunc(list, func(o numa.Host) bool { return numa.SameHost(o.Name, h.Name) })
	if i < 0 {
		h.ID = h.Name
		place(&h, h.At)
		return append(list, h)
	}
	o := &list[i]
	place(&h, h.At)
	// The later log has the later release; the output of a command takes precedence.
	if !o.Release.Known() || o.Build.Value < h.Build.Value && strings.HasPrefix(o.Release.Origin.Where, logPrefix) {
		o.Release, o.Build = h.Release, h.Build
	}
	fill(&o.Packages, h.Packages)
	fill(&o.Cores, h.Cores)
	fill(&o.Threads, h.Threads)
	fill(&o.CPUModel, h.CPUModel)
	fill(&o.Nodes, h.Nodes)
	return list
}

// logPrefix is the prefix of the origin of facts from a log of the host.
const logPrefix = "vmware.log "

// place adds the file to the origins of facts from a log: At of the merged host may name
// another file.
func place(h *numa.Host, at string) {
	file := logPrefix + strings.TrimRight(strings.TrimRight(at, "0123456789"), ":") + " "
	for _, o := range []*numa.Origin{&h.Release.Origin, &h.Build.Origin, &h.Packages.Origin, &h.Cores.Origin, &h.Threads.Origin, &h.CPUModel.Origin, &h.Nodes.Origin} {
		if o.Kind != numa.Unknown {
			o.Where = file + o.Where
		}
	}
}

func fill[T any](to *numa.Fact[T], from numa.Fact[T]) {
	if !to.Known() {
		*to = from
	}
}

// assumeNodes assumes one node per package if only packages and cores are known.
func assumeNodes(h *numa.Host) {
	packages, cores := h.Packages.Value, h.Cores.Value
	if h.Nodes.Known() || packages <= 0 || packages > numa.MaxNodes || cores%packages != 0 || cores == 0 {
		return
	}
	h.Nodes = h.PackageNodes(cores/packages, "no file states the NUMA nodes")
}

// bundleName is the top folder of a vm-support bundle: esx-esx01-2024-01-31--08.15-2100123.
var bundleName = pattern.Of(`^(?:esx|vm-support|vmsupport)-(.+?)-\d{4}-\d{2}-\d{2}--\d{2}\.\d{2}`)

// bundleTop returns the top folder of the vm-support bundle that a file is in.
func bundleTop(name string) (top, host string, ok bool) {
	for i, part := range strings.Split(path.Dir(name), "/") {
		if m := bundleName.FindStringSubmatch(part); m != nil && !strings.HasSuffix(part, ".tgz") {
			parts := strings.Split(name, "/")
			return strings.Join(parts[:i+1], "/"), m[1], true
		}
	}
	return "", "", false
}

// bundleHost returns the name of the host whose bundle a file is in, or "".
func (c *collector) bundleHost(name string) string {
	_, host, _ := bundleTop(name)
	return host
}
