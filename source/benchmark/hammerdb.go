package benchmark

import (
	"regexp"
	"strings"
)

// HammerDB logs. TPROC-C prints new orders and transactions a minute, in one order
// up to 3.x and in the other since 4.0; TPROC-H prints the time of each query, of
// the set, and the geometric mean. Each result line is a run: the autopilot prints
// one an iteration.

var (
	hammerNew     = regexp.MustCompile(`System achieved ([0-9]+) NOPM from ([0-9]+) (.+?) TPM`)
	hammerOld     = regexp.MustCompile(`System achieved ([0-9]+) (.+?) TPM at ([0-9]+) NOPM`)
	hammerUsers   = regexp.MustCompile(`^(?:Vuser [0-9]+:)?([0-9]+) (?:Active )?Virtual Users configured`)
	hammerTime    = regexp.MustCompile(`^(?:Hammerdb Log|Timestamp [0-9]+) @ (.+)$`)
	hammerSet     = regexp.MustCompile(`^(Vuser [0-9]+):Completed ([0-9]+) query set\(s\) in ([0-9.]+) seconds`)
	hammerMean    = regexp.MustCompile(`^(Vuser [0-9]+):Geometric mean of query times returning rows \(([0-9]+)\) is "?([0-9.]+)`)
	hammerQuery   = regexp.MustCompile(`^(Vuser [0-9]+):query ([0-9]+) completed in ([0-9.]+) seconds`)
	hammerTalk    = regexp.MustCompile(`^(Vuser [0-9]+:|Hammerdb Log|Timestamp|[-+* ]*$)`)
	hammerFailure = regexp.MustCompile(`(?i)^(Error in Virtual User|Vuser [0-9]+:(FINISHED FAILED|.*\berror\b))`)
)

func readHammerDB(r *reader) error {
	users, at := field{}, 0
	streams := map[string]*Run{} // the run of each virtual user of TPROC-H
	for r.scan() {
		switch {
		case strings.TrimSpace(r.line) == "":
			continue
		case match(hammerUsers, r.line) != nil:
			users, at = match(hammerUsers, r.line)[1], r.n
		case match(hammerTime, r.line) != nil:
		case r.transactions(users, at):
		case r.queries(streams):
		case hammerFailure.MatchString(r.line):
			r.warn(r.n, 0, "%s", short(strings.TrimSpace(r.line)))
		case hammerTalk.MatchString(r.line): // what each virtual user is doing
		default:
			r.skip()
			continue
		}
		r.understood()
	}
	return nil
}

// transactions reads a result line of TPROC-C.
func (r *reader) transactions(users field, at int) bool {
	nopm, tpm, database := field{}, field{}, field{}
	if v := match(hammerNew, r.line); v != nil {
		nopm, tpm, database = v[1], v[2], v[3]
	} else if v := match(hammerOld, r.line); v != nil {
		tpm, database, nopm = v[1], v[2], v[3]
	} else {
		return false
	}
	orders, ok := number(nopm.text)
	all, ok2 := number(tpm.text)
	if !ok || !ok2 {
		return false
	}
	run := r.start("HammerDB", "TPROC-C "+database.text)
	if users.text != "" {
		run.Name += ", " + users.text + " virtual users"
		run.setting(at, users.col, "virtual users", users.text, "")
	}
	run.setting(r.n, database.col, "database", database.text, "")
	r.metric(nopm.col, "NOPM", orders, "1/min", Higher)
	r.metric(tpm.col, "TPM", all, "1/min", Higher)
	return true
}

// queries reads a line of TPROC-H. The streams of several virtual users mix.
func (r *reader) queries(streams map[string]*Run) bool {
	var who, value field
	name := ""
	switch {
	case match(hammerQuery, r.line) != nil:
		v := match(hammerQuery, r.line)
		who, name, value = v[1], "query "+v[2].text, v[3]
	case match(hammerSet, r.line) != nil:
		v := match(hammerSet, r.line)
		who, name, value = v[1], "query set", v[3]
		if v[2].text != "1" {
			name = v[2].text + " query sets"
		}
	case match(hammerMean, r.line) != nil:
		v := match(hammerMean, r.line)
		who, name, value = v[1], "geometric mean of query times", v[3]
	default:
		return false
	}
	seconds, ok := number(value.text)
	if !ok {
		return false
	}
	run := streams[who.text]
	if run == nil || run.has(name) {
		// The streams of one run are no repetitions of each other: each is compared
		// with the same stream of other runs.
		run = r.start("HammerDB", "TPROC-H "+who.text)
		streams[who.text] = run
	}
	r.run = run
	r.metric(value.col, name, seconds, "s", Lower)
	return true
}
