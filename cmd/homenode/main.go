// Command homenode shows what NUMA does to every VM of a vSphere fleet.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"homenode/internal/texttab"
)

// Exit codes (docs/commands).
const (
	exitClean    = 0
	exitFindings = 1 // findings at or above --fail-on, or a case that is not reproduced
	exitError    = 2 // usage or I/O
)

// errFindings ends a command that did its work and found something.
var errFindings = errors.New("findings")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "homenode: stopped")
	default:
		fmt.Fprintf(stderr, "homenode: %s\n", errorText(err))
	}
	return exitError
}

// errorText returns an error for a terminal. Lines after the first are indented,
// so that a name with a line break cannot pass for a message of this program.
func errorText(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, texttab.Clean(line))
		}
	}
	return strings.Join(lines, "\n  ")
}

const sourceHelp = `SOURCE is one of
  https://vc01.example.com   a vCenter or ESXi host (GOVC_USERNAME and GOVC_PASSWORD, or a prompt)
  vcenter                    the one that GOVC_URL names
  export.xlsx                an RVTools export; also a folder or .zip of its CSV files
  fleet.json                 a snapshot, from homenode snapshot
  fleet.txtar                a scenario or story: a fleet written by hand
  esx01-vm-support.tgz       a vm-support bundle, .vmx or vmware.log; also a folder or archive of them
  demo                       a simulated vCenter with 24 hosts and 300 VMs
  @sources.txt               a file with one SOURCE a line; several are read in parallel as one fleet`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "homenode",
		Short: "Shows what NUMA does to every VM of a vSphere fleet",
		Long: `homenode reads a vSphere fleet, predicts the virtual NUMA topology that each VM gets
on each host of its cluster, explains it, and says what is wrong.

` + sourceHelp,
		Example: `  homenode assess demo
  homenode assess https://vc01.example.com
  homenode explain demo sql01
  homenode rules N001`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       build(),
	}
	root.SetVersionTemplate("homenode {{.Version}}\n")
	root.AddCommand(newAssess(), newCapture(), newSimulate(), newReplay(), newSweep(), newOptimise(), newSize(), newDiff(), newMatrix(), newExplain(), newTopo(), newRead(), newSnapshot(), newRules(), newValidate(), newCompare(), newDemo(), newQueue(), newWork(), newVersion(), newDocs())
	root.InitDefaultCompletionCmd()
	addCompletion(root)
	addUsageHelp(root)
	return root
}

// commands returns the commands of the program and theirs, in the order of names.
func commands(root *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range root.Commands() {
		out = append(append(out, c), commands(c)...)
	}
	return out
}

// nameOf returns the name of a command as it is typed after homenode: "size io".
func nameOf(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
}

// usageOf returns how a command is used, less homenode: "size fit SOURCE".
func usageOf(c *cobra.Command) string { return strings.TrimSuffix(nameOf(c), c.Name()) + c.Use }

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Prints the version, the commit, and the Go version and platform of the build",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "homenode %s\n", build())
			return err
		},
	}
}

// release is what git describe says of the commit, set by make build: a tag (v1.2.3) for a
// release, the commit for what is none. "" where the build does not state it.
var release string

// version returns the release, else "development" and the commit that was built.
func version() string {
	if strings.HasPrefix(release, "v") {
		return release
	}
	return strings.TrimSpace("development " + cmp.Or(release, commit()))
}

// build returns the version, the Go that built it and for what.
func build() string {
	return fmt.Sprintf("%s, %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commit returns the commit that was built as Go states it; "" when it does not.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return ""
}
