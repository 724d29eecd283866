// Package anonymise replaces the names in a fleet by pseudonyms, so that the fleet can be shared. A name has the
// same pseudonym everywhere, also inside other text. A Key restores the names.
//
// Data that determines the NUMA topology is unchanged: sizes, releases, settings, processor and system models,
// guest systems. The sort order of names and the relation between the short and the full name of a host are
// preserved too. In free text, such as notes and places, only names, addresses, paths and quotations are replaced;
// columns of RVTools and properties of the API are kept, because they document the source of a fact.
package anonymise

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"example.org/homenode/numa"
)

// The kinds of pseudonyms; each is followed by a tag, a dash and a number.
const (
	kindCluster = "cluster"
	kindHost    = "host"
	kindDomain  = "domain"
	kindVM      = "machine"
	kindFolder  = "folder"
	kindTag     = "label"
	kindUUID    = "identity"
	kindSource  = "source"
	kindAddress = "address"
	kindPath    = "place"
	kindText    = "phrase"
)

// kinds are ordered by priority: a name that has several kinds gets a pseudonym of the first.
var kinds = []string{kindVM, kindHost, kindCluster, kindDomain, kindFolder, kindTag, kindUUID, kindSource, kindAddress, kindPath, kindText}

// Fleet returns a copy of f with pseudonyms, and their key. f is not modified. The result is deterministic. public
// reports the names of public products: these are kept, because findings depend on them; nil keeps none.
func Fleet(f *numa.Fleet, public func(product string) bool) (*numa.Fleet, *Key) {
	p := Pseudonyms{Public: public}
	out := p.Fleet(f)
	return out, p.Key()
}

// Pseudonyms assigns pseudonyms to names in the order in which they occur, for data that arrives over time. The
// first fleet gets the same pseudonyms as with the function Fleet. The zero value is ready to use.
type Pseudonyms struct {
	n      *namer
	Public func(product string) bool // the products whose names stay; nil for none
}

// Fleet returns a copy of f with pseudonyms. f is not modified.
func (p *Pseudonyms) Fleet(f *numa.Fleet) *numa.Fleet {
	if p.n == nil {
		p.n = newNamer(freeTag(f))
	}
	if p.Public != nil {
		p.n.spare(f, p.Public)
	}
	p.n.learn(f)
	out := walk(reflect.ValueOf(*f), p.n.replace).Interface().(numa.Fleet)
	out.VCenter = ""
	for i := range out.VMs { // walk does not change the values of facts
		out.VMs[i].Product.Value = p.n.whole(kindTag, out.VMs[i].Product.Value)
	}
	return &out
}

// VM returns the pseudonym for the name of a VM. The VM may be in none of the fleets.
func (p *Pseudonyms) VM(name string) string { return p.namer().know(kindVM, name) }

// Source returns the pseudonym of a vCenter.
func (p *Pseudonyms) Source(name string) string { return p.namer().know(kindSource, name) }

// Host returns the pseudonym for the name or the ID of a host.
func (p *Pseudonyms) Host(name string) string {
	label, domain := cutHost(name)
	out := p.namer().know(kindHost, label)
	if domain != "" {
		return out + "." + p.n.know(kindDomain, domain)
	}
	return out + name[len(label):]
}

// Key returns the key to the pseudonyms assigned so far, and Len their number.
func (p *Pseudonyms) Key() *Key { return p.namer().key() }

// Len returns the number of names that have a pseudonym.
func (p *Pseudonyms) Len() int { return len(p.namer().exact) }

func (p *Pseudonyms) namer() *namer {
	if p.n == nil {
		p.n = newNamer("")
	}
	return p.n
}

// names lists the names of the objects of the fleet with their kinds. The name of a host is cut at its first dot,
// because other texts use the short form.
func names(f *numa.Fleet) [][2]string {
	var out [][2]string
	add := func(kind string, names ...string) {
		for _, name := range names {
			if name != "" {
				out = append(out, [2]string{kind, name})
			}
		}
	}
	for i := range f.Clusters {
		add(kindCluster, f.Clusters[i].Name, f.Clusters[i].ID)
		for _, g := range f.Clusters[i].Apart {
			add(kindTag, g.Name)
			add(kindVM, g.VMs...)
		}
	}
	addHost := func(name string) {
		label, domain := cutHost(name)
		add(kindHost, label)
		add(kindDomain, domain)
	}
	for i := range f.Hosts {
		addHost(f.Hosts[i].Name)
		addHost(f.Hosts[i].ID)
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		add(kindVM, v.Name, v.ID)
		add(kindFolder, strings.Split(v.Folder, "/")...)
		add(kindTag, v.Tags...)
		add(kindTag, v.Product.Value)
		for _, a := range v.Attributes {
			add(kindTag, a.Name, a.Value)
		}
		add(kindUUID, v.UUID)
		for j := range v.Observed {
			addHost(v.Observed[j].Host)
		}
	}
	add(kindSource, f.Source)
	add(kindSource, places(f)...)
	slices.SortStableFunc(out, func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a[0]), slices.Index(kinds, b[0])), cmp.Compare(a[1], b[1]))
	})
	return out
}

