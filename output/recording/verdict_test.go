package recording_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/output/format"
	"example.org/homenode/output/recording"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	verdict "example.org/homenode/rules/verdict/recording"
	"example.org/homenode/source/incident"
)

func TestCaptureVerdict(t *testing.T) {
	night := watchedNight(t)
	low := night.Recordings[0].VMs[0].Low.Longest
	m001 := finding.Finding{Rule: "M001", Title: "low", Severity: finding.High, Host: "esx07", VM: "sql01", GID: 4711, From: low.From, To: low.To}
	before := finding.Finding{Rule: "M008", Title: "spilled", Severity: finding.Medium, Host: "esx07", VM: "sql01", GID: 4711, From: low.From.Add(-2 * time.Minute), To: low.From}
	m009 := finding.Finding{Rule: "M009", Title: "the VM waited", Severity: finding.Medium, Host: "esx07", VM: "web01", GID: 4712, From: at(1), To: at(2)}
	m004 := finding.Finding{Rule: "M004", Title: "one node was overloaded", Severity: finding.Medium, Host: "esx07", From: at(50), To: at(60)}
	moment := firstTick(t)
	healthy := *night.Recordings[0]
	healthy.VMs = seldomWide(healthy.VMs[1:])
	healthy.Imbalance = capture.Spells{}
	info := m009
	info.Severity = finding.Info
	short := *night.Recordings[1]
	short.Ticks, short.Covered, short.Last = 3, 10*time.Second, short.First.Add(10*time.Second)
	ten := healthy
	ten.Covered = 10 * time.Minute
	apart := *moment
	apart.Ticks = 24
	m007 := finding.Finding{Rule: "M007", Title: "N%L contradicts", Severity: finding.Medium, Host: "esx07", VM: "web01", GID: 4712, From: at(3), To: at(3)}
	m012 := finding.Finding{Rule: "M012", Title: "the host was short of memory", Severity: finding.Medium, Host: "esx07", From: at(120), To: at(130)}
	lowNode := m004
	lowNode.Severity = finding.Low
	uneven := healthy
	uneven.Imbalance = capture.Spells{Count: 1}
	idle := m001
	idle.Severity = finding.Low
	byNode, unmanaged := blind(night.Recordings[1], true), blind(night.Recordings[1], true)
	byNode[0].VMs[0].LastNode = []numa.MemoryOnNode{{Node: 0, Guest: numa.GiB}, {Node: 1, Guest: numa.GiB}}
	for i := range unmanaged[0].VMs {
		v := &unmanaged[0].VMs[i]
		v.HasMemory, v.HasMoves, v.Low, v.Managed = true, true, capture.Spells{}, 0
	}
	percent := blind(night.Recordings[1], true)
	percent[0].VMs[0].Percents = capture.Percents{Alone: 55}
	for _, tt := range []struct {
		name          string
		recordings    []*capture.Recording
		findings      []finding.Finding
		verdict, rest string
	}{
		{"nothing", nil, nil, "Nothing can be said about NUMA: no VM was recorded.", ""},
		{"lost", night.Recordings[:1], []finding.Finding{m001}, "1 of 2 VMs lost locality in 3 h 45 min on esx07; most remote memory over time: sql01 (gid 4711), 73.8 GB on average over 2 h 44 min with a home node, up to 62 % of its memory from 2026-11-21 00:05 to 00:59.", ""},
		{"lost and more", night.Recordings[:1], []finding.Finding{m001, m009, m004},
			"1 of 2 VMs lost locality in 3 h 45 min on esx07; most remote memory over time: sql01 (gid 4711), 73.8 GB on average over 2 h 44 min with a home node, up to 62 % of its memory from 2026-11-21 00:05 to 00:59.",
			"1 more VM had other problems of medium or high severity; the worst is web01: the VM waited, 2026-11-20 22:01 to 22:02. 1 host has findings of its own of medium or high severity: esx07."},
		{"lost after another finding", night.Recordings[:1], []finding.Finding{m001, before},
			"1 of 2 VMs lost locality in 3 h 45 min on esx07; most remote memory over time: sql01 (gid 4711), 73.8 GB on average over 2 h 44 min with a home node, up to 62 % of its memory from 2026-11-21 00:03 to 00:59.", ""},
		{"hurt", night.Recordings[:1], []finding.Finding{m009},
			"NUMA had a part in it: 1 of 2 VMs had trouble with it in 3 h 45 min on esx07, though none lost locality: the worst is web01: the VM waited, 2026-11-20 22:01 to 22:02.", ""},
		{"host", night.Recordings[:1], []finding.Finding{m004}, "NUMA had a part in it in 3 h 45 min on esx07: no VM lost locality, but on esx07 one node was overloaded, 2026-11-20 22:50 to 23:00.", ""},
		{"innocent", []*capture.Recording{&healthy}, []finding.Finding{info},
			"NUMA was not the cause in 3 h 45 min on esx07: none of 2 VMs lost locality, and no node was overloaded while another one idled.",
			"1 finding of low severity or for information. Looked at: N%L of 2 VMs (least 100 %, sql01 at 2026-11-21 01:02), home nodes, 1 NUMA migration, ready time, 2 nodes. 1 VM had several home nodes: N%L counts all of them as local, and how the memory is spread over them is not in the capture (GST_NDx, M010)."},
		{"low all the time", night.Recordings[1:], nil, "NUMA cannot be ruled out in 4 h on esx08: N%L of app02 was below 80 % most of the time, though no rule counts it as a finding.",
			"Looked at: N%L of 1 VM (least 75 %, app02 at 2026-11-20 22:00), home nodes, 241 NUMA migrations, ready time. " +
				"The capture lacks Numa Node % Util Time, Numa Node Free MBytes, Numa Node Total MBytes: record with esxtop -b -a."},
		{"several hosts", night.Recordings, nil,
			"NUMA cannot be ruled out in 4 h on 2 hosts: N%L of sql01 (gid 4711) was below 80 % most of the time, though no rule counts it as a finding.",
			"Looked at: N%L of 3 VMs (least 38 %, sql01 (gid 4711) at 2026-11-20 23:00), home nodes, 243 NUMA migrations, ready time, 2 nodes. 1 VM had several home nodes: N%L counts all of them as local, and how the memory is spread over them is not in the capture (GST_NDx, M010). The capture lacks Numa Node % Util Time, Numa Node Free MBytes, Numa Node Total MBytes of esx08: record with esxtop -b -a."},
		{"a moment", []*capture.Recording{moment}, nil,
			"NUMA cannot be ruled out: N%L of 1 VM was below 80 %, lowest 75 % of app02 with 2 GB remote, but what was recorded on esx08 is a single moment.",
			"Looked at: N%L of 1 VM (least 75 %, app02 at 22:00:00), home nodes, 1 NUMA migration, ready time. The capture lacks Numa Node % Util Time, Numa Node Free MBytes, Numa Node Total MBytes: record with esxtop -b -a."},
		{"ticks far apart", []*capture.Recording{&apart}, nil,
			"NUMA cannot be ruled out: N%L of 1 VM was below 80 %, lowest 75 % of app02 with 2 GB remote, but the ticks on esx08 are more than 5 min apart: shorter episodes are not seen.",
			"Looked at: N%L of 1 VM (least 75 %, app02 at 22:00:00), home nodes, 1 NUMA migration, ready time. The capture lacks Numa Node % Util Time, Numa Node Free MBytes, Numa Node Total MBytes: record with esxtop -b -a."},
		{"ten seconds", []*capture.Recording{&short}, nil,
			"NUMA cannot be ruled out: N%L of 1 VM was below 80 %, lowest 75 % of app02 with 2 GB remote in 10 s on esx08, but that is too short: rules look for minutes.",
			"Looked at: N%L of 1 VM (least 75 %, app02 at 22:00:00), home nodes, 241 NUMA migrations, ready time. The capture is too short for M001, M004, M005, M009, M010, M011, M012, which need at least 5 min to 15 min. The capture lacks Numa Node % Util Time, Numa Node Free MBytes, Numa Node Total MBytes: record with esxtop -b -a."},
		{"ten minutes", []*capture.Recording{&ten}, nil,
			"NUMA was not the cause in 10 min on esx07: none of 2 VMs lost locality, and no node was overloaded while another one idled.",
			"Looked at: N%L of 2 VMs (least 100 %, sql01 at 2026-11-21 01:02), home nodes, 1 NUMA migration, ready time, 2 nodes. The capture is too short for M005, M010, which need at least 15 min. 1 VM had several home nodes: N%L counts all of them as local, and how the memory is spread over them is not in the capture (GST_NDx, M010)."},
		{"beside", []*capture.Recording{&healthy}, []finding.Finding{m007},
			"NUMA was not the cause in 3 h 45 min on esx07: none of 2 VMs lost locality, and no node was overloaded while another one idled.",
			"Also, on web01: N%L contradicts. Looked at: N%L of 2 VMs (least 100 %, sql01 at 2026-11-21 01:02), home nodes, 1 NUMA migration, ready time, 2 nodes. 1 VM had several home nodes: N%L counts all of them as local, and how the memory is spread over them is not in the capture (GST_NDx, M010)."},
		{"beside twice", []*capture.Recording{&healthy}, []finding.Finding{m012, m007},
			"NUMA was not the cause in 3 h 45 min on esx07: none of 2 VMs lost locality, and no node was overloaded while another one idled.",
			"Also 2 findings; the most important is on esx07: the host was short of memory, 2026-11-21 00:00 to 00:10. Looked at: N%L of 2 VMs (least 100 %, sql01 at 2026-11-21 01:02), home nodes, 1 NUMA migration, ready time, 2 nodes. 1 VM had several home nodes: N%L counts all of them as local, and how the memory is spread over them is not in the capture (GST_NDx, M010)."},
		{"low on a node", []*capture.Recording{&uneven}, []finding.Finding{lowNode}, "NUMA was not the cause in 3 h 45 min on esx07: none of 2 VMs lost locality.",
			"1 finding of low severity or for information. Looked at: N%L of 2 VMs (least 100 %, sql01 at 2026-11-21 01:02), home nodes, 1 NUMA migration, ready time, 2 nodes. 1 VM had several home nodes: N%L counts all of them as local, and how the memory is spread over them is not in the capture (GST_NDx, M010)."},
		{"uneven for a moment", []*capture.Recording{&uneven}, nil, "NUMA was not the cause in 3 h 45 min on esx07: none of 2 VMs lost locality, and no node was overloaded for long while another one idled.",
			"Looked at: N%L of 2 VMs (least 100 %, sql01 at 2026-11-21 01:02), home nodes, 1 NUMA migration, ready time, 2 nodes. 1 VM had several home nodes: N%L counts all of them as local, and how the memory is spread over them is not in the capture (GST_NDx, M010)."},
		{"idle", night.Recordings[:1], []finding.Finding{idle},
			"NUMA cannot be ruled out in 3 h 45 min on esx07: N%L of 1 VM with several home nodes means nothing where the guest does not see them: --fleet would tell.",
			"1 finding of low severity or for information. Looked at: N%L of 2 VMs (least 38 %, sql01 (gid 4711) at 2026-11-20 23:00), home nodes, 2 NUMA migrations, ready time, 2 nodes. 1 VM had several home nodes: N%L counts all of them as local, and how the memory is spread over them is not in the capture (GST_NDx, M010)."},
		{"without memory", blind(night.Recordings[1], false), nil, "NUMA cannot be ruled out in 4 h on esx08: nothing was found, but the capture lacks the counters that show it.",
			"Looked at: home nodes, 241 NUMA migrations, ready time. The capture lacks Numa Local Memory MBytes, Numa Node % Util Time, Numa Node Free MBytes, Numa Node Total MBytes: record with esxtop -b -a."},
		{"blind", blind(night.Recordings[1], true), nil, "Nothing can be said about NUMA: the capture has none of its counters.",
			"A host of one NUMA node has none; else they are there when it is recorded with esxtop -b -a."},
		{"N%L alone", percent, nil, "NUMA cannot be ruled out in 4 h on esx08: the recording has N%L (lowest: 55 %, of app01), but no local and remote memory, so N%L was not assessed.",
			"The capture lacks Numa Home Nodes, Numa Local Memory MBytes, Numa Node % Util Time, Numa Node Free MBytes, Numa Node Total MBytes: record with esxtop -b -a."},
		{"memory by node alone", byNode, nil, "Nothing can be said about NUMA: the capture shows on which nodes the memory of 1 VM is, but not their home nodes.",
			"sched-stats -t numa-clients beside it, or esxtop -b -a, shows those and N%L."},
		{"one node", unmanaged, nil, "Nothing can be said about NUMA in 4 h on esx08: no VM has a home node, and local and remote memory are 0 throughout.",
			"So it is on a host of one NUMA node, which has nothing to lose, and with node interleaving in the BIOS, which hides the nodes."},
		{"one node beside another host", []*capture.Recording{&healthy, unmanaged[0]}, nil,
			"NUMA was not the cause in 4 h on 2 hosts: none of 2 VMs with N%L lost locality (2 without).",
			"Looked at: N%L of 2 VMs (least 100 %, sql01 at 2026-11-21 01:02), home nodes, 242 NUMA migrations, ready time, 2 nodes. 1 VM had several home nodes: N%L counts all of them as local, and how the memory is spread over them is not in the capture (GST_NDx, M010). The capture lacks Numa Home Nodes, Numa Local Memory MBytes, Numa Node % Util Time, Numa Node Free MBytes, Numa Node Total MBytes of esx08: record with esxtop -b -a."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &rules.Watched{Recordings: tt.recordings}
			w.Findings = tt.findings
			want := []string{tt.verdict, tt.rest}
			if tt.rest == "" {
				want = want[:1]
			}
			if got := recording.Capture(w, recording.Options{}).Verdict; !slices.Equal(got, want) {
				t.Errorf("verdict %q\nwant    %q", got, want)
			}
		})
	}
}

