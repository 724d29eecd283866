package comparison

import (
	"encoding/json"
	"io"

	"homenode/measure/compare"
)

// JSONVersion is the version of the JSON; docs/json.md describes it.
const JSONVersion = 1

type reportJSON struct {
	Format     string         `json:"format"`
	Version    int            `json:"version"`
	A          setJSON        `json:"a"`
	B          setJSON        `json:"b"`
	Confidence float64        `json:"confidence"`
	Resamples  int            `json:"resamples"`
	Seed       int            `json:"seed"`
	Verdicts   map[string]int `json:"metricsByVerdict"`
	Metrics    []metricJSON   `json:"metrics"`
	OnlyA      []singleJSON   `json:"onlyA"`
	OnlyB      []singleJSON   `json:"onlyB"`
	Settings   []changeJSON   `json:"settings"`
	Notes      []string       `json:"notes"`
}

type setJSON struct {
	Files []string `json:"files"`
	Runs  int      `json:"runs"`
}

type metricJSON struct {
	Tool       string        `json:"tool"`
	Run        string        `json:"run,omitempty"`
	Metric     string        `json:"metric"`
	Unit       string        `json:"unit,omitempty"`
	Better     string        `json:"better,omitempty"`
	A          sideJSON      `json:"a"`
	B          sideJSON      `json:"b"`
	Difference float64       `json:"difference"`
	Relative   *float64      `json:"relativeDifference,omitempty"`
	Interval   *intervalJSON `json:"interval,omitempty"`
	Verdict    string        `json:"verdict"`
}

type sideJSON struct {
	Median float64   `json:"median"`
	Values []float64 `json:"values"`
}

type intervalJSON struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

type singleJSON struct {
	Tool   string `json:"tool"`
	Run    string `json:"run,omitempty"`
	Metric string `json:"metric"`
	Runs   int    `json:"runs"`
}

type changeJSON struct {
	Tool    string   `json:"tool"`
	Run     string   `json:"run,omitempty"`
	Setting string   `json:"setting"`
	A       []string `json:"a"`
	B       []string `json:"b"`
}

// JSON writes the report as one JSON object.
func JSON(w io.Writer, r *Report) error {
	out := reportJSON{
		Format: "homenode-comparison", Version: JSONVersion,
		A: setJSON{r.A.Files, r.A.Runs}, B: setJSON{r.B.Files, r.B.Runs},
		Confidence: compare.Confidence, Resamples: compare.Resamples, Seed: compare.Seed,
		Verdicts: map[string]int{}, Metrics: []metricJSON{}, OnlyA: []singleJSON{}, OnlyB: []singleJSON{},
		Settings: []changeJSON{}, Notes: append([]string{}, r.Notes...),
	}
	for _, v := range compare.Verdicts {
		out.Verdicts[string(v)] = r.Count(v)
	}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		j := metricJSON{
			Tool: m.Tool, Run: m.Run, Metric: m.Name, Unit: m.Unit, Better: string(m.Better),
			A: sideJSON{m.A.Median, m.A.Values}, B: sideJSON{m.B.Median, m.B.Values},
			Difference: m.Difference, Verdict: string(m.Verdict),
		}
		if share, ok := m.Relative(m.Difference); ok {
			j.Relative = &share
		}
		if m.Interval != nil {
			j.Interval = &intervalJSON{m.Interval.Low, m.Interval.High}
		}
		out.Metrics = append(out.Metrics, j)
	}
	for _, s := range r.Singles {
		j := singleJSON{s.Tool, s.Run, s.Name, s.N}
		if s.InB {
			out.OnlyB = append(out.OnlyB, j)
		} else {
			out.OnlyA = append(out.OnlyA, j)
		}
	}
	for _, c := range r.Changes {
		out.Settings = append(out.Settings, changeJSON{c.Tool, c.Run, c.Name, append([]string{}, c.A...), append([]string{}, c.B...)})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}
