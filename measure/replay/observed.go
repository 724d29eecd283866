package replay

import "example.org/homenode/numa"

func (r *Recorder) seen(life int, v *numa.VMTick) seen {
	s := seen{life: int32(life), has: v.Has &^ (numa.HasRun | numa.HasReady | numa.HasMoves), homes: v.Homes, local: v.Local, remote: v.Remote, active: v.Active}
	s.touched = touched(v)
	s.resident = s.touched - reclaimed(v)
	l := &r.lives[life]
	l.most = max(l.most, s.touched)
	l.shrank = max(l.shrank, l.most-s.touched)
	return s
}

// touched returns the memory that a VM has touched, as far as the tick states it: memory on
// nodes, and reclaimed memory. An unmanaged VM has no local and remote memory.
func touched(v *numa.VMTick) numa.Bytes {
	sum := v.Local + v.Remote
	if v.Homes == 0 {
		on := numa.Bytes(0)
		for _, n := range v.OnNode {
			on += n.Guest
		}
		if sum = max(sum, on); sum == 0 && v.Has&numa.HasConsumed != 0 {
			sum = v.Consumed
		}
	}
	if v.Has&numa.HasBalloon != 0 {
		sum += v.Balloon
	}
	if v.Has&numa.HasSwapped != 0 {
		sum += v.Swapped
	}
	return sum / numa.PageSize * numa.PageSize
}

// mostMoves is more than a VM migrates between two ticks.
const mostMoves = 1 << 30

// add adds the rates and counts of a tick over some seconds.
func (p *pending) add(v *numa.VMTick, over float64) {
	p.ticks++
	if v.Has&numa.HasMoves != 0 && v.Moves.All >= 0 && v.Moves.All <= mostMoves {
		p.counted++
		p.moves += v.Moves.All
	}
	if over <= 0 {
		return
	}
	if wanted, ok := wants(v); ok {
		p.wanted += float64(wanted * over)
		p.wantedOver += over
	}
	if v.Has&numa.HasReady != 0 && sane(v.Ready) {
		p.ready += float64(v.Ready * over)
		p.readyOver += over
	}
}

// wants returns the CPU time that a VM demanded: the time that it got (% Used counts a core
// that is shared by two hyper-threads as the model does; else % Run), plus the time that it
// waited.
func wants(v *numa.VMTick) (seconds float64, ok bool) {
	switch {
	case v.Has&numa.HasUsed != 0:
		seconds = v.Used
	case v.Has&numa.HasRun != 0:
		seconds = v.Run
	default:
		return 0, false
	}
	if v.Has&numa.HasReady != 0 {
		seconds += v.Ready
	}
	if v.Has&numa.HasCoStop != 0 {
		seconds += v.CoStop
	}
	return seconds, sane(seconds)
}

// sane is false for impossible values; NaN fails every comparison.
func sane(x float64) bool { return x >= 0 && x <= numa.MaxVCPUs }
