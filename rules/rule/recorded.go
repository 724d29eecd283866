package rule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// The texts of rules about recordings, and the evidence for them.

// Span formats the time of a spell: "2026-11-02 01:10:20 to 01:40:00", with the second date if it differs,
// and whether the spell lasted to the end of the recording.
func (w *Watch) Span(s *capture.Spell) string {
	from, to := s.From.UTC(), s.To.UTC()
	end := words.Moment(to)
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		end = to.Format(time.TimeOnly)
	}
	if to.Equal(w.Host.Last) {
		end += " (the end of the " + w.recording() + ")"
	}
	return words.Moment(from) + " to " + end
}

// live reports whether the recording is that of homenode serve, which continues.
func (w *Watch) live() bool {
	return len(w.Host.Files) > 0 && (w.Host.Files[0].Format == capture.FromBoard || w.Host.Files[0].Format == capture.FromStore)
}

// recording names the assessed recording.
func (w *Watch) recording() string {
	if w.live() {
		return "time seen"
	}
	return "recording"
}

// Again describes how many times it occurred if more than once, and the last time; s is the longest.
func (w *Watch) Again(s *capture.Spells) string {
	if s.Count < 2 {
		return ""
	}
	text := fmt.Sprintf("; it was so %d times, this was the longest", s.Count)
	if s.Last.From.After(s.Longest.From) {
		text += fmt.Sprintf(" and the last was %s, %s", words.Duration(s.Last.Length()), w.Span(&s.Last))
	}
	return text
}

// NL formats a share of local memory like N%L of esxtop: whole percent, truncated, so that a value below a
// threshold is never displayed as the threshold.
func NL(share float64) string { return strconv.Itoa(int(share*100+1e-9)) + " %" }

// NLRest formats the remote share beside a local one, so that both add up to 100 %.
func NLRest(share float64) string { return strconv.Itoa(100-int(share*100+1e-9)) + " %" }

// SeenMemory describes where the memory of a VM was observed: "96 GB local, 32 GB remote (N%L 75 %)"; "" if it is unknown. l is the predicted layout;
// nil for none.
func SeenMemory(o *numa.Observation, l *vnuma.Layout) string {
	share, ok := o.Locality()
	switch {
	case !ok:
		return ""
	case l != nil && !l.Memory.Measurable():
		return fmt.Sprintf("%s seen, of which the remote part is unknown: it is interleaved over the home nodes (C-17)", o.Local.Value+o.Remote.Value)
	}
	return fmt.Sprintf("%s local, %s remote (N%%L %s)", o.Local.Value, o.Remote.Value, NL(share))
}

// Nodes formats a set of home nodes: "node 0" or "nodes 0,1".
func Nodes(s numa.NodeSet) string {
	switch s.Len() {
	case 0:
		return "no node"
	case 1:
		return "node " + s.String()
	}
	return "nodes " + s.String()
}

// Saw returns a number of a recording at a time as evidence.
func Saw(name, value, field string, at time.Time) finding.Evidence {
	return finding.Evidence{Name: name, Value: value, Origin: "read: " + field, At: words.Moment(at)}
}

// Counted returns a number that is counted or averaged from a field over all ticks of the subject.
func (w *Watch) Counted(name, value, field string) finding.Evidence {
	first, last, ticks := w.Host.First, w.Host.Last, w.Host.Ticks
	if w.VM != nil {
		first, last, ticks = w.VM.First, w.VM.Last, w.VM.Ticks
	}
	at := words.Moment(first) + " to " + words.Moment(last)
	return finding.Evidence{Name: name, Value: value, Origin: fmt.Sprintf("derived: %s of %s", field, words.Plural(ticks, "tick")), At: at}
}

// Limit returns a threshold in a message as evidence. The name has the prefix of its rule if that is another
// one: M001.locality.
func (w *Watch) Limit(name, value string) finding.Evidence {
	if !strings.Contains(name, ".") {
		name = w.Rule.ID + "." + name
	}
	return Limit(name, value, w.Thresholds)
}

// Limit returns a threshold, "M001.locality", as evidence; set are the values in the configuration.
func Limit(id, value string, set map[string]float64) finding.Evidence {
	e := finding.Evidence{Name: "threshold " + id, Value: value, Origin: "assumed: default of the rule"}
	if _, ok := set[id]; ok {
		e.Origin = "read: configuration"
	}
	return e
}

