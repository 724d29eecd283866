package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"homenode/esxi/scheduler"
	"homenode/internal/alike"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/output/table"
	"homenode/rules/simulate"
)

// WhyOptions say which decisions Why writes.
type WhyOptions struct {
	VM, Host string // of this VM, on this host; "" for all
	Colour   bool
}

// Why writes the decisions of the scheduler with their reasons, in the order of time, as
// table, json or csv. A name that nobody bears is an error that names those alike.
func Why(w io.Writer, r *simulate.Result, form string, o WhyOptions) error {
	s := newSimulated(r).sim
	chosen, err := s.decisions(o)
	if err != nil {
		return err
	}
	switch form {
	case "json":
		j := whyJSON{Format: "homenode-why", Version: JSONVersion, Simulated: true, Story: s.storyJSON(), Decisions: s.decisionsJSON(chosen)}
		return writeJSON(w, &j)
	case "csv":
		return table.CSV(w, simulatedTable(s.decisionTable(chosen)))
	}
	p := &printer{w: w, colour: o.Colour}
	p.printf("%s\n\n", p.paint(bold, fmt.Sprintf("Simulated: %s of the NUMA scheduler in %s", plural(len(chosen), "decision"), s.Story.Name)))
	t := texttab.Table{}
	t.Row("TIME", "HOST", "VM", "DECISION", "WHY", "RULES")
	for _, d := range chosen {
		t.Row(s.moment(d.At), s.hostName(d.Host), dash(s.clientName(d)), d.Kind.String(), dash(d.Why(s.Story.Fleet)), strings.Join(d.Kind.Rules(), " "))
	}
	p.table(&t)
	for _, d := range chosen {
		if ids := d.Kind.Rules(); len(ids) > 0 {
			p.printf("\nnext   homenode rules %s\n", ids[0])
			break
		}
	}
	return p.err
}

