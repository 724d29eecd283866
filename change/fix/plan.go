// Package fix turns findings into a plan of changes that can be reviewed, carried out and taken back.
//
//	fleet ──► rules.Run ──► Make ──► Plan ──► scripts, pages, apply
//	                          └─ rules.Run of the changed fleet: nothing may get worse
//
// A Plan is a value: making it writes nothing anywhere.
package fix

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
)

// The form of a Plan in JSON.
const (
	Format  = "homenode-plan"
	Version = 1
)

// A Plan is what would be changed, and what would not.
type Plan struct {
	Format    string      `json:"format"`
	Version   int         `json:"version"`
	ID        string      `json:"id"`       // the beginning of the hash of everything but ID, Made and Sum
	Made      string      `json:"made"`     // RFC 3339
	Sum       string      `json:"checksum"` // the beginning of the hash of everything but itself
	Source    string      `json:"source"`
	VCenter   string      `json:"vcenterInstance,omitempty"` // the instance UUID of the vCenter that the fleet was read from
	Inventory string      `json:"inventory"`                 // "sha256:…" of what was read
	By        string      `json:"by"`                        // "homenode 1.4.0"
	Asked     Asked       `json:"asked"`
	Hosts     []HostBasis `json:"predictedOn,omitempty"` // the hosts that the layouts are about
	Changes   []Change    `json:"changes"`
	Left      []Left      `json:"left"`
	Unjudged  int         `json:"unjudged,omitempty"` // VMs that could not be judged, so that nothing is planned for them
	NotKnown  string      `json:"notKnown,omitempty"` // the unknown facts that affect NUMA, as homenode assess says them
	Notes     []string    `json:"notes,omitempty"`
	Undoes    string      `json:"undoes,omitempty"` // the ID of the plan that this one takes back

	apart [][]string // groups of VMs, by ID, that DRS keeps apart
}

// Asked is what the user wanted the plan to be about, as it was typed.
type Asked struct {
	Filter string   `json:"filter,omitempty"`
	Set    []string `json:"set,omitempty"`
	Better bool     `json:"better,omitempty"`
	Allow  []string `json:"allow,omitempty"` // host, upgrade, resize, split
	Apart  []string `json:"apart,omitempty"` // patterns of names
	AtOnce int      `json:"atOnce"`          // VMs of a batch
}

// A Target is the VM or host that is changed.
type Target struct {
	Name    string `json:"name"`
	ID      string `json:"moref"`           // in its vCenter
	Named   bool   `json:"named,omitempty"` // ID is its name or UUID, and no MoRef
	UUID    string `json:"instanceUuid,omitempty"`
	Cluster string `json:"cluster,omitempty"` // name
	Host    string `json:"host,omitempty"`    // name, of a VM
	Folder  string `json:"folder,omitempty"`
	// Runs says whether a VM is powered on.
	Runs bool `json:"runs,omitempty"`
}

// A Change is all that is done to one VM or host.
type Change struct {
	VM            *Target     `json:"vm,omitempty"`
	Host          *Target     `json:"onHost,omitempty"`    // a host that is changed; VM is nil then
	Cluster       *Target     `json:"onCluster,omitempty"` // a cluster whose rules are changed; VM and Host are nil then
	Basis         []Known     `json:"predictedFrom,omitempty"`
	Stored        []Known     `json:"storedSizes,omitempty"` // that ESXi had written
	StoredUnknown bool        `json:"storedUnknown,omitempty"`
	Findings      []string    `json:"findings"`        // rules whose findings it cures
	Eases         []string    `json:"eases,omitempty"` // findings that it makes less severe: "N033 high → low"
	Edits         []numa.Edit `json:"edits"`
	Better        []numa.Edit `json:"better,omitempty"` // what would be tidier: left out unless asked for
	Brings        []string    `json:"brings,omitempty"` // findings that are new with it, less severe than what it cures: "N021 (low): …"
	Layout        []Effect    `json:"layout,omitempty"` // on every kind of host that the VM can run on, and after a vMotion there
	Expects       *Expects    `json:"expects,omitempty"`
	Downtime      string      `json:"downtime"`
	Notices       []string    `json:"guestNotices,omitempty"`
	Assumes       []string    `json:"assumes,omitempty"` // what the layout after the change rests on
	Lost          []string    `json:"lostOnRollback,omitempty"`
	Batch         int         `json:"batch"` // from 1
}

// Target returns what is changed.
func (c *Change) Target() *Target {
	return cmp.Or(c.VM, c.Host, c.Cluster)
}

// On returns what the VM gets on a host, by name; nil where nothing is predicted.
func (c *Change) On(host string) *Effect {
	for i := range c.Layout {
		if slices.Contains(c.Layout[i].Hosts, host) {
			return &c.Layout[i]
		}
	}
	return nil
}

// Needs returns what the edits together take effect with.
func (c *Change) Needs() numa.Needs {
	needs := numa.NeedsNothing
	for _, e := range c.Edits {
		switch n := e.Needs(); {
		case n == numa.NeedsOff:
			return n
		case n == numa.NeedsCycle:
			needs = n
		}
	}
	return needs
}

// An Effect is what the VM gets on hosts of one kind, before and after.
type Effect struct {
	Hosts []string `json:"hosts"`
	Now   Layout   `json:"now"`
	After Layout   `json:"after"`
	// Moved: the VM has it there after a vMotion, until it is powered off and on. It is left out where that changes nothing.
	Moved bool `json:"afterVMotion,omitempty"`
}

// A Layout is a predicted topology in short.
type Layout struct {
	Text     string  `json:"text"` // as rule.Short
	VPDs     []int   `json:"vpds"` // vCPUs of each virtual node
	PPDs     []int   `json:"ppds"` // vCPUs of each NUMA client
	FarShare float64 `json:"farShare"`
	// Stores is the size that ESXi stores at the power-on, in vCPUs of a virtual node; 0 for none.
	Stores int `json:"stores,omitempty"`
}

// Expects is the measure that says first whether the change helped, with what is predicted of it.
type Expects struct {
	Measure string  `json:"measure"` // farShare, clients, virtualNodes
	From    float64 `json:"from"`
	To      float64 `json:"to"`
}

// A Left is a finding that the plan does not cure, and why.
type Left struct {
	VM       string `json:"vm,omitempty"`
	Host     string `json:"host,omitempty"`
	ID       string `json:"moref,omitempty"`
	Rule     string `json:"rule,omitempty"` // "" where the VM was asked for by --set
	Severity string `json:"severity,omitempty"`
	Why      string `json:"why"`

	edit numa.Edit // that a rollback does not take back; the zero value otherwise
}

// Batches returns how many batches the changes are in.
func (p *Plan) Batches() (n int) {
	for i := range p.Changes {
		n = max(n, p.Changes[i].Batch)
	}
	return n
}

// Identify sets the ID and the sum to those of the content.
func (p *Plan) Identify() error {
	c := *p
	c.ID, c.Made, c.Sum = "", "", ""
	for _, sum := range []*string{&c.ID, &c.Sum} {
		data, err := json.Marshal(c)
		if err != nil {
			return err
		}
		hash := sha256.Sum256(data)
		*sum, c.Made = hex.EncodeToString(hash[:8]), p.Made
	}
	p.ID, p.Sum = c.ID, c.Sum
	return nil
}

// Write writes the plan as Read reads it.
func (p *Plan) Write(w io.Writer) error {
	e := json.NewEncoder(texttab.EscapedJSON(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(p)
}
