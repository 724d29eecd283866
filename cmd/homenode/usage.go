package main

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
)

// brief returns the flags of a command for its help, shortened to one line each if possible. The pages in docs/reference have the
// complete text.
func brief(cmd *cobra.Command) string { return flagUsages(cmd, true) }

// flagUsages returns the flags of a command, those of groups below their headings.
func flagUsages(cmd *cobra.Command, short bool) string {
	var groups []*pflag.FlagSet
	var names []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		name := ""
		if g := f.Annotations[flags.GroupOf]; g != nil {
			name = g[0]
		} else if len(names) > 0 { // --help is registered last
			name = names[len(names)-1]
		}
		i := slices.Index(names, name)
		if i < 0 {
			i = len(names)
			names, groups = append(names, name), append(groups, &pflag.FlagSet{SortFlags: true})
		}
		one := *f
		groups[i].AddFlag(&one)
	})
	if i := slices.Index(names, "Source"); i >= 0 { // seldom needed: the last
		one, set := names[i], groups[i]
		names, groups = append(slices.Delete(names, i, i+1), one), append(slices.Delete(groups, i, i+1), set)
	}
	var b strings.Builder
	for i, name := range names {
		if name != "" {
			b.WriteString("  " + name + ":\n")
		}
		if short {
			shorten(groups[i])
		}
		b.WriteString(groups[i].FlagUsagesWrapped(flags.Columns))
	}
	return b.String()
}

// shorten cuts the description of each flag at a phrase boundary, so that it fits on one line.
func shorten(set *pflag.FlagSet) {
	widest := 0
	head := func(f *pflag.Flag) int {
		kind, _ := pflag.UnquoteUsage(f)
		return len("      --") + len(f.Name) + 1 + len(kind)
	}
	set.VisitAll(func(f *pflag.Flag) { widest = max(widest, head(f)) })
	set.VisitAll(func(f *pflag.Flag) {
		room := flags.Columns - widest - 8
		if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" {
			room -= len(` (default "")`) + len(f.DefValue)
		}
		for _, end := range []string{" (", "; ", ": ", ", "} {
			if texttab.Width(f.Usage) > room {
				f.Usage, _, _ = strings.Cut(f.Usage, end)
			}
		}
	})
}

// addUsageHelp lets the errors about arguments and flags say what is wanted: cobra
// counts arguments and knows no flag that is alike.
func addUsageHelp(root *cobra.Command) {
	root.SetFlagErrorFunc(unknownFlag)
	cobra.AddTemplateFunc("flagUsages", brief)
	template := strings.Replace(root.UsageTemplate(), ".LocalFlags.FlagUsages", "flagUsages .", 1)
	root.SetUsageTemplate(strings.ReplaceAll(template, `(or .IsAvailableCommand (eq .Name "help"))`, ".IsAvailableCommand")) // help is not listed
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = flags.Long(cmd)
		help(cmd, args)
	})
	for _, c := range commands(root) {
		if c.HasSubCommands() && !c.Runnable() {
			c.Args, c.RunE = cobra.ArbitraryArgs, subcommand
		}
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

// subcommand prints the help; it refuses what is no subcommand, and names those that are
// spelt nearly so.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "\n  Did you mean this?\n  " + strings.Join(near, "\n  ")
	} else {
		text += ": " + cmd.CommandPath() + " --help lists them"
	}
	return errors.New(text)
}

// meant has flags by the words that newcomers try for them.
var meant = map[string][]string{
	"cluster": {"cluster", "part", "host"}, "n-plus-1": {"n-plus-1", "spare", "what-if"}, "lose-host": {"what-if", "spare"}, "dry-run": {"apply"}, "verbose": {"details"}, "all": {"details"},
	"json": {"format"}, "html": {"format"}, "csv": {"format"}, "file": {"output"}, "out": {"output"}, "user": {"credentials"}, "password": {"credentials"},
	"ignore": {"config"}, "set": {"what-if"}, "memory": {"what-if"},
}

// unknownFlag adds to the error of an unknown flag the flags that are alike, those that may be meant, or the commands that have it.
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
		for _, other := range meant[name] {
			if f := cmd.Flags().Lookup(other); f != nil {
				usage, _, _ := strings.Cut(f.Usage, ": '") // examples
				usage, _, _ = strings.Cut(usage, " (")
				return fmt.Errorf("%w; see --%s: %s", err, other, usage)
			}
		}
		for _, other := range append(slices.Clip(meant[name]), name) {
			if near, have := havingFlag(cmd.Root(), other); have != nil {
				return fmt.Errorf("%w; --%s is for homenode %s", err, near, words.First(3, have))
			}
		}
	}
	return fmt.Errorf("%w; %s --help lists them", err, cmd.CommandPath())
}

// havingFlag returns the flag of any command that is nearest to name, and the commands that have it; nil if none is near.
func havingFlag(root *cobra.Command, name string) (near string, have []string) {
	var known []string
	of := map[string][]string{}
	for _, c := range commands(root) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known, of[f.Name] = append(known, f.Name), append(of[f.Name], nameOf(c))
			}
		})
	}
	near, _ = alike.Of(name, known)
	return near, of[near]
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
	for _, arg := range args {
		if len(cmd.ValidArgs) > 0 && !slices.Contains(cmd.ValidArgs, arg) {
			return fmt.Errorf("found %q, want one of: %s", arg, strings.Join(cmd.ValidArgs, ", "))
		}
	}
	if len(args) >= len(wanted) {
		return fmt.Errorf("found %s, want: %s", words.Plural(len(args), "argument"), usage)
	}
	var missing []string
	for _, w := range wanted[len(args):] {
		switch {
		case w == "SOURCE" && (nameOf(cmd) == "serve" || nameOf(cmd) == "record"):
			w = "a SOURCE (a vCenter, a host or demo)"
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

// helps are what commands say of themselves.
//
//go:embed help
var helps embed.FS

func described(name string, cmd *cobra.Command) *cobra.Command {
	return flags.Describe(helps, name, cmd)
}
