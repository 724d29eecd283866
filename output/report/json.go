package report

import (
	"encoding/json"
	"io"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/policy"
	"homenode/rules/rule"
)

// JSONVersion is the version of the JSON that this package writes; docs/json.md
// describes it. Fields may be added within a version, never changed or removed.
const JSONVersion = 1

type assessJSON struct {
	Format    string            `json:"format"`
	Version   int               `json:"version"`
	Source    string            `json:"source"`
	Collected string            `json:"collected,omitempty"`
	Hosts     int               `json:"hosts"`
	VMs       int               `json:"vms"`
	Judged    int               `json:"judged"`
	Pairs     int               `json:"pairs"`
	Counts    map[string]int    `json:"findingsBySeverity"`
	Clusters  []clusterJSON     `json:"clusters"`
	Findings  []finding.Finding `json:"findings"`
	Layouts   []vmJSON          `json:"layouts"`
	Notes     []numa.Note       `json:"notes"`
	Unjudged  []numa.Note       `json:"unjudged"`

	Config     *configJSON         `json:"config,omitempty"`
	Suppressed []policy.Suppressed `json:"suppressed,omitempty"`
}

// configJSON is what the configuration changes.
type configJSON struct {
	File       string                      `json:"file"`
	Thresholds map[string]float64          `json:"thresholds,omitempty"`
	Severities map[string]finding.Severity `json:"severities,omitempty"`
	Off        []string                    `json:"off,omitempty"`         // rules
	OffCount   int                         `json:"offFindings,omitempty"` // of them
	Notes      []numa.Note                 `json:"notes,omitempty"`       // suppressions that are over or suppress nothing
}

type clusterJSON struct {
	Name     string     `json:"name"`
	Hosts    int        `json:"hosts"`
	Kinds    []kindJSON `json:"kinds"`
	VMs      int        `json:"vms"`
	Wide     int        `json:"wide"`
	Blind    int        `json:"guestBlind"`
	TooBig   int        `json:"tooBig"`
	Changing int        `json:"changeShape"`
}

type kindJSON struct {
	Hosts        []string     `json:"hosts"`
	Release      numa.Release `json:"release"`
	Nodes        int32        `json:"nodes"`
	CoresPerNode int32        `json:"coresPerNode"`
	MemoryPer    numa.Bytes   `json:"bytesPerNode,omitempty"`
}

type vmJSON struct {
	VM      string   `json:"vm"`
	ID      string   `json:"id"`
	Cluster string   `json:"cluster,omitempty"`
	Host    string   `json:"host,omitempty"`
	On      []onJSON `json:"on"`
	// Observed puts each observation beside its prediction.
	Observed []seenJSON `json:"observed,omitempty"`
}

type onJSON struct {
	Hosts  []string      `json:"hosts"`
	Layout *vnuma.Layout `json:"layout"`
}

func hostNames(hosts []*numa.Host) []string {
	out := make([]string, len(hosts))
	for i, h := range hosts {
		out[i] = h.Name
	}
	return out
}

// AssessJSON writes the judged fleet as JSON.
func AssessJSON(w io.Writer, r *rules.Result) error {
	j := assessJSON{
		Format: "homenode-assessment", Version: JSONVersion,
		Source: r.Fleet.Source, Collected: r.Fleet.Collected, Hosts: len(r.Fleet.Hosts), VMs: len(r.Fleet.VMs),
		Judged: r.VMs, Pairs: r.Pairs, Counts: bySeverity(&r.Judgement),
		Findings: orEmpty(r.Findings), Notes: orEmpty(r.Fleet.Notes), Unjudged: orEmpty(r.Unjudged),
		Clusters: []clusterJSON{}, Layouts: []vmJSON{},
	}
	j.Config, j.Suppressed = configOf(&r.Judgement)
	for _, s := range r.Summaries() {
		c := clusterJSON{Name: ClusterTitle(s.Cluster), Hosts: len(s.Cluster.Hosts), Kinds: []kindJSON{}, VMs: len(s.Cluster.VMs),
			Wide: s.Wide, Blind: s.Blind, TooBig: s.TooBig, Changing: s.Differing}
		for _, k := range s.Cluster.Kinds {
			c.Kinds = append(c.Kinds, kindJSON{hostNames(k.Hosts), k.Machine.Release, k.Machine.Nodes, k.Machine.Cores, numa.Bytes(k.Machine.NodeMemory)})
		}
		j.Clusters = append(j.Clusters, c)
		for _, v := range s.Cluster.VMs {
			vm := vmJSON{VM: v.Name, ID: v.ID, Cluster: s.Cluster.Name, Observed: seenOf(v)}
			if v.Host != nil {
				vm.Host = v.Host.Name
			}
			for i := range v.On {
				vm.On = append(vm.On, onJSON{hostNames(v.On[i].Kind.Hosts), &v.On[i].Layout})
			}
			j.Layouts = append(j.Layouts, vm)
		}
	}
	return writeJSON(w, &j)
}

