package benchmark

import (
	"bytes"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/measured"
	"example.org/homenode/source/text"
)

// watched is the tool whose rounds are runs.
const watched = string(numa.ByMeasure) + " watch"

// readWatched parses files of homenode measure watch: each line, a round, is a run. Rounds a few minutes apart resemble each other more than
// runs of different days.
func readWatched(r *reader) error {
	for r.scan() {
		if r.Text == "" {
			continue
		}
		round, err := measured.ReadRound(r.res.Name, r.N, []byte(r.Text))
		if err != nil {
			return err
		}
		r.start(watched, "")
		for _, m := range round.Metrics() {
			if m.Value == 0 && m.Unit != "%" {
				r.run.fact(r.Line, m.Name, m.Value, m.Unit)
				continue
			}
			r.metric(r.Line, m.Name, m.Value, m.Unit, Lower)
		}
		for _, c := range round.Changes {
			r.doubt(r.Line, "%s", c.Says)
		}
	}
	return nil
}

// readMeasured parses files of homenode measure: each result is a run. The place of a metric is the first line of its result.
func readMeasured(r *reader) error {
	var decoded bytes.Buffer
	for r.in.Scan() {
		decoded.Write(r.in.Bytes())
		decoded.WriteByte('\n')
	}
	docs, err := measured.Read(r.res.Name, &decoded)
	for _, d := range docs {
		at := text.Line{N: d.Line}
		r.Line = at
		r.start(string(numa.ByMeasure), "")
		id := &d.Machine.Identity
		for _, s := range []struct{ name, value string }{
			{"profile", string(d.Profile)}, {"processor", id.CPU}, {"hypervisor", id.Hypervisor.Value}, {"limits", strings.Join(d.Machine.Limits.Partial, "; ")},
		} {
			if s.value != "" {
				r.run.setting(at, s.name, s.value, "")
			}
		}
		if d.Cores != nil {
			r.run.setting(at, "method of cores", d.Cores.Method, "") // figures of different methods are not comparable
		}
		if r.run.Untrusted = !d.Trust.OK; r.run.Untrusted {
			r.doubt(at, "the run does not trust its own figures: %s", strings.Join(d.Trust.Reasons, "; "))
		}
		for _, m := range d.Metrics() {
			better := Lower
			if m.Higher {
				better = Higher
			}
			if m.Value == 0 && m.Unit != "%" { // no time and no rate is 0
				r.run.fact(at, m.Name, m.Value, m.Unit)
				continue
			}
			r.metric(at, m.Name, m.Value, m.Unit, better)
		}
		if !r.bound() {
			break
		}
	}
	return err
}
