package main

import (
	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/ask/recording"
	"example.org/homenode/cmd/homenode/flags"
)

// reportForms are the output forms of reports over time; the first is the default.
var reportForms = []string{"table", "json", "html", "csv", "xlsx", "sarif", "junit", "markdown", "svg"}

// newSimulate returns the command.
func newSimulate() *cobra.Command {
	var to traceFlags
	return flags.QuestionBeside(ask.Named(recording.Entries, "simulate"), helps, flags.Beside{Register: to.register, Lend: to.lend}, reportForms...)
}
