package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/words"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// functions maps commands to PowerShell functions. Every listed command has one.
var functions = map[string]string{
	"assess": "Get-HomenodeAssessment", "explain": "Get-HomenodeExplanation", "capture": "Get-HomenodeCapture", "serve": "Start-HomenodeServer",
	"fix": "Invoke-HomenodeFix", "optimise": "Get-HomenodeProposal", "move": "Get-HomenodeMove",
	"simulate": "Invoke-HomenodeSimulation", "compare": "Compare-Homenode",
	"size calibrate": "Get-HomenodeCalibration", "size dump": "Get-HomenodeDump", "size fit": "Get-HomenodeFit", "size io": "Get-HomenodeIO", "size latency": "Get-HomenodeLatency",
	"size pages": "Get-HomenodePageSharing", "size rightsize": "Get-HomenodeRightSize", "size speed": "Get-HomenodeSpeed", "size upgrade": "Get-HomenodeUpgrade",
	"record": "Start-HomenodeRecording", "snapshot": "Export-HomenodeSnapshot", "demo": "Start-HomenodeDemo", "rules": "Get-HomenodeRule", "validate": "Test-HomenodeModel",
	"measure": "Measure-HomenodeGuest", "measure playbook": "Export-HomenodePlaybook", "measure watch": "Watch-HomenodeGuest",
}

//go:embed powershell.psm1
var powershellHead string

//go:embed powershell.psd1
var powershellData string

// powershellModule returns the module, which has a function for each command and a parameter for
// each flag.
func powershellModule(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString(powershellHead)
	for _, c := range powershellCommands(root) {
		writeFunction(&b, c)
	}
	return b.Bytes()
}

// powershellCommands returns the commands with a function, in the order of names.
func powershellCommands(root *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(commands(root), func(c *cobra.Command) bool { return functions[nameOf(c)] == "" })
}

// A parameter is a flag as a parameter of a PowerShell function.
type parameter struct{ name, kind, flag, help string }

// parametersOf returns the parameters for the flags of a command.
func parametersOf(c *cobra.Command) (out []parameter) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		kind := map[string]string{"bool": "switch", "int": "int", "int64": "long", "float": "double", "float64": "double", "strings": "string[]", "stringArray": "string[]", "stringSlice": "string[]"}[f.Value.Type()]
		kind = cmp.Or(kind, "string")
		object := c.Flags().Lookup("format") != nil // the output form then has parameters of its own
		if f.Name != "help" && !f.Hidden && !(object && (f.Name == "format" || f.Name == "output")) {
			out = append(out, parameter{pascal(f.Name), kind, f.Name, f.Usage})
		}
	})
	return out
}

// otherwise maps flags whose names have another meaning in PowerShell to parameter names.
var otherwise = map[string]string{"host": "VMHost", "credentials": "CredentialFile", "what-if": "Change", "output": "OutputFile"}

// pascal converts the name of a flag to that of a parameter: host-count becomes HostCount.
func pascal(name string) string {
	if other := otherwise[name]; other != "" {
		return other
	}
	var b strings.Builder
	for part := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func writeFunction(b *bytes.Buffer, c *cobra.Command) {
	parameters := parametersOf(c)
	object := c.Flags().Lookup("format") != nil
	fmt.Fprintf(b, "\nfunction %s {\n    <#\n    .SYNOPSIS\n    %s.\n    .DESCRIPTION\n    Runs homenode %s, whose help says more.\n", functions[nameOf(c)], c.Short, nameOf(c))
	about := func(name, text string) { fmt.Fprintf(b, "    .PARAMETER %s\n    %s\n", name, text) }
	about("ArgumentList", "The arguments of the command: homenode "+usageOf(c))
	for _, p := range parameters {
		about(p.name, p.help)
	}
	if c.Flags().Lookup("credentials") != nil {
		about("Credential", "The account of a vCenter. It is handed over by the environment of that one process, never as an argument.")
	}
	if object {
		about("Format", "Another form than objects, such as html; as text, or in the file of -OutputFile.")
		about("OutputFile", "Write to this file, and return it.")
	}
	b.WriteString("    #>\n    [CmdletBinding()]\n    param(\n        [Parameter(Position = 0, ValueFromRemainingArguments = $true)] [string[]] $ArgumentList")
	for _, p := range parameters {
		fmt.Fprintf(b, ",\n        [%s] $%s", p.kind, p.name)
	}
	if c.Flags().Lookup("credentials") != nil {
		b.WriteString(",\n        [pscredential] $Credential")
	}
	if object {
		b.WriteString(",\n        [string] $Format,\n        [string] $OutputFile")
	}
	b.WriteString("\n    )\n    $flag = @{")
	for i, p := range parameters {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(b, "%s = '%s'", p.name, p.flag)
	}
	fmt.Fprintf(b, "}\n    Invoke-Homenode -Command '%s' -Bound $PSBoundParameters -Flag $flag", nameOf(c))
	if !object {
		b.WriteString(" -Console")
	}
	b.WriteString("\n}\n")
}

// powershellManifest returns the module manifest.
func powershellManifest(root *cobra.Command) []byte {
	names := words.Texts(powershellCommands(root), func(c *cobra.Command) string { return "        '" + functions[nameOf(c)] + "'\n" })
	slices.Sort(names)
	return []byte(strings.Replace(powershellData, "{FUNCTIONS}\n", strings.Join(names, ""), 1))
}

// newPowerShell returns the hidden command that writes the module.
func newPowerShell() *cobra.Command {
	return &cobra.Command{
		Use:    "powershell DIR",
		Short:  "Writes the PowerShell module into a folder, whose name is that of the module",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeAll(args[0], map[string][]byte{"Homenode.psm1": powershellModule(cmd.Root()), "Homenode.psd1": powershellManifest(cmd.Root())})
		},
	}
}

// writeAll writes files, which are keyed by their path below dir.
func writeAll(dir string, files map[string][]byte) error {
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
			return err
		}
	}
	return nil
}
