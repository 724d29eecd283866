// Package demo contains the demo fleet: three clusters and two standalone hosts of a small company, with one example of every
// problem that the rules find.
package demo

import (
	_ "embed"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/incident"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/story"
)

// Text is the demo fleet as a scenario.
//
//go:embed demo.txtar
var Text string

// Fleet returns the demo fleet.
func Fleet() (*numa.Fleet, error) {
	return scenario.Read("demo.txtar", []byte(Text))
}

// CaptureText is the incident on two hosts of the demo fleet in one night.
//
//go:embed capture.txtar
var CaptureText string

// Capture returns CaptureText as an incident.
func Capture() (*incident.Incident, error) {
	return incident.Read("capture.txtar", []byte(CaptureText))
}

// StoryText continues the demo fleet on the day after that night: the lines of a story that follow those of the fleet.
//
//go:embed story.txtar
var StoryText string

// Story returns the demo fleet with StoryText, for the simulation.
func Story() (*numa.Story, error) {
	about, lines, _ := strings.Cut(StoryText, "-- in --\n")
	_, fleet, _ := strings.Cut(Text, "-- in --\n")
	fleet = strings.Replace(fleet, "\nvm stream01 ", "\nvm stream01 power=off ", 1) // the day includes its power-on
	fleet, _, _ = strings.Cut(fleet, "\n# What was seen of some")                   // a simulation does not use observations
	return story.Read("story.txtar", []byte(about+"-- in --\n"+fleet+"\n"+lines))
}
