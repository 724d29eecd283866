package lab

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// numaOptions are the options of hosts that can be set even if the fleet lacks them. All are whole numbers.
var numaOptions = []string{
	"LPage.LPageAlwaysTryForNPT", "Numa.CoreCapRatioPct", "Numa.CostopSkewAdjust", "Numa.FollowCoresPerSocket", "Numa.InitialPlacementLoadThreshold", "Numa.LTermFairnessInterval", "Numa.LTermMigImbalThreshold",
	"Numa.LargeInterleave", "Numa.LocalityWeightActionAffinity", "Numa.LocalityWeightMem", "Numa.MigImbalanceThreshold", "Numa.MigPreventLTermThresh", "Numa.MigThrashThreshold",
	"Numa.MigThreshold", "Numa.MonMigEnable", "Numa.PageMigEnable", "Numa.PageMigLinearRun", "Numa.PageMigRandomRun", "Numa.PageMigRateMax", "Numa.PreferHT",
	"Numa.RebalanceCoresNode", "Numa.RebalanceCoresTotal", "Numa.RebalanceEnable", "Numa.RebalancePeriod", "Numa.SwapConsiderPeriod", "Numa.SwapInterval", "Numa.SwapLoadEnable",
	"Numa.SwapLocalityEnable", "Numa.SwapMigrateOnly",
}

// optionDefaults are the defaults of ESXi 8.0 (rule book C-18); 0 for others.
var optionDefaults = map[string]int64{
	"LPage.LPageAlwaysTryForNPT": 1, "Numa.CoreCapRatioPct": 90, "Numa.LTermFairnessInterval": 5, "Numa.LTermMigImbalThreshold": 10, "Numa.LocalityWeightActionAffinity": 130,
	"Numa.LocalityWeightMem": 1, "Numa.MigImbalanceThreshold": 10, "Numa.MigThrashThreshold": 50, "Numa.MigThreshold": 2, "Numa.PageMigEnable": 1, "Numa.PageMigRateMax": 8000,
	"Numa.RebalanceCoresNode": 2, "Numa.RebalanceCoresTotal": 4, "Numa.RebalanceEnable": 1, "Numa.RebalancePeriod": 2000, "Numa.SwapConsiderPeriod": 15, "Numa.SwapInterval": 3,
	"Numa.SwapLoadEnable": 1, "Numa.SwapLocalityEnable": 1, "Numa.SwapMigrateOnly": 2,
}

// serveOptions adds the options of its configuration to the option manager of a host, and lists those supported.
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
			OptionType: &types.LongOption{OptionType: types.OptionType{ValueIsReadonly: new(false)}, Min: -1 << 31, Max: 1<<31 - 1, DefaultValue: optionDefaults[key]}})
	}
}

// refuseOptions rejects options that a host does not have, and values of another type.
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

// hostOptions converts options to a host's types: whole numbers are numbers.
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
