package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"homenode/internal/alike"
	"homenode/rules/rule"
)

// addUsageHelp lets the errors about arguments and flags say what is wanted: cobra
// counts arguments and knows no flag that is alike.
func addUsageHelp(root *cobra.Command) {
	root.SetFlagErrorFunc(unknownFlag)
	for _, c := range commands(root) {
		if check := c.Args; check != nil {
			c.Args = func(cmd *cobra.Command, args []string) error {
				if check(cmd, args) == nil {
					return nil
				}
				return wrongArguments(cmd, args)
			}
		}
	}
}

// unknownFlag adds the flags that are alike to the error of an unknown one.
func unknownFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if len(name) > 1 {
		if found := alike.Names(name, known); found != nil {
			return fmt.Errorf("%w; alike: --%s", err, strings.Join(found, ", --"))
		}
	}
	return fmt.Errorf("%w; homenode %s --help lists them", err, nameOf(cmd))
}

// wrongArguments says which arguments are missing, or how many are too many.
func wrongArguments(cmd *cobra.Command, args []string) error {
	var wanted []string
	for _, w := range strings.Fields(cmd.Use)[1:] {
		if strings.HasPrefix(w, "-") || strings.HasPrefix(w, "[") {
			break
		}
		wanted = append(wanted, strings.TrimSuffix(w, "..."))
	}
	usage := "homenode " + usageOf(cmd)
	if len(args) >= len(wanted) {
		return fmt.Errorf("found %s, want: %s", rule.Plural(len(args), "argument"), usage)
	}
	var missing []string
	for _, w := range wanted[len(args):] {
		switch {
		case w == "SOURCE":
			w = "a SOURCE (a vCenter, a file or demo)"
		case len(w) > 1:
			w = "a " + w
		}
		missing = append(missing, w)
	}
	example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return fmt.Errorf("want %s: %s; for example: %s", strings.Join(missing, " and "), usage, example)
}