// configOf returns what the configuration changed in a judgement; nil without one.
func configOf(j *rules.Judgement) (*configJSON, []policy.Suppressed) {
	if j.Policy == nil {
		return nil, nil
	}
	return &configJSON{j.Policy.File, j.Policy.Thresholds, j.Policy.Severities, j.OffRules(), j.Off, j.PolicyNotes}, j.Suppressed
}

func bySeverity(j *rules.Judgement) map[string]int {
	n := map[string]int{}
	for i := range j.Findings {
		n[j.Findings[i].Severity.String()]++
	}
	return n
}

type explainJSON struct {
	Format   string            `json:"format"`
	Version  int               `json:"version"`
	VM       string            `json:"vm"`
	Host     string            `json:"host"`
	Release  numa.Release      `json:"release"`
	Event    string            `json:"event"`
	Layout   *vnuma.Layout     `json:"layout"`
	Trace    []stepJSON        `json:"trace"`
	LogLines []string          `json:"logLines,omitempty"`
	Findings []finding.Finding `json:"findings"`
	Observed []seenJSON        `json:"observed,omitempty"`
	Problems []string          `json:"problems,omitempty"`

	Config     string              `json:"config,omitempty"`
	Suppressed []policy.Suppressed `json:"suppressed,omitempty"`
}

type stepJSON struct {
	Rules   string             `json:"rules"`
	Because string             `json:"because"`
	Result  string             `json:"result"`
	Decides bool               `json:"decides,omitempty"`
	Choice  string             `json:"choice,omitempty"`
	Facts   []finding.Evidence `json:"facts,omitempty"`
}

// ExplainJSON writes the explanation as JSON.
func ExplainJSON(w io.Writer, e *Explanation) error {
	j := explainJSON{
		Format: "homenode-explanation", Version: JSONVersion, VM: e.VM.Name, Host: e.Host.Name, Release: e.Kind.Machine.Release,
		Event: e.Case.Event.String(), Layout: &e.Layout, LogLines: e.LogLines,
		Findings: orEmpty(e.Findings), Observed: seenOf(e.VM), Problems: e.Problems, Config: e.Config, Suppressed: e.Suppressed,
	}
	for _, s := range e.Trace {
		step := stepJSON{Rules: s.Rules, Because: s.Because, Result: s.Result, Decides: s.Decides, Choice: s.Choice}
		for _, u := range s.Facts {
			step.Facts = append(step.Facts, finding.Evidence{Name: u.Name, Value: u.Value, Origin: u.Origin.String(), At: readFrom(u)})
		}
		j.Trace = append(j.Trace, step)
	}
	return writeJSON(w, &j)
}

type ruleJSON struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Title    string           `json:"title"`
	Severity finding.Severity `json:"severity"`
	Why      string           `json:"why"`
	Fix      string           `json:"fix"`
	Limits   string           `json:"limits"`
	Book     []string         `json:"ruleBook"`
	Sources  []string         `json:"sources"`

	Thresholds []thresholdJSON `json:"thresholds,omitempty"`
}

type thresholdJSON struct {
	Name    string    `json:"name"` // as the configuration has it: N005.seriousShare
	Default float64   `json:"default"`
	Unit    rule.Unit `json:"unit"`
	Least   float64   `json:"least"`
	Most    float64   `json:"most"`
	Text    string    `json:"text"`
}

// RulesJSON writes the rules as a JSON list.
func RulesJSON(w io.Writer, rs []*rule.Rule) error {
	out := make([]ruleJSON, len(rs))
	for i, r := range rs {
		out[i] = ruleJSON{r.ID, r.Name, r.Title, r.Severity, r.Why, r.Fix, r.Limits, r.Book, r.Sources, nil}
		for _, t := range r.Thresholds {
			out[i].Thresholds = append(out[i].Thresholds, thresholdJSON{r.ID + "." + t.Name, t.Default, t.Unit, t.Least, t.Most, t.Text})
		}
	}
	return writeJSON(w, out)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// orEmpty makes a nil list an empty one: [] and not null.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
