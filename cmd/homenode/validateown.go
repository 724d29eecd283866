package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/internal/atomicfile"
	"homenode/measure/own"
	"homenode/measure/published"
	"homenode/output/measure"
	"homenode/rules"
	"homenode/source/open"
)

// ownFleet has the flags of validate for a user's own VMs.
type ownFleet struct {
	src        flags.Source
	contribute string
}

func (o *ownFleet) register(cmd *cobra.Command) {
	o.src.Register(cmd)
	cmd.Flags().StringVar(&o.contribute, "contribute", "", "write what was seen of the VMs of SOURCE to this file, as cases without names")
}

// asked reports whether the arguments name a fleet: what can be read as cases is cases.
func (o *ownFleet) asked(args []string) bool {
	if o.contribute != "" || o.src.HasEvidence() {
		return true
	}
	for _, arg := range args {
		if arg == open.Demo || arg == "vcenter" || strings.Contains(arg, "://") || strings.HasPrefix(arg, "@") {
			return true
		}
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			return true
		}
		if _, err := published.ReadFile(arg); err != nil {
			if _, err := open.File(arg); err == nil {
				return true
			}
		}
	}
	return false
}

// validate scores the prediction on the VMs of a fleet.
func (o *ownFleet) validate(cmd *cobra.Command, out *flags.Output, choices vnuma.Choices, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("want a SOURCE with the VMs that were seen")
	}
	fleet, err := o.src.Read(cmd, args...)
	if err != nil {
		return err
	}
	score := own.Of(rules.Run(fleet, rules.Options{Choices: choices}), choices)
	var notes []string
	if o.contribute != "" {
		data, cases, left, err := score.Contribute(choices)
		if err != nil {
			return fmt.Errorf("--contribute: %w", err)
		}
		if err := atomicfile.Write(o.contribute, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		}); err != nil {
			return fmt.Errorf("--contribute: %w", err)
		}
		notes = append(left, fmt.Sprintf("%d cases written to %s, without names; read them before you pass them on", cases, o.contribute))
	}
	if err := out.Print(cmd, measure.Own(score, notes)); err != nil {
		return err
	}
	if score.All.Unexplained > 0 {
		return flags.ErrFindings
	}
	return o.src.Incomplete()
}
