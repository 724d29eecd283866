// Package vsphere reads a fleet from a vCenter or a standalone ESXi host over its API. It only
// reads: the built-in role Read-only is enough.
//
// A read is one session with a handful of queries: folders, clusters, hosts and VMs, page by page.
// It is complete, or Read returns an error; invisible objects and impossible values are listed in
// the notes of the fleet.
package vsphere

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"example.org/homenode/numa"
)

// Options configure access to a vCenter. The zero value uses the credentials from the URL and
// verifies the certificate with the CAs of the system. As everywhere in Go, HTTPS_PROXY and
// NO_PROXY configure a proxy.
type Options struct {
	Username string // empty means the one in the URL
	Password string // belongs to Username; never part of an error or of the fleet

	Insecure   bool   // accept any certificate
	CACerts    string // files with CA certificates (PEM) in the form of PATH; empty means the CAs of the system
	KnownHosts string // files with lines "host thumbprint" in the form of PATH, for certificates without a trusted CA

	CallTimeout time.Duration // longest wait for one answer; 0 means 2 minutes
	ReadTimeout time.Duration // longest read of a whole fleet, which takes seconds to minutes; 0 means an hour
	PageSize    int32         // VMs in one answer; 0 means 500

	// Progress is called with the number of objects of a stage ("hosts", "VMs") that were read; nil
	// disables it. It runs on the goroutine of Read.
	Progress func(stage string, done, total int)
}

// Defaults of Options. A VM has about 400 XML elements and vCenter rejects answers of more than
// 500,000 elements (telegraf issue 8169): 500 VMs keep a page well below that, and its 2 MB arrive
// long before 2 minutes.
const (
	defaultCallTimeout = 2 * time.Minute
	defaultReadTimeout = time.Hour
	defaultPageSize    = 500
)

// hostPageSize bounds the hosts in one answer: with its 1,100 advanced options
// a host has some 4,000 XML elements.
const hostPageSize = 50

// Read reads the fleet of the vCenter or ESXi host at u. The path of u is usually empty or "/sdk".
// The session is closed even when ctx ends early.
func Read(ctx context.Context, u *url.URL, o Options) (*numa.Fleet, error) {
	r, err := newReader(u, o)
	if err != nil {
		return nil, err
	}
	var fleet *numa.Fleet
	err = r.inSession(ctx, func(ctx context.Context) error {
		fleet, err = r.readFleet(ctx)
		return err
	}, func(logout error) {
		fleet.Notes = append(fleet.Notes, numa.Note{At: r.host, Text: stays(logout)})
	})
	if err != nil {
		return nil, err
	}
	if err := fleet.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", r.host, err)
	}
	return fleet, nil
}

// inSession logs in, reads and logs out, even when ctx ends early. After a successful read, open is
// called with the reason why the session could not be closed.
func (r *reader) inSession(ctx context.Context, read func(context.Context) error, open func(logout error)) error {
	defer r.soap.CloseIdleConnections()
	if err := r.connect(ctx); err != nil {
		return fmt.Errorf("%s: connect: %w", r.host, err)
	}
	if err := r.login(ctx); err != nil {
		r.forget(ctx, err)
		return fmt.Errorf("%s: log in: %w", r.host, err)
	}
	limited, cancel := r.within(ctx)
	defer cancel()
	err := read(limited)
	logoutErr := r.logout(ctx)
	if err != nil {
		// A server that fails to answer a query also fails to log out; the first error is the useful one.
		return fmt.Errorf("%s: %w", r.host, err)
	}
	if logoutErr != nil {
		open(logoutErr)
	}
	return nil
}

// stays returns the note that the session was not closed.
func stays(logout error) string {
	return fmt.Sprintf("the session stays open until it is idle too long: log out: %v", logout)
}

// readFleet runs the queries one after the other and combines their results.
func (r *reader) readFleet(ctx context.Context) (*numa.Fleet, error) {
	now, err := r.currentTime(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the time: %w", err)
	}
	inv := &inventory{reader: r}
	if err := inv.readTree(ctx); err != nil {
		return nil, err
	}
	if err := inv.readHosts(ctx); err != nil {
		return nil, err
	}
	if err := inv.readVMs(ctx); err != nil {
		return nil, err
	}
	if err := inv.readLabels(ctx); err != nil {
		return nil, err
	}
	if err := inv.readDevices(ctx); err != nil {
		return nil, err
	}
	if err := inv.readApart(ctx); err != nil {
		return nil, err
	}
	f := &numa.Fleet{Source: r.source, VCenter: r.client.ServiceContent.About.InstanceUuid, Collected: now.UTC().Format(time.RFC3339)}
	inv.placeHosts()
	inv.placeVMs()
	inv.placeDevices()
	inv.noteRestrictedView()

	for i := range inv.computes {
		if c := &inv.computes[i]; c.cluster {
			f.Clusters = append(f.Clusters, numa.Cluster{ID: c.ref.Value, Name: c.name, At: r.at(c.ref), Apart: c.apart})
		}
	}
	for i := range inv.hosts {
		f.Hosts = append(f.Hosts, inv.hosts[i].Host)
	}
	f.VMs = inv.sortedVMs()
	f.Notes = inv.notes
	slices.SortFunc(f.Clusters, func(a, b numa.Cluster) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(f.Hosts, func(a, b numa.Host) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return f, nil
}

// sortedVMs returns the VMs by name. It sorts pointers: a VM has 1 KB.
func (inv *inventory) sortedVMs() []numa.VM {
	order := make([]*numa.VM, len(inv.vms))
	for i := range inv.vms {
		order[i] = &inv.vms[i].VM
	}
	slices.SortFunc(order, func(a, b *numa.VM) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	vms := make([]numa.VM, len(order))
	for i, v := range order {
		vms[i] = *v
	}
	return vms
}
