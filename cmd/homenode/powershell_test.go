package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestPowerShellCommands checks that each command that is listed has a function, and each function a command.
func TestPowerShellCommands(t *testing.T) {
	root := newRoot()
	seen := map[string]bool{}
	for _, c := range commands(root) {
		name := nameOf(c)
		seen[name] = true
		first, _, _ := strings.Cut(name, " ")
		if c.Hidden || !c.Runnable() || c.HasSubCommands() && name == "size" || first == "completion" || first == "help" {
			continue
		}
		if functions[name] == "" {
			t.Errorf("homenode %s has no function", name)
		}
	}
	for name := range functions {
		if !seen[name] {
			t.Errorf("%s is of homenode %s, which there is not", functions[name], name)
		}
	}
}

// newer is what Windows PowerShell 5.1 does not read: operators and parameters of later versions.
var newer = map[string]*regexp.Regexp{
	"the null operators":                              regexp.MustCompile(`\?\?|\?\.|\?\[`),
	"the ternary operator":                            regexp.MustCompile(`\$\w+ \? `),
	"chains of pipelines":                             regexp.MustCompile(`&&|\|\|`),
	"ConvertFrom-Json -Depth":                         regexp.MustCompile(`ConvertFrom-Json[^\n]*-Depth`),
	"ForEach-Object in parallel":                      regexp.MustCompile(`-Parallel`),
	"ArgumentList of .NET":                            regexp.MustCompile(`\.ArgumentList\b`),
	"ErrorAction Ignore in a statement of Add-Member": regexp.MustCompile(`Add-Member[^\n]*Ignore`),
	"clean blocks":                                    regexp.MustCompile(`(?m)^\s*clean \{`),
	"the background operator":                         regexp.MustCompile(`(?m)[^&]&\s*$`),
}

// codeOf returns a module without comments and texts in quotes.
func codeOf(module string) string {
	module = regexp.MustCompile(`(?s)<#.*?#>`).ReplaceAllString(module, "")
	module = regexp.MustCompile(`'[^'\n]*'`).ReplaceAllString(module, "''")
	return regexp.MustCompile(`(?m)#.*$`).ReplaceAllString(module, "")
}

// TestPowerShellIsOld checks that Windows PowerShell 5.1 reads the module, as far as its syntax goes: it does not run here.
func TestPowerShellIsOld(t *testing.T) {
	code := codeOf(string(powershellModule(newRoot())))
	for what, re := range newer {
		if found := re.FindString(code); found != "" {
			t.Errorf("found %q: %s", found, what)
		}
	}
	if strings.Count(code, "{") != strings.Count(code, "}") || strings.Count(code, "(") != strings.Count(code, ")") {
		t.Errorf("found %d { and %d }, %d ( and %d )", strings.Count(code, "{"), strings.Count(code, "}"), strings.Count(code, "("), strings.Count(code, ")"))
	}
	for _, word := range []string{"Invoke-Expression", "cmd /c", "sh -c", "SupportsShouldProcess"} {
		if strings.Contains(code, word) {
			t.Errorf("found %s", word)
		}
	}
	for text, what := range map[string]string{"$a ?? 1": "the null operators", "$x ? 1 : 2": "the ternary operator", "a && b": "chains of pipelines"} {
		if !newer[what].MatchString(text) {
			t.Errorf("%s are not found in %q", what, text)
		}
	}
}

// TestPowerShellParameters checks that no parameter has the name of one that every function has, or of a variable that cannot be written.
func TestPowerShellParameters(t *testing.T) {
	taken := regexp.MustCompile(`(?i)^(verbose|debug|erroraction|warningaction|informationaction|progressaction|errorvariable|warningvariable|informationvariable|outvariable|outbuffer|pipelinevariable|whatif|confirm|host|home|pid|error|true|false|input|args|shellid|executioncontext|psculture|argumentlist|credential|format|outputfile)$`)
	for _, c := range powershellCommands(newRoot()) {
		seen := map[string]bool{}
		for _, p := range parametersOf(c) {
			if p.flag == "output" { // of a command whose answer is no object
				continue
			}
			if taken.MatchString(p.name) || seen[strings.ToLower(p.name)] || strings.Contains(p.help, "#>") {
				t.Errorf("%s -%s: the name is taken, or its help ends the comment", functions[nameOf(c)], p.name)
			}
			seen[strings.ToLower(p.name)] = true
		}
	}
}

// TestPowerShell runs the tests of the module where there is PowerShell.
func TestPowerShell(t *testing.T) {
	pwsh, err := exec.LookPath("pwsh")
	if err != nil {
		t.Skip("no pwsh: the module is checked by its text alone")
	}
	binary := t.TempDir() + "/homenode"
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), pwsh, "-NoProfile", "-Command", "Invoke-Pester -CI powershell.Tests.ps1")
	cmd.Env = append(os.Environ(), "HOMENODE="+binary)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
