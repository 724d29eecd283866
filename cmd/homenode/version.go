package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.org/homenode/change/fix"
	"example.org/homenode/docs/schema"
	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/internal/notices"
	"example.org/homenode/internal/texttab"
	built "example.org/homenode/internal/version"
	"example.org/homenode/rules"
	"example.org/homenode/source/measured"
	"example.org/homenode/source/snapshot"
)

func newVersion() *cobra.Command {
	licences := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Prints the version, the commit, the build, and the versions of the rule book and of files",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if licences {
				return notices.Write(cmd.OutOrStdout())
			}
			return writeVersion(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&licences, "licenses", false, "print the licences and notices of everything that homenode links")
	return cmd
}

// writeVersion writes the version as --version does, then the versions of formats and of the rule book.
func writeVersion(w io.Writer) error {
	answers, err := answerVersions()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "homenode %s\n\ncommit     %s\nrule book  %s: %d statements, %d checks\n", built.Build(), built.Commit(), rulebook.Version(), len(rulebook.Statements), len(rules.All))
	fmt.Fprintf(w, "files      %s %d, %s %d, %s %d\n", snapshot.Format, snapshot.Version, fix.Format, fix.Version, measured.Format, measured.Version)
	lead := "answers    "
	for _, line := range texttab.Wrap(strings.Join(answers, ", "), 100) {
		fmt.Fprintln(w, lead+line)
		lead = strings.Repeat(" ", len(lead))
	}
	return nil
}

// answerVersions returns the formats of answers with the version of each, as their schemas state them; tests write these files, so their form is known.
func answerVersions() (out []string, err error) {
	files, err := fs.Glob(schema.Files, "*.json")
	for _, file := range files {
		b, err := schema.Files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		// Decoding all schemas would take longer than the rest of the command.
		_, envelope, _ := bytes.Cut(b, []byte(`"output.format.envelope": {`))
		_, version, found := bytes.Cut(envelope, []byte("\n    \"version\": {\n     \"const\": "))
		if number, _, ended := bytes.Cut(version, []byte("\n")); found && ended {
			out = append(out, fmt.Sprintf("%s %s", strings.TrimSuffix(strings.TrimPrefix(file, "homenode-"), ".json"), number))
		}
	}
	slices.Sort(out)
	return out, err
}
