package benchmark

import (
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// HammerDB logs. TPROC-C prints new orders and transactions a minute, in one order up to 3.x and in
// the other since 4.0; TPROC-H prints the time of each query, of the set, and the geometric mean.
// Each result line is a run: the autopilot prints one per iteration.

var (
	hammerNew     = pattern.Of(`System achieved ([0-9]+) NOPM from ([0-9]+) (.+?) TPM`)
	hammerOld     = pattern.Of(`System achieved ([0-9]+) (.+?) TPM at ([0-9]+) NOPM`)
	hammerUsers   = pattern.Of(`^(?:Vuser [0-9]+:)?([0-9]+) (?:Active )?Virtual Users configured`)
	hammerTime    = pattern.Of(`^(?:Hammerdb Log|Timestamp [0-9]+) @ (.+)$`)
	hammerSet     = pattern.Of(`^(Vuser [0-9]+):Completed ([0-9]+) query set\(s\) in ([0-9.]+) seconds`)
	hammerMean    = pattern.Of(`^(Vuser [0-9]+):Geometric mean of query times returning rows \(([0-9]+)\) is "?([0-9.]+)`)
	hammerQuery   = pattern.Of(`^(Vuser [0-9]+):query ([0-9]+) completed in ([0-9.]+) seconds`)
	hammerTalk    = pattern.Of(`^(Vuser [0-9]+:|Hammerdb Log|Timestamp|[-+* ]*$)`)
	hammerFailure = pattern.Of(`(?i)^(Error in Virtual User|Vuser [0-9]+:(FINISHED FAILED|.*\berror\b))`)
)

func readHammerDB(r *reader) error {
	users := text.Line{}
	streams := map[string]*Run{} // the run of each virtual user of TPROC-H
	for r.scan() {
		switch {
		case strings.TrimSpace(r.Text) == "":
			continue
		case r.Match(hammerUsers) != nil:
			users = r.Match(hammerUsers)[1]
		case r.Match(hammerTime) != nil:
		case r.transactions(users):
		case r.queries(streams):
		case hammerFailure.MatchString(r.Text):
			r.warn(r.N, 0, "%s", text.Short(strings.TrimSpace(r.Text)))
		case hammerTalk.MatchString(r.Text): // the activity of each virtual user
		default:
			r.skip()
			continue
		}
		r.understood()
	}
	return nil
}

// transactions parses a result line of TPROC-C.
func (r *reader) transactions(users text.Line) bool {
	var nopm, tpm, database text.Line
	if v := r.Match(hammerNew); v != nil {
		nopm, tpm, database = v[1], v[2], v[3]
	} else if v := r.Match(hammerOld); v != nil {
		tpm, database, nopm = v[1], v[2], v[3]
	} else {
		return false
	}
	orders, ok := number(nopm.Text)
	all, ok2 := number(tpm.Text)
	if !ok || !ok2 {
		return false
	}
	run := r.start("HammerDB", "TPROC-C "+database.Text)
	if users.Text != "" {
		run.Name += ", " + users.Text + " virtual users"
		run.setting(users, "virtual users", users.Text, "")
	}
	run.setting(database, "database", database.Text, "")
	r.metric(nopm, "NOPM", orders, "1/min", Higher)
	r.metric(tpm, "TPM", all, "1/min", Higher)
	return true
}

// queries parses a line of TPROC-H. The streams of several virtual users are interleaved.
func (r *reader) queries(streams map[string]*Run) bool {
	var who, value text.Line
	name := ""
	switch {
	case r.Match(hammerQuery) != nil:
		v := r.Match(hammerQuery)
		who, name, value = v[1], "query "+v[2].Text, v[3]
	case r.Match(hammerSet) != nil:
		v := r.Match(hammerSet)
		who, name, value = v[1], "query set", v[3]
		if v[2].Text != "1" {
			name = v[2].Text + " query sets"
		}
	case r.Match(hammerMean) != nil:
		v := r.Match(hammerMean)
		who, name, value = v[1], "geometric mean of query times", v[3]
	default:
		return false
	}
	seconds, ok := number(value.Text)
	if !ok {
		return false
	}
	run := streams[who.Text]
	if run == nil || run.has(name) {
		// The streams of one run are not repetitions of each other: each is compared with the same
		// stream of other runs.
		run = r.start("HammerDB", "TPROC-H "+who.Text)
		streams[who.Text] = run
	}
	r.run = run
	r.metric(value, name, seconds, "s", Lower)
	return true
}
