package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"homenode/esxi/vnuma"
	"homenode/output/fleet"
	"homenode/output/format"
	"homenode/rules/finding"
)

const psFolder = "../powershell"

func psFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(psFolder, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// psFunctions returns the text of each function of the module by its name.
func psFunctions(t *testing.T) map[string]string {
	t.Helper()
	text := psFile(t, "Homenode/Homenode.psm1")
	heads := regexp.MustCompile(`(?m)^function ([\w-]+) \{$`).FindAllStringSubmatchIndex(text, -1)
	out := map[string]string{}
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		out[text[h[2]:h[3]]] = text[h[0]:end]
	}
	if len(out) < 10 {
		t.Fatalf("found %d functions: the test looks at nothing", len(out))
	}
	return out
}

var (
	psFlag    = regexp.MustCompile(`'--([a-z-]+)'`)
	psCommand = regexp.MustCompile(`-Command '([a-z]+)'`)
	psSet     = regexp.MustCompile(`ValidateSet\(([^)]*)\)\] \[string\] \$(\w+)`)
)

// TestPowerShellFlags checks that the module calls only commands and flags that the
// program has, and never through a shell.
func TestPowerShellFlags(t *testing.T) {
	root := newRoot()
	has := func(command, flag string) bool {
		c, _, err := root.Find([]string{command})
		return err == nil && c != root && (flag == "" || c.Flags().Lookup(flag) != nil)
	}
	flags := 0
	for name, text := range psFunctions(t) {
		commands := []string{}
		for _, m := range psCommand.FindAllStringSubmatch(text, -1) {
			commands = append(commands, m[1])
		}
		if name == "Get-HomenodeSourceArgument" {
			commands = []string{"assess", "explain", "compare"}
		}
		for _, m := range psFlag.FindAllStringSubmatch(text, -1) {
			flags++
			if len(commands) == 0 {
				t.Errorf("%s names --%s and calls no command", name, m[1])
			}
			for _, c := range commands {
				if !has(c, m[1]) {
					t.Errorf("%s calls homenode %s --%s, which there is not", name, c, m[1])
				}
			}
		}
		if len(commands) > 0 && name != "Get-HomenodeSourceArgument" && !strings.Contains(text, "'--'") {
			t.Errorf("%s does not end the flags with --: a name could be taken for one", name)
		}
		for _, word := range []string{"Invoke-Expression", "Start-Process", "cmd /c", "sh -c", "SupportsShouldProcess"} {
			if strings.Contains(text, word) {
				t.Errorf("%s has %s", name, word)
			}
		}
	}
	if flags < 15 {
		t.Errorf("found %d flags: the test looks at nothing", flags)
	}
}

// TestPowerShellWords checks that the parameters take the words that the program takes.
func TestPowerShellWords(t *testing.T) {
	severities := []string{}
	for s := finding.Info; s <= finding.High; s++ {
		severities = append(severities, s.String())
	}
	formats := slices.DeleteFunc(slices.Sorted(slices.Values(format.Judged)), func(f string) bool { return f == "table" || f == "json" || f == "xlsx" })
	want := map[string][]string{"Event": vnuma.EventNames(), "MinimumSeverity": severities, "MinimumFailure": severities, "Format": formats, "Table": fleet.TableNames()}
	seen := map[string]bool{}
	for name, text := range psFunctions(t) {
		for _, m := range psSet.FindAllStringSubmatch(text, -1) {
			seen[m[2]] = true
			if got := strings.Split(strings.ReplaceAll(m[1], "'", ""), ", "); !slices.Equal(got, want[m[2]]) {
				t.Errorf("%s -%s takes %v, want %v", name, m[2], got, want[m[2]])
			}
		}
	}
	if len(seen) != len(want) {
		t.Errorf("found sets for %v, want %v", seen, want)
	}
}

// TestPowerShellManifest checks that the manifest exports the functions with help, and
// that each parameter of theirs is described.
func TestPowerShellManifest(t *testing.T) {
	_, list, _ := strings.Cut(psFile(t, "Homenode/Homenode.psd1"), "FunctionsToExport    = @(")
	list, _, _ = strings.Cut(list, ")")
	var exported []string
	for _, m := range regexp.MustCompile(`'([\w-]+)'`).FindAllStringSubmatch(list, -1) {
		exported = append(exported, m[1])
	}
	functions := psFunctions(t)
	documented := []string{}
	for name, text := range functions {
		if strings.Contains(text, ".SYNOPSIS") {
			documented = append(documented, name)
			if !strings.Contains(text, ".EXAMPLE") || !strings.Contains(text, "-WhatIf") {
				t.Errorf("%s: its help has no example, or does not speak of -WhatIf", name)
			}
		}
	}
	slices.Sort(exported)
	slices.Sort(documented)
	if !slices.Equal(exported, documented) {
		t.Errorf("the manifest exports %v; functions with help are %v", exported, documented)
	}
}

// TestPowerShell runs the Pester tests of the module.
func TestPowerShell(t *testing.T) {
	pwsh, err := exec.LookPath("pwsh")
	if err != nil {
		t.Skip("pwsh is not installed: the Pester tests of cmd/powershell do not run")
	}
	if err := exec.Command(pwsh, "-NoProfile", "-Command", "Import-Module Pester -MinimumVersion 5.0").Run(); err != nil {
		t.Skip("Pester 5 is not installed: the tests of cmd/powershell do not run")
	}
	binary := filepath.Join(t.TempDir(), "homenode")
	if os.PathSeparator == '\\' {
		binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(pwsh, "-NoProfile", "-Command",
		"$c = New-PesterConfiguration; $c.Run.Path = 'Homenode.Tests.ps1'; $c.Run.Exit = $true; $c.Output.Verbosity = 'Detailed'; Invoke-Pester -Configuration $c")
	run.Dir = psFolder
	run.Env = append(os.Environ(), "HOMENODE="+binary)
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
