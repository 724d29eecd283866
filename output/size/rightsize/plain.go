package rightsize

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/rightsize"
)

// plain returns all VMs with plain numbers, including those without an assessment.
func plain(r *rightsize.Result) *answer.Table {
	p := "p" + number(100*float64(r.Options.Percentile))
	t := &answer.Table{}
	for _, name := range []string{"VM", "host", "verdict", "reason", "seen h", "vCPUs", "p50 vCPUs", p + " vCPUs", "peak vCPUs", "suggested vCPUs",
		"time above %", "ready %", "clients before", "clients after", "memory GB", "active peak GB", "reserved GB", "memory low GB", "memory high GB", "memory reason"} {
		t.Columns = append(t.Columns, answer.Column{Name: name})
	}
	for i := range r.VMs {
		a := &r.VMs[i]
		m := &a.Memory
		row := []string{a.Name, a.Host, string(a.Verdict), a.Reason, number(a.Seen.Round(time.Minute).Hours()), plainCount(a.VCPUs)}
		if a.Demand == nil {
			row = append(row, "", "", "", "", "")
		} else {
			row = append(row, number(a.Demand.P50), number(a.Demand.At), number(a.Demand.Peak), plainCount(a.Suggested), number(100*a.Above))
		}
		ready, before, after := "", "", ""
		if a.Ready != nil {
			ready = number(100 * *a.Ready)
		}
		if len(a.Kinds) > 0 {
			before, after = counts(a.Kinds[0].Before.Clients), counts(a.Kinds[0].After.Clients)
		}
		row = append(row, ready, before, after)
		for _, b := range []numa.Bytes{m.Size, m.ActivePeak, m.Reserved, m.Low, m.High} {
			row = append(row, plainGB(b))
		}
		t.Add(append(row, m.Reason)...)
	}
	return t
}

// plainCount formats a count; "" for an unknown one.
func plainCount(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// plainGB formats memory in GB of 2³⁰ bytes; "" for none or unknown.
func plainGB(b numa.Bytes) string {
	if b == 0 {
		return ""
	}
	return number(size.InGB(b))
}

// guess lists VMs whose names suggest that they should not become smaller. A name is only a
// guess.
func guess(r *rightsize.Result) (out []string) {
	var named, reserved []string
	for i := range r.VMs {
		a := &r.VMs[i]
		if a.Verdict != rightsize.Smaller && a.Memory.Low == 0 {
			continue
		}
		if full := a.Memory.Size > 0 && a.Memory.Reserved >= a.Memory.Size; full || a.Memory.Reason == rightsize.Locked {
			reserved = append(reserved, a.Name)
		} else if databaseName(a.Name) {
			named = append(named, a.Name)
		}
	}
	const most = 4
	if named != nil {
		out = append(out, "Databases or SAP by their names, a guess: "+words.First(most, named)+". SAP, not active memory, sizes HANA; vendors' minimums count.")
	}
	if reserved != nil {
		out = append(out, "All memory reserved: "+words.First(most, reserved)+": often SAP HANA or low latency, with vendors' minimum sizes.")
	}
	return out
}

// databaseName reports whether the name contains a word that is typical of databases and SAP
// systems.
func databaseName(name string) bool {
	low := strings.ToLower(name)
	for _, word := range []string{"hana", "sap", "sql", "oracle", "mongo", "postgres", "mariadb", "cassandra"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return slices.ContainsFunc(strings.FieldsFunc(low, func(r rune) bool { return r < 'a' || r > 'z' }), func(word string) bool { return word == "db" || word == "ora" || word == "pg" })
}
