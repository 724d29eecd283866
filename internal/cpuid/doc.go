// Package cpuid has the instruction CPUID of amd64, of which the standard library shows some answers only. In a guest it
// traps to the hypervisor, about 5 µs each time: read once.
package cpuid
