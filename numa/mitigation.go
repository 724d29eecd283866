package numa

import (
	"regexp"
	"strings"
)

// A Mitigation is what the options against side channels make of the CPU scheduler of a
// host with active hyper-threading (rule book E-2, E-3).
type Mitigation uint8

const (
	NoMitigation Mitigation = iota
	SCAv1                   // one thread of each core
	SCAv2                   // both threads of a core for vCPUs of one VM only
)

// The options against side channels; sources write them bare or as VMkernel.Boot.NAME.
const (
	MitigationOption        = "hyperthreadingMitigation"
	MitigationIntraVMOption = "hyperthreadingMitigationIntraVM" // TRUE by default
	MitigationForceOption   = "forceHyperthreadingMitigation"
)

// MitigationOf returns what the options of a host ask for. The first acts on processors
// with L1TF only, which AMD does not make (KB 330041); whether another processor has it
// is not looked at. Version 2 exists from 6.7 U2 on; without
// hyperthreadingMitigationIntraVM = FALSE it is version 1.
func MitigationOf(h *Host) Mitigation {
	if _, on, _ := h.BootOption(MitigationOption); on && !strings.Contains(h.CPUModel.Value, "AMD") {
		if _, intra, set := h.BootOption(MitigationIntraVMOption); set && !intra && h.Release.Value >= ESXi67U2 {
			return SCAv2
		}
		return SCAv1
	}
	if _, on, _ := h.BootOption(MitigationForceOption); on {
		return SCAv2
	}
	return NoMitigation
}

// affected matches processors that are known to have L1TF: Xeon E3 to E7 and the first
// Xeon Scalable (Intel 2009 to 2018).
var affected = regexp.MustCompile(`Xeon.*(E[357]-|(Platinum|Gold|Silver|Bronze) \d1\d\d)`)

// HasL1TF reports whether the processor of h is known to have L1TF, so that the options
// against side channels act.
func (h *Host) HasL1TF() bool { return affected.MatchString(h.CPUModel.Value) }

// BootOption looks up a kernel setting that is true or false, by its bare name. key is
// its name as the source wrote it.
func (h *Host) BootOption(name string) (key string, on, set bool) {
	for _, s := range h.Options.Value {
		if last := s.Key[strings.LastIndexByte(s.Key, '.')+1:]; strings.EqualFold(last, name) {
			value := strings.TrimSpace(s.Value)
			return s.Key, strings.EqualFold(value, "true") || value == "1", true
		}
	}
	return "", false, false
}
