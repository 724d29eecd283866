package published

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/vnuma"
)

// A Comparison is a case beside the prediction.
type Comparison struct {
	Case   *Case
	Fields []Field  // the comparable fields, by name
	Open   []string // why each other field could not be compared
}

// A Field is one observed field beside the prediction.
type Field struct {
	Name                string
	Predicted, Observed string
	Agrees              bool
	Reason              string // of a miss: the conflict of sources behind it, if one explains it
}

// Comparable reports whether at least one field could be compared.
func (c *Comparison) Comparable() bool { return len(c.Fields) > 0 }

// Reproduced reports whether every comparable field agrees.
func (c *Comparison) Reproduced() bool {
	return c.Comparable() && !slices.ContainsFunc(c.Fields, func(f Field) bool { return !f.Agrees })
}

// Compare predicts the case and compares every field it states. ch are the
// choices where sources disagree; a miss that another choice would turn into
// agreement names that choice.
func Compare(c *Case, ch vnuma.Choices) *Comparison {
	out := &Comparison{Case: c}
	names := make([]string, 0, len(c.Observed))
	for name := range c.Observed {
		names = append(names, name)
	}
	slices.Sort(names)
	vs, err := c.variants(ch)
	for _, name := range names {
		if host, ok := hostFields[name]; ok {
			out.add(c, name, host, nil)
			continue
		}
		if err != nil {
			out.open(name, err)
			continue
		}
		predict, ok := fieldOf[name]
		if !ok {
			out.open(name, fmt.Errorf("a measurement, not a topology: not predicted"))
			continue
		}
		out.add(c, name, predict, vs)
	}
	for i := range out.Fields {
		if f := &out.Fields[i]; !f.Agrees {
			f.Reason = reason(c, f, ch)
		}
	}
	return out
}

func (c *Comparison) open(name string, why error) {
	c.Open = append(c.Open, fmt.Sprintf("%s: %v", name, why))
}

// add compares one field over all variants.
func (c *Comparison) add(cs *Case, name string, p predictor, vs []variant) {
	predicted, agrees, err := p.over(cs, name, vs)
	if err != nil {
		c.open(name, err)
		return
	}
	c.Fields = append(c.Fields, Field{Name: name, Predicted: predicted, Observed: show(cs.Observed[name]), Agrees: agrees})
}

// over returns the prediction when all variants give the same one.
func (p predictor) over(c *Case, name string, vs []variant) (predicted string, agrees bool, err error) {
	if vs == nil {
		return p(c, nil, c.Observed[name])
	}
	for i := range vs {
		got, ok, err := p(c, &vs[i], c.Observed[name])
		if err != nil {
			return "", false, err
		}
		if i > 0 && got != predicted {
			return "", false, fmt.Errorf("depends on what the case does not state: %s or %s", predicted, got)
		}
		predicted, agrees = got, ok
	}
	return predicted, agrees, nil
}

// reason names the choice of section F that would turn the miss into agreement.
func reason(c *Case, f *Field, ch vnuma.Choices) string {
	for _, choice := range vnuma.ChoiceList {
		other := ch
		*choice.Field(&other) = !*choice.Field(&other)
		vs, err := c.variants(other)
		if err != nil {
			continue
		}
		if _, ok, err := fieldOf[f.Name].over(c, f.Name, vs); err == nil && ok {
			return fmt.Sprintf("%s, sources disagree: %s; the case follows: %s", choice.ID, choice.Default, choice.Alternative)
		}
	}
	return ""
}

// A predictor predicts one field for a variant and says whether the observation
// agrees. The error says why the two cannot be compared.
type predictor func(c *Case, v *variant, observed any) (predicted string, agrees bool, err error)

func (v *variant) layout() vnuma.Layout {
	l, _, _, err := vnuma.Explain(&v.vm, &v.host, &v.c)
	if err != nil {
		panic("published: a variant is complete: " + err.Error())
	}
	return l
}

// of returns a predictor that compares a plain value of the layout.
func of(value func(*vnuma.Layout) any) predictor {
	return func(_ *Case, v *variant, observed any) (string, bool, error) {
		l := v.layout()
		got := show(value(&l))
		return got, got == show(observed), nil
	}
}

