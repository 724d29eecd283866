package vnuma

import (
	"encoding/json"

	"homenode/numa"
)

// MarshalJSON writes the layout as docs/json.md describes it.
func (l *Layout) MarshalJSON() ([]byte, error) {
	memory := l.Memory.Placement.String()
	if !l.Memory.Known && l.Memory.Placement == Local {
		memory = "unknown"
	}
	var carriers [][2]int
	var slices []int64
	for i := range l.VPDs.Len() {
		first, last := l.Carriers(i)
		carriers = append(carriers, [2]int{first, last})
		if s := l.Slice(i); s > 0 {
			slices = append(slices, int64(s))
		}
	}
	return json.Marshal(struct {
		Refused        string     `json:"refused,omitempty"` // why the VM does not power on: then there are no groups
		VSockets       []int      `json:"vSockets"`
		CoresPerSocket int        `json:"coresPerSocket"`
		VPDs           []int      `json:"vpds"`
		PPDs           []int      `json:"ppds"`
		Carriers       [][2]int   `json:"carriers"` // first and last PPD of each VPD
		Managed        bool       `json:"numaManaged"`
		GuestSeesNUMA  bool       `json:"guestSeesNUMA"`
		HomeNodes      int        `json:"homeNodes"`
		Memory         string     `json:"memory"` // local, partly remote, interleaved, anywhere or unknown
		Local          numa.Bytes `json:"localBytes"`
		Remote         numa.Bytes `json:"remoteBytes"`
		First          numa.Bytes `json:"remoteAtFirstBytes,omitempty"` // of local: comes home when the guest uses it
		Far            float64    `json:"farShare"`
		Slices         []int64    `json:"sliceBytes,omitempty"`
		L3Caches       int        `json:"guestL3Caches,omitempty"` // absent where ESXi chooses them
		StoredSize     int        `json:"storedSize,omitempty"`
		StoredCookie   int        `json:"storedCookie,omitempty"`
		Assumes        []string   `json:"assumes,omitempty"`
	}{l.Refused.String(), l.VSockets.Sizes(), l.CoresPerSocket, l.VPDs.Sizes(), l.PPDs.Sizes(), carriers, l.Managed, l.GuestSeesNUMA(), l.HomeNodes, memory, l.Memory.Local, l.Memory.Remote, l.Memory.First,
		l.FarShare(), slices, l.L3s, l.Stored.Size, l.Stored.Cookie, l.Assumes.Texts()})
}

// MarshalJSON writes the fact as evidence.
func (u Used) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name   string `json:"name"`
		Value  string `json:"value"`
		Origin string `json:"origin"`
		At     string `json:"at,omitempty"`
	}{u.Name, u.Value, u.Origin.String(), u.ReadFrom()})
}
