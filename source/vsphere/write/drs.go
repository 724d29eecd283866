package write

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"

	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// The names of the groups of a rule "prefer" are its own name with one of these suffixes.
const (
	groupVMs   = " VMs"
	groupHosts = " hosts"
)

// DRSRules returns the rules of a cluster with these names, in the form of an edit: "apart vm-1,vm-2", "prefer vm-1 on host-7".
// A rule of another form is "other".
func (w Writer) DRSRules(ctx context.Context, cluster string, names []string) (numa.Settings, error) {
	info, err := w.configuration(ctx, cluster)
	if err != nil {
		return nil, err
	}
	var out numa.Settings
	for _, r := range info.Rule {
		if name := r.GetClusterRuleInfo().Name; slices.Contains(names, name) {
			out = out.With(name, ruleText(info, r))
		}
	}
	return out, nil
}

func ruleText(info *types.ClusterConfigInfoEx, r types.BaseClusterRuleInfo) string {
	if on := r.GetClusterRuleInfo().Enabled; on != nil && !*on {
		return "other (disabled)"
	}
	switch r := r.(type) {
	case *types.ClusterAntiAffinityRuleSpec:
		return "apart " + list(r.Vm)
	case *types.ClusterAffinityRuleSpec:
		return "together " + list(r.Vm)
	case *types.ClusterVmHostRuleInfo:
		if r.Mandatory != nil && *r.Mandatory {
			return "other"
		}
		vms, hosts := "", ""
		for _, g := range info.Group {
			switch g := g.(type) {
			case *types.ClusterVmGroup:
				if g.Name == r.VmGroupName {
					vms = list(g.Vm)
				}
			case *types.ClusterHostGroup:
				if g.Name == r.AffineHostGroupName {
					hosts = list(g.Host)
				}
			}
		}
		return "prefer " + vms + " on " + hosts
	}
	return "other"
}

// list returns the IDs in their order, separated by commas.
func list(refs []types.ManagedObjectReference) string {
	ids := words.Texts(refs, func(r types.ManagedObjectReference) string { return r.Value })
	slices.Sort(ids)
	return strings.Join(ids, ",")
}

// configuration reads the rules and groups of a cluster.
func (w Writer) configuration(ctx context.Context, cluster string) (*types.ClusterConfigInfoEx, error) {
	var c mo.ClusterComputeResource
	err := w.Call(ctx, "rules of the cluster", func(ctx context.Context, v *vim25.Client) error {
		return property.DefaultCollector(v).RetrieveOne(ctx, types.ManagedObjectReference{Type: "ClusterComputeResource", Value: cluster}, []string{"configurationEx"}, &c)
	})
	if err != nil {
		return nil, err
	}
	info, ok := c.ConfigurationEx.(*types.ClusterConfigInfoEx)
	if !ok {
		return nil, fmt.Errorf("cluster %s states no configuration", cluster)
	}
	return info, nil
}

// SetDRSRules adds the rules of the edits; where To is absent it removes the rule with its groups.
func (w Writer) SetDRSRules(ctx context.Context, cluster string, edits []numa.Edit) error {
	info, err := w.configuration(ctx, cluster)
	if err != nil {
		return err
	}
	spec := &types.ClusterConfigSpecEx{}
	for _, e := range edits {
		if e.To.Set {
			err = addRule(spec, e)
		} else {
			removeRule(spec, info, e.Key)
		}
		if err != nil {
			return err
		}
	}
	return w.task(ctx, "rules of the cluster", nil, func(ctx context.Context, c *vim25.Client) (types.ManagedObjectReference, error) {
		res, err := methods.ReconfigureComputeResource_Task(ctx, c, &types.ReconfigureComputeResource_Task{
			This: types.ManagedObjectReference{Type: "ClusterComputeResource", Value: cluster}, Spec: spec, Modify: true})
		if err != nil {
			return types.ManagedObjectReference{}, err
		}
		return res.Returnval, nil
	})
}

func addRule(spec *types.ClusterConfigSpecEx, e numa.Edit) error {
	kind, rest, _ := strings.Cut(e.To.Text, " ")
	vms, hosts, _ := strings.Cut(rest, " on ")
	on := types.NewBool(true)
	info := types.ClusterRuleInfo{Name: e.Key, Enabled: on}
	add := func(r types.BaseClusterRuleInfo) {
		spec.RulesSpec = append(spec.RulesSpec, types.ClusterRuleSpec{ArrayUpdateSpec: types.ArrayUpdateSpec{Operation: types.ArrayUpdateOperationAdd}, Info: r})
	}
	switch kind {
	case "apart":
		add(&types.ClusterAntiAffinityRuleSpec{ClusterRuleInfo: info, Vm: refs("VirtualMachine", vms)})
	case "together":
		add(&types.ClusterAffinityRuleSpec{ClusterRuleInfo: info, Vm: refs("VirtualMachine", vms)})
	case "prefer":
		group := func(g types.BaseClusterGroupInfo) {
			spec.GroupSpec = append(spec.GroupSpec, types.ClusterGroupSpec{ArrayUpdateSpec: types.ArrayUpdateSpec{Operation: types.ArrayUpdateOperationAdd}, Info: g})
		}
		group(&types.ClusterVmGroup{ClusterGroupInfo: types.ClusterGroupInfo{Name: e.Key + groupVMs}, Vm: refs("VirtualMachine", vms)})
		group(&types.ClusterHostGroup{ClusterGroupInfo: types.ClusterGroupInfo{Name: e.Key + groupHosts}, Host: refs("HostSystem", hosts)})
		add(&types.ClusterVmHostRuleInfo{ClusterRuleInfo: info, VmGroupName: e.Key + groupVMs, AffineHostGroupName: e.Key + groupHosts})
	default:
		return fmt.Errorf("%s: found the rule %q, want apart, together or prefer", e.Key, e.To.Text)
	}
	return nil
}

func refs(kind, ids string) (out []types.ManagedObjectReference) {
	for id := range strings.SplitSeq(ids, ",") {
		out = append(out, types.ManagedObjectReference{Type: kind, Value: id})
	}
	return out
}

// removeRule removes the rule of this name, and the groups created with it.
func removeRule(spec *types.ClusterConfigSpecEx, info *types.ClusterConfigInfoEx, name string) {
	for _, r := range info.Rule {
		if one := r.GetClusterRuleInfo(); one.Name == name {
			spec.RulesSpec = append(spec.RulesSpec, types.ClusterRuleSpec{ArrayUpdateSpec: types.ArrayUpdateSpec{Operation: types.ArrayUpdateOperationRemove, RemoveKey: one.Key}})
		}
	}
	for _, g := range info.Group {
		one := g.GetClusterGroupInfo().Name
		used := slices.ContainsFunc(info.Rule, func(r types.BaseClusterRuleInfo) bool { // used by another rule
			v, ok := r.(*types.ClusterVmHostRuleInfo)
			return ok && v.Name != name && (v.VmGroupName == one || v.AffineHostGroupName == one || v.AntiAffineHostGroupName == one)
		})
		if (one == name+groupVMs || one == name+groupHosts) && !used {
			spec.GroupSpec = append(spec.GroupSpec, types.ClusterGroupSpec{ArrayUpdateSpec: types.ArrayUpdateSpec{Operation: types.ArrayUpdateOperationRemove, RemoveKey: one}})
		}
	}
}
