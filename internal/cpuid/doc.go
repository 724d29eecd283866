// Package cpuid provides the instruction CPUID of amd64; the standard library exposes only some of its results. In a
// guest it traps to the hypervisor, about 5 µs each time: read once.
package cpuid
