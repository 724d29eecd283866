package bundle

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/hostcmd"
	"example.org/homenode/source/text"
)

// An output is a file with command outputs and the bundle or folder that contains it.
type output struct {
	of   string // top folder of the bundle, or folder
	host string // from the name of the bundle; empty outside of one
	list []*hostcmd.Output
}

// commands are the files in the folder commands/ of vm-support that describe the NUMA topology
// of the host: the command line with - between the words.
var commands = []string{
	"vmware_-v", "uname_-a", "sched-stats_",
	"localcli_hardware-cpu-global-get", "localcli_hardware-memory-get", "localcli_hardware-platform-get", "localcli_system-version-get",
	"localcli_system-settings-advanced-list", "localcli_system-settings-kernel-list",
	"esxcli_hardware-cpu-global-get", "esxcli_hardware-memory-get", "esxcli_hardware-platform-get", "esxcli_system-version-get",
	"esxcli_system-settings-advanced-list", "esxcli_system-settings-kernel-list",
	traverse,
}

// traverse is the prefix of the file that contains the whole vsish tree.
const traverse = "vsi_traverse"

// isCommand reports whether a lower-case file name is one of commands.
func isCommand(name string) bool {
	base := path.Base(name)
	return path.Base(path.Dir(name)) == "commands" &&
		slices.ContainsFunc(commands, func(c string) bool { return strings.HasPrefix(base, c) })
}

// command reads the outputs in a file. Outputs without host data, such as an empty list of
// changed settings, are dropped.
func (c *collector) command(name string, r io.Reader) {
	if strings.HasPrefix(strings.ToLower(path.Base(name)), traverse) {
		c.tree(name, r)
		return
	}
	list, err := hostcmd.Read(name, r)
	if len(list) == 0 && isCommand(strings.ToLower(name)) {
		err = nil // vm-support also saves the output of failed commands
	}
	c.damage(name, err)
	c.addOutputs(name, list)
}

func (c *collector) addOutputs(name string, list []*hostcmd.Output) {
	if len(list) == 0 {
		return
	}
	of, host, ok := bundleTop(name)
	if !ok {
		of = path.Dir(name)
	}
	c.outputs = append(c.outputs, output{of, host, list})
	for _, o := range list {
		c.warnings(o.File())
	}
}

// branches are the parts of the vsish tree that describe the NUMA topology.
var branches = [][]byte{
	[]byte("/hardware/cpu/cpuInfo"), []byte("/hardware/numa/"), []byte("/hardware/cpuTopology/numa/"),
	[]byte("/memory/nodeList/"), []byte("/memory/memInfo"),
}

const (
	maxBranch   = 64 << 10 // bytes of one node of the tree
	maxBranches = 1_000
)

// tree reads the vsish tree, of up to hundreds of MB: a line with a path, followed by the vsish
// output for it. This form is inferred from the command; text in another form is skipped. Only
// the branches in use are kept.
func (c *collector) tree(name string, r io.Reader) {
	var part bytes.Buffer
	from, parts := 0, 0
	flush := func() {
		if from > 0 {
			// The vsish reader finds the path in the prompt on the same line.
			list, err := hostcmd.Read(fmt.Sprintf("%s from line %d", name, from), bytes.NewReader(part.Bytes()))
			if err == nil {
				c.addOutputs(name, list)
			}
		}
		from = 0
		part.Reset()
	}
	lines := text.NewLines(r)
	for lines.Scan() {
		b := lines.Bytes()
		if len(b) > 0 && b[0] == '/' {
			flush()
			p := bytes.TrimRight(b, ": ")
			if parts < maxBranches && !bytes.ContainsAny(p, " \t") && slices.ContainsFunc(branches, func(x []byte) bool { return bytes.HasPrefix(p, x) }) {
				from = lines.Line()
				parts++
				fmt.Fprintf(&part, "~ # vsish -e get %s\n", p)
			}
			continue
		}
		if from > 0 && part.Len()+len(b) < maxBranch {
			part.Write(b)
			part.WriteByte('\n')
		}
	}
	flush()
	if err := lines.Err(); err != nil {
		c.note(name, "read in part only: %v", err)
	}
}

// commandHosts returns the hosts of the command outputs, one for each bundle or folder.
func (c *collector) commandHosts() []numa.Host {
	var order []string
	of := map[string]*output{}
	for i := range c.outputs {
		o := &c.outputs[i]
		if of[o.of] == nil {
			order = append(order, o.of)
			of[o.of] = &output{host: o.host}
		}
		of[o.of].list = append(of[o.of].list, o.list...)
	}
	var hosts []numa.Host
	for _, folder := range order {
		list := hostcmd.Hosts(of[folder].list)
		for _, h := range list {
			if h.Name == "" {
				h.Name = of[folder].host
			}
			if h.Name == "" && !h.Cores.Known() && !h.Release.Known() && !h.Nodes.Known() {
				continue // without data about itself
			}
			h.Name = cmp.Or(h.Name, "host of "+folder)
			h.ID = h.Name
			if !slices.ContainsFunc(hosts, func(o numa.Host) bool { return numa.SameHost(o.Name, h.Name) }) {
				hosts = append(hosts, h)
			}
		}
	}
	return hosts
}
