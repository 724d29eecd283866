package rule

import (
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/symptom"
)

// Option reports whether an advanced option of a host has this value, which the edit changes to another; an unset option does not. h
// may be nil.
func Option(h *numa.Host, key, value, better string) symptom.Told {
	if h == nil || !h.Options.Known() {
		return symptom.Told{}
	}
	if set, _ := h.Options.Value.Lookup(key); set != value {
		return symptom.Told{Out: true}
	}
	return symptom.Told{Proven: true, Evidence: []finding.Evidence{OptionEvidence(h, key)}, Edits: []numa.Edit{{Kind: numa.EditHostOption, Key: key, To: numa.Is(better)}}}
}

// Remote is a VM with remote memory, and the facts of a recording about the cause.
type Remote struct {
	VM   *VM        // nil if unknown
	On   *On        // nil if unknown
	Host *numa.Host // nil if unknown
	Seen numa.Bytes // amount of remote memory, for a single observation
	// Tell contains the causes about which the recording has facts.
	Tell map[string]symptom.Told
}

func recorded(key string) func(*Remote) symptom.Told {
	return func(r *Remote) symptom.Told {
		told := r.Tell[key]
		told.Said = true
		return told
	}
}

// RemoteCauses are the causes of remote memory.
var RemoteCauses = symptom.CausesOf("remote-memory", map[string]func(*Remote) symptom.Told{
	"overflow": func(r *Remote) symptom.Told {
		if r.On == nil || !r.On.Layout.Memory.Known {
			return symptom.Told{}
		}
		m := &r.On.Layout.Memory
		return symptom.Told{Proven: m.Remote > 0 && r.Seen <= m.Remote+m.First, Out: m.Remote <= 0, Evidence: []finding.Evidence{r.VM.MemoryEvidence(),
			{Name: "remote on an empty host", Value: m.Remote.String(), Origin: "derived: the layout and the memory of the nodes", At: r.VM.At}}}
	},
	"affinity": func(r *Remote) symptom.Told {
		if r.VM == nil {
			return symptom.Told{}
		}
		return symptom.Told{Proven: r.VM.Guest.Affinity, Out: !r.VM.Guest.Affinity && r.VM.Guest.AllowedNodes == 0}
	},
	"stopped": func(r *Remote) symptom.Told {
		pages, balancer := Option(r.Host, "Numa.PageMigEnable", "0", "1"), Option(r.Host, "Numa.RebalanceEnable", "0", "1")
		return symptom.Told{Out: pages.Out && balancer.Out, Proven: pages.Proven || balancer.Proven, Evidence: append(pages.Evidence, balancer.Evidence...), Edits: append(pages.Edits, balancer.Edits...)}
	},
	"moved": recorded("moved"), "full": recorded("full"), "spill": recorded("spill"), "arrived": recorded("arrived"),
})

// ReadyCauses are the causes of a busy node while another is idle; without a VM those that concern a single VM are left out.
var ReadyCauses = symptom.CausesOf("ready-beside-idle", map[string]func(*Watch) symptom.Told{
	"crowded": func(w *Watch) symptom.Told {
		o := w.On()
		if w.VM == nil || o == nil {
			return symptom.Told{Out: w.VM == nil}
		}
		_, crowded := w.Predicted.Crowded(o.Kind)
		return symptom.Told{Proven: crowded, Out: !crowded, Evidence: []finding.Evidence{w.Predicted.VCPUsEvidence(), o.Kind.NodesEvidence()}}
	},
	"limit": func(w *Watch) symptom.Told {
		return symptom.Told{Out: w.VM == nil || w.Predicted != nil && w.Predicted.CPULimit.Known() && w.Predicted.CPULimit.Value <= 0}
	},
	"pinned":  pinned,
	"stopped": func(w *Watch) symptom.Told { return Option(w.Machine, "Numa.RebalanceEnable", "0", "1") },
	"early": func(w *Watch) symptom.Told {
		r := w.Release()
		return symptom.Told{Out: r != 0 && (r < numa.ESX41 || r >= numa.ESX41+2), Evidence: []finding.Evidence{w.ReleaseEvidence()}}
	},
	"burst": func(w *Watch) symptom.Told {
		const key = "Numa.InitialPlacementLoadThreshold"
		r := w.Release()
		return symptom.Told{Out: r != 0 && (r < numa.ESXi80 || r >= numa.NewRelease(10, 0, 0)) || Option(w.Machine, key, "100", "100").Proven}
	},
	"gathered": func(w *Watch) symptom.Told {
		a := w.Affinity()
		if !a.Known || !a.On {
			return symptom.Told{Out: a.Known}
		}
		return symptom.Told{Evidence: []finding.Evidence{a.Evidence}}
	},
	"uneven": func(w *Watch) symptom.Told {
		o := w.On()
		if w.VM == nil || o == nil {
			return symptom.Told{}
		}
		m, largest := &o.Kind.Machine, o.Layout.PPDs.Max()
		return symptom.Told{Out: largest < 1 || int(m.Cores)%largest == 0 || largest*2 <= int(m.Cores)}
	},
	"placed": nil,
})

