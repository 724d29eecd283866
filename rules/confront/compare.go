package confront

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// compare sets Fields and Open from the observation.
func (r *Result) compare(v *numa.VM) {
	r.Fields = fieldsOf(r.Observation, &r.Layout, &r.Open)
	if !r.Observation.By.InGuest() {
		return
	}
	if n, ok := Processors(r.Observation); ok && n != int(r.Guest.VCPUs) {
		r.Fields = append(r.Fields, Field{"processors", strconv.Itoa(int(r.Guest.VCPUs)), strconv.Itoa(n), false, r.Observation.At})
	}
}

// Processors returns the number of processors that the guest shows; false if unknown.
func Processors(o *numa.Observation) (int, bool) {
	for _, f := range []numa.Fact[[]int]{o.VPDs, o.Sockets} {
		if f.Known() && len(f.Value) > 0 {
			return len(f.Value), true
		}
	}
	return 0, false
}

// Names of fields that other packages use.
const (
	fieldPPDs   = "NUMA clients (PPDs)"
	fieldSlices = "memory slices"

	FieldVPDs     = "virtual nodes (VPDs)" // used by homenode measure, like the next two
	FieldSockets  = "virtual sockets"
	FieldTogether = "vCPUs by node of the host"
	FieldHomes    = "home nodes" // used by N030
)

// Fields compares l with every quantity in o, regardless of the settings and the host of the VM. open lists the quantities that are
// not compared, with the reason.
func Fields(o *numa.Observation, l *vnuma.Layout) (fields []Field, open []string) {
	return fieldsOf(o, l, &open), open
}

// fieldsOf compares l with every quantity in o. If open is not nil, it gets the quantities that are not compared.
func fieldsOf(o *numa.Observation, l *vnuma.Layout, open *[]string) []Field {
	var out []Field
	add := func(name, at string, predicted vnuma.Split, groups numa.Fact[[]int], count numa.Fact[int]) {
		f, ok := compareGroups(predicted, groups, count)
		if ok {
			f.Name, f.At = name, at
			out = append(out, f)
		}
	}
	at := func(where string) string { return join(o.At, where) }
	add(FieldVPDs, at(o.VPDs.Origin.Where), l.VPDs, o.VPDs, o.VPDCount)
	clients, listed := compareClients(o, l)
	if !listed { // a list of clients is more detailed than their number
		add(fieldPPDs, at(o.PPDs.Origin.Where), l.PPDs, o.PPDs, o.PPDCount)
	}
	add(FieldSockets, at(o.Sockets.Origin.Where), l.VSockets, o.Sockets, o.SocketCount)
	if listed {
		out = append(out, clients)
	}
	if f, ok := compareTogether(o, l, open); ok {
		out = append(out, f)
	}
	if f, ok := compareHomes(o, l, open); ok {
		out = append(out, f)
	}
	if f, ok := compareSlices(o, l); ok {
		out = append(out, f)
	} else if o.Slices.Known() && o.By.InGuest() && open != nil {
		*open = append(*open, "memory of the virtual nodes: a guest shows what its kernel left of it")
	}
	return out
}

// join returns the place of a fact: relative to at, if that is only a file.
func join(at, where string) string {
	if where == "" || strings.HasPrefix(where, at) {
		return cmp.Or(where, at)
	}
	return at
}

// compareGroups compares a division of the vCPUs. A log of 6.0 names one PPD per vCPU although its summary counts two, with CPU hot
// add: then the count is used.
func compareGroups(s vnuma.Split, groups numa.Fact[[]int], count numa.Fact[int]) (Field, bool) {
	observed := sizesOf(groups.Value)
	switch {
	case len(groups.Value) > 0 && (!count.Known() || count.Value == len(observed)):
		f := Field{Predicted: SizesText(s.Sizes()), Observed: SizesText(observed)}
		f.Agrees = slices.Equal(canonical(groupsOf(s)), canonical(groups.Value))
		if !f.Agrees && f.Predicted == f.Observed {
			f.Observed += " in another order"
		}
		return f, true
	case count.Known():
		return Field{Predicted: strconv.Itoa(s.Len()), Observed: strconv.Itoa(count.Value), Agrees: s.Len() == count.Value}, true
	}
	return Field{}, false
}

// groupsOf returns the group of each vCPU.
func groupsOf(s vnuma.Split) []int {
	out := make([]int, s.Sum())
	for i := range out {
		out[i] = s.Of(i)
	}
	return out
}

// canonical numbers groups in the order of their first member: a guest's node numbers may have gaps.
func canonical(groups []int) []int {
	number := map[int]int{}
	out := make([]int, len(groups))
	for i, g := range groups {
		n, ok := number[g]
		if !ok {
			n = len(number)
			number[g] = n
		}
		out[i] = n
	}
	return out
}

// sizesOf returns the number of vCPUs of each group, in order of first members.
func sizesOf(groups []int) []int {
	var out []int
	for _, g := range canonical(groups) {
		if g == len(out) {
			out = append(out, 0)
		}
		out[g]++
	}
	return out
}

// SizesText formats the number of vCPUs of groups: "1 × 16", "2 × 16" or "16 + 14".
func SizesText(sizes []int) string {
	if len(sizes) == 1 {
		return fmt.Sprintf("1 × %d", sizes[0])
	}
	return vnuma.SizesText(sizes)
}

