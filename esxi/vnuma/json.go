package vnuma

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"example.org/homenode/numa"
)

// MarshalJSON writes the layout in the format of docs/reference/json.md.
func (l *Layout) MarshalJSON() ([]byte, error) {
	memory := l.Memory.String()
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
		Memory         string     `json:"memory"` // as in Residency.String, or unknown
		Local          numa.Bytes `json:"localBytes"`
		Remote         numa.Bytes `json:"remoteBytes"`
		Nowhere        numa.Bytes `json:"reclaimedBytes,omitempty"`     // ballooned or swapped: the host is full
		First          numa.Bytes `json:"remoteAtFirstBytes,omitempty"` // part of local: migrates home when the guest uses it
		Far            float64    `json:"farShare"`
		Slices         []int64    `json:"sliceBytes,omitempty"`
		L3Caches       int        `json:"guestL3Caches,omitempty"` // absent where ESXi chooses them
		StoredSize     int        `json:"storedSize,omitempty"`
		StoredCookie   int        `json:"storedCookie,omitempty"`
		Assumes        []string   `json:"assumes,omitempty"`
	}{l.Refused.String(), l.VSockets.Sizes(), l.CoresPerSocket, l.VPDs.Sizes(), l.PPDs.Sizes(), carriers, l.Managed, l.GuestSeesNUMA(), l.HomeNodes, memory, l.Memory.Local, l.Memory.Remote, l.Memory.Nowhere, l.Memory.First,
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

// UnmarshalJSON reads the groups in the output of MarshalJSON: sockets, virtual nodes, clients, caches. The predicted placement
// of memory is ignored.
func (l *Layout) UnmarshalJSON(b []byte) error {
	var from struct {
		Refused        string `json:"refused"`
		VSockets       []int  `json:"vSockets"`
		CoresPerSocket int    `json:"coresPerSocket"`
		VPDs           []int  `json:"vpds"`
		PPDs           []int  `json:"ppds"`
		Managed        bool   `json:"numaManaged"`
		HomeNodes      int    `json:"homeNodes"`
		L3Caches       int    `json:"guestL3Caches"`
	}
	if err := json.Unmarshal(b, &from); err != nil {
		return err
	}
	if from.Refused != "" {
		return errors.New("the VM does not power on: " + from.Refused)
	}
	read := Layout{CoresPerSocket: from.CoresPerSocket, Managed: from.Managed, HomeNodes: from.HomeNodes, L3s: from.L3Caches}
	for _, g := range []struct {
		name  string
		sizes []int
		to    *Split
	}{{"vSockets", from.VSockets, &read.VSockets}, {"vpds", from.VPDs, &read.VPDs}, {"ppds", from.PPDs, &read.PPDs}} {
		var ok bool
		if *g.to, ok = splitOf(g.sizes); !ok {
			return fmt.Errorf("%s: found %v, want the vCPUs of each group", g.name, g.sizes)
		}
	}
	if n := read.VPDs.Sum(); read.PPDs.Sum() != n || read.VSockets.Sum() != n {
		return fmt.Errorf("found %d vCPUs in sockets, %d in nodes and %d in clients", read.VSockets.Sum(), n, read.PPDs.Sum())
	}
	*l = read
	return nil
}

// splitOf returns the split whose groups have these sizes; false when there is none.
func splitOf(sizes []int) (Split, bool) {
	n := int32(0)
	for _, size := range sizes {
		if size < 1 || size > numa.MaxVCPUs || n > numa.MaxVCPUs {
			return Split{}, false
		}
		n += int32(size)
	}
	block := int32(0)
	for _, size := range sizes {
		block += int32(size)
		s := Split{n, block, int32(sizes[0]), int32(sizes[0])}
		rest, at := n%block, n-n%block
		for j := 0; rest > 0 && j < len(sizes); j++ { // the first group of the shorter last block
			if at -= int32(sizes[j]); at < 0 {
				s.last = int32(sizes[j])
				break
			}
		}
		if slices.Equal(s.Sizes(), sizes) {
			return s, true
		}
	}
	return Split{}, false
}
