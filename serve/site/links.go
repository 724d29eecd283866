package site

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/serve/held"
)

// localLink matches a link to a page of the site, as templates and charts write it.
var localLink = pattern.Of(` href="(/[^"#]*)`)

// keepFleet adds the page's fleet to every link without one, if there are several fleets: a VM of one vCenter must not be looked up
// in another.
func (x *request) keepFleet(page []byte, fleets int) []byte {
	if fleets < 2 || x.fleet == nil {
		return page
	}
	name := []byte("fleet=" + url.QueryEscape(x.fleet.Name))
	return localLink.Regexp().ReplaceAllFunc(page, func(link []byte) []byte {
		if bytes.Contains(link, []byte("fleet=")) || bytes.Contains(link, []byte(`"/static/`)) || bytes.HasPrefix(link, []byte(` href="//`)) {
			return link
		}
		between := []byte("?")
		if bytes.ContainsRune(link, '?') {
			between = []byte("&amp;")
		}
		return slices.Concat(link, between, name)
	})
}

// withFleet adds the page's fleet to an address.
func (x *request) withFleet(address string) string {
	name := x.query.Get("fleet")
	if name == "" {
		return address
	}
	between := "?"
	if strings.Contains(address, "?") {
		between = "&"
	}
	return address + between + "fleet=" + url.QueryEscape(name)
}

// switches returns links to the fleets; none if there is only one.
func (x *request) switches(fleets []*held.Fleet) (out []entry) {
	if len(fleets) < 2 {
		return nil
	}
	path := "/"
	if slices.ContainsFunc(pages(), func(p *screen) bool { return p.nav != linked && p.path == x.page.path }) {
		path = x.page.path
	}
	for _, f := range fleets {
		out = append(out, entry{path + "?" + url.Values{"fleet": {f.Name}}.Encode(), f.Name, f.Name == x.fleet.Name})
	}
	return out
}

// onlyPlain matches names that need no quotes in a command, and are neither patterns nor lists.
var onlyPlain = pattern.Of(`^[\pL\pN][\pL\pN_.:/-]*$`)

// nameOf returns the name of a VM in a command: its name if that is plain and unique, else its ID.
func (x *request) nameOf(v *numa.VM) string {
	if onlyPlain.MatchString(v.Name) && len(x.fleet.Result.Fleet.FindVMs(v.Name)) == 1 {
		return v.Name
	}
	return v.ID
}

// furtherOf returns the links from a VM's page.
func (x *request) furtherOf(found []*numa.VM) []link {
	if len(found) != 1 {
		return nil
	}
	v := found[0]
	out := []link{{"What if …", "/what-if?" + x.today(v).Encode()}}
	if h := hostOf(x.fleet.Result.Fleet, v); h != nil {
		out = append(out, link{"Host " + texttab.Line(h.Name), hostLink(h.ID)})
	}
	return out
}

// furtherOfHost returns the links from a host's page.
func (x *request) furtherOfHost(h *numa.Host) []link {
	name := texttab.Line(h.Name)
	out := []link{{"Simulate a day", "/simulate?" + url.Values{"part": {name}}.Encode()}, {"What if it failed?", "/what-if?" + url.Values{"lose-host": {h.ID}}.Encode()}}
	if c := x.fleet.Result.Fleet.ClusterName(h.Cluster); c != "" {
		out = append(out, link{"Cluster " + texttab.Line(c), "/cluster?" + url.Values{"cluster": {c}}.Encode()})
	}
	return out
}

// hostOf returns the host of a VM; nil for none.
func hostOf(f *numa.Fleet, v *numa.VM) *numa.Host {
	if i := slices.IndexFunc(f.Hosts, func(h numa.Host) bool { return h.ID == v.Host }); v.Host != "" && i >= 0 {
		return &f.Hosts[i]
	}
	return nil
}
