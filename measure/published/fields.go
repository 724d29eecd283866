package published

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// fieldOf are the fields that the prediction covers.
var fieldOf map[string]predictor

func init() {
	vpds := whole(func(l *vnuma.Layout) int { return l.VPDs.Len() })
	ppds := whole(func(l *vnuma.Layout) int { return l.PPDs.Len() })
	sockets := whole(func(l *vnuma.Layout) int { return l.VSockets.Len() })
	perVPD := sizes(func(l *vnuma.Layout) []int { return l.VPDs.Sizes() })
	perPPD := sizes(func(l *vnuma.Layout) []int { return l.PPDs.Sizes() })
	fieldOf = map[string]predictor{
		"numa_nodes_in_guest":           vpds,
		"virtual_nodes":                 vpds, // as counted in VMware's log
		"vpd_count":                     vpds,
		"ppd_count":                     ppds,
		"physical_domains":              ppds,
		"numa_clients":                  ppds,
		"vcpus_per_node":                perVPD,
		"vcpus_per_vpd":                 perVPD,
		"vcpus_per_ppd":                 perPPD,
		"vcpus_per_client":              perPPD,
		"vmm_worlds":                    perPPD, // one VMM world a vCPU, per client (C-17)
		"wide":                          is((*vnuma.Layout).Wide),
		"numa_managed":                  is(func(l *vnuma.Layout) bool { return l.Managed }),
		"vnuma_exposed":                 is((*vnuma.Layout).GuestSeesNUMA),
		"guest_sockets":                 sockets,
		"virtual_sockets":               sockets,
		"guest_cores_per_socket":        whole(func(l *vnuma.Layout) int { return l.CoresPerSocket }),
		"home_nodes":                    homeNodes,
		"autosize_max_per_virtual_node": stored(func(s vnuma.Stored) int { return s.Size }),
		"autosize_cookie":               stored(func(s vnuma.Stored) int { return s.Cookie }),
		"suggested_cores_per_socket":    suggested,
		"memory_placement":              memoryPlacement,
		"memory_per_node_gb":            slicesGB,
		"gst_nd_mb":                     touched,
		"local_mem_gb":                  local(numa.GiB),
		"local_mem_mb":                  local(numa.MiB),
		"local_mem_kb":                  local(numa.KiB),
		"remote_mem_gb":                 remote(numa.GiB),
		"remote_mem_kb":                 remote(numa.KiB),
		"n_pct_local":                   locality,
		"vcpu_to_vpd":                   vcpuToVPD,
		"performance_penalty":           is(func(l *vnuma.Layout) bool { return l.Memory.Placement != vnuma.Local }),
	}
}

func unlike(observed any, want string) error {
	return fmt.Errorf("found %s, want %s", show(observed), want)
}

// reading returns a predictor that parses the observation before it predicts; want describes
// the expected form.
func reading[T any](read func(any) (T, bool), want string, predict func(c *Case, v *variant, observed T) (string, bool, error)) predictor {
	return func(c *Case, v *variant, observed any) (string, bool, error) {
		value, ok := read(observed)
		if !ok {
			return "", false, unlike(observed, want)
		}
		return predict(c, v, value)
	}
}

// whole returns a predictor of a count of the layout.
func whole(value func(*vnuma.Layout) int) predictor {
	return reading(number, "a number", func(_ *Case, v *variant, n float64) (string, bool, error) {
		got := value(&v.layout)
		return strconv.Itoa(got), float64(got) == n, nil
	})
}

// is returns a predictor of a boolean of the layout.
func is(value func(*vnuma.Layout) bool) predictor {
	return reading(truth, "true or false", func(_ *Case, v *variant, b bool) (string, bool, error) {
		got := value(&v.layout)
		return strconv.FormatBool(got), got == b, nil
	})
}

// sizes returns a predictor of the vCPUs of each node or client.
func sizes(value func(*vnuma.Layout) []int) predictor {
	return reading(numbers, "a list of numbers", func(_ *Case, v *variant, n []float64) (string, bool, error) {
		got := show(value(&v.layout))
		return got, got == show(n), nil
	})
}

// stored returns a predictor of the VM's configuration afterwards. An event that writes nothing
// keeps the previous value: the one stated in the case, or written by the power-on before the
// vMotion.
func stored(value func(vnuma.Stored) int) predictor {
	return reading(number, "a number", func(_ *Case, v *variant, n float64) (string, bool, error) {
		s := v.layout.Stored
		switch {
		case s.Written:
		case v.guest.Stored > 0:
			s.Size = int(v.guest.Stored)
			cookie, _ := v.vm.Settings.Value.Lookup("numa.autosize.cookie")
			s.Cookie, _ = strconv.Atoi(cookie)
		case v.at.From != nil:
			there := vnuma.Predict(&v.guest, v.at.From, &vnuma.Case{Choices: v.at.Choices, Ran: true})
			s = there.Stored
		}
		if s == (vnuma.Stored{}) {
			return "", false, fmt.Errorf("this power-on stores nothing: what stands there is older")
		}
		got := value(s)
		return strconv.Itoa(got), float64(got) == n, nil
	})
}

// homeNodes compares the number of nodes on which the VM is placed. The choice of nodes depends
// on the load at that time, not on topology.
func homeNodes(_ *Case, v *variant, observed any) (string, bool, error) {
	n, ok := numbers(observed) // none for an unmanaged VM
	if !ok {
		return "", false, unlike(observed, "a list of nodes")
	}
	return fmt.Sprintf("%d of %d nodes", v.layout.HomeNodes, v.layout.Nodes), v.layout.HomeNodes == len(n), nil
}

