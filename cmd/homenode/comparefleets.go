package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"homenode/change/diff"
	"homenode/cmd/homenode/flags"
	"homenode/numa"
	"homenode/output/change"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/source/open"
)

// areFleets reports whether a side names what can only be a fleet: a vCenter, a list of SOURCEs, or the demo beside another fleet.
func areFleets(a, b []string) bool {
	for _, side := range [][]string{a, b} {
		if len(side) == 1 && (open.VCenter(side[0]) || strings.HasPrefix(side[0], "@")) {
			return true
		}
	}
	return false
}

// compareFleets judges two fleets and shows what differs.
func (c *comparing) compareFleets(cmd *cobra.Command, a, b string) error {
	severity := c.failOn
	if severity == "" {
		severity = "medium"
	}
	least, err := finding.ParseSeverity(severity)
	if err != nil {
		return fmt.Errorf("--fail-on: %w (of two fleets)", err)
	}
	choices, err := c.choose.Choices()
	if err != nil {
		return err
	}
	options, err := c.config.Options(choices)
	if err != nil {
		return err
	}
	shown, err := c.part.Compile()
	if err != nil {
		return err
	}
	var judged [2]*rules.Result
	for i, source := range []string{a, b} {
		fleet, err := c.src.Read(cmd, source)
		if err != nil {
			return err
		}
		judged[i] = rules.Run(fleet, options)
	}
	d, err := diff.Compare(judged[0], judged[1], diff.Options{
		Judge: func(f *numa.Fleet) *rules.Result { return rules.Run(f, options) }, Filter: shown,
	})
	if err != nil {
		return err
	}
	if err := c.out.Print(cmd, change.Diff(d, change.Options{Details: c.captures.details, FailOn: least})); err != nil {
		return err
	}
	if findings, _ := d.Worsens(least); d.Differs() || findings > 0 {
		return flags.ErrFindings
	}
	return c.src.Incomplete()
}
