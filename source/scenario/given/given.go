// Package given makes the fleets of tests; a test ends where its fleet cannot be read.
package given

import (
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/scenario"
)

// Fleet returns the fleet of a scenario.
func Fleet(t testing.TB, name string, text []byte) *numa.Fleet {
	t.Helper()
	f, err := scenario.Read(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Demo returns the demo fleet.
func Demo(t testing.TB) *numa.Fleet {
	t.Helper()
	return Fleet(t, "demo.txtar", []byte(demo.Text))
}
