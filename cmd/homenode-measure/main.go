// Command homenode-measure is homenode measure alone, for guests: small, without a network client, and without anything that knows of vCenter.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"example.org/homenode/cmd/homenode/measure/here"
	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/notices"
	"example.org/homenode/internal/version"
	"example.org/homenode/measure/guest"
	"example.org/homenode/source/measured"
)

const usage = `homenode-measure measures the NUMA of the guest that it runs in, and writes the result as JSON.
It changes no setting, needs no rights, and leaves nothing behind. Elsewhere

  homenode explain result.json
  homenode assess SOURCE --evidence result.json

use it. homenode measure is the same and shows its result as text, too.

Usage:
  homenode-measure [topology|hidden|memory|cores|ladder ...] [flags]
  homenode-measure watch [flags]              hidden nodes again and again, a line of JSON for each round

Flags:
`

// Exit codes, those of homenode measure.
const (
	exitOK        = 0
	exitUntrusted = 1 // measured, but the figures cannot be relied on: the result says why
	exitError     = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "homenode-measure: %v\n", err)
	}
	os.Exit(code)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	fl := pflag.NewFlagSet("homenode-measure", pflag.ContinueOnError)
	fl.Usage = func() { fmt.Fprint(stdout, usage, fl.FlagUsages()) }
	fl.SetOutput(stderr)
	if len(args) > 0 && args[0] == "watch" {
		var w here.Watch
		w.Register(fl)
		if done, err := parsed(fl, args[1:]); done || err != nil {
			return codeOf(err), err
		}
		err := w.Run(ctx, stdout, stderr)
		return codeOf(err), err
	}
	var asked here.Asked
	asked.Register(fl)
	asked.Place(fl)
	file := fl.StringP("output", "o", "", "write to this file, whole or not at all, instead of standard output")
	shown, licences := fl.Bool("version", false, "print the version"), fl.Bool("licenses", false, "print the licences and notices of everything that is linked")
	if done, err := parsed(fl, args); done || err != nil {
		return codeOf(err), err
	}
	switch {
	case *shown:
		_, err := fmt.Fprintf(stdout, "homenode-measure %s\n", version.Build())
		return codeOf(err), err
	case *licences:
		err := notices.Write(stdout)
		return codeOf(err), err
	}
	return measure(ctx, &asked, fl.Args(), *file, stdout, stderr)
}

// measure measures and writes the result.
func measure(ctx context.Context, asked *here.Asked, parts []string, file string, stdout, stderr io.Writer) (int, error) {
	if err := asked.Read(parts); err != nil {
		return exitError, err
	}
	plan, err := asked.Plan(ctx)
	if err != nil {
		return exitError, err
	}
	var terminal io.Writer
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		terminal = stderr
	}
	r, err := here.Measure(ctx, plan, terminal)
	if err != nil {
		return exitError, err
	}
	write := func(w io.Writer) error { return measured.Write(w, r) }
	if file == "" || file == "-" {
		err = write(stdout)
	} else {
		err = atomicfile.Write(file, write)
	}
	if err != nil {
		return exitError, err
	}
	if !r.Trust.OK {
		return exitUntrusted, fmt.Errorf("these figures cannot be relied on: %s", strings.Join(r.Trust.Reasons, "; "))
	}
	return exitOK, nil
}

// parsed reads the flags and arguments; done says that the help was printed.
func parsed(fl *pflag.FlagSet, args []string) (done bool, err error) {
	err = fl.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return true, nil
	}
	for _, part := range fl.Args() {
		if !isPart(part) && err == nil {
			err = fmt.Errorf("found %q, want one of %v, or watch", part, guest.Parts)
		}
	}
	return false, err
}

// isPart reports whether a part of this name can be asked for.
func isPart(name string) bool {
	return slices.ContainsFunc(guest.Parts, func(p guest.Part) bool { return string(p) == name })
}

// codeOf returns the exit code of a function.
func codeOf(err error) int {
	if err != nil {
		return exitError
	}
	return exitOK
}
