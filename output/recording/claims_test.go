package recording_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/capture"
	"example.org/homenode/output/recording"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
)

// What the configuration takes away is not denied, and no clause is about what no rule
// looked at.
func TestCaptureVerdictWithConfiguration(t *testing.T) {
	night := watchedNight(t)
	low := night.Recordings[0].VMs[0].Low.Longest
	even := *night.Recordings[0]
	even.VMs, even.Imbalance = seldomWide(even.VMs[1:]), capture.Spells{}
	m004 := finding.Finding{Rule: "M004", Severity: finding.High, Host: "esx07", From: at(50), To: at(60)}
	m009 := finding.Finding{Rule: "M009", Severity: finding.High, Host: "esx07", VM: "web01", GID: 4712, From: at(1), To: at(2)}
	m001 := finding.Finding{Rule: "M001", Severity: finding.High, Host: "esx07", VM: "sql01", GID: 4711, From: low.From, To: low.To}
	accepted := func(findings ...finding.Finding) (out []policy.Suppressed) {
		for _, f := range findings {
			out = append(out, policy.Suppressed{Finding: f})
		}
		return out
	}
	const (
		looked = "Looked at: N%L of 2 VMs (least 100 %, sql01 at 2026-11-21 01:02), home nodes, 1 NUMA migration, ready time, 2 nodes. 1 VM had several home nodes: N%L counts all of them as local, and how the memory is spread over them is not in the capture (GST_NDx, M010)."
		where  = "in 3 h 45 min on esx07"
	)
	for _, tt := range []struct {
		name          string
		w             rules.Watched
		whole         bool // with sql01
		verdict, rest string
	}{
		{"accepted", rules.Watched{Judgement: rules.Judgement{Suppressed: accepted(m004, m009, m009)}}, false,
			"NUMA cannot be ruled out " + where + ": 3 accepted findings (M004, M009).", looked},
		{"accepted, for information", rules.Watched{Judgement: rules.Judgement{Suppressed: accepted(finding.Finding{Rule: "M006", Host: "esx07", VM: "web01", GID: 4712})}}, false,
			"NUMA was not the cause " + where + ": none of 2 VMs lost locality, and no node was overloaded while another one idled.", looked},
		{"off and it matters", rules.Watched{Judgement: rules.Judgement{Policy: &policy.Policy{File: "homenode.yaml", Off: map[string]bool{"M004": true}}},
			Muted: []rules.Muted{{Finding: m004, Why: rules.MutedOff}}}, false,
			"NUMA cannot be ruled out " + where + ": 1 finding of rules that are off (M004).", looked + " Switched off by homenode.yaml: M004."},
		{"off", rules.Watched{Judgement: rules.Judgement{Policy: &policy.Policy{File: "homenode.yaml", Off: map[string]bool{"M004": true, "N001": true}}}}, false,
			"NUMA was not the cause " + where + ": none of 2 VMs lost locality.", looked + " Switched off by homenode.yaml: M004."},
		{"all off", rules.Watched{Judgement: rules.Judgement{Policy: &policy.Policy{File: "homenode.yaml", Off: map[string]bool{"M001": true, "M009": true}}}}, false,
			"NUMA cannot be ruled out " + where + ": nothing was found, but neither N%L nor the load of the nodes was judged.", looked + " Switched off by homenode.yaml: M001, M009."},
		{"lowered", rules.Watched{Judgement: rules.Judgement{Policy: &policy.Policy{}}, Muted: []rules.Muted{{Finding: m009, Why: rules.MutedSeverity}}}, false,
			"NUMA cannot be ruled out " + where + ": 1 finding that a lower severity is set for (M009).", looked},
		{"thresholds", rules.Watched{Judgement: rules.Judgement{Policy: &policy.Policy{}}, Muted: []rules.Muted{{Finding: m009, Why: rules.MutedThresholds}}, Laxer: []string{"M004.busy is 150 %, not 80 %"}}, false,
			"NUMA cannot be ruled out " + where + ": 1 finding by the default thresholds alone (M009); M004.busy is 150 %, not 80 %.", looked},
		{"a part accepted", rules.Watched{Judgement: rules.Judgement{Policy: &policy.Policy{}, Findings: []finding.Finding{m009}, Suppressed: accepted(m001)}}, true,
			"NUMA had a part in it: 1 of 2 VMs had trouble with it " + where + ": the worst is web01: , 2026-11-20 22:01 to 22:02.", "Not counted: 1 accepted finding (M001)."},
		{"lost, and more accepted", rules.Watched{Judgement: rules.Judgement{Policy: &policy.Policy{}, Findings: []finding.Finding{m001}, Suppressed: accepted(m004)}}, true,
			"1 of 2 VMs lost locality " + where + "; most remote memory over time: sql01 (gid 4711), 73.8 GB on average over 2 h 44 min with a home node, up to 62 % of its memory from 2026-11-21 00:05 to 00:59.",
			"Not counted: 1 accepted finding (M004)."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := tt.w
			w.Recordings = []*capture.Recording{&even}
			if tt.whole {
				w.Recordings = night.Recordings[:1]
			}
			if w.Policy == nil {
				w.Policy = &policy.Policy{}
			}
			want := []string{tt.verdict, tt.rest}
			if tt.rest == "" {
				want = want[:1]
			}
			if got := recording.Capture(&w, recording.Options{}).Verdict; !slices.Equal(got, want) {
				t.Errorf("verdict %q\nwant    %q", got, want)
			}
		})
	}
}

// Lost VMs whose findings are accepted are counted beside the others.
func TestCaptureVerdictMoreAccepted(t *testing.T) {
	w := watchedNight(t)
	far := w.Recordings[1].VMs[1].Low.Longest
	w.Policy = &policy.Policy{}
	w.Suppressed = []policy.Suppressed{{Finding: finding.Finding{Rule: "M001", Severity: finding.High, Host: "esx08", VM: "app02", GID: 92, From: far.From, To: far.To}}}
	got := recording.Capture(w, recording.Options{}).Verdict[0]
	const want = "1 of 4 VMs lost locality (1 more accepted) in 4 h on 2 hosts; most remote memory over time: sql01 (gid 4711) on esx07"
	if !strings.HasPrefix(got, want) {
		t.Errorf("report begins %.200q, want %q", got, want)
	}
}