// pinned judges affinity as the cause: proven where each VM of the busy node is bound to one node, so that the node that idles is another.
func pinned(w *Watch) (told symptom.Told) {
	crowd := w.Crowd
	if w.VM != nil {
		crowd = []*VM{w.Predicted}
	}
	free, setting := 0, true
	var names []string
	for _, v := range crowd {
		switch {
		case v == nil:
		case v.Guest.AllowedNodes.Len() == 1:
			names, told.Evidence = append(names, v.Name), append(told.Evidence, v.SettingEvidence("numa.nodeAffinity"))
		case v.PinnedTo(w.Machine).Len() == 1:
			names, setting = append(names, v.Name), false
			told.Evidence = append(told.Evidence, finding.Evidence{Name: "CPU affinity", Value: words.Ranges(v.CPUAffinity.Value), Origin: v.CPUAffinity.Origin.String(), At: v.At})
		case !v.Guest.Affinity && v.Guest.AllowedNodes == 0:
			free++
		}
	}
	told.Proven, told.Out = len(crowd) > 0 && len(names) == len(crowd), len(crowd) > 0 && free == len(crowd)
	if told.Proven {
		told.Do = "clear the affinity"
		if setting {
			told.Do = "clear numa.nodeAffinity"
		}
		if w.VM == nil {
			told.Do += " of " + words.List(names)
		}
	}
	return told
}

// PinnedTo returns the nodes of the host with the PCPUs of the VM's CPU affinity; 0 without one, and where the host lacks some of them.
func (v *VM) PinnedTo(h *numa.Host) numa.NodeSet {
	if h == nil {
		return 0
	}
	if nodes, all := NodesOf(h, v.CPUAffinity.Value); all {
		return numa.SetOf(nodes...)
	}
	return 0
}

// Homeless is a VM that was observed without a home node although clients are predicted.
type Homeless struct {
	Release numa.Release // 0 if unknown
	Layout  *vnuma.Layout
	Host    *numa.Host
}

// NoHomeCauses are the causes of a VM without a home node.
var NoHomeCauses = symptom.CausesOf("no-home", map[string]func(*Homeless) symptom.Told{
	"affinity": nil,
	"wide": func(v *Homeless) symptom.Told {
		return symptom.Told{Out: v.Release >= numa.ESX41 || v.Layout.PPDs.Len() < 2}
	},
	"unread": func(v *Homeless) symptom.Told { return symptom.Told{Out: v.Host.Options.Known()} },
})

// OtherCauses are the causes of a topology other than predicted, if the comparison itself found no reason.
var OtherCauses = symptom.CausesOf("other-topology", map[string]func(*confront.Result) symptom.Told{
	"setting": func(s *confront.Result) symptom.Told {
		return symptom.Told{Proven: len(s.Other) > 0, Out: s.Observation.Config.VCPUs.Known() && len(s.Other) == 0}
	},
	"host": func(s *confront.Result) symptom.Told {
		started := s.Observation.Start == numa.FirstStart || s.Observation.Start == numa.PowerOnStart
		return symptom.Told{Out: started && numa.SameHost(s.Observation.Host, s.Host)}
	},
	"guest": func(s *confront.Result) symptom.Told { return symptom.Told{Out: !s.Observation.By.InGuest()} },
	"model": nil,
})
