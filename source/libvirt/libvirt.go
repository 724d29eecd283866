// Package libvirt reads what libvirt says of a KVM host and of its VMs: virsh capabilities, and
// virsh dumpxml with or without --inactive, also parts of them as they are pasted.
//
// It reads what NUMA placement depends on and skips the rest. A domain's layout is stated, never predicted.
package libvirt

import (
	"cmp"
	"io"

	"homenode/numa"
	"homenode/numa/pattern"
	"homenode/source/fact"
)

var begins = pattern.Of(`<(?:domain|domstatus)\s[^>]*\b(?:type|state)=|<domain>\s*<(?:name|uuid|title|memory|vcpu)\b|<capabilities>\s*<(?:host|guest)|<cells num=|<vcpu(?:pin)?[ >]|<numatune>|<numa>\s*<cell `)

// Detect reports whether a file that begins with head is of libvirt.
func Detect(head []byte) bool { return begins.Match(head) }

// parts are the elements of a domain that are pasted without it.
var parts = map[string]bool{"vcpu": true, "cpu": true, "cputune": true, "numatune": true, "memory": true, "memoryBacking": true, "features": true,
	"currentMemory": true, "maxMemory": true, "name": true, "uuid": true, "iothreads": true, "os": true, "clock": true, "title": true, "vcpus": true}

// Read reads the hosts and domains of a file, in their order. A file that ends before its end gives what was read
// and an error. The error is a *numa.SyntaxError when there is neither a host nor a domain.
func Read(name string, r io.Reader) ([]fact.Document, error) {
	roots, err := elements(name, r)
	var out []fact.Document
	var loose *element
	for _, e := range roots {
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

// families are architectures that processors of another run too.
var families = map[string]string{"i386": "x86_64", "i486": "x86_64", "i586": "x86_64", "i686": "x86_64", "armv7l": "aarch64", "ppc64le": "ppc64"}

// Runs reports whether a host of an architecture runs guests of another without emulation; one that is not stated is no doubt.
func Runs(host, guest string) bool {
	family := func(arch string) string { return cmp.Or(families[arch], arch) }
	return host == "" || guest == "" || family(host) == family(guest)
}
