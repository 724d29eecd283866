// Package numa defines the domain types: fleets, hosts, NUMA nodes, virtual machines, releases and
// sizes, each fact with its origin. It imports only the standard library; every other package uses its types.
package numa

import (
	"encoding/json"
	"fmt"
)

// An OriginKind is the kind of evidence for a fact.
type OriginKind uint8

// The kinds of origin. A fact without a source is Unknown, which is neither zero nor false.
const (
	Unknown OriginKind = iota // not stated
	Read                      // stated by the source, at Origin.Where
	Derived                   // computed from read facts, named in Origin.Where
	Assumed                   // neither: Origin.Where contains the reason
)

// String returns the word used in reports: read, derived, assumed or unknown.
func (k OriginKind) String() string {
	switch k {
	case Read:
		return "read"
	case Derived:
		return "derived"
	case Assumed:
		return "assumed"
	}
	return "unknown"
}

// An Origin is the source of a fact. The zero value is Unknown.
type Origin struct {
	Kind  OriginKind
	Where string // a property path or cell, relative to the object's At; or the reason
}

// String returns the origin as reports print it, such as "read: config.version".
func (o Origin) String() string {
	if o.Where == "" {
		return o.Kind.String()
	}
	return o.Kind.String() + ": " + o.Where
}

// A Fact is a value with its origin. The zero value is unknown.
type Fact[T any] struct {
	Value  T
	Origin Origin
}

// Known reports whether the value was read, derived or assumed.
func (f Fact[T]) Known() bool { return f.Origin.Kind != Unknown }

// Or returns the value, or other when the fact is unknown.
func (f Fact[T]) Or(other T) T {
	if !f.Known() {
		return other
	}
	return f.Value
}

// ReadAt returns a fact that a source stated at where.
func ReadAt[T any](v T, where string) Fact[T] { return Fact[T]{v, Origin{Read, where}} }

// DerivedFrom returns a fact computed from the facts named in from.
func DerivedFrom[T any](v T, from string) Fact[T] { return Fact[T]{v, Origin{Derived, from}} }

// AssumedFor returns a fact that was assumed for the reason why.
func AssumedFor[T any](v T, why string) Fact[T] { return Fact[T]{v, Origin{Assumed, why}} }

// AnyFact is a *Fact, whatever the type of its value.
type AnyFact interface {
	Known() bool
	From() Origin
	Any() any                        // the value
	Take(value AnyFact, from Origin) // value is a fact of the same type
	Forget()
}

// From returns the origin.
func (f *Fact[T]) From() Origin { return f.Origin }

// Any returns the value.
func (f *Fact[T]) Any() any { return f.Value }

// Take sets the value to that of a fact of the same type, and the origin.
func (f *Fact[T]) Take(value AnyFact, from Origin) { *f = Fact[T]{value.(*Fact[T]).Value, from} }

// Forget makes the fact unknown.
func (f *Fact[T]) Forget() { *f = Fact[T]{} }

// factJSON is a Fact in snapshots and reports; exactly one of the three origins is present.
type factJSON[T any] struct {
	Value   T       `json:"value"`
	Read    *string `json:"read,omitempty"`
	Derived *string `json:"derived,omitempty"`
	Assumed *string `json:"assumed,omitempty"`
}

// MarshalJSON writes {"value": V, "read"|"derived"|"assumed": "where"}, or null
// for an unknown fact.
func (f Fact[T]) MarshalJSON() ([]byte, error) {
	if !f.Known() {
		return []byte("null"), nil
	}
	j := factJSON[T]{Value: f.Value}
	switch f.Origin.Kind {
	case Read:
		j.Read = &f.Origin.Where
	case Derived:
		j.Derived = &f.Origin.Where
	case Assumed:
		j.Assumed = &f.Origin.Where
	}
	return json.Marshal(j)
}

// UnmarshalJSON parses the output of MarshalJSON.
func (f *Fact[T]) UnmarshalJSON(b []byte) error {
	*f = Fact[T]{}
	if string(b) == "null" {
		return nil
	}
	var j factJSON[T]
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	origins := 0
	for kind, where := range []*string{Read: j.Read, Derived: j.Derived, Assumed: j.Assumed} {
		if where != nil {
			f.Origin = Origin{OriginKind(kind), *where}
			origins++
		}
	}
	if origins != 1 {
		return fmt.Errorf("found %d origins, want one of read, derived or assumed", origins)
	}
	f.Value = j.Value
	return nil
}