// compareClients compares the clients in the scheduler's list, which contains their number of vCPUs, but not which ones.
func compareClients(o *numa.Observation, l *vnuma.Layout) (Field, bool) {
	if !o.Clients.Known() || len(o.Clients.Value) == 0 {
		return Field{}, false
	}
	observed, predicted := make([]int, 0, len(o.Clients.Value)), l.PPDs.Sizes()
	managed := false // a client without a home node is not managed (C-12)
	for _, c := range o.Clients.Value {
		managed = managed || c.Home >= 0
		if c.VCPUs > 0 {
			observed = append(observed, c.VCPUs)
		}
	}
	if len(observed) == 0 { // the memory screen of esxtop shows home nodes, not clients
		return Field{}, false
	}
	f := Field{Name: "NUMA clients", Predicted: SizesText(predicted), Observed: SizesText(observed), At: join(o.At, o.Clients.Origin.Where)}
	a, b := slices.Sorted(slices.Values(observed)), slices.Sorted(slices.Values(predicted))
	f.Agrees = slices.Equal(a, b) && l.Managed
	const unmanaged = "not managed by the NUMA scheduler"
	if !l.Managed {
		f.Predicted = unmanaged
	}
	if !managed {
		f.Observed, f.Agrees = unmanaged, !l.Managed
	}
	return f, true
}

// compareTogether compares the vCPUs that run on the same host node with the clients, which are placed as a whole: a client in two
// groups contradicts the prediction. Clients can share a node, so one group of several whole clients proves nothing.
func compareTogether(o *numa.Observation, l *vnuma.Layout, open *[]string) (Field, bool) {
	seen := o.Together.Value
	why := ""
	groupOf, clientOf := map[int]int{}, map[int]int{}
	split, shared := false, false
	switch {
	case len(seen) == 0:
		return Field{}, false
	case !l.Managed:
		why = "the NUMA scheduler does not manage the VM: its vCPUs run on any node"
	case len(seen) != l.PPDs.Sum():
		why = fmt.Sprintf("%d vCPUs are seen, %d predicted", len(seen), l.PPDs.Sum())
	default:
		for i, group := range seen {
			if group < 0 {
				continue
			}
			client := l.PPDs.Of(i)
			other, known := groupOf[client]
			split = split || known && other != group
			other, known = clientOf[group]
			shared = shared || known && other != client
			groupOf[client], clientOf[group] = group, client
		}
		if !split && (shared || len(groupOf) < l.PPDs.Len()) {
			why = fmt.Sprintf("%s seen of %d clients, each of them whole; clients can share a node", words.Verb(len(clientOf), "group is", "groups are"), l.PPDs.Len())
		}
	}
	if why != "" {
		if open != nil {
			*open = append(*open, FieldTogether+": "+why)
		}
		return Field{}, false
	}
	told := slices.DeleteFunc(slices.Clone(seen), func(g int) bool { return g < 0 })
	f := Field{FieldTogether, SizesText(l.PPDs.Sizes()), SizesText(sizesOf(told)), !split, join(o.At, o.Together.Origin.Where)}
	if n := len(seen) - len(told); n > 0 {
		f.Observed += fmt.Sprintf(", %d not told", n)
	}
	if split && f.Predicted == f.Observed {
		f.Observed += " in another order"
	}
	return f, true
}

// compareHomes compares the number of home nodes, which is 0 for a VM that the NUMA scheduler does not manage. Clients of a VM can
// share a home node, so fewer than predicted prove nothing.
func compareHomes(o *numa.Observation, l *vnuma.Layout, open *[]string) (Field, bool) {
	n := len(o.Homes.Value)
	if n == 0 && l.Nodes < 2 {
		return Field{}, false // a host of one node has no NUMA scheduling
	}
	if !o.Homes.Known() || len(o.Clients.Value) > 0 && (n == 0 || !l.Managed) { // reported by compareClients
		return Field{}, false
	}
	if n == 0 || !l.Managed {
		count := func(n int) string { return cmp.Or(strings.TrimLeft(strconv.Itoa(n), "0"), "none") }
		return Field{FieldHomes, count(l.HomeNodes), count(n), n == l.HomeNodes, join(o.At, o.Homes.Origin.Where)}, true
	}
	if n < l.HomeNodes {
		if open != nil {
			*open = append(*open, fmt.Sprintf("home nodes: %d are seen, %d predicted; clients can share one", n, l.HomeNodes))
		}
		return Field{}, false
	}
	return Field{FieldHomes, strconv.Itoa(l.HomeNodes), strconv.Itoa(n), n == l.HomeNodes || n > l.HomeNodes && l.Memory.Joins(), join(o.At, o.Homes.Origin.Where)}, true
}

// compareSlices compares the memory of the virtual nodes with a log of the host.
func compareSlices(o *numa.Observation, l *vnuma.Layout) (Field, bool) {
	if !o.Slices.Known() || o.By.InGuest() || l.Slice(0) == 0 {
		return Field{}, false
	}
	predicted := make([]numa.Bytes, l.VPDs.Len())
	for i := range predicted {
		predicted[i] = l.Slice(i)
	}
	return Field{fieldSlices, bytesText(predicted), bytesText(o.Slices.Value), slices.EqualFunc(predicted, o.Slices.Value, near), join(o.At, o.Slices.Origin.Where)}, true
}

// near reports whether two slices are equal except for the rounding of ESXi, which is not documented: up to 1/256.
func near(a, b numa.Bytes) bool { return max(a, b)-min(a, b) <= max(a, b)/256 }

func bytesText(list []numa.Bytes) string {
	if len(list) > 0 && slices.Min(list) == slices.Max(list) {
		return fmt.Sprintf("%d × %s", len(list), list[0])
	}
	return strings.Join(words.Texts(list, func(b numa.Bytes) string { return b.String() }), " + ")
}
