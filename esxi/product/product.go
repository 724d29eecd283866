// Package product knows the limits of the software in a guest: the most sockets, processors and processors in a NUMA node that
// products and their editions use. The limits are a table of publishers' statements with sources and dates, limits.md.
package product

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// A Product is one product in a guest, parsed from a text.
type Product struct {
	Family  string
	Version string // "" when it is not stated
	Edition string // "" when it is not stated
	Update  int    // the number of the cumulative update; 0 when it is not stated
	// Rows are the candidate rows of the table: several where the limits depend on a version or edition that is not stated.
	Rows []*Row
}

// String returns the product as "SQL Server 2022 Standard".
func (p *Product) String() string {
	text := p.Family
	if p.Version != "" {
		text += " " + p.Version
	}
	if p.Edition != "" {
		text += " " + p.Edition
	}
	return text
}

// Missing returns the facts needed to choose a row: "version", "edition", "version and edition", or "" when the limits are certain.
func (p *Product) Missing() string {
	if len(p.Rows) < 2 {
		return ""
	}
	version := p.Version == "" && slices.ContainsFunc(p.Rows, func(r *Row) bool { return r.Versions != nil })
	switch {
	case version && p.Edition == "":
		return "version and edition"
	case version:
		return "version"
	}
	return "edition"
}

// Usable returns how many of the processors the product uses, on sockets of cores each: the fewest and the most, which differ where
// the limits depend on an unstated version or edition.
func (p *Product) Usable(processors, sockets, cores int) (fewest, most int) {
	fewest = processors
	for _, r := range p.Rows {
		n := r.uses(processors, sockets, cores)
		fewest, most = min(fewest, n), max(most, n)
	}
	return fewest, most
}

// uses returns how many of the processors, on sockets of cores each, the version and edition of the row use.
func (r *Row) uses(processors, sockets, cores int) int {
	n := processors
	if r.Sockets > 0 && sockets > r.Sockets {
		n = min(n, r.Sockets*cores)
	}
	if r.Processors > 0 {
		n = min(n, r.Processors)
	}
	return n
}

// SocketsFor returns the most sockets over which the processors can be divided so that no version and edition that the product can be uses fewer of
// them than with sockets now; 0 for any.
func (p *Product) SocketsFor(processors, sockets int) int {
	most := 0
	for _, r := range p.Rows {
		if r.Sockets == 0 {
			continue
		}
		now := r.uses(processors, sockets, processors/sockets)
		if n := max(r.Sockets, r.Sockets*processors/max(1, now)); most == 0 || n < most {
			most = n
		}
	}
	return most
}

// BufferPool returns the most memory of a buffer pool in any version or edition that the product can be; 0 for any.
func (p *Product) BufferPool() numa.Bytes {
	return numa.Bytes(p.Most(func(r *Row) int { return int(r.Memory / numa.MiB) })) * numa.MiB
}

// Most returns the largest limit of the rows, 0 when a row has none. Beyond it the limit of every possible version and edition is exceeded.
func (p *Product) Most(limit func(*Row) int) int {
	most := 0
	for _, r := range p.Rows {
		if limit(r) == 0 {
			return 0
		}
		most = max(most, limit(r))
	}
	return most
}

// Refuses reports whether the product fails to start with more processors in a node than allowed. An unstated update counts as installed.
func (p *Product) Refuses() bool {
	for _, r := range p.Rows {
		from, _ := strconv.Atoi(strings.TrimPrefix(r.Refuses, "CU"))
		if r.Refuses != "" && (p.Update == 0 || p.Update >= from) {
			return true
		}
	}
	return false
}

// RefusesFrom returns the version or update from which a product fails to start (see Refuses), where its own is not stated: "CU11",
// "2022 CU11"; "" where this is certain.
func (p *Product) RefusesFrom() string {
	for _, r := range p.Rows {
		switch {
		case p.Update > 0 || r.Refuses == "" || r.Refuses == "RTM":
		case p.Version == "":
			return r.Versions[0] + " " + r.Refuses
		default:
			return r.Refuses
		}
	}
	return ""
}

// PerCore reports whether the product is licensed by the vCPUs of a VM, at least 4, in one of the licence models of its edition.
func (p *Product) PerCore() bool {
	return p.Family == sqlServer && !strings.HasPrefix(p.Version, "2008") && (p.Edition == "Standard" || p.Edition == "Enterprise")
}

// GroupSize is the number of processors in a NUMA node that every SQL Server and every Windows supports.
const GroupSize = 64

// SplitsNodes reports whether the product is a Windows before build 20348, which splits a node of more than 64 processors.
func (p *Product) SplitsNodes() bool {
	return p.Windows() && p.Version != "" && p.Most((*Row).node) > 0
}

// Windows reports whether the product is a Windows.
func (p *Product) Windows() bool { return p.Family == windows || p.Family == windowsServer }

// Fact returns the product's key in the table of tools and products.
func (p *Product) Fact() string {
	return map[string]string{sqlServer: "sqlserver", windows: "windows", windowsServer: "windows", sapHANA: "hana", oracle: "oracle", exchange: "exchange"}[p.Family]
}

var linux = pattern.Of(`linux|red ?hat|rhel|suse|sles|centos|debian|ubuntu|photon|fedora`)

// Misplaced explains why the product does not run on a guest system, named as people or vSphere write it; "" where it may run
// (limits.md, S21 to S23).
func (p *Product) Misplaced(system string) string {
	system = strings.ToLower(system)
	switch {
	case p.Family == sapHANA && strings.Contains(system, "windows"):
		return "SAP HANA runs on Linux alone, and the guest is Windows"
	case p.Family == exchange && linux.MatchString(system):
		return "Exchange Server runs on Windows alone, and the guest is Linux"
	case p.Family == sqlServer && p.Version != "" && p.Version < "2017" && linux.MatchString(system):
		return "SQL Server runs on Linux from 2017 on, and the guest is Linux: " + p.String() + " does not"
	}
	return ""
}

// HANA reports whether the product is SAP HANA.
func (p *Product) HANA() bool { return p.Family == sapHANA }

// node returns the most processors of a node.
func (r *Row) node() int { return r.Node }

// Node returns the most processors that a node may have for the product; 0 for any.
func (p *Product) Node() int { return p.Most((*Row).node) }

// Sockets returns the most sockets used by any version or edition that the product can be; 0 for any.
func (p *Product) Sockets() int { return p.Most(func(r *Row) int { return r.Sockets }) }

// HostSockets returns the most sockets of a host on which the product may run; 0 for any.
func (p *Product) HostSockets() int { return p.Most(func(r *Row) int { return r.HostSockets }) }

// Running returns the products of a guest: those its owner states, and the guest system unless the owner names a Windows, which is more precise.
func Running(stated, guestSystem string) []Product {
	out := Of(stated)
	if slices.ContainsFunc(out, func(p Product) bool { return p.Windows() }) {
		return out
	}
	return slices.Concat(out, Of(guestSystem))
}

var known sync.Map // text to []Product: few texts name the products of many VMs

// Of returns the products named by a text: a user's statement, or a guest system as the vSphere API or its full name has it. It
// returns nil for a text without a product of the table.
func Of(text string) []Product {
	if text == "" {
		return nil
	}
	if got, ok := known.Load(text); ok {
		return got.([]Product)
	}
	got := parse(text)
	known.Store(text, got)
	return got
}
