package speed

import (
	"fmt"
	"strings"

	"homenode/internal/alike"
	"homenode/numa/unit"
)

// A Model is an allocation model of VMware Cloud Director: what of an organization VDC
// becomes a limit or a reservation, and of what.
type Model string

// The models.
const (
	Flex            Model = "flex"
	PayAsYouGo      Model = "pay-as-you-go"
	AllocationPool  Model = "allocation"  // elastic; the vCPU speed of others is not used
	ReservationPool Model = "reservation" // the tenant sets limit and reservation of each VM
)

// Models lists them as flags name them.
var Models = []string{string(Flex), string(PayAsYouGo), string(AllocationPool), string(ReservationPool)}

// otherNames are those of the API and of common speech.
var otherNames = map[string]Model{
	"payg": PayAsYouGo, "allocationvapp": PayAsYouGo, "pay-as-you-go-model": PayAsYouGo,
	"allocation-pool": AllocationPool, "allocationpool": AllocationPool,
	"reservation-pool": ReservationPool, "reservationpool": ReservationPool,
}

// ParseModel reads the name of a model, in any case of letters.
func ParseModel(s string) (Model, error) {
	low := strings.ToLower(strings.TrimSpace(s))
	if m, ok := otherNames[low]; ok {
		return m, nil
	}
	near, exact := alike.Of(low, Models)
	switch {
	case exact:
		return Model(near), nil
	case near != "":
		return "", fmt.Errorf("found %q, is %s meant?", s, near)
	}
	return "", fmt.Errorf("found %q, want an allocation model: %s", s, strings.Join(Models, ", "))
}

// Name returns the model as Cloud Director calls it.
func (m Model) Name() string {
	switch m {
	case Flex:
		return "Flex"
	case PayAsYouGo:
		return "Pay-As-You-Go"
	case AllocationPool:
		return "Allocation Pool"
	}
	return "Reservation Pool"
}

// The sources of what the models do.
const (
	adminGuide   = "VMware Cloud Director 10.5 admin guide, allocation models"
	sizingPolicy = "VMware Cloud Director 10.5 admin guide, VM sizing policy"
	oldGuide     = "vCloud Director 5.5 admin guide, allocation model"
)

// DefaultGuarantee returns the CPU guarantee of a VDC that is made without one. That of
// Flex is not published: that of Pay-As-You-Go, which it replaces, is assumed. A
// Reservation Pool has all of it.
func DefaultGuarantee(m Model) unit.Figure[unit.Share] {
	switch m {
	case PayAsYouGo:
		return unit.Exactly(unit.Share(0.2), unit.Published, oldGuide, "")
	case AllocationPool:
		return unit.Exactly(unit.Share(0.5), unit.Published, oldGuide, "")
	case Flex:
		f := unit.Exactly(unit.Share(0.2), unit.Assumed, "", "")
		f.Note = "none is published for Flex: that of Pay-As-You-Go"
		f.Low, f.High = 0, 1
		return f
	}
	return unit.Exactly(unit.Share(1), unit.Published, adminGuide, "")
}

// Terms are what Cloud Director sets for one VM.
type Terms struct {
	// Limit is the CPU limit of the VM; 0 for none.
	Limit unit.Hz `json:"limit,omitempty"`
	// Reservation is what is kept for the VM: on the VM itself, or with InPool by the
	// resource pool of its VDC for the VM while it is powered on.
	Reservation unit.Hz `json:"reservation,omitempty"`
	InPool      bool    `json:"inPool,omitempty"`
	// Origin, Source and Note say how this is known.
	Origin unit.Origin `json:"origin"`
	Source string      `json:"source"`
	Note   string      `json:"note,omitempty"`
}

// TermsOf returns what a model makes of a vCPU speed and a guarantee (rule book E-1).
//
//	allocated   = vCPUs × speed
//	limit       = allocated                 Pay-As-You-Go; Flex
//	reservation = allocated × guarantee     on the VM; Allocation Pool: in its pool
func TermsOf(m Model, vcpus int, speed unit.Hz, guarantee unit.Share) Terms {
	allocated := unit.Hz(vcpus) * speed
	reserved := unit.Hz(float64(allocated) * float64(guarantee))
	switch m {
	case PayAsYouGo:
		return Terms{Limit: allocated, Reservation: reserved, Origin: unit.Published, Source: adminGuide}
	case Flex:
		return Terms{Limit: allocated, Reservation: reserved, Origin: unit.Assumed, Source: sizingPolicy,
			Note: "the guide says that vCPU speed “might impact” the limit; taken as Pay-As-You-Go. A sizing policy goes first"}
	case AllocationPool:
		return Terms{Reservation: reserved, InPool: true, Origin: unit.Published, Source: adminGuide,
			Note: "elastic, its pool has limit and reservation; that the VM has none of its own is assumed"}
	}
	return Terms{Origin: unit.Published, Source: adminGuide,
		Note: "vCPU speed does not apply; the pool reserves all it has, the tenant sets limits and reservations of VMs"}
}
