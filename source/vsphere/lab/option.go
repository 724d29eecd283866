package lab

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"homenode/numa"
)

// numaOptions are the options of hosts that may be set although a fleet does not have them. All are whole numbers.
var numaOptions = []string{
	"LPage.LPageAlwaysTryForNPT", "Numa.CoreCapRatioPct", "Numa.CostopSkewAdjust", "Numa.FollowCoresPerSocket", "Numa.InitialPlacementLoadThreshold", "Numa.LTermFairnessInterval", "Numa.LTermMigImbalThreshold",
	"Numa.LargeInterleave", "Numa.LocalityWeightActionAffinity", "Numa.LocalityWeightMem", "Numa.MigImbalanceThreshold", "Numa.MigPreventLTermThresh", "Numa.MigThrashThreshold",
	"Numa.MigThreshold", "Numa.MonMigEnable", "Numa.PageMigEnable", "Numa.PageMigLinearRun", "Numa.PageMigRandomRun", "Numa.PageMigRateMax", "Numa.PreferHT",
	"Numa.RebalanceCoresNode", "Numa.RebalanceCoresTotal", "Numa.RebalanceEnable", "Numa.RebalancePeriod", "Numa.SwapConsiderPeriod", "Numa.SwapInterval", "Numa.SwapLoadEnable",
	"Numa.SwapLocalityEnable", "Numa.SwapMigrateOnly",
}

// serveOptions lets the option manager of a host have the options of its configuration, and say which there are.
func (b *builder) serveOptions(host *simulator.HostSystem) {
	m, ok := b.ctx.Map.Get(*host.ConfigManager.AdvancedOption).(*simulator.OptionManager)
	if !ok {
		return
	}
	b.optionsOf[m.Self] = host.Self
	m.Setting, m.SupportedOption = host.Config.Option, nil
	keys := slices.Clone(numaOptions)
	for _, o := range m.Setting {
		keys = append(keys, o.GetOptionValue().Key)
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		m.SupportedOption = append(m.SupportedOption, types.OptionDef{ElementDescription: types.ElementDescription{Key: key, Description: types.Description{Label: key}},
			OptionType: &types.LongOption{OptionType: types.OptionType{ValueIsReadonly: new(false)}, Min: -1 << 31, Max: 1<<31 - 1}})
	}
}

// refuseOptions refuses options that a host does not have, and those of another type.
func (v *VCenter) refuseOptions(ctx *simulator.Context, req *types.UpdateOptions) types.BaseMethodFault {
	m, ok := ctx.Map.Get(req.This).(*simulator.OptionManager)
	if _, host := v.optionsOf[req.This]; !ok || !host {
		return nil
	}
	for _, change := range req.ChangedValue {
		o := change.GetOptionValue()
		if !slices.ContainsFunc(m.SupportedOption, func(d types.OptionDef) bool { return d.Key == o.Key }) {
			return &types.InvalidName{Name: o.Key}
		}
		if _, number := o.Value.(int64); !number && strings.HasPrefix(o.Key, "Numa.") {
			return &types.InvalidArgument{InvalidProperty: o.Key}
		}
	}
	return nil
}

// hostOptions returns options as a host has them: whole numbers are numbers.
func hostOptions(s numa.Settings) []types.BaseOptionValue {
	out := optionValues(s)
	for _, o := range out {
		one := o.GetOptionValue()
		if n, err := strconv.ParseInt(one.Value.(string), 10, 64); err == nil && strconv.FormatInt(n, 10) == one.Value {
			one.Value = n
		}
	}
	return out
}
