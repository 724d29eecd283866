package reader

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/words"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"example.org/homenode/numa"
)

// A Look is the counters of a VM at one moment.
type Look struct {
	Time   time.Time
	Host   string // name
	Tick   numa.VMTick
	Counts Counted
}

// Counted reports which fields of a Look are known.
type Counted struct{ Local, Remote, Ready, CoStop bool }

// HistoryStep is the time between two looks of a History: a day has 144.
const HistoryStep = 10 * time.Minute

// mostPoints limits the points of one series in an answer ("exceeded maximum resolution of 11,000 points per timeseries").
const mostPoints = 10000

// historyOf are the metrics of a History.
var historyOf = []string{"homenode_vm_numa_local_bytes", "homenode_vm_numa_remote_bytes", "homenode_vm_cpu_ready_seconds_per_second",
	"homenode_vm_cpu_costop_seconds_per_second"}

// History reads the counters of the VMs in clusters of a vCenter, by cluster name, between two times. The result is by VM ID; the looks of
// each VM are in time order.
func (r *Reader) History(ctx context.Context, vcenter string, clusters []string, from, to time.Time) (map[string][]Look, error) {
	if points := to.Sub(from) / HistoryStep; points > mostPoints {
		return nil, fmt.Errorf("found %d days, want at most %d", to.Sub(from)/(24*time.Hour), mostPoints*HistoryStep/(24*time.Hour))
	}
	text := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	escaped := words.Texts(clusters, func(c string) string { return text.Replace(quoteMeta(c)) })
	type at struct {
		id   string
		time model.Time
	}
	looks := map[at]*Look{}
	for _, name := range historyOf {
		found, _, _, err := r.api.QueryRange(ctx, fmt.Sprintf(`%s{vcenter="%s",cluster=~"%s"}`, name, text.Replace(vcenter), strings.Join(escaped, "|")), v1.Range{Start: from, End: to, Step: HistoryStep})
		if err != nil {
			return nil, fmt.Errorf("the database does not answer: %s", plain(err))
		}
		matrix, ok := found.(model.Matrix)
		if !ok {
			return nil, fmt.Errorf("found %s from the database, want a matrix", found.Type())
		}
		for _, s := range matrix {
			id := string(s.Metric["vm_id"])
			if id == "" {
				continue
			}
			for _, p := range s.Values {
				if !possible(name, float64(p.Value)) {
					continue
				}
				k := at{id, p.Timestamp}
				l := looks[k]
				if l == nil {
					l = &Look{Time: p.Timestamp.Time(), Host: string(s.Metric["host"])}
					looks[k] = l
				}
				l.take(name, float64(p.Value))
			}
		}
	}
	out := map[string][]Look{}
	for k, l := range looks {
		out[k.id] = append(out[k.id], *l)
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b Look) int { return a.Time.Compare(b.Time) })
	}
	return out, nil
}

// quoteMeta escapes the special characters of PromQL's regular expressions.
func quoteMeta(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`\.+*?()|[]{}^$`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// take sets one value.
func (l *Look) take(metric string, n float64) {
	switch metric {
	case "homenode_vm_numa_local_bytes":
		l.Tick.Local, l.Counts.Local = numa.Bytes(n), true
	case "homenode_vm_numa_remote_bytes":
		l.Tick.Remote, l.Counts.Remote = numa.Bytes(n), true
	case "homenode_vm_cpu_ready_seconds_per_second":
		l.Tick.Ready, l.Counts.Ready = n, true
	case "homenode_vm_cpu_costop_seconds_per_second":
		l.Tick.CoStop, l.Counts.CoStop = n, true
	}
}
