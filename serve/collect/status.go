package collect

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/source/privilege"
	"example.org/homenode/source/vsphere"
)

// A HostStatus is the collection status of one host.
type HostStatus struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Cluster  string    `json:"cluster,omitempty"`
	Last     time.Time `json:"last,omitzero"`  // time of the last tick
	Asked    time.Time `json:"asked,omitzero"` // start of the last turn
	Took     Seconds   `json:"tookSeconds"`    // duration of the last turn
	Skew     Seconds   `json:"skewSeconds"`    // our clock minus the host's, including the transfer time of the answer
	Size     int       `json:"size"`           // of the last answer, bytes
	Bytes    int64     `json:"bytes"`          // of all answers
	Ticks    int       `json:"ticks"`
	Skipped  int       `json:"skipped"` // turns missed because an answer was late
	Failed   int       `json:"failed"`  // turns
	Warnings int       `json:"warnings"`
	Failing  string    `json:"failing,omitempty"` // error of the last turn
	Reason   string    `json:"reason,omitempty"`  // the same as one word
	Since    time.Time `json:"since,omitzero"`    // begin of Failing

	Maintenance bool `json:"maintenance,omitempty"` // from the inventory or an update

	Closely time.Time `json:"closelyUntil,omitzero"` // end of more frequent polling: see Collector.Closely
}

// Seconds is a duration that JSON represents as a number of seconds.
type Seconds struct{ time.Duration }

// MarshalJSON writes the number.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, s.Round(time.Microsecond).Seconds(), 'f', -1, 64), nil
}

// A Status is the collection status of one vCenter.
type Status struct {
	Name       string       `json:"name"`
	Up         bool         `json:"up"` // there is a session, and the last inventory was read
	Since      time.Time    `json:"since,omitzero"`
	Error      string       `json:"error,omitempty"` // error of the session or of the inventory
	Advice     string       `json:"advice,omitempty"`
	Logins     int          `json:"logins"`
	LoginsLost int          `json:"loginsLost"` // failed attempts
	Inventory  time.Time    `json:"inventory,omitzero"`
	Updates    string       `json:"updates,omitempty"` // why changes are only noticed with the next inventory; empty if they are noticed immediately
	Every      Seconds      `json:"everySeconds"`      // longer than configured if answers are too large
	Hosts      []HostStatus `json:"hosts"`             // by name
}

// Status returns the current status.
func (c *Collector) Status() Status {
	g := c.gate
	g.mu.Lock()
	s := Status{Name: c.name, Up: g.live != nil, Since: g.since, Logins: g.sums.logins, LoginsLost: g.sums.failed}
	why := g.why
	g.mu.Unlock()
	if why != nil {
		s.Error = why.Error()
	}
	s.Every = Seconds{c.interval()}
	c.mu.Lock()
	s.Inventory, s.Updates = c.fleetAt, c.updates
	s.Error, s.Up = cmp.Or(c.fleet, s.Error), s.Up && c.fleet == ""
	for _, h := range c.hosts {
		h.mu.Lock()
		status := h.status
		status.Closely = h.closely(time.Now())
		s.Hosts = append(s.Hosts, status)
		h.mu.Unlock()
	}
	c.mu.Unlock()
	s.Error = strings.Replace(s.Error, c.name+": ", "", 1) // its name is displayed beside it
	slices.SortFunc(s.Hosts, func(a, b HostStatus) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	s.Advice = advice(&s, why)
	return s
}

// GrantEsxtop has the commands that allow an account to read the service, with ACCOUNT as
// placeholder for its name.
var GrantEsxtop = "govc role.create homenode " + strings.Join(append(slices.Clone(privilege.ReadOnly), privilege.ServiceManagers), " ") + `
govc permissions.set -principal ACCOUNT -role homenode -propagate /`

// advice returns a remedy for the error; empty if there is none or nothing is wrong.
func advice(s *Status, why error) string {
	count := map[string]int{}
	for i := range s.Hosts {
		count[s.Hosts[i].Reason]++
	}
	switch {
	case errors.Is(why, vsphere.ErrRefused):
		return "the account is tried no more than 3 times: correct the password and start again"
	case count["privilege"] > 0:
		return "the account lacks " + privilege.ServiceManagers + " on the root folder; grant it with\n" + GrantEsxtop
	case count["no service"] > 0:
		return "vCenter lists no service Esxtop for some hosts: look whether they are connected; hosts can be collected from directly, each as a SOURCE of its own"
	}
	return ""
}