// A moment is no span, in the head of every form that a person reads.
func TestCaptureMoment(t *testing.T) {
	w := &rules.Watched{Recordings: []*capture.Recording{firstTick(t)}}
	for _, name := range []string{"table", "markdown", "html"} {
		got := string(written(t, name, recording.Capture(w, recording.Options{}), format.Options{}))
		if !strings.Contains(got, "2026-11-20 22:00:00 UTC") || strings.Contains(got, "2026-11-20 22:00:00 to") {
			t.Errorf("%s does not say when: %.300s", name, got)
		}
	}
}

// firstTick returns esx08 with one tick.
func firstTick(t *testing.T) *capture.Recording {
	t.Helper()
	in, err := incident.Read("night.txt", []byte(captureNight))
	if err != nil {
		t.Fatal(err)
	}
	return record(t, in, func(k *numa.Tick) bool { return k.Host != "esx08" || k.Time.After(at(0)) })[0]
}

// blind returns the recording without memory, and with all without anything about NUMA.
func blind(rec *capture.Recording, all bool) []*capture.Recording {
	r := *rec
	r.VMs = slices.Clone(rec.VMs)
	r.Lacks = append([]string{"Numa Local Memory MBytes"}, rec.Lacks...)
	for i := range r.VMs {
		v := &r.VMs[i]
		v.HasMemory = false
		v.Least.Local, v.Least.Remote = 0, 0
		if all {
			v.HasHomes, v.HasMoves = false, false
		}
	}
	if all {
		r.Lacks = append(r.Lacks, "Numa Home Nodes")
	}
	return []*capture.Recording{&r}
}

