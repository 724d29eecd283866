package target

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"homenode/internal/words"
)

// beyond names the first part of the domain that belongs to its present cells and that a patch can neither keep nor safely take out; "" if
// there is none. cells is the number of cells after the patch.
func (p *patcher) beyond(cells int) string {
	refuse := func(n *node, format string, args ...any) string {
		return fmt.Sprintf("line %d: %s: edit it by hand", n.line, fmt.Sprintf(format, args...))
	}
	numaOf := p.root.child("cpu").child("numa")
	if n := numaOf.child("interconnects"); n != nil {
		return refuse(n, "<interconnects> states the latencies of the present cells")
	}
	for _, c := range numaOf.all("cell") {
		if i := slices.IndexFunc(c.attrs, func(a xml.Attr) bool { return !slices.Contains([]string{"id", "cpus", "memory", "unit"}, a.Name.Local) }); i >= 0 {
			return refuse(c, "<cell> has %s='%s', which the new cells would not have", c.attrs[i].Name.Local, short(c.attrs[i].Value))
		}
		if i := slices.IndexFunc(c.children, func(n *node) bool { return n.name != "distances" }); i >= 0 {
			return refuse(c.children[i], "<%s> belongs to a cell that is replaced", c.children[i].name)
		}
	}
	for _, page := range p.root.child("memoryBacking").child("hugepages").all("page") {
		if slices.ContainsFunc(page.attrs, func(a xml.Attr) bool { return a.Name.Local == "nodeset" }) && !p.edited(page) {
			return refuse(page, "<page> gives huge pages to some of the present cells")
		}
	}
	var numbers []string
	for id := range cells {
		numbers = append(numbers, strconv.Itoa(id))
	}
	devices := p.root.child("devices")
	for i := 0; devices != nil && i < len(devices.children); i++ {
		device := devices.children[i]
		n := device.child("target").child("node")
		if n == nil {
			continue
		}
		if id := strings.TrimSpace(string(p.data[n.open:n.close])); !slices.Contains(numbers, id) {
			return refuse(n, "<%s> belongs to cell %s, and the domain gets %s", device.name, short(id), words.Plural(cells, "cell"))
		}
	}
	for _, arg := range p.root.child("commandline").all("arg") {
		if slices.ContainsFunc(arg.attrs, func(a xml.Attr) bool { return strings.TrimLeft(a.Value, "-") == "numa" }) {
			return refuse(arg, "the arguments of QEMU state NUMA nodes of their own")
		}
	}
	return ""
}

// edited reports whether an edit replaces an element.
func (p *patcher) edited(n *node) bool {
	return slices.ContainsFunc(p.edits, func(e edit) bool { return e.from <= n.from && n.to <= e.to })
}
