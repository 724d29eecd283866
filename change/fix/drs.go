package fix

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A DRSKind is what a rule of DRS does.
type DRSKind string

// The rules that can be planned. All are soft but the first, which DRS keeps unless it cannot.
const (
	Apart    DRSKind = "apart"    // never two of the VMs on one host
	Together DRSKind = "together" // the VMs on one host
	Prefer   DRSKind = "prefer"   // the VMs should run on the hosts
)

// A DRSRule is a rule that a user asks for. VMs and Hosts are patterns of names.
type DRSRule struct {
	Kind       DRSKind
	VMs, Hosts []string
}

// String returns the rule as it was asked for.
func (r DRSRule) String() string {
	text := string(r.Kind) + " " + strings.Join(r.VMs, ",")
	if r.Kind == Prefer {
		text += "=" + strings.Join(r.Hosts, ",")
	}
	return text
}

// ParseDRS reads a rule: 'apart=sql01,sql02', 'together=app01,db01' or 'prefer=kafka*=esx01*,esx02*'.
func ParseDRS(text string) (DRSRule, error) {
	kind, members, _ := strings.Cut(text, "=")
	vms, hosts, has := strings.Cut(members, "=")
	r := DRSRule{Kind: DRSKind(kind), VMs: split(vms), Hosts: split(hosts)}
	known := slices.Contains([]DRSKind{Apart, Together, Prefer}, r.Kind)
	if !known || r.VMs == nil || has != (r.Kind == Prefer) || has && r.Hosts == nil {
		return r, fmt.Errorf("found %q, want apart=VMS, together=VMS or prefer=VMS=HOSTS, such as apart=sql01,sql02 or 'prefer=kafka*=esx01*,esx02*'", text)
	}
	return r, nil
}

func split(list string) (out []string) {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one != "" {
			out = append(out, one)
		}
	}
	return out
}

// A DRSValue is a rule of a cluster, by IDs, as an edit has it in its values: "prefer vm-1,vm-2 on host-7".
type DRSValue struct {
	Kind       DRSKind
	VMs, Hosts []string
}

// String writes the value; the members are in the order of IDs.
func (v DRSValue) String() string {
	slices.Sort(v.VMs)
	slices.Sort(v.Hosts)
	text := string(v.Kind) + " " + strings.Join(v.VMs, ",")
	if v.Kind == Prefer {
		text += " on " + strings.Join(v.Hosts, ",")
	}
	return text
}

// name returns the name that homenode gives the rule.
func (v DRSValue) name() string {
	sum := sha256.Sum256([]byte(v.String()))
	return fmt.Sprintf("homenode %s %s", v.Kind, hex.EncodeToString(sum[:4]))
}

// rules plans the rules of DRS that were asked for.
func (m *maker) rules() (out []Change, err error) {
	for _, r := range m.o.DRS {
		found := len(out)
		vms, hosts := glob.Compile(r.VMs, ""), glob.Compile(r.Hosts, glob.Domain)
		for _, c := range m.fleet.Clusters {
			v := DRSValue{Kind: r.Kind}
			for i := range m.fleet.VMs {
				if vm := &m.fleet.VMs[i]; m.clusterOf(vm) == c.ID && !vm.Template.Value && vms.Named(vm.Name, vm.ID, c.Name+"/"+vm.Name) {
					v.VMs = append(v.VMs, vm.ID)
				}
			}
			for i := range m.fleet.Hosts {
				if h := &m.fleet.Hosts[i]; h.Cluster == c.ID && r.Kind == Prefer && hosts.Named(h.Name, h.ID) {
					v.Hosts = append(v.Hosts, h.ID)
				}
			}
			if len(v.VMs) == 0 || len(v.VMs) < 2 && r.Kind != Prefer || r.Kind == Prefer && len(v.Hosts) == 0 {
				continue
			}
			if hosts := m.hostsIn(c.ID); r.Kind == Apart && len(v.VMs) > hosts {
				return nil, fmt.Errorf("%s: %d VMs cannot be kept apart on %d hosts of %s", r, len(v.VMs), hosts, c.Name)
			}
			if need, most := m.reserved(v.VMs, c.ID); r.Kind == Together && need > most && most > 0 {
				return nil, fmt.Errorf("%s: these VMs reserve %s of memory, and no host of %s has more than %s for reservations", r, need, c.Name, most)
			}
			for _, other := range m.o.DRS {
				if other.Kind != r.Kind && other.Kind != Prefer && r.Kind != Prefer && slices.Equal(other.VMs, r.VMs) {
					return nil, fmt.Errorf("%s and %s contradict each other", r, other)
				}
			}
			e := numa.Edit{Kind: numa.EditDRSRule, Key: v.name(), To: numa.Is(v.String())}
			out = append(out, Change{Cluster: &Target{Name: c.Name, ID: c.ID, Cluster: c.Name}, Findings: []string{}, Edits: []numa.Edit{e}, Downtime: "none"})
		}
		if len(out) == found {
			for _, name := range r.VMs {
				if !strings.ContainsAny(name, "*?[") && len(m.fleet.FindVMs(name)) == 0 {
					known := words.Texts(m.fleet.VMs, func(v numa.VM) string { return v.Name })
					return nil, fmt.Errorf("%s: no VM is named %s%s", r, name, alike.After(name, known))
				}
			}
			return nil, fmt.Errorf("%s: no cluster has %s", r, map[bool]string{true: "both these VMs and these hosts", false: "at least two of these VMs"}[r.Kind == Prefer])
		}
	}
	return out, nil
}

// hostsIn returns how many hosts a cluster has.
func (m *maker) hostsIn(cluster string) int {
	return words.Count(m.fleet.Hosts, func(h numa.Host) bool { return h.Cluster == cluster })
}

// reserved returns the memory that the VMs reserve, and the most that VMs can reserve on a host of the cluster; 0 when that is unknown.
func (m *maker) reserved(vms []string, cluster string) (need, most numa.Bytes) {
	for _, id := range vms {
		if v := m.vms[id]; v != nil {
			need += numa.Bytes(v.Guest.Needs.Reserved)
		}
	}
	for i := range m.fleet.Hosts {
		h := &m.fleet.Hosts[i]
		if h.Cluster != cluster {
			continue
		}
		machine, err := vnuma.NewMachine(h)
		if err != nil || machine.Reservable == 0 {
			return need, 0
		}
		most = max(most, numa.Bytes(machine.Reservable))
	}
	return need, most
}

// clusterOf returns the ID of the cluster of a VM, which may not be judged.
func (m *maker) clusterOf(v *numa.VM) string {
	if r := m.vms[v.ID]; r != nil {
		return r.ClusterID()
	}
	return v.Cluster
}
