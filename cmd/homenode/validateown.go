package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/internal/atomicfile"
	"homenode/internal/glob"
	"homenode/measure/own"
	"homenode/measure/published"
	"homenode/numa"
	"homenode/output/measure"
	"homenode/rules"
	"homenode/source/open"
)

// ownFleet has the flags of validate for a user's own VMs.
type ownFleet struct {
	src        flags.Source
	contribute string
	fetchLogs  bool
	vms        []string
}

func (o *ownFleet) register(cmd *cobra.Command) {
	o.src.Register(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&o.fetchLogs, "fetch-logs", false, "fetch vmware.log of the VMs that --vm names from the datastores, at most 2 MB each; the account needs Datastore.Browse and Datastore.FileManagement")
	fl.StringSliceVar(&o.vms, "vm", nil, "VMs whose vmware.log --fetch-logs fetches; names may have * and ?")
	fl.StringVar(&o.contribute, "contribute", "", "write what was seen of the VMs of SOURCE to this file, as cases without names")
}

// asked reports whether the arguments name a fleet: what can be read as cases is cases.
func (o *ownFleet) asked(args []string) bool {
	if o.contribute != "" || o.fetchLogs || o.vms != nil || o.src.HasEvidence() {
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
	server := func(arg string) bool { return arg == "vcenter" || strings.Contains(arg, "://") }
	switch {
	case o.fetchLogs && o.vms == nil:
		return errors.New("--fetch-logs: want the VMs with --vm")
	case o.vms != nil && !o.fetchLogs:
		return errors.New("--vm: only with --fetch-logs")
	case o.fetchLogs && !slices.ContainsFunc(args, server):
		return errors.New("--fetch-logs: want a vCenter or ESXi host as SOURCE")
	case o.fetchLogs:
		wanted := glob.Compile(o.vms, "")
		o.src.Logs = func(v *numa.VM) bool { return wanted.Match(v.Name, v.ID) }
	}
	if len(args) == 0 {
		return errors.New("want a SOURCE with the VMs that were seen")
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
	a := measure.Own(score, notes)
	a.NotesFrom("source", fleet.Notes...)
	if err := out.Print(cmd, a); err != nil {
		return err
	}
	if score.All.Unexplained > 0 {
		return flags.ErrFindings
	}
	return o.src.Incomplete()
}
