package dump

import (
	"fmt"
	"strconv"
	"strings"

	"homenode/internal/words"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/draw/chart"
	"homenode/output/size"
	"homenode/size/dump"
)

// Fleet returns the answer for all hosts of a source.
func Fleet(source string, f *dump.Fleet, given map[string]bool) *answer.Answer {
	a := &answer.Answer{Command: "size dump", Question: "size dump: the hosts of " + source, Result: f}
	if f.Boot != 0 {
		a.Question += ", that boot from " + f.Boot.String()
	}
	files, partitions := keeps(f)
	if files {
		a.Assumed = fleetAssumed(f, given)
	}
	t := answer.Table{Name: "hosts", Columns: size.Columns(">hosts", ">ram", "release", "core dump file", ">least boot")}
	if f.Boot != 0 {
		t.Columns = append(t.Columns, answer.Column{Name: "left", Right: true}, answer.Column{Name: "verdict"})
	}
	t.Columns = append(t.Columns, answer.Column{Name: "such as"})
	for i := range f.Kinds {
		t.Add(kind(f, &f.Kinds[i])...)
	}
	if len(t.Rows) > 0 {
		a.Tables = append(a.Tables, t)
	}
	a.Verdict = fleetVerdict(f)
	if files {
		a.Note(dump.OneDump)
	}
	if partitions {
		a.Note(partitionNotes("such a host")...)
	}
	if f.Boot != 0 && files {
		a.Note("No source states the boot device: all hosts are taken to boot from --boot.")
	}
	a.Note(leftOut(f.LeftOut)...)
	if files {
		size.AddCharts(a, fleetCharts(f)...)
	} else {
		a.NoDrawing = "there is no file to size"
	}
	return a
}

// keeps reports whether any host keeps dumps in a file, and any in a partition.
func keeps(f *dump.Fleet) (files, partitions bool) {
	for i := range f.Kinds {
		if f.Kinds[i].Partition {
			partitions = true
		} else {
			files = true
		}
	}
	return files, partitions
}

// leftOut says why hosts are left out, once for each reason.
func leftOut(left []dump.LeftOut) []string {
	var reasons []string
	hosts := map[string][]string{}
	for _, l := range left {
		if hosts[l.Why] == nil {
			reasons = append(reasons, l.Why)
		}
		hosts[l.Why] = append(hosts[l.Why], l.Host)
	}
	for i, why := range reasons {
		reasons[i] = fmt.Sprintf("Left out: %s: %s.", words.First(1, hosts[why]), why)
	}
	return reasons
}

func fleetAssumed(f *dump.Fleet, given map[string]bool) []answer.Assumption {
	var own []string
	for i := range f.Kinds {
		if k := &f.Kinds[i]; k.File.Size.Origin == unit.Measured {
			own = append(own, dump.Size(k.RAM).String())
		}
	}
	var measured []answer.Assumption
	if own != nil {
		measured = append(measured, answer.Assumption{What: "core dump file", Value: "of hosts with " + strings.Join(own, ", "), Origin: unit.Measured, Source: "--evidence"})
	}
	return append(append(measured, []answer.Assumption{
		{What: "core dump file", Value: "by RAM", Origin: unit.Derived, Source: dump.Source, Note: "128 GiB to 1,536 GiB measured, outside extrapolated"},
	}...), needs(f.Needs, given)...)
}

// release is the release of a kind, and whether the source states it.
func release(k *dump.Kind) string {
	switch {
	case k.Release == 0:
		return "not known"
	case k.Assumed:
		return k.Release.String() + " (assumed)"
	}
	return k.Release.String()
}

func kind(f *dump.Fleet, k *dump.Kind) []string {
	row := []string{strconv.Itoa(len(k.Hosts)), dump.Size(k.RAM).String(), release(k)}
	if k.Partition {
		row = append(row, "none: a partition", "–")
		if f.Boot != 0 {
			row = append(row, "–", "–")
		}
		return append(row, k.Hosts[0])
	}
	need := "–"
	if k.LeastBoot != nil {
		need = k.LeastBoot.String()
	}
	row = append(row, ranged(k.File.Size), need)
	if k.Plan != nil {
		row = append(row, k.Plan.Left.Value.String(), string(k.Plan.Verdict))
	}
	return append(row, k.Hosts[0])
}

// many are the verdicts on several hosts, or on one of them.
var many = map[dump.Verdict]string{
	dump.Fits: "fit", dump.FitsMaybe: "may not fit", dump.ShortLogs: "with too little for logs", dump.DoesNotFit: "not fitting",
}

func fleetVerdict(f *dump.Fleet) []string {
	hosts := 0
	count := map[dump.Verdict]int{}
	partitions := 0
	for i := range f.Kinds {
		k := &f.Kinds[i]
		n := len(k.Hosts)
		hosts += n
		switch {
		case k.Partition:
			partitions += n
		case k.Plan != nil:
			count[k.Plan.Verdict] += n
		}
	}
	if hosts == 0 {
		return []string{"No host can be sized."}
	}
	var out []string
	if f.Boot != 0 {
		s := ""
		for _, v := range []dump.Verdict{dump.Fits, dump.FitsMaybe, dump.ShortLogs, dump.DoesNotFit} {
			if count[v] > 0 {
				if s != "" {
					s += ", "
				}
				s += fmt.Sprintf("%d %s", count[v], many[v])
			}
		}
		if s != "" {
			out = append(out, fmt.Sprintf("On %s, of %s: %s.", f.Boot, words.Plural(hosts, "host"), s))
		}
	}
	if partitions > 0 {
		out = append(out, fmt.Sprintf("%d of %d hosts run a release before 7.0, which keeps dumps in a partition: no file to size.", partitions, hosts))
	}
	switch {
	case f.LeastBoot != nil:
		out = append(out, fmt.Sprintf("A boot device of %s (%s decimal) is enough for all of them.", *f.LeastBoot, f.LeastBoot.Decimal()))
	case partitions < hosts:
		out = append(out, "No boot device is large enough for all of them with this systemMediaSize.")
	}
	if f.MostRAM != nil {
		out = append(out, fmt.Sprintf("%s are enough for hosts of up to %s of RAM.", f.Boot, dump.Size(*f.MostRAM)))
	}
	return out
}

func fleetCharts(f *dump.Fleet) []chart.Chart {
	if f.Boot == 0 {
		return []chart.Chart{scatter(0)}
	}
	bars := &chart.Bars{X: axis()}
	seen := map[string]int{}
	for i := range f.Kinds {
		if k := &f.Kinds[i]; k.Plan != nil {
			bars.Rows = append(bars.Rows, bar(row(seen, fmt.Sprintf("%d × %s, %s", len(k.Hosts), dump.Size(k.RAM), release(k))), k.Plan))
		}
	}
	return []chart.Chart{{
		ID: "boot", Title: "What is on a boot device of " + f.Boot.String() + ", by kind of host",
		Note: chartNote, Bars: bars,
	}, scatter(0)}
}

// row makes the name of a row its own: RAM that differs by some MiB reads alike.
func row(seen map[string]int, name string) string {
	if seen[name]++; seen[name] > 1 {
		return fmt.Sprintf("%s (%d)", name, seen[name])
	}
	return name
}
