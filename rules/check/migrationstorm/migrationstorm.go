// Package migrationstorm finds VMs that the NUMA scheduler moved repeatedly.
package migrationstorm

import (
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed migrationstorm.md
var page string

// Rule is M003.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Watch: watch, Needs: []string{"Numa Rebalance Count Delta"}})

func watch(w *rule.Watch) {
	v := w.VM
	if !w.MoveStorm() {
		return
	}
	from, to := w.Window(&v.Migrated)
	window := to.Sub(from)
	run := storm(w)
	f := finding.Finding{
		From: run.From, To: run.To,
		Severity: finding.Medium,
		Bad:      fmt.Sprintf("%d NUMA migrations in %s", v.Migrated.Most, words.Duration(window)),
		Message: fmt.Sprintf("%d NUMA migrations in the busiest %s, from %s, one every %s; moved like this from about %s; %d in all",
			v.Migrated.Most, words.Duration(window), words.Moment(from), seconds(window.Seconds()/float64(v.Migrated.Most)), w.Span(&run), v.Migrated.Total),
		Evidence: []finding.Evidence{
			w.Limit("perMinute", strconv.FormatFloat(w.Threshold("perMinute"), 'f', -1, 64)),
			w.Limit("M002.window", words.Duration(w.Host.Options.Window)),
			rule.Saw("migrations in the window", strconv.FormatInt(v.Migrated.Most, 10), rule.FieldNMIG, from),
			w.Counted("migrations", strconv.FormatInt(v.Migrated.Total, 10), rule.FieldNMIG),
		},
	}
	local := v.Moves.Locality + v.Moves.LocalitySwap
	affinity := w.Affinity()
	if v.HasKinds {
		f.Message += fmt.Sprintf(", %d of them for locality", local)
		f.Evidence = append(f.Evidence, w.Counted("migrations for locality", strconv.FormatInt(local, 10), "localityMig, localitySwap"))
	}
	if affinity.Known {
		f.Evidence = append(f.Evidence, w.ReleaseEvidence(), affinity.Evidence)
	}
	switch {
	case v.HasKinds && local*2 < v.Moves.All:
		f.Advice = "Most are moves for load: the nodes are loaded unevenly by clients that fit nowhere well. Move a VM to another host, or give VMs vCPU counts that divide the cores of a node"
	case affinity.Known && !affinity.On:
		f.Advice = "Action affinity is off on this host, so it is not the cause that KB 439993 describes: compare N%L and the load of the nodes at that time, and ask Broadcom"
	default:
		cause(w, &f, affinity)
	}
	w.Report(f)
}

// storm returns the time around the busiest window in which the VM was moved without a longer
// pause than the threshold allows. The precision is that of the VM's timeline: the width of its
// buckets, and the time between two ticks.
func storm(w *rule.Watch) capture.Spell {
	v, t := w.VM, &w.VM.Timeline
	from, to := w.Window(&v.Migrated)
	pause := max(time.Duration(float64(time.Minute)/w.Threshold("perMinute")), w.Between()) + t.Width
	begin := func(i int) time.Time {
		if at := t.Time(i); at.Before(from) && from.Before(t.Time(i+1)) {
			return from // part of the bucket is in the window, which certainly has migrations
		}
		return later(t.Time(i), v.First)
	}
	end := func(i int) time.Time { return earlier(t.Time(i+1), v.Last) }
	buckets := t.Buckets()
	first, last := -1, -1 // buckets with migrations
	for i := range buckets {
		if buckets[i].Moves > 0 && t.Time(i+1).After(from) && t.Time(i).Before(to) {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	if first < 0 { // impossible: the window has migrations
		return capture.Spell{From: from, To: earlier(to, v.Last)}
	}
	for i := first - 1; i >= 0 && begin(first).Sub(end(i)) <= pause; i-- {
		if buckets[i].Moves > 0 {
			first = i
		}
	}
	for i := last + 1; i < len(buckets) && begin(i).Sub(end(last)) <= pause; i++ {
		if buckets[i].Moves > 0 {
			last = i
		}
	}
	return capture.Spell{From: begin(first), To: end(last)}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// cause describes action affinity: the evidence for it, and how to switch it off.
func cause(w *rule.Watch, f *finding.Finding, a rule.Affinity) {
	kb := "KB 439993"
	if r := w.Release(); r != 0 && r < numa.ESXi80 {
		kb = "KB 314059"
	}
	f.Advice = fmt.Sprintf("Set %s = 0 on the host, or numa.LocalityWeightActionAffinity = 0 on the VM (%s; default 130 up to 9.0, off from 9.1 on)", rule.ActionAffinity, kb)
	if !w.VM.HasKinds {
		f.Assumes = append(f.Assumes, "the moves are for locality: esxtop does not tell the kinds of migrations")
		f.Advice = "See first whether localityMig grows (sched-stats -t numa-migration). If it does: " + words.Lower(f.Advice)
	}
	if !a.Known {
		f.Assumes = append(f.Assumes, "the release of the host is unknown: one before 9.1 with action affinity on is taken")
	} else if a.Assumes != "" {
		f.Assumes = append(f.Assumes, a.Assumes)
	}
}

// seconds formats a time between migrations.
func seconds(s float64) string {
	if s < 10 {
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	}
	return strconv.Itoa(int(s+0.5)) + " s"
}