func show(v any) string {
	switch x := v.(type) {
	case []int:
		parts := make([]string, len(x))
		for i, n := range x {
			parts[i] = strconv.Itoa(n)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// fieldOf are the fields that the prediction answers.
var fieldOf map[string]predictor

func init() {
	vpds := of(func(l *vnuma.Layout) any { return l.VPDs.Len() })
	perPPD := of(func(l *vnuma.Layout) any { return l.PPDs.Sizes() })
	fieldOf = map[string]predictor{
		"numa_nodes_in_guest":           vpds,
		"vpd_count":                     vpds,
		"ppd_count":                     of(func(l *vnuma.Layout) any { return l.PPDs.Len() }),
		"vcpus_per_node":                of(func(l *vnuma.Layout) any { return l.VPDs.Sizes() }),
		"vcpus_per_ppd":                 perPPD,
		"vmm_worlds":                    perPPD, // one VMM world a vCPU, per client (C-17)
		"wide":                          of(func(l *vnuma.Layout) any { return l.Wide() }),
		"numa_managed":                  of(func(l *vnuma.Layout) any { return l.Managed }),
		"vnuma_exposed":                 of(func(l *vnuma.Layout) any { return l.GuestSeesNUMA() }),
		"guest_sockets":                 guestSockets,
		"home_nodes":                    homeNodes,
		"autosize_max_per_virtual_node": of(func(l *vnuma.Layout) any { return l.Stored.Size }),
		"autosize_cookie":               of(func(l *vnuma.Layout) any { return l.Stored.Cookie }),
		"suggested_cores_per_socket":    suggested,
		"memory_placement":              of(func(l *vnuma.Layout) any { return l.Memory.Placement }),
		"memory_per_node_gb":            slicesGB,
		"gst_nd_mb":                     touched,
		"local_mem_gb":                  local(numa.GiB),
		"local_mem_kb":                  local(numa.KiB),
		"remote_mem_gb":                 remote(numa.GiB),
		"remote_mem_kb":                 remote(numa.KiB),
		"n_pct_local":                   locality,
		"vcpu_to_vpd":                   vcpuToVPD,
		"performance_penalty":           of(func(l *vnuma.Layout) any { return l.Memory.Placement != vnuma.Local }),
	}
}

// guestSockets needs the cores per socket, which the other fields may not.
func guestSockets(c *Case, v *variant, observed any) (string, bool, error) {
	l := v.layout()
	got := show(l.VSockets.Len())
	return got, got == show(observed), nil
}

// homeNodes compares how many nodes the VM is placed on. Which ones is a matter
// of load at that moment, not of topology.
func homeNodes(_ *Case, v *variant, observed any) (string, bool, error) {
	l := v.layout()
	return fmt.Sprintf("%d of %d nodes", l.HomeNodes, l.Nodes), l.HomeNodes == len(list(observed)), nil
}

var suggestion = regexp.MustCompile(`cpuid\.coresPerSocket = (\d+) is suggested`)

func suggested(_ *Case, v *variant, observed any) (string, bool, error) {
	l := v.layout()
	g, _, _ := vnuma.NewGuest(&v.vm)  // complete by construction
	m, _ := vnuma.NewMachine(&v.host) // complete by construction
	for _, line := range vnuma.LogLines(&l, &g, &m) {
		if s := suggestion.FindStringSubmatch(line); s != nil {
			return s[1], s[1] == show(observed), nil
		}
	}
	return "none", false, nil
}

// slicesGB compares the memory of each virtual node in whole GB.
func slicesGB(_ *Case, v *variant, observed any) (string, bool, error) {
	if !v.vm.Memory.Known() {
		return "", false, fmt.Errorf("the memory of the VM is not stated")
	}
	l := v.layout()
	var got []int
	for i := range l.VPDs.Len() {
		got = append(got, int((l.Slice(i)+numa.GiB/2)/numa.GiB))
	}
	return show(got), show(got) == show(observed), nil
}

// Tolerances. A node holds a little more than the VM's memory (overhead), and the
// kernel keeps a little of each node (rules.md A-5): the published pairs differ by
// up to 0.3 % (B-22) and 3 % (B-17).
const (
	sliceTolerance = 0.01
	nodeTolerance  = 0.03
)

// touched compares GST_NDx with the slices, when the guest had touched its memory.
func touched(_ *Case, v *variant, observed any) (string, bool, error) {
	if !v.vm.Memory.Known() {
		return "", false, fmt.Errorf("the memory of the VM is not stated")
	}
	l := v.layout()
	sum := 0.0
	for _, mb := range list(observed) {
		sum += number(mb)
	}
	all := float64(v.vm.Memory.Value / numa.MiB)
	if sum < all*(1-sliceTolerance) {
		return "", false, fmt.Errorf("%.0f of %.0f MB were touched: what is resident then is not predicted", sum, all)
	}
	var got []int
	agrees := len(list(observed)) == l.VPDs.Len()
	for i := range l.VPDs.Len() {
		want := float64(l.Slice(i) / numa.MiB)
		got = append(got, int(want))
		agrees = agrees && abs(number(list(observed)[i])-want) <= want*sliceTolerance
	}
	return show(got), agrees, nil
}

// local compares local memory: what else the node holds is not stated, so the
// prediction for an empty node is the most there can be.
func local(unit numa.Bytes) predictor {
	return func(_ *Case, v *variant, observed any) (string, bool, error) {
		l := v.layout()
		if !l.Memory.Known {
			return "", false, fmt.Errorf("the memory of the VM or of a node is not stated")
		}
		most := float64(l.Memory.Local / unit)
		got := sum(observed)
		return fmt.Sprintf("at most %.0f", most), got <= most*(1+nodeTolerance), nil
	}
}

// remote is the counterpart of local: the least there can be.
func remote(unit numa.Bytes) predictor {
	return func(_ *Case, v *variant, observed any) (string, bool, error) {
		l := v.layout()
		if !l.Memory.Known {
			return "", false, fmt.Errorf("the memory of the VM or of a node is not stated")
		}
		least := float64(l.Memory.Remote / unit)
		got := sum(observed)
		return fmt.Sprintf("at least %.0f", least), got >= least*(1-nodeTolerance) && (got == 0) == (least == 0), nil
	}
}

func locality(_ *Case, v *variant, observed any) (string, bool, error) {
	l := v.layout()
	share, ok := l.Memory.Locality()
	if !ok {
		return "", false, fmt.Errorf("the memory of the VM or of a node is not stated")
	}
	got := strconv.Itoa(int(share * 100)) // ESXi truncates (formats.md §0.5)
	return got, got == show(observed), nil
}

var vcpuRange = regexp.MustCompile(`vCPU(\d+)-(\d+) VPD(\d+)/PPD(\d+)`)

func vcpuToVPD(_ *Case, v *variant, observed any) (string, bool, error) {
	l := v.layout()
	agrees := true
	ranges := vcpuRange.FindAllStringSubmatch(text(observed), -1)
	if len(ranges) == 0 {
		return "", false, fmt.Errorf("found %q, want vCPUa-b VPDc/PPDd", text(observed))
	}
	var got []string
	for i := range l.VPDs.Len() {
		first, n := l.VPDs.Group(i)
		a, b := l.Carriers(i)
		s := fmt.Sprintf("vCPU%d-%d VPD%d/PPD%d", first, first+n-1, i, a)
		got = append(got, s)
		agrees = agrees && a == b && i < len(ranges) && ranges[i][0] == s
	}
	return strings.Join(got, ", "), agrees && len(got) == len(ranges), nil
}

// hostFields are the fields about the host itself (rules.md ).
var hostFields = map[string]predictor{
	"host_numa_nodes":                     hostNodes("numa_nodes_per_socket"),
	"host_numa_nodes_without_cod":         hostNodes(""),
	"host_packages":                       hostCount(func(c *Case) int { return intOr(c.Host["sockets"], 0) }),
	"memory_per_host_node_gb":             hostMemory("numa_nodes_per_socket", numa.GiB),
	"memory_per_host_node_mb_without_cod": hostMemory("", numa.MiB),
}

func hostNodes(key string) predictor {
	return hostCount(func(c *Case) int { return intOr(c.Host["sockets"], 0) * intOr(c.Host[key], 1) })
}

func hostCount(count func(*Case) int) predictor {
	return func(c *Case, _ *variant, observed any) (string, bool, error) {
		n := count(c)
		if n == 0 {
			return "", false, fmt.Errorf("the sockets of the host are not stated")
		}
		return show(n), show(n) == show(observed), nil
	}
}

func hostMemory(key string, unit numa.Bytes) predictor {
	return func(c *Case, _ *variant, observed any) (string, bool, error) {
		nodes := intOr(c.Host["sockets"], 0) * intOr(c.Host[key], 1)
		if nodes == 0 || number(c.Host["mem_gb"]) == 0 {
			return "", false, fmt.Errorf("sockets or memory of the host are not stated")
		}
		got := number(c.Host["mem_gb"]) * float64(numa.GiB/unit) / float64(nodes)
		return show(got), abs(number(observed)-got) <= got*nodeTolerance, nil
	}
}

func sum(v any) float64 {
	if l := list(v); l != nil {
		total := 0.0
		for _, x := range l {
			total += number(x)
		}
		return total
	}
	return number(v)
}

func abs(x float64) float64 { return max(x, -x) }
