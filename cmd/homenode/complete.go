package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/ask"
	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/output/fleet"
	"homenode/output/recording"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/source/demo"
	"homenode/source/open"
)

// addCompletion says what a shell completes for the arguments and flags of each
// command (homenode completion). --format is completed where it is registered.
func addCompletion(root *cobra.Command) {
	severities := []string{}
	for s := finding.Info; s <= finding.High; s++ {
		severities = append(severities, s.String())
	}
	byFlag := map[string]cobra.CompletionFunc{
		"fail-on": flags.Among(severities), "event": flags.Among(vnuma.EventNames()), "choose": completeChoice, "table": flags.Among(fleet.TableNames()),
		"on": completeHost, "host": completeHost, "from-host": completeHost, "fleet": completeSource,
		"vm": completeVM, "cluster": completeCluster,
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
			case "capture host", "capture vm": // a name that only the user knows
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

// completeSource completes the words among the sources; everything else is a file.
func completeSource(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if begun == "" { // the shell lists files only when it is given nothing else
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

// completeHost, completeVM and completeCluster complete the names in the sources.
func completeHost(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return completeName(args, begun, hostWords)
}

func completeVM(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return completeName(args, begun, vmWords)
}

func completeCluster(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return completeName(args, begun, clusterWords)
}

// completeName completes the words that names returns of the sources.
func completeName(sources []string, begun string, names func(*numa.Fleet) []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var words []string
	for _, fleet := range fleetsAtHand(sources) {
		words = append(words, names(fleet)...)
	}
	return flags.Beginning(words, begun), cobra.ShellCompDirectiveNoFileComp
}

// fleetsAtHand reads the sources that cost little: the demo fleet and files. A
// vCenter is never asked, and what cannot be read completes nothing.
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

// vmWords returns what names each VM: its name, or its ID when the name is not its
// own or cannot be typed.
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
	var words []string
	for i := range f.Hosts {
		if name := f.Hosts[i].Name; typable(name) {
			words = append(words, name)
		}
	}
	slices.Sort(words)
	return words
}

func clusterWords(f *numa.Fleet) []string {
	var words []string
	for i := range f.Clusters {
		if name := f.Clusters[i].Name; typable(name) {
			words = append(words, name)
		}
	}
	return words
}

// typable reports whether a name can stand on a command line as it is: without
// blanks and what a shell or the completion itself would take apart.
func typable(name string) bool {
	return name != "" && texttab.Clean(name) == name && !strings.HasPrefix(name, "-") && !strings.ContainsAny(name, " '\"\\$`!&;|<>()*?[]{}~#")
}

func completeRule(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, r := range rules.All {
		words = append(words, r.ID+"\t"+r.Title)
	}
	return flags.Beginning(words, begun), cobra.ShellCompDirectiveNoFileComp
}

// completeChoice completes --choose: the points on which sources disagree.
func completeChoice(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var words []string
	for _, c := range vnuma.ChoiceList {
		words = append(words, c.ID+"\t"+c.Alternative)
	}
	return flags.Beginning(words, begun), cobra.ShellCompDirectiveNoFileComp
}