// moment writes a time of the story to the second: decisions are 2 s apart.
func (s *simulated) moment(d time.Duration) string {
	at := s.Story.Start.Add(d).UTC()
	const day = 24 * time.Hour
	if last := s.Story.Start.Add(s.Story.Length - 1); last.Truncate(day).Equal(s.Story.Start.Truncate(day)) { // days of UTC
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// clientName names the VM of a decision and, when it is about one of several, the client.
func (s *simulated) clientName(d *scheduler.Decision) string {
	if d.VM < 0 {
		return ""
	}
	if d.Client < 0 {
		return s.vmName(d.VM)
	}
	return fmt.Sprintf("%s.%d", s.vmName(d.VM), d.Client)
}

// decisions returns those that the options choose.
func (s *simulated) decisions(o WhyOptions) ([]*scheduler.Decision, error) {
	vms := map[int]bool{}
	if o.VM != "" {
		found := s.named(o.VM)
		if len(found) == 0 {
			return nil, s.unknown(o.VM)
		}
		for _, v := range found {
			vms[v.index] = true
		}
	}
	if o.Host != "" {
		var names []string
		for i := range s.Story.Fleet.Hosts {
			names = append(names, s.hostName(i))
		}
		if !slices.ContainsFunc(names, func(name string) bool { return numa.SameHost(name, o.Host) }) {
			return nil, fmt.Errorf("--host: the story has no host %q%s", o.Host, alike.After(o.Host, names))
		}
	}
	out := []*scheduler.Decision{}
	for i := range s.Outcome.Decisions {
		d := &s.Outcome.Decisions[i]
		about := vms[d.VM] || (d.Kind == scheduler.BalanceSwapped || d.Kind == scheduler.LocalitySwapped) && vms[d.Other]
		if (o.VM == "" || about) && (o.Host == "" || numa.SameHost(s.hostName(d.Host), o.Host)) {
			out = append(out, d)
		}
	}
	return out, nil
}

// unknown is the error for a name that no VM of the story bears.
func (s *simulated) unknown(name string) error {
	var names []string
	for _, v := range s.vms {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	return fmt.Errorf("the story has no VM %q%s", name, alike.After(name, slices.Compact(names)))
}

// decisionTable has a row for each decision.
func (s *simulated) decisionTable(all []*scheduler.Decision) table.Table {
	node := func(n int) table.Cell { return known(n >= 0, table.Number(n)) }
	return table.Table{
		Name: "decisions", Len: len(all), Columns: []table.Column{column("Time", 22), column("Host", 20), column("VM", 24), column("Client", 7), column("Decision", 22), column("From node", 9), column("To node", 9), column("With VM", 24),
			column("From host", 20), column("Why", 80), column("Rules", 18), column("VM ID", 14)},
		Rows: func(yield func([]table.Cell) bool) {
			for _, d := range all {
				row := []table.Cell{table.Time(s.Story.Start.Add(d.At)), table.Text(s.hostName(d.Host)), {}, known(d.Client >= 0, table.Number(d.Client)), table.Text(d.Kind.String()), node(d.From), node(d.To),
					table.Text(s.otherVM(d)), table.Text(s.otherHost(d)), table.Text(d.Why(s.Story.Fleet)), table.Text(strings.Join(d.Kind.Rules(), " ")), {}}
				if d.VM >= 0 {
					row[2], row[11] = table.Text(s.vmName(d.VM)), table.Text(s.Story.Fleet.VMs[d.VM].ID)
				}
				if !yield(row) {
					return
				}
			}
		},
	}
}

// otherVM names the VM that a client changed places with.
func (s *simulated) otherVM(d *scheduler.Decision) string {
	if d.Other >= 0 && (d.Kind == scheduler.BalanceSwapped || d.Kind == scheduler.LocalitySwapped) {
		return s.vmName(d.Other)
	}
	return ""
}

// otherHost names the host that a VM came from.
func (s *simulated) otherHost(d *scheduler.Decision) string {
	if d.Other >= 0 && (d.Kind == scheduler.MovedIn || d.Kind == scheduler.Restart) {
		return s.hostName(d.Other)
	}
	return ""
}

type whyJSON struct {
	Format    string         `json:"format"`
	Version   int            `json:"version"`
	Simulated bool           `json:"simulated"`
	Story     storyJSON      `json:"story"`
	Decisions []decisionJSON `json:"decisions"`
}

type decisionJSON struct {
	Time     time.Time `json:"time"`
	Host     string    `json:"host"`
	VM       string    `json:"vm,omitempty"`
	VMID     string    `json:"vmId,omitempty"`
	Client   *int      `json:"client,omitempty"`
	Decision string    `json:"decision"`
	From     *int      `json:"fromNode,omitempty"`
	To       *int      `json:"toNode,omitempty"`
	WithVM   string    `json:"withVM,omitempty"`
	FromHost string    `json:"fromHost,omitempty"`
	Why      string    `json:"why,omitempty"`
	Rules    []string  `json:"rules"`
}

func (s *simulated) decisionsJSON(all []*scheduler.Decision) []decisionJSON {
	out := make([]decisionJSON, 0, len(all))
	number := func(n int) *int {
		if n < 0 {
			return nil
		}
		return &n
	}
	for _, d := range all {
		j := decisionJSON{Time: s.Story.Start.Add(d.At), Host: s.hostName(d.Host), Client: number(d.Client), Decision: d.Kind.String(), From: number(d.From), To: number(d.To),
			WithVM: s.otherVM(d), FromHost: s.otherHost(d), Why: d.Why(s.Story.Fleet), Rules: orEmpty(d.Kind.Rules())}
		if d.VM >= 0 {
			j.VM, j.VMID = s.vmName(d.VM), s.Story.Fleet.VMs[d.VM].ID
		}
		out = append(out, j)
	}
	return out
}

// all returns every decision.
func (s *simulated) all() []*scheduler.Decision {
	out := make([]*scheduler.Decision, len(s.Outcome.Decisions))
	for i := range out {
		out[i] = &s.Outcome.Decisions[i]
	}
	return out
}
