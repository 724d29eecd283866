package benchmark

import (
	"fmt"
	"strings"
	"testing"
)

const blitz = `"ID","ServerName","CheckDate","wait_type","wait_time_ms","signal_wait_time_ms","waiting_tasks_count"
"1","SQL01","2026-11-01 10:00:00.1230000 +00:00","CXPACKET","1000","10","5"
"2","SQL01","2026-11-01 10:00:00.1230000 +00:00","WRITELOG","5000","10","5"
"3","SQL02","2026-11-01 10:00:00.5000000 +01:00","CXPACKET","700","10","5"
"4","SQL01","2026-11-01 10:10:00.1230000 +00:00","CXPACKET","61000","10","5"
"5","SQL01","2026-11-01 10:10:00.1230000 +00:00","WRITELOG","4000","10","5"
"6","SQL01","2026-11-01 10:10:00.1230000 +00:00","SOS_SCHEDULER_YIELD","300","10","5"
"7","SQL01","2026-11-01 10:05:00.1230000 +00:00","CXPACKET","31000","10","5"
what is this
`

func TestWaits(t *testing.T) {
	for name, in := range map[string]string{
		"commas":     blitz,
		"semicolons": "#TYPE System.Data.DataRow\n" + strings.ReplaceAll(blitz, ",", ";"),
		"tabs":       strings.NewReplacer(",", "\t", `"`, "").Replace(blitz),
		"PowerShell": strings.NewReplacer("2026-11-01 10:", "11/1/2026 10:", ".1230000", " AM", ".5000000", " AM").Replace(blitz),
	} {
		res, err := Read("waits.csv", strings.NewReader(in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, r := range res.Runs {
			for _, m := range r.Metrics {
				got = append(got, fmt.Sprintf("%s %s %g %s %s line %d", r.Label(), m.Name, m.Value, m.Unit, m.Better, m.Line))
			}
		}
		want := "sp_BlitzFirst waits SQL01 CXPACKET 100 ms/s lower line "
		if len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s: got %q, want %s", name, got, want)
		}
		var warnings []string
		for _, w := range res.AllWarnings() {
			warnings = append(warnings, w.Text)
		}
		all := strings.Join(warnings, "\n")
		for _, want := range []string{"found fewer waits of WRITELOG than before", "found one time of SQL02, want two at least", `found "what is this"`} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no warning %q in %s", name, want, all)
			}
		}
	}
}
