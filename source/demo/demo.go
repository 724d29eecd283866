// Package demo holds the fleet of the demo: a small company's three clusters and
// two standalone hosts, with every fault that a rule finds.
package demo

import (
	_ "embed"

	"homenode/numa"
	"homenode/source/incident"
	"homenode/source/scenario"
	"homenode/source/story"
)

// Text is the demo fleet as a scenario.
//
//go:embed demo.txtar
var Text string

// Fleet returns the demo fleet.
func Fleet() (*numa.Fleet, error) {
	return scenario.Read("demo.txtar", []byte(Text))
}

// CaptureText is what happened on two hosts of the demo fleet in one night.
//
//go:embed capture.txtar
var CaptureText string

// Capture returns it as an incident.
func Capture() (*incident.Incident, error) {
	return incident.Read("capture.txtar", []byte(CaptureText))
}

// StoryText is a day on three hosts of the demo fleet.
//
//go:embed story.txtar
var StoryText string

// Story returns it for the simulation.
func Story() (*numa.Story, error) {
	return story.Read("story.txtar", []byte(StoryText))
}