// Lives of one name are one VM unless they run at the same time; for some minutes one that
// moves is on both hosts.
func TestCaptureCountsVMs(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b [][2]int // lives on two hosts, in minutes
		want int
	}{
		{"power cycles", [][2]int{{0, 10}, {11, 20}, {20, 60}}, nil, 1},
		{"two of one name", [][2]int{{0, 30}, {10, 60}}, nil, 2},
		{"one on each host", [][2]int{{0, 60}}, [][2]int{{0, 60}}, 2},
		{"vMotion", [][2]int{{0, 30}}, [][2]int{{26, 60}}, 1},
		{"vMotion of five minutes", [][2]int{{0, 30}}, [][2]int{{25, 60}}, 1},
		{"there and back", [][2]int{{0, 20}, {40, 60}}, [][2]int{{18, 43}}, 1},
		{"one tick", [][2]int{{7, 7}}, nil, 1},
		{"one tick on each host", [][2]int{{7, 7}}, [][2]int{{7, 7}}, 2},
		{"the same few ticks", [][2]int{{0, 2}}, [][2]int{{0, 2}}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &rules.Watched{}
			for host, lives := range map[string][][2]int{"a": tt.a, "b": tt.b} {
				rec := &capture.Recording{Host: host, First: at(0), Last: at(60)}
				for i, life := range lives {
					rec.VMs = append(rec.VMs, capture.VM{Name: "vm", GID: int64(i + 1), First: at(life[0]), Last: at(life[1])})
				}
				w.Recordings = append(w.Recordings, rec)
			}
			if got := verdict.CountVMs(verdict.Of(w).VMs); got != tt.want {
				t.Errorf("%d VMs, want %d", got, tt.want)
			}
		})
	}
}
