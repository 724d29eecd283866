package asker

import (
	"errors"
	"strings"
	"sync"

	"homenode/ask"
	"homenode/ask/change"
	"homenode/ask/fleet"
	"homenode/ask/recording"
	"homenode/numa/pattern"
)

// phrases has pairs: a phrase about flags or commands of the program, and its replacement on the page.
var phrases = strings.NewReplacer(
	"homenode help sources and docs/reference/sources.md list", "this page names",
	"want SOURCE and NAME, or a FILE, or --vm SHAPE and --host SHAPE: homenode explain --help", "want a VM and a host, as the sentence above names them",
	"; a SOURCE is ", "; the page reads ",
	"homenode rules lists them", "“Rules” below lists them",
	"say whose it is with --evidence NAME=FILE", "name the file after its VM",
	"say which with --evidence CLUSTER/NAME=FILE", "the page cannot tell them apart",
	"--evidence: ", "",
	"name the inventory with --fleet", "drop the inventory together with it",
	"give the inventory (--fleet)", "drop the inventory together with it",
	"no inventory (--fleet)", "no inventory was dropped together with it",
	"with --fleet homenode knows", "with an inventory, dropped together with it, homenode knows",
	"no prediction: --fleet SOURCE", "no prediction: drop the inventory together with it",
)

// flag matches a flag of the program and a word after it.
var flag = pattern.Of(`--[a-z][a-z-]*[a-z](?: [a-z]+)?`)

// controls has the controls of the page by the flag that they replace: form fields with their choices, links and buttons.
var controls = sync.OnceValue(func() map[string]string {
	out := map[string]string{"--what-if": "“What if”", "--format json": "“JSON” below", "--format csv": "“CSV” below", "--format html": "“report” below", "--details": "“report” below"}
	for _, e := range []*ask.Entry{fleet.AssessEntry, recording.CaptureEntry, change.FixEntry} {
		for _, f := range ask.Fields(e.Ask()) {
			if label := stated[f.Name] + f.Label; label != "" && out["--"+f.Name] == "" {
				out["--"+f.Name] = "“" + label + "”"
			}
			for i, label := range f.Labels {
				out["--"+f.Name+" "+f.Choices[i]] = "“" + f.Label + " " + label + "”"
			}
		}
	}
	return out
})

// spoken returns a text with the controls of the page instead of flags and commands, which the page does not have.
func spoken(text string) string {
	if !strings.Contains(text, "--") && !strings.Contains(text, "SOURCE") && !strings.Contains(text, "homenode") {
		return text
	}
	return flag.Regexp().ReplaceAllStringFunc(phrases.Replace(text), func(found string) string {
		if c, ok := controls()[found]; ok {
			return c
		}
		name, word, after := strings.Cut(found, " ")
		if c, ok := controls()[name]; ok && after {
			return c + " " + word
		} else if ok {
			return c
		}
		return found
	})
}

// texts returns HTML with its texts changed, except those of pictures, which name no flags and are most of a long answer.
func texts(html string, change func(string) string) string {
	var out strings.Builder
	for html != "" {
		text, tag := html, ""
		if i := strings.IndexByte(html, '<'); i >= 0 {
			text, tag = html[:i], html[i:]
		}
		out.WriteString(change(text))
		end := ">"
		if strings.HasPrefix(tag, "<svg") {
			end = "</svg>"
		}
		skipped, rest, found := strings.Cut(tag, end)
		out.WriteString(skipped)
		if found {
			out.WriteString(end)
		}
		html = rest
	}
	return out.String()
}

// told returns an error with the words of the page; nil for none.
func told(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(spoken(err.Error()), "--")) // of a field without a label
}
