package main

import (
	"embed"

	"github.com/spf13/cobra"

	"homenode/capture"
	"homenode/capture/archive"
	"homenode/cmd/homenode/flags"
	built "homenode/internal/version"
	"homenode/numa"
	"homenode/rules"
)

// The names that the commands of this package have for what they share with those of
// package size.
var (
	among        = flags.Among
	beginning    = flags.Beginning
	completeFlag = flags.Complete
	errorText    = flags.ErrorText
	typedWords   = flags.Typed
	answerFlags  = flags.Answer
	version      = built.String
	isTerminal   = flags.IsTerminal
)

const sourceHelp = flags.SourceHelp

// helps are what commands say of themselves.
//
//go:embed help
var helps embed.FS

func described(name string, cmd *cobra.Command) *cobra.Command {
	return flags.Describe(helps, name, cmd)
}

// sourceFlags are the flags of every command that reads a SOURCE.
type sourceFlags struct{ flags.Source }

func (f *sourceFlags) register(cmd *cobra.Command) { f.Register(cmd) }
func (f *sourceFlags) incomplete() error           { return f.Incomplete() }
func (f *sourceFlags) read(cmd *cobra.Command, sources ...string) (*numa.Fleet, error) {
	return f.Read(cmd, sources...)
}

// captureFlags say what is read of captures, and where it is exported to.
type captureFlags struct{ flags.Captures }

func (f *captureFlags) register(cmd *cobra.Command)             { f.Register(cmd) }
func (f *captureFlags) incomplete() error                       { return f.Incomplete() }
func (f *captureFlags) readTimes() error                        { return f.ReadTimes() }
func (f *captureFlags) setLocality(o *rules.Options) error      { return f.SetLocality(o) }
func (f *captureFlags) check(args []string, archive bool) error { return f.Check(args, archive) }

// readAll reads the captures that the arguments name, or the archive.
func (f *captureFlags) readAll(cmd *cobra.Command, args []string, a *archiveFlags, o capture.Options, inventory *rules.Result) ([]*capture.Recording, []numa.Note, error) {
	if a.dir == "" {
		return f.Read(cmd, args, o, inventory)
	}
	m, err := a.read(cmd, f.Parquet, archive.Options{Capture: o, Host: f.Host, Start: f.Began, Interval: f.Interval, From: f.Window[0], To: f.Window[1]})
	if err != nil {
		return nil, nil, err
	}
	f.Failed, f.Files = m.Broken, m.Jobs
	notes := append(flags.FailedNotes(m.Failed, m.Recordings), m.Notes...)
	if len(m.Recordings) == 0 {
		return nil, nil, flags.NothingFound("--archive "+a.dir, m.Outside, notes)
	}
	return m.Recordings, notes, nil
}