// Homes returns the set of home nodes that the VM had longest, and its share of the time. ok is false if
// none is known; the set is empty for a VM that the NUMA scheduler does not manage.
func Homes(v *capture.VM) (set numa.NodeSet, share float64, ok bool) {
	var all, longest time.Duration
	for _, h := range v.Homes {
		if all += h.Time; h.Time > longest {
			set, longest = h.Homes, h.Time
		}
	}
	if all <= 0 {
		return 0, 0, false
	}
	return set, float64(longest) / float64(all), true
}

// HomesAt returns the home nodes of the VM at about a time: all of them in the bucket of its timeline.
func HomesAt(v *capture.VM, t time.Time) (set numa.NodeSet, ok bool) {
	b, ok := bucket(&v.Timeline, t)
	if !ok || b.Ticks == 0 || b.Homes == 0 {
		return 0, false
	}
	return b.Homes, true
}

// LeastLocality returns the minimum N%L of the VM between two times as a share, from its timeline.
func LeastLocality(v *capture.VM, from, to time.Time) (share float64, ok bool) {
	t := &v.Timeline
	for i, b := range t.All() {
		if b.Memory == 0 || t.Time(i+1).Compare(from) <= 0 || t.Time(i).After(to) {
			continue
		}
		if least := float64(b.Least) / capture.Whole; !ok || least < share {
			share, ok = least, true
		}
	}
	return share, ok
}

// MeanLocality returns the mean N%L of the VM between two times as a share, from its timeline.
func MeanLocality(v *capture.VM, from, to time.Time) (share float64, ok bool) {
	t := &v.Timeline
	var local, remote float64
	for i, b := range t.All() {
		if t.Time(i+1).Compare(from) > 0 && !t.Time(i).After(to) {
			local, remote = local+float64(b.Local), remote+float64(b.Remote)
		}
	}
	return local / (local + remote), local+remote > 0
}

// memoryAt returns the mean local memory of the VM, and its mean memory, at about a time; 0 if unknown.
func memoryAt(v *capture.VM, t time.Time) (local, all numa.Bytes) {
	b, ok := bucket(&v.Timeline, t)
	if !ok || b.Memory == 0 {
		return 0, 0
	}
	return numa.Bytes(b.Local/int64(b.Memory)) * numa.KiB, numa.Bytes((b.Local+b.Remote)/int64(b.Memory)) * numa.KiB
}

// FreeAt returns the minimum free memory of a node at about a time, or, if before is set, only shortly before it.
func (w *Watch) FreeAt(node int, t time.Time, before bool) (free numa.Bytes, ok bool) {
	i := slices.IndexFunc(w.Host.Nodes, func(n capture.Node) bool { return n.ID == node })
	if i < 0 {
		return 0, false
	}
	l := &w.Host.Nodes[i].Timeline
	for i, b := range l.All() {
		from, to := l.Time(i), l.Time(i+1)
		if from.After(t) || before && to.After(t) {
			break
		}
		if b.Frees > 0 {
			free, ok = numa.Bytes(b.Least)*numa.KiB, to.After(t) || before && t.Sub(to) <= l.Width+2*w.Between()
		}
	}
	return free, ok
}

// BusyAt returns the mean and the maximum load of a node at about a time, as shares of its cores.
func BusyAt(n *capture.Node, t time.Time) (mean, most float64, ok bool) {
	b, ok := bucket(&n.Timeline, t)
	if !ok {
		return 0, 0, false
	}
	return b.Load()
}

func bucket[B any](l *capture.Timeline[B], t time.Time) (*B, bool) {
	if l.Width <= 0 {
		return nil, false
	}
	at := t.UnixNano() / int64(l.Width)
	if t.UnixNano()%int64(l.Width) < 0 {
		at--
	}
	for i, b := range l.All() {
		if int64(i) == at-l.Start {
			return b, true
		}
	}
	return nil, false
}

// Between returns the mean time between two ticks.
func (w *Watch) Between() time.Duration {
	if w.Host.Ticks < 2 {
		return 0
	}
	return w.Host.Covered / time.Duration(w.Host.Ticks-1)
}
