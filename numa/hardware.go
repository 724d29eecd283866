package numa

// A Hardware contains the limits of one version of the virtual hardware, and the oldest release that runs it. A field that is 0 is not stated
// by the source.
type Hardware struct {
	Version        int
	Since          Release // a VM of this version does not power on with an older release
	VCPUs          int     // maximum number of vCPUs
	Sockets        int     // maximum number of virtual sockets
	CoresPerSocket int     // maximum number of cores per virtual socket
	Memory         Bytes   // maximum memory
	// Gone is the first release that does not support the version; 0 for none.
	Gone   Release
	Source string
}

// The sources of the table. The releases are those of Broadcom KB 315655 (old 1003746), virtual machine hardware versions; the
// sockets those of “Virtual CPU Limitations” in the manuals of 6.7 and 7.0 (that page of 8.0 and 9.0 was not seen: assumed to be the
// same), and where a version allows fewer vCPUs than 128, its vCPUs.
const (
	features67 = "VMware vSphere 6.7, hardware features available with virtual machine compatibility settings (GUID-789C3913)"
	features70 = "VMware vSphere 7.0 Update 3, hardware features available with virtual machine compatibility settings (GUID-789C3913)"
	features80 = "VMware vSphere 8.0, hardware features available with virtual machine compatibility settings (GUID-789C3913)"
	features90 = "virtual hardware 22 of VCF 9.0, vinfrastructure.it, 2025-06-20; sockets and memory are those of version 21, not stated again"
	hardware3  = features67 + "; of version 3 no limits are published: no more than those of 4. ESXi 5.0 does not run it: vSphere Client SDK 6.5, virtual machine hardware versions (GUID-68E5EDAE)"
	hosted     = features80 + "; a version of VMware Workstation, whose memory is not stated"
)

// MaxSockets is the maximum number of virtual sockets of a VM: “128; for more vCPUs use multicore virtual CPUs”.
const MaxSockets = 128

// hardwareVersions lists the versions of the virtual hardware that ESXi runs.
var hardwareVersions = []Hardware{
	{3, ESX35, 4, 4, 1, 64 * GiB, ESXi50, hardware3},
	{4, ESX35, 4, 4, 1, 64 * GiB, 0, features67},
	{7, ESX40, 8, 8, 8, 255 * GiB, 0, features67},
	{8, ESXi50, 32, 32, 32, 1011 * GiB, 0, features67},
	{9, ESXi51, 64, 64, 64, 1011 * GiB, 0, features67},
	{10, ESXi55, 64, 64, 64, 1011 * GiB, 0, features67},
	{11, ESXi60, 128, MaxSockets, 64, 4080 * GiB, 0, features67},
	{12, ESXi65, 128, MaxSockets, 64, 0, 0, hosted},
	{13, ESXi65, 128, MaxSockets, 64, 6128 * GiB, 0, features67},
	{14, ESXi67, 128, MaxSockets, 64, 6128 * GiB, 0, features67},
	{15, ESXi67U2, 256, MaxSockets, 64, 6128 * GiB, 0, features67},
	{16, ESXi70, 256, MaxSockets, 64, 0, 0, hosted},
	{17, ESXi70, 256, MaxSockets, 64, 6128 * GiB, 0, features70},
	{18, ESXi70 + 1, 768, MaxSockets, 64, 24560 * GiB, 0, features70},
	{19, ESXi70 + 2, 768, MaxSockets, 64, 24560 * GiB, 0, features70},
	{20, ESXi80, 768, MaxSockets, 256, 24560 * GiB, 0, features80},
	{21, ESXi80 + 2, 768, MaxSockets, 256, 24560 * GiB, 0, features80},
	{22, ESXi90, 960, MaxSockets, 960, 24560 * GiB, 0, features90},
}

// HardwareOf returns the limits of this version of the virtual hardware; false for a version missing from the table.
func HardwareOf(version int) (Hardware, bool) {
	for _, h := range hardwareVersions {
		if h.Version == version {
			return h, true
		}
	}
	return Hardware{}, false
}

// NewestHardware returns the limits of the newest version of the virtual hardware.
func NewestHardware() Hardware { return hardwareVersions[len(hardwareVersions)-1] }

// Hardware returns the newest virtual hardware version that r runs, which is also its default for new VMs; 0 when r is older than 3.5.
func (r Release) Hardware() int {
	newest := 0
	for _, h := range hardwareVersions {
		if r >= h.Since {
			newest = h.Version
		}
	}
	return newest
}

// Runs reports whether VMs of this version of the virtual hardware power on with r. A release family newer than the table may run a
// version newer than the table.
func (r Release) Runs(hardware int) bool {
	newest := hardwareVersions[len(hardwareVersions)-1]
	if h, ok := HardwareOf(hardware); ok && h.Gone > 0 && r >= h.Gone {
		return false
	}
	return hardware <= r.Hardware() || r.Base() > newest.Since.Base() && hardware > newest.Version
}

// Through returns the intermediate release on the way of a host to another one, where more than one step is needed: vSphere
// Lifecycle Manager upgrades hosts of 6.7 and 7.0 to 8.0 (vSphere 8.0, vSphere Lifecycle Manager, GUID-2706457E), of 6.5 and 6.7 to
// 7.0 (7.0, GUID-F80E06EB), and host profiles go from 6.0 to 6.7 (7.0, GUID-EABA9E1C). Paths of other families, and of 5.x, are unknown here.
func (r Release) Through(to Release) (Release, bool) {
	switch base := to.Base(); {
	case base == ESXi80 && r >= ESXi65 && r < ESXi67:
		return ESXi70, true
	case (base == ESXi80 || base == ESXi70) && r >= ESXi60 && r < ESXi65:
		return ESXi67, true
	}
	return 0, false
}

// PlainCores returns the default cores per socket for n vCPUs: 1, or the minimum that does not exceed the number of sockets.
func PlainCores(n int) int {
	for k := 1; k < n; k++ {
		if n%k == 0 && n/k <= MaxSockets {
			return k
		}
	}
	return max(1, n)
}
