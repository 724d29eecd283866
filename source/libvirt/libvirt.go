// Package libvirt reads the libvirt description of a KVM host and of its VMs: the output of virsh capabilities, and of virsh
// dumpxml with or without --inactive, also pasted fragments of them.
//
// It reads the elements that affect NUMA placement and skips the rest. The layout of a domain is stated, never predicted.
package libvirt

import (
	"cmp"
	"io"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/fact"
)

var begins = pattern.Of(`<domains>|<domain(?:snapshot|checkpoint)[ >]|<(?:domain|domstatus)\s[^>]*\b(?:type|state)=|<domain>\s*<(?:name|uuid|title|memory|vcpu)\b|<capabilities>\s*<(?:host|guest)|<cells num=|<vcpu(?:pin)?[ >]|<numatune>|<numa>\s*<cell `)

// Detect reports whether head, the beginning of a file, is libvirt XML.
func Detect(head []byte) bool { return begins.Match(head) }

// parts are the elements of a domain that can be pasted on their own.
var parts = map[string]bool{"vcpu": true, "cpu": true, "cputune": true, "numatune": true, "memory": true, "memoryBacking": true, "features": true,
	"currentMemory": true, "maxMemory": true, "name": true, "uuid": true, "iothreads": true, "os": true, "clock": true, "title": true, "vcpus": true}

// Read reads the hosts and domains of a file, in their order. For a truncated file it returns the data before the end and an
// error. The error is a *numa.SyntaxError if there is neither a host nor a domain.
func Read(name string, r io.Reader) ([]fact.Document, error) {
	roots, err := elements(name, r)
	var out []fact.Document
	var loose *element
	for _, e := range unwrapped(roots) {
		switch {
		case e.name == "capabilities":
			if e.child("host") != nil {
				out = append(out, readHost(name, e.child("host")))
			}
		case e.name == "host":
			out = append(out, readHost(name, e))
		case e.name == "topology" && e.child("cells") != nil:
			out = append(out, readHost(name, &element{name: "host", line: e.line, col: e.col, children: []*element{e}, closed: e.closed}))
		case e.name == "domain":
			out = append(out, readDomain(name, e, true))
		case e.name == "domstatus" && e.child("domain") != nil:
			out = append(out, readDomain(name, e.child("domain"), true))
		case parts[e.name]:
			if loose == nil {
				loose = &element{name: "domain", line: e.line, col: e.col, closed: true}
			}
			loose.closed = loose.closed && e.closed
			loose.children = append(loose.children, e)
		}
	}
	if loose != nil {
		out = append(out, readDomain(name, loose, false))
	}
	if len(out) == 0 && err == nil {
		err = &numa.SyntaxError{File: name, Msg: "found no <domain> and no <capabilities> with a <host>"}
	}
	return out, err
}

// unwrapped returns the elements, with the domains of a list of them, a snapshot or a checkpoint in place of it.
func unwrapped(roots []*element) (out []*element) {
	for _, e := range roots {
		switch e.name {
		case "domains", "domainsnapshot", "domaincheckpoint":
			out = append(out, e.all("domain")...)
		default:
			out = append(out, e)
		}
	}
	return out
}

// families maps architectures to those whose processors run them too.
var families = map[string]string{"i386": "x86_64", "i486": "x86_64", "i586": "x86_64", "i686": "x86_64", "armv7l": "aarch64", "ppc64le": "ppc64"}

// Runs reports whether a host of one architecture runs guests of another without emulation; an unknown architecture counts as
// yes.
func Runs(host, guest string) bool {
	family := func(arch string) string { return cmp.Or(families[arch], arch) }
	return host == "" || guest == "" || family(host) == family(guest)
}
