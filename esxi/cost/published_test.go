package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
)

// points prints a share in percent without a negative zero.
func points(format string, share float64) string {
	p := math.Round(share*1000) / 10
	if p == 0 {
		p = 0
	}
	return fmt.Sprintf(format, p)
}

// published is the table of docs/evidence/cost.md.
func published() string {
	var b strings.Builder
	b.WriteString("| id | published | figures | observed | model | interval | deviation | class | host | used for | verdict |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|\n")
	rows := Published()
	for i := range rows {
		r := &rows[i]
		model, interval, deviation, class, machine := "–", "–", "–", "–", "–"
		if r.Modelled {
			model, deviation = points("%.1f", r.Model.Value), points("%+.1f", r.Deviation())
			interval = points("%.1f", r.Model.Low) + "–" + points("%.1f", r.Model.High)
			class, machine = r.Workload, r.Machine
			if r.Model.Extrapolated {
				interval += " ¹"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.ID, r.What, r.Figures,
			points("%.1f", r.Observed), model, interval, deviation, class, machine, r.Purpose, r.Verdict())
	}
	b.WriteString("\n¹ Extrapolated. What explains a row:\n\n")
	for i := range rows {
		if r := &rows[i]; r.Why != "" {
			fmt.Fprintf(&b, "- %s, %s: %s\n", r.ID, r.What, r.Why)
		}
	}
	return b.String()
}

// machines is the table of measurements of docs/evidence/cost.md.
func machines() string {
	var b strings.Builder
	b.WriteString("| id | host type | local | near | far | a node's own bandwidth | link | from |\n|---|---|---|---|---|---|---|---|\n")
	for i, m := range Table() {
		e := entries[i]
		near, own, link := "–", "–", "–"
		if e.ns[Near] != 0 {
			near = number(m.Paths[Near].Nanoseconds.Value) + " ns"
		}
		if bw := m.Paths[Far].BytesPerSecond; bw.Known() {
			own = fmt.Sprintf("%.1f GB/s", m.Paths[Local].BytesPerSecond.Value/1e9)
			link = fmt.Sprintf("%.1f GB/s, %.0f %%", bw.Value/1e9, 100*m.Paths[Far].Share.Value)
		}
		fmt.Fprintf(&b, "| %s | %s | %s ns | %s | %s ns | %s | %s | %s |\n", m.ID, m.Name,
			number(m.Paths[Local].Nanoseconds.Value), near, number(m.Paths[Far].Nanoseconds.Value), own, link, e.source)
	}
	return b.String()
}

// classes is the table of workloads of docs/evidence/cost.md.
func classes() string {
	var b strings.Builder
	b.WriteString("| name | class | waits for memory | bandwidth decides | from |\n|---|---|---|---|---|\n")
	span := func(r Range) string {
		if r == (Range{}) {
			return "–"
		}
		return fmt.Sprintf("%.3f (%.3f to %.3f)", r.Value, r.Low, r.High)
	}
	for _, w := range Workloads {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", w.Name, w.Title, span(w.Stall), span(w.Stream), w.Why)
	}
	return b.String()
}

// TestDocs checks that the tables of docs/evidence/cost.md are what the package says: the golden
// file of all its numbers.
func TestDocs(t *testing.T) {
	const path = "../../docs/evidence/cost.md"
	page := golden.Read(t, path)
	got := string(page)
	for _, section := range []struct{ name, text string }{{"machines", machines()}, {"classes", classes()}, {"published", published()}} {
		begin, end := "<!-- "+section.name+" -->\n", "<!-- end of "+section.name+" -->"
		head, rest, ok := strings.Cut(got, begin)
		_, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no section %q", path, section.name)
		}
		got = head + begin + "\n" + section.text + "\n" + end + tail
	}
	golden.Equal(t, []byte(got), path)
}

// TestMissesHaveReasons checks that nothing is a miss without a word on why.
func TestMissesHaveReasons(t *testing.T) {
	count := map[Verdict]int{}
	for _, r := range Published() {
		v := r.Verdict()
		count[v]++
		if (v == Miss || v == NotModelled) && r.Why == "" {
			t.Errorf("%s %s: %s, and no reason", r.ID, r.What, v)
		}
		if v == Miss && r.Purpose != Check {
			t.Errorf("%s %s: a miss, though the model was fitted to it", r.ID, r.What)
		}
	}
	if want := (map[Verdict]int{Fits: 15, Close: 5, Miss: 5, NotModelled: 2}); fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("verdicts %v, want %v", count, want)
	}
}

// TestPublishedByHand recomputes some rows with a pocket calculator.
func TestPublishedByHand(t *testing.T) {
	if got := round(Noise, 4); got != 0.0448 { // a-sockets: −4.48 %
		t.Errorf("noise %v, want 0.0448", got)
	}
	want := map[string]struct{ observed, model float64 }{
		"PassMark memory latency":                                 {0.7910, 0.8197}, // 53/67; 1/1.22
		"PassMark memory threaded":                                {0.5415, 0.5415}, // 28661.8/52926.8
		"HammerDB batch requests":                                 {0.9265, 0.9409}, // 5293/5713; 1/(1+0.22×0.2854)
		"wide VM, 16,220 MB on node 0, none on node 1":            {0.4528, 0.5000}, // 24/53; one controller of two
		"Xeon v4, MLC idle latency, node interleaving":            {0.7146, 0.7192}, // 77.21/108.04; 73/101.5
		"Skylake of Denneman 2022/11/03, remote for local":        {0.6403, 0.5817}, // 89/139; 80.8/138.9
		"wide VM, 16,722 and 8,418 MB":                            {0.4528, 0.6962}, // see TestThroughput
		"PassMark memory read cached":                             {0.9989, 1},
		"PassMark CPU mark, 2 cores per socket for 1":             {0.9552, 1},
		"the same, if the vCPUs were all on node 0 too":           {0.4528, 0.5000},
		"PassMark memory mark, 16 cores per socket for 1":         {0.9771, 1},
		"PassMark memory threaded, if all memory was on one node": {0.5415, 0.5},
	}
	for _, r := range Published() {
		w, ok := want[r.What]
		if !ok {
			continue
		}
		delete(want, r.What)
		if math.Abs(r.Observed-w.observed) > 5e-5 || math.Abs(r.Model.Value-w.model) > 5e-5 {
			t.Errorf("%s: observed %.4f, model %.4f; want %.4f, %.4f", r.What, r.Observed, r.Model.Value, w.observed, w.model)
		}
	}
	if len(want) != 0 {
		t.Errorf("not published: %v", want)
	}
}
