// Command homenode shows the effects of NUMA on every VM of a vSphere fleet.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // Windows and containers have no time zones

	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/ask/compare"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/ask/recording"
	"example.org/homenode/ask/size"
	"example.org/homenode/cmd/homenode/fix"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/cmd/homenode/measure"
	"example.org/homenode/cmd/homenode/move"
	"example.org/homenode/cmd/homenode/serve"
	built "example.org/homenode/internal/version"
	"example.org/homenode/output/format"
	"example.org/homenode/source/open"
)

// Exit codes (docs/reference/commands).
const (
	exitClean    = 0
	exitFindings = 1 // findings at or above --fail-on, or a case that was not reproduced
	exitError    = 2 // usage or I/O
)

// grace is the time for a command to end after a signal, so that it can close sessions and
// remove unfinished files. A command that is blocked in a system call, such as opening a pipe,
// would never end.
const grace = 5 * time.Second

func main() {
	if os.Getenv("GOGC") == "" {
		collectLater()
	}
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the program at once, unless it is busy
		time.Sleep(grace)
		for flags.IsBusy() {
			time.Sleep(grace / 50)
		}
		fmt.Fprintln(os.Stderr, "homenode: stopped while it waited for input or output")
		os.Exit(exitError)
	})
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// collectLater sets when garbage is collected: first at 8 MB, which a command without a fleet never reaches. From then on the memory is the part
// that a command keeps and 60 % more: it reads a fleet once and keeps most of it, so that this is lower than the default. A command that has set its
// own percentage meanwhile keeps that.
func collectLater() {
	const first, then = 200, 60 // % of at least 4 MB
	debug.SetGCPercent(first)
	runtime.AddCleanup(new([16]byte), func(percent int) {
		if now := debug.SetGCPercent(percent); now != first {
			debug.SetGCPercent(now)
		}
	}, then)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags.Completing = len(args) > 0 && slices.Contains([]string{"completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, args[0])
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := open.Way(root.ExecuteContext(ctx), args...)
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, flags.ErrFindings):
		return exitFindings
	case errors.Is(err, flags.ErrNotKnown):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "homenode: stopped")
	default:
		fmt.Fprintf(stderr, "homenode: %s\n", flags.ErrorText(err))
	}
	return exitError
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "homenode",
		Short: "Shows what NUMA does to every VM of a vSphere fleet",
		Long: `homenode reads a vSphere fleet, predicts the virtual NUMA topology that each VM gets
on each host of its cluster, explains it, and reports problems.

` + flags.SourceHelp,
		Example: `  homenode assess demo
  homenode assess https://vc01.example.com
  homenode explain demo sql01`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       built.Build(),

		PersistentPreRunE: flags.KeepsInput,
	}
	root.SetVersionTemplate("homenode {{.Version}}\n")
	sizes := described("size", &cobra.Command{})
	for _, t := range size.Entries {
		sizes.AddCommand(flags.Question(t, helps))
	}
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"look", "Look", []*cobra.Command{flags.Question(fleet.AssessEntry, helps, format.Judged...), newExplain(), newCapture(), described("serve", serve.New())}},
		{"change", "Change", []*cobra.Command{described("fix", fix.New()), flags.Question(ask.Named(recording.Entries, "optimise"), helps, format.Tables...), described("move", move.New())}},
		{"plan", "Plan", []*cobra.Command{sizes, newSimulate(), flags.QuestionBeside(compare.Entry, helps, flags.Beside{Divide: sides}, format.Tables...)}},
		{"files", "Files", []*cobra.Command{described("record", serve.NewRecord()), newSnapshot(), newDemo(), flags.Question(fleet.RulesEntry, helps, format.Tables...), described("measure", measure.New(helps)), flags.Question(fleet.ValidateEntry, helps, format.Tables...)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.id
		}
		root.AddCommand(g.commands...)
	}
	root.AddCommand(newVersion(), newHealth(), newPowerShell(), &cobra.Command{Use: "sources", Short: "What a SOURCE can be", Long: flags.SourceTopic, Hidden: true})
	root.SetHelpCommandGroupID("files") // so that all listed commands have a group; help is not listed
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		c.Hidden = c.Hidden || c.GroupID == "" || c.Name() == "help"
	}
	addCompletion(root)
	addUsageHelp(root)
	return root
}

// commands returns all commands and subcommands, in the order of names.
func commands(root *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range root.Commands() {
		out = append(append(out, c), commands(c)...)
	}
	return out
}

// nameOf returns the name of a command as typed after homenode: "size io".
func nameOf(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
}

// usageOf returns the usage of a command without homenode: "size fit SOURCE".
func usageOf(c *cobra.Command) string { return strings.TrimSuffix(nameOf(c), c.Name()) + c.Use }