func memoryPlacement(_ *Case, v *variant, observed any) (string, bool, error) {
	s, ok := observed.(string)
	if !ok {
		return "", false, unlike(observed, "a word")
	}
	got := v.layout.Memory.Placement.String()
	return got, strings.EqualFold(got, strings.TrimSpace(s)), nil
}

var suggestion = pattern.Of(`cpuid\.coresPerSocket = (\d+) is suggested`)

var suggested = reading(number, "a number", func(_ *Case, v *variant, n float64) (string, bool, error) {
	for _, line := range vnuma.LogLines(&v.layout, &v.guest, &v.machine) {
		if s := suggestion.FindStringSubmatch(line); s != nil {
			return s[1], s[1] == show(n), nil
		}
	}
	return "none", false, nil
})

// slicesGB compares the memory of each virtual node in whole GB.
func slicesGB(_ *Case, v *variant, observed any) (string, bool, error) {
	if !v.vm.Memory.Known() {
		return "", false, fmt.Errorf("the memory of the VM is not stated")
	}
	n, ok := numbers(observed)
	if !ok {
		return "", false, unlike(observed, "the GB of each node")
	}
	l := &v.layout
	var got []int
	for i := range l.VPDs.Len() {
		got = append(got, int((l.Slice(i)+numa.GiB/2)/numa.GiB))
	}
	return show(got), show(got) == show(n), nil
}

// Tolerances. A node has slightly more than the VM's memory (overhead), and the kernel keeps a
// little of each node (rule book A-5): the published pairs differ by up to 0.3 % (B-22) and 3 %
// (B-17).
const (
	sliceTolerance = 0.01
	nodeTolerance  = 0.03
)

var errNoMemory = errors.New("the memory of the VM or of a node is not stated")

// touched compares GST_NDx with the slices, if the guest had touched its memory.
func touched(_ *Case, v *variant, observed any) (string, bool, error) {
	l := &v.layout
	switch {
	case !l.Memory.Known:
		return "", false, errNoMemory
	case l.Memory.Remote > 0:
		return "", false, fmt.Errorf("the memory goes beyond a node: where is not predicted")
	}
	mb, ok := numbers(observed)
	if !ok {
		return "", false, unlike(observed, "the MB of each node")
	}
	sum := total(mb)
	all := float64(v.vm.Memory.Value / numa.MiB)
	if sum < all*(1-sliceTolerance) {
		return "", false, fmt.Errorf("what is resident before all is touched is not predicted: %.0f of %.0f MB", sum, all)
	}
	var got []int
	agrees := len(mb) == l.VPDs.Len()
	for i := range l.VPDs.Len() {
		want := float64(l.Slice(i) / numa.MiB)
		got = append(got, int(want))
		agrees = agrees && math.Abs(mb[i]-want) <= want*sliceTolerance
	}
	return show(got), agrees, nil
}

// localBeside is the field with the local part of the memory, by unit.
var localBeside = map[numa.Bytes]string{numa.GiB: "local_mem_gb", numa.KiB: "local_mem_kb"}

// local compares local memory: other content of the node is not stated, so the prediction for
// an empty node is the maximum.
func local(unit numa.Bytes) predictor {
	return ofMemory(func(_ *Case, l *vnuma.Layout, got float64) (string, bool) {
		most := float64(l.Memory.Local / unit)
		return fmt.Sprintf("at most %.0f", most), got <= most*(1+nodeTolerance)
	})
}

// remote is the counterpart of local: the prediction is the minimum. If the case also states
// the local part, the sum of both is the memory that the guest had touched.
func remote(unit numa.Bytes) predictor {
	return ofMemory(func(c *Case, l *vnuma.Layout, got float64) (string, bool) {
		least := float64(l.Memory.Remote / unit)
		if here, ok := numbers(c.Observed[localBeside[unit]]); ok {
			least = min(least, max(0, got+total(here)-float64(l.Memory.Local/unit)))
		}
		return fmt.Sprintf("at least %.0f", least), got >= least*(1-nodeTolerance) && (got == 0) == (least == 0)
	})
}

// ofMemory returns a predictor of an amount of memory.
func ofMemory(predict func(c *Case, l *vnuma.Layout, got float64) (string, bool)) predictor {
	return func(c *Case, v *variant, observed any) (string, bool, error) {
		if !v.layout.Memory.Known {
			return "", false, errNoMemory
		}
		each, ok := numbers(observed)
		if !ok {
			return "", false, unlike(observed, "an amount of memory")
		}
		text, agrees := predict(c, &v.layout, total(each))
		return text, agrees, nil
	}
}

func locality(_ *Case, v *variant, observed any) (string, bool, error) {
	l := &v.layout
	share, ok := l.Memory.Locality()
	if !ok {
		return "", false, errNoMemory
	}
	n, ok := number(observed)
	if !ok {
		return "", false, unlike(observed, "a number")
	}
	got := strconv.Itoa(int(share * 100)) // ESXi truncates
	return got, got == show(n), nil
}

var vcpuRange = pattern.Of(`vCPU(\d+)-(\d+) VPD(\d+)/PPD(\d+)`)

func vcpuToVPD(_ *Case, v *variant, observed any) (string, bool, error) {
	l := &v.layout
	agrees := true
	ranges := vcpuRange.Regexp().FindAllStringSubmatch(show(observed), -1)
	if len(ranges) == 0 {
		return "", false, unlike(observed, "vCPUa-b VPDc/PPDd")
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