// places returns the prefixes of the places and IDs of objects: the name of an export, the datacenter of a cluster,
// the short name of one of several sources.
func places(f *numa.Fleet) []string {
	base, _, _ := strings.Cut(f.Source, " (")
	base = base[strings.LastIndexAny(base, `/\`)+1:]
	found := map[string]bool{}
	object := func(id, at string) {
		if before, _, ok := strings.Cut(id, "/"); ok {
			found[before] = true
		}
		if base != "" && strings.HasPrefix(at, base) {
			found[base] = true
		}
	}
	for i := range f.Clusters {
		object(f.Clusters[i].ID, f.Clusters[i].At)
	}
	for i := range f.Hosts {
		object(f.Hosts[i].ID, f.Hosts[i].At)
	}
	for i := range f.VMs {
		object(f.VMs[i].ID, f.VMs[i].At)
	}
	for i := range f.Notes {
		object("", f.Notes[i].At)
	}
	return slices.Sorted(maps.Keys(found))
}

// cutHost splits the name of a host into its first label and the rest. An address is not split.
func cutHost(name string) (label, domain string) {
	if addressForm.FindString(name) == name {
		return name, ""
	}
	label, domain, _ = strings.Cut(name, ".")
	if label == "" {
		return name, ""
	}
	return label, domain
}

// A site identifies a field of a type of package numa that contains a string.
type site struct{ owner, field string }

// keep lists the fields whose strings are not names, or affect the analysis. Values of facts are kept too: see
// walk.
var keep = map[site]bool{
	{"Fleet", "Collected"}: true, {"Setting", "Key"}: true,
	{"Observation", "By"}: true, {"Observation", "Time"}: true, {"Observation", "Start"}: true,
	{"Fleet", "Hypervisor"}: true, {"Bound", "Mode"}: true, {"Helper", "What"}: true,
}

// named lists the fields that contain exactly one name, and the kind of each.
var named = map[site]string{
	{"Cluster", "ID"}: kindCluster, {"Cluster", "Name"}: kindCluster, {"Host", "Cluster"}: kindCluster, {"VM", "Cluster"}: kindCluster,
	{"VM", "ID"}: kindVM, {"VM", "Name"}: kindVM, {"VM", "UUID"}: kindUUID, {"Fleet", "Source"}: kindSource,
	{"VM", "Tags"}: kindTag, {"Attribute", "Name"}: kindTag, {"Attribute", "Value"}: kindTag,
	{"Group", "Name"}: kindTag, {"Group", "VMs"}: kindVM,
}

// replace returns the replacement for the string s at a site.
func (n *namer) replace(at site, s string) string {
	if kind := named[at]; kind != "" {
		return n.whole(kind, s)
	}
	switch at {
	case site{"Host", "ID"}, site{"Host", "Name"}, site{"VM", "Host"}, site{"Observation", "Host"}:
		return (&Pseudonyms{n: n}).Host(s)
	case site{"VM", "Folder"}:
		parts := strings.Split(s, "/")
		for i, p := range parts {
			parts[i] = n.whole(kindFolder, p)
		}
		return strings.Join(parts, "/")
	case site{"Setting", "Value"}:
		// Such as sched.swap.derivedName, which contains the path of the VM.
		if strings.ContainsAny(s, `/\`) || uuidForm.MatchString(s) {
			return n.whole(kindPath, s)
		}
		return s
	}
	if keep[at] || at == (site{"Origin", "Where"}) && ownOrigin.MatchString(s) {
		return s
	}
	return n.text(s)
}

// walk copies v and passes each string to replace. The value of a fact is kept, because it describes the machine
// and is not a name; the settings inside a fact are walked.
func walk(v reflect.Value, replace func(site, string) string) reflect.Value {
	return (&walker{replace}).copy(v, site{})
}

type walker struct{ replace func(site, string) string }

func (w *walker) copy(v reflect.Value, at site) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(v.String())
		if v.Len() > 0 {
			out.SetString(w.replace(at, v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(w.copy(v.Elem(), at))
		}
	case reflect.Struct:
		owner := v.Type().Name()
		for i := range v.NumField() {
			field := v.Type().Field(i).Name
			if field == "Value" && strings.HasPrefix(owner, "Fact[") && isBare(v.Field(i).Type()) {
				out.Field(i).Set(v.Field(i))
				continue
			}
			out.Field(i).Set(w.copy(v.Field(i), site{owner, field}))
		}
	case reflect.Slice:
		if v.IsNil() {
			return out
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(w.copy(v.Index(i), at))
		}
	default:
		out.Set(v)
	}
	return out
}

// isBare reports whether a type is a plain value or a list of them.
func isBare(t reflect.Type) bool {
	for t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.Kind() != reflect.Struct
}
