package numa

// OptionNames are the host options about NUMA, large pages and page sharing that the rule
// book names (C-7, C-18, C-21, C-22), for all releases. ESXi may know more.
var OptionNames = []string{
	"Numa.AutoMemAffinity", "Numa.CoreCapRatioPct", "Numa.CostopSkewAdjust", "Numa.DeviceAffinity", "Numa.FollowCoresPerSocket",
	"Numa.InitialPlacementLoadThreshold", "Numa.LTermFairnessInterval", "Numa.LTermMigImbalThreshold", "Numa.LargeInterleave",
	"Numa.LatencyProbePeriod", "Numa.LocalityWeightActionAffinity", "Numa.LocalityWeightMem", "Numa.MaxProximityDomains",
	"Numa.MigImbalanceThreshold", "Numa.MigPreventLTermThresh", "Numa.MigThrashThreshold", "Numa.MigThreshold", "Numa.MonMigEnable",
	"Numa.PPDStats", "Numa.UsePPDLocalityInfo", "Numa.PageMigEnable", "Numa.PageMigLinearRun", "Numa.PageMigRandomRun",
	"Numa.PageMigRateMax", "Numa.PreferHT", "Numa.RebalanceCoresNode", "Numa.RebalanceCoresTotal", "Numa.RebalanceEnable",
	"Numa.RebalancePeriod", "Numa.SwapConsiderPeriod", "Numa.SwapInterval", "Numa.SwapLoadEnable", "Numa.SwapLocalityEnable",
	"Numa.SwapMigrateOnly",
	"LPage.LPageAlwaysTryForNPT", "LPage.MaxSharedPages",
	"Mem.AllocGuestLargePage", "Mem.MemMinFreePct", "Mem.ShareForceSalting", "Mem.ShareRateMax", "Mem.ShareScanGHz", "Mem.ShareScanTime",
}
