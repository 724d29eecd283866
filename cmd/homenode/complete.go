package main

import (
	"os"
	"slices"
	"strings"

	"example.org/homenode/internal/words"

	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/output/fleet"
	"example.org/homenode/output/recording"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/open"
)

// addCompletion registers the shell completion of arguments and flags of each command (homenode
// completion). --format is registered elsewhere.
func addCompletion(root *cobra.Command) {
	severities := words.Texts([]finding.Severity{finding.Info, finding.Low, finding.Medium, finding.High}, finding.Severity.String)
	byFlag := map[string]cobra.CompletionFunc{
		"fail-on": flags.Among(severities), "event": flags.Among(vnuma.EventNames()), "choose": flags.Among(words.Texts(vnuma.ChoiceList, func(c vnuma.Choice) string { return c.ID + "\t" + c.Alternative })), "table": flags.Among(fleet.TableNames()),
		"on": completeName(hostWords), "host": completeName(hostWords), "from-host": completeName(hostWords), "fleet": completeSource,
		"vm": completeName(vmWords), "cluster": completeName(clusterWords),
	}
	arguments := map[string]cobra.CompletionFunc{
		"assess": completeSource, "snapshot": completeSource, "simulate": completeSource, "optimise": completeSource, "move": completeSource, "explain": completeSubject, "rules": completeRule,
	}
	for _, c := range commands(root) {
		c.ValidArgsFunction = arguments[nameOf(c)]
		for name, complete := range byFlag {
			switch nameOf(c) + " " + name {
			case "compare fail-on":
				complete = flags.Among([]string{"never", "worse"})
			case "capture table":
				complete = flags.Among(recording.CaptureTables())
			case "simulate table":
				complete = flags.Among(recording.SimulationTables())
			case "capture host", "capture vm": // only the user knows the name
				continue
			}
			if name == "vm" && strings.HasPrefix(nameOf(c), "size ") { // a shape
				continue
			}
			if c.Flags().Lookup(name) != nil {
				flags.Complete(c, name, complete)
			}
		}
	}
}

// completeSource completes the keywords of sources. Everything else is a file.
func completeSource(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if begun == "" { // if it returned keywords, the shell would not list files
		return nil, cobra.ShellCompDirectiveDefault
	}
	return flags.Beginning([]string{"demo\ta simulated vCenter", "vcenter\tthe one that GOVC_URL names"}, begun), cobra.ShellCompDirectiveDefault
}

// completeSubject completes the SOURCE, then the VMs, hosts and clusters in it.
func completeSubject(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeSource(cmd, args, begun)
	}
	var words []string
	for _, fleet := range fleetsAtHand(args) {
		words = append(words, vmWords(fleet)...)
		words = append(words, hostWords(fleet)...)
		words = append(words, clusterWords(fleet)...)
	}
	if found := flags.Beginning(words, begun); len(found) > 0 {
		return found, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault // another SOURCE
}

// completeName completes the words that names returns for the fleets of the sources.
func completeName(names func(*numa.Fleet) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, sources []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var words []string
		for _, fleet := range fleetsAtHand(sources) {
			words = append(words, names(fleet)...)
		}
		return flags.Beginning(words, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// fleetsAtHand reads the sources that are fast to read: the demo fleet and files. It never
// contacts a vCenter, and ignores errors.
func fleetsAtHand(sources []string) []*numa.Fleet {
	var out []*numa.Fleet
	for _, source := range sources {
		var fleet *numa.Fleet
		var err error
		if source == "demo" {
			fleet, err = demo.Fleet()
		} else if info, statErr := os.Stat(source); statErr == nil && info.Mode().IsRegular() && info.Size() <= ask.MostAtHand {
			fleet, err = open.File(source)
		}
		if err == nil && fleet != nil {
			out = append(out, fleet)
		}
	}
	return out
}

// vmWords returns a word for each VM: its name, or its ID if the name is ambiguous or cannot be
// typed.
func vmWords(f *numa.Fleet) []string {
	count := map[string]int{}
	for i := range f.VMs {
		count[f.VMs[i].Name]++
	}
	var words []string
	for i := range f.VMs {
		v := &f.VMs[i]
		word, about := v.Name, ""
		if count[word] > 1 || !typable(word) {
			word, about = v.ID, "\t"+texttab.Clean(v.Name)
		}
		if typable(word) {
			words = append(words, word+about)
		}
	}
	slices.Sort(words)
	return words
}

func hostWords(f *numa.Fleet) []string {
	names := words.Texts(f.Hosts, func(h numa.Host) string { return h.Name })
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return !typable(name) })
}

func clusterWords(f *numa.Fleet) []string {
	names := words.Texts(f.Clusters, func(c numa.Cluster) string { return c.Name })
	return slices.DeleteFunc(names, func(name string) bool { return !typable(name) })
}

// typable reports whether a name can be typed on a command line without quotes: it has no
// blanks and no characters special to a shell or to completion.
func typable(name string) bool {
	return name != "" && texttab.Clean(name) == name && !strings.HasPrefix(name, "-") && !strings.ContainsAny(name, " '\"\\$`!&;|<>()*?[]{}~#")
}

func completeRule(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	known := words.Texts(rules.All, func(r *rule.Rule) string { return r.ID + "\t" + r.Title })
	return flags.Beginning(known, begun), cobra.ShellCompDirectiveNoFileComp
}
