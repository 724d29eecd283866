package text

import (
	"path"
	"slices"
	"strings"

	"example.org/homenode/numa/pattern"
)

// A Prompt is a terminal line with a command that somebody typed.
type Prompt struct {
	Host    Line   // the machine, if the prompt contains it; without the line number
	Command string // as typed; may be empty
}

// promptForms are the prompts of common shells of administrators. Group host is optional; group
// command is the rest of the line.
var promptForms = []*pattern.Pattern{
	// [root@esx03:~] sched-stats …    [root@db01 ~]# lscpu
	pattern.Of(`^\s*\[[\w.$\\-]+@(?P<host>[\w.-]+)(?:[: ][^\]]*)?\](?:\s*[#$%>])?(?:\s+(?P<command>.*))?$`),
	// root@db01:~# lscpu    me@mac ~ % numactl -H
	pattern.Of(`^\s*[\w.-]+@(?P<host>[\w.-]+)(?::\s?| )[~/][^#$%>]*[#$%>](?:\s*(?P<command>.*))?$`),
	// db01:~ # lscpu
	pattern.Of(`^\s*(?P<host>\w[\w.-]*):[~/][^\s#$>]*\s?[#$>](?:\s+(?P<command>.*))?$`),
	// [sql01]: PS C:\Users\me\Documents> coreinfo
	pattern.Of(`^\s*\[(?P<host>[\w.-]+)\]: PS [^>]*>\s*(?P<command>.*)$`),
	// C:\Tools> coreinfo -n    PS C:\Users\me> .\Coreinfo64.exe
	pattern.Of(`^\s*(?:PS )?[A-Za-z]:\\[^<>|"*?]*>\s*(?P<command>.*)$`),
	// ~ # esxtop    /vmfs/volumes # vsish …
	pattern.Of(`^\s*[~/]\S* [#$](?:\s+(?P<command>.*))?$`),
}

// barePrompt matches a prompt that consists of a single character.
var barePrompt = pattern.Of(`^\s*[#$%>]\s+(?P<command>\S.*)$`)

// CutPrompt splits a line that begins with a shell prompt. A prompt of a single character, as
// in "# lscpu", counts only before one of the commands, which are in lower case, because
// comments begin in the same way.
func CutPrompt(line string, commands ...string) (p Prompt, ok bool) {
	for _, form := range promptForms {
		if m := form.FindStringSubmatchIndex(line); m != nil {
			return promptOf(form, line, m), true
		}
	}
	if m := barePrompt.FindStringSubmatchIndex(line); m != nil {
		p = promptOf(barePrompt, line, m)
		return p, slices.Contains(commands, p.Name())
	}
	return Prompt{}, false
}

func promptOf(form *pattern.Pattern, line string, m []int) Prompt {
	var p Prompt
	if i := form.Regexp().SubexpIndex("host"); i > 0 && m[2*i] >= 0 {
		p.Host = Line{0, m[2*i] + 1, line[m[2*i]:m[2*i+1]]}
	}
	if i := form.Regexp().SubexpIndex("command"); m[2*i] >= 0 {
		p.Command = strings.TrimSpace(line[m[2*i]:m[2*i+1]])
	}
	return p
}

// Name returns the command without its folder, extension and arguments, in lower case:
// "coreinfo64" for `.\Coreinfo64.exe -n`, "lscpu" for "sudo lscpu -e".
func (p Prompt) Name() string {
	words := strings.Fields(p.Command)
	if len(words) > 1 && words[0] == "sudo" {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	name := path.Base(strings.ReplaceAll(words[0], `\`, "/"))
	return strings.TrimSuffix(strings.ToLower(name), ".exe")
}

// bannerForm matches the login messages of PuTTY, ssh and the ESXi shell.
var bannerForm = pattern.Of(`(?i)^(?:` + strings.Join([]string{
	`login as: .*`, `using username ".*"\.?`, `last (?:failed )?login: .*`, `(?:\S+@\S+'s |\(\S+@\S+\) |\| )?password:`,
	`(?:end of )?(?:pre-authentication banner message|keyboard-interactive (?:authentication )?prompts)(?: from server)?[.:]?`, `authenticating with public key ".*"(?: from agent)?`,
	`the time and date of this login have been sent to the system logs\.`, `warning:`,
	`all commands run on the esxi shell are logged and may be included in`, `support bundles\. do not provide passwords directly on the command line\.`,
	`most tools can prompt for secrets or accept them from standard input\.`,
	`vmware offers (?:supported, powerful|powerful and supported) .*`, `see www\.vmware\.com/go/sysadmintools for details\.`,
	`the esxi shell can be disabled by an administrative user\. see the`, `vsphere security documentation for more information\.`,
	`connection to \S+ closed\.`, `logout`,
}, "|") + `)$`)

// IsBanner reports whether a line is a login message of a terminal, printed before the first
// prompt.
func IsBanner(line string) bool { return bannerForm.MatchString(strings.TrimSpace(line)) }
