package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"homenode/internal/texttab"
	show "homenode/output/size/speed"
	"homenode/size/speed"
)

// limits lists the CPU limits of a source.
func (f *speedFlags) limits(cmd *cobra.Command, source string, src *sourceFlags) error {
	var wrong error
	cmd.Flags().Visit(func(fl *pflag.Flag) {
		switch fl.Name {
		case "vcpu-speed", "model", "guarantee", "vm", "host", "core", "count", "vms", "kernel", "release":
			wrong = fmt.Errorf("--%s: not with a SOURCE, of which the limits are read: found %s", fl.Name, texttab.Clean(source))
		}
	})
	if wrong != nil {
		return wrong
	}
	fleet, err := src.read(cmd, source)
	if err != nil {
		return err
	}
	if err := f.size.write(cmd, show.Limits(fleet.Source, speed.LimitsOf(fleet), f.details)); err != nil {
		return err
	}
	return src.incomplete()
}
