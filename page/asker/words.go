package asker

import (
	"errors"
	"strings"
	"sync"

	"example.org/homenode/ask"
	"example.org/homenode/ask/change"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/ask/plain"
	"example.org/homenode/ask/recording"
	"example.org/homenode/internal/words"
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

// controls has the controls of the page by the flag that they replace: form fields with their choices, links and buttons.
var controls = sync.OnceValue(func() map[string]string {
	out := map[string]string{"what-if": "“What if”", "format json": "“JSON” below", "format csv": "“CSV” below", "format html": "“report” below", "details": "“report” below"}
	for _, e := range []*ask.Entry{fleet.AssessEntry, recording.CaptureEntry, change.FixEntry} {
		for _, f := range ask.Fields(e.Ask()) {
			if label := stated[f.Name] + f.Label; label != "" && out[f.Name] == "" {
				out[f.Name] = plain.Quoted(label)
			}
			for i, label := range f.Labels {
				out[f.Name+" "+f.Choices[i]] = plain.Quoted(f.Label + " " + label)
			}
		}
	}
	return out
})

// spoken returns a text with the controls of the page instead of flags and commands, which the page does not have.
func spoken(text string) string {
	text = words.Usual(text)
	if !strings.Contains(text, "--") && !strings.Contains(text, "SOURCE") && !strings.Contains(text, "homenode") {
		return text
	}
	return plain.Text(phrases.Replace(text), controls())
}

// told returns an error with the words of the page; nil for none.
func told(err error) error {
	if err == nil {
		return nil
	}
	text := words.Error(err)
	if name, _, is := strings.Cut(strings.TrimPrefix(text, "--"), ":"); is && controls()[name] == "" { // a field without a label
		text = strings.TrimPrefix(text, "--")
	}
	return errors.New(spoken(text))
}
