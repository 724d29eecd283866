package pages

// Standing are the notes of every answer: the risk of sharing between VMs, when a change of the
// options takes effect, and the cost of small pages and scanning.
var Standing = []string{
	"Risk: VMs can time pages they share; salting 2, default since 5.0 U3d, 5.1 U3, 5.5 U2d, 6.0, stops it (KB 2080735).",
	"LPage.LPageAlwaysTryForNPT 0 acts on a VM from its next vMotion or power cycle on (c-largepages); so does other salting, for pages are salted when the VM is placed (assumed).",
	"Cost: small pages mean more TLB misses, each a longer walk; experiment c-largepages saw no more CPU and no latency. Measure yours.",
	"Scanning: 4 MB/s for each GHz at most (C-22): 0.42 % of the CPU for each cycle a byte costs, which is not published.",
}
