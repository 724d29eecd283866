package speed

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/alike"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/datafile"
)

// A Model is an allocation model of VMware Cloud Director: it defines which part of an organization
// VDC becomes a limit or a reservation, and of which object.
type Model string

// The models.
const (
	Flex            Model = "flex"
	PayAsYouGo      Model = "pay-as-you-go"
	AllocationPool  Model = "allocation"  // elastic; the vCPU speed of others is not used
	ReservationPool Model = "reservation" // the tenant sets limit and reservation of each VM
)

// A model is a line of models.txt.
type model struct {
	Name                     Model
	Title                    string   // its title in Cloud Director
	Others                   []string // names in the API and in common use
	Limits, Reserves, InPool bool
	Guarantee                unit.Share
	Known                    unit.Origin
	Guide, Remark            string // source of the guarantee
	Origin                   unit.Origin
	Source, Note             string
}

var models = datafile.Must[model](sheets, "models.txt")

func (m Model) line() *model {
	return &models[slices.IndexFunc(models, func(one model) bool { return one.Name == m })]
}

// ParseModel parses the name of a model, ignoring case.
func ParseModel(s string) (Model, error) {
	low := strings.ToLower(strings.TrimSpace(s))
	var names []string
	for _, m := range models {
		if names = append(names, string(m.Name)); slices.Contains(m.Others, low) {
			return m.Name, nil
		}
	}
	near, exact := alike.Of(low, names)
	switch {
	case exact:
		return Model(near), nil
	case near != "":
		return "", fmt.Errorf("found %q, is %s meant?", s, near)
	}
	return "", fmt.Errorf("found %q, want an allocation model: %s", s, strings.Join(names, ", "))
}

// Title returns the title of the model in Cloud Director.
func (m Model) Title() string { return m.line().Title }

// DefaultGuarantee returns the CPU guarantee of a VDC created without one.
func DefaultGuarantee(m Model) unit.Figure[unit.Share] {
	l := m.line()
	f := unit.Exactly(l.Guarantee, l.Known, l.Guide, "")
	if f.Note = l.Remark; f.Origin == unit.Assumed {
		f.Low, f.High = 0, 1
	}
	return f
}

// Terms are the settings of Cloud Director for one VM.
type Terms struct {
	// Limit is the CPU limit of the VM; 0 for none.
	Limit unit.Hz `json:"limit,omitempty"`
	// Reservation is the CPU reserved for the VM: on the VM itself, or with InPool by the resource
	// pool of its VDC while the VM is powered on.
	Reservation unit.Hz `json:"reservation,omitempty"`
	InPool      bool    `json:"inPool,omitempty"`
	// Origin, Source and Note document the evidence.
	Origin unit.Origin `json:"origin"`
	Source string      `json:"source"`
	Note   string      `json:"note,omitempty"`
}

// TermsOf returns the terms of a model for a vCPU speed and a guarantee (rule book E-1).
//
//	allocated   = vCPUs × speed
//	limit       = allocated                 Pay-As-You-Go; Flex
//	reservation = allocated × guarantee     on the VM; Allocation Pool: in its pool
func TermsOf(m Model, vcpus int, speed unit.Hz, guarantee unit.Share) Terms {
	allocated := unit.Hz(vcpus) * speed
	reserved := unit.Hz(float64(allocated) * float64(guarantee))
	l := m.line()
	t := Terms{InPool: l.InPool, Origin: l.Origin, Source: l.Source, Note: l.Note}
	if l.Limits {
		t.Limit = allocated
	}
	if l.Reserves {
		t.Reservation = reserved
	}
	return t
}
