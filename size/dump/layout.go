package dump

import (
	"fmt"
	"math"

	"homenode/numa"
)

// A Media is a value of the boot option systemMediaSize: how much of a large boot device
// the installer takes for the system (VMware KB 81166; 7.0 U1c and later).
type Media string

// The values. The KB counts in decimal GB: 33, 69 and 138 GB.
const (
	MediaMin     Media = "min"     // "for single disk or embedded servers"
	MediaSmall   Media = "small"   // "for servers with at least 512 GB RAM"
	MediaDefault Media = "default" // the whole of it goes to the system up to 128 GiB
	MediaMax     Media = "max"     // all of the device, "for multi-terabyte servers"
)

// Medias are the values of systemMediaSize.
var Medias = []Media{MediaMin, MediaSmall, MediaDefault, MediaMax}

// limit returns how much of the device the system gets at most. A 128 GB disk of the
// article has 119.9 GB of ESX-OSData: the system in all is 128 GiB, or 137.4 decimal GB,
// for which the KB has 138; 64 GiB are 68.7, for which it has 69. For min it has 33, less
// than 32 GiB: no such layout is published, so the KB is taken at its word.
func (m Media) limit() Size {
	switch m {
	case MediaMin:
		return 33 * GB
	case MediaSmall:
		return 64 * GiB
	case MediaMax:
		return Size(math.Inf(1))
	}
	return 128 * GiB
}

// Boot devices (VMware, ESXi Installation and Setup, “ESXi System Storage Sizes”): the
// least that is installed on, and where the boot banks grow. The manual does not say
// whether its GB are binary; taken as decimal the banks grow sooner. LeastBoot is what 7.0 and later want of a disk, SSD or NVMe.
const (
	smallestBoot = 8 * GB
	bank1GB      = 10 * GB // from here on a boot bank has 1 GB instead of 500 MB
	bank4GB      = 32 * GB // from here on 4 GB
	LeastBoot    = 32 * GB
	// leastDatastore is the rest of which a VMFS datastore is made: that of a device of
	// 142 decimal GB, beside a system of 128 GiB.
	leastDatastore = 4 * GiB
)

// bootLoader is the boot loader's partition, 101 MB in both published layouts (b-osdata).
const bootLoader = 101 * MiB

// A Layout is how ESXi 7.0 and later divides a boot device.
type Layout struct {
	Boot   Size  `json:"boot"`
	Media  Media `json:"systemMediaSize"`
	Loader Size  `json:"bootLoader"`
	Bank   Size  `json:"bootBank"` // each of the two
	OSData Size  `json:"esxOSData"`
	// Rest is what the system does not take: a VMFS datastore when it is 4 GiB or more.
	Rest Size `json:"rest"`
}

// Divide returns the layout of a boot device. "" is MediaDefault.
func Divide(boot Size, media Media) (Layout, error) {
	if media == "" {
		media = MediaDefault
	}
	switch {
	case math.IsNaN(float64(boot)) || boot < smallestBoot:
		return Layout{}, fmt.Errorf("found %s, want at least 7.5GB (8 decimal GB): boot banks and ESX-OSData do not fit", numa.Bytes(boot))
	case boot > Size(64*numa.TiB):
		return Layout{}, fmt.Errorf("found %s, want at most 64 TB", numa.Bytes(boot))
	}
	l := Layout{Boot: boot, Media: media, Loader: bootLoader, Bank: 4 * GiB}
	switch {
	case boot < bank1GB:
		l.Bank = 500 * MiB
	case boot < bank4GB:
		l.Bank = GiB
	}
	system := min(boot, media.limit())
	l.OSData = system - l.Loader - 2*l.Bank
	l.Rest = boot - system
	return l, nil
}

// Datastore reports whether a VMFS datastore is made of the rest.
func (l *Layout) Datastore() bool { return l.Rest >= leastDatastore }
