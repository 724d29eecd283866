package asker

import (
	"cmp"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"example.org/homenode/ask"
	"example.org/homenode/ask/plain"
	"example.org/homenode/numa/pattern"
)

// stated has the labels of fields about facts that the files lack. Their values hold for all questions about the files.
var stated = map[string]string{"assume-host": "Facts about hosts", "nodes-per-socket": "NUMA nodes per socket", "product": "Software in guests", "hosts": "Hosts for planned VMs"}

// hints has examples of fields that have none of their own.
var hints = map[string]string{"assume-host": "release=8.0U3", "nodes-per-socket": "esx*=2", "product": "sql*=SQL Server 2022 Standard", "hosts": "2x16c/512GB release=8.0U3", "what-if": "vm=sql* hotAdd=off"}

// A form has the fields of a question that the reader can change.
type form struct {
	Title, Button, Lead string
	Path                string // of the answer; "" for the same page
	Open                bool
	Kept                []value // the rest of the address
	Fields              []input
}

// An input is a field with its values.
type input struct {
	*ask.Field
	Label, Hint string
	Values      []string
}

// Shown returns the texts of the inputs of the field: one for each value, and an empty one for a further value.
func (i input) Shown() []string {
	if i.Kind == ask.Texts && !i.List {
		return append(slices.Clone(i.Values), "")
	}
	return []string{strings.Join(i.Values, ",")}
}

// Several reports whether several choices can be made.
func (i input) Several() bool { return i.Kind == ask.Texts }

var formTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("form").Funcs(template.FuncMap{"has": slices.Contains[[]string]}).Parse(`<details class="more"{{if .Open}} open{{end}}><summary>{{.Title}}</summary>
<form class="ask" method="get"{{with .Path}} action="{{.}}"{{end}}>{{range .Kept}}{{$name := .Name}}{{range .Values}}<input type="hidden" name="{{$name}}" value="{{.}}">{{end}}{{end}}
{{range .Fields}}{{$f := .}}{{if .Labels}}<fieldset id="field-{{.Name}}"><legend>{{.Label}}</legend>{{range $n, $c := .Choices}}<label><input type="checkbox" name="{{$f.Name}}" value="{{$c}}"{{if has $f.Values $c}} checked{{end}}> {{index $f.Labels $n}}</label>{{end}}</fieldset>
{{else if .Choices}}<label><span>{{.Label}}</span><select id="field-{{.Name}}" name="{{.Name}}"><option value="">any</option>{{range .Choices}}<option{{if has $f.Values .}} selected{{end}}>{{.}}</option>{{end}}</select></label>
{{else}}{{range $n, $v := .Shown}}<label{{if $f.Several}} class="long"{{end}}><span>{{$f.Label}}</span><input{{if eq $n 0}} id="field-{{$f.Name}}"{{end}} name="{{$f.Name}}" value="{{.}}" placeholder="{{$f.Hint}}" autocomplete="off" spellcheck="false"></label>
{{end}}{{end}}{{end}}<button>{{.Button}}</button>{{with .Lead}}
<p class="lead">{{.}}</p>{{end}}</form></details>
`))
})

// form returns the form of a question; nil if nothing in it can be changed. example states example facts about hosts if their lack prevents an answer.
func (a *Asker) form(q ask.Question, path string, query url.Values, example string) *form {
	f := &form{Title: "Filter and options", Button: "Show"}
	switch {
	case example != "":
		f.Title, f.Button, f.Open, f.Path = "Facts about hosts are missing", "Assess", true, fleetPath
		f.Lead = "Facts stated here are marked as assumed. You can also drop a file that describes the hosts together with this one."
	case path == whatIfPath:
		f.Title, f.Button, f.Open = "Change", "Compare", true
		f.Lead = "For example: vm=sql* hotAdd=off · host=esx* nodesPerSocket=2 · release=8.0U3 hw=21 · lose-host=esx07 · add-host=2x32c/1TB"
	case path == planPath:
		f.Title, f.Button = "Change the plan", "Plan"
	}
	for _, one := range ask.Fields(q) {
		label := cmp.Or(one.Label, stated[one.Name])
		if label == "" || !a.offered(one.Name, path, example != "") {
			continue
		}
		in := input{Field: one, Label: label, Hint: cmp.Or(hints[one.Name], one.Example), Values: query[one.Name]}
		if in.Values == nil {
			in.Values = a.stated[one.Name]
		}
		switch {
		case in.Values != nil:
		case one.Name == "assume-host" && example != "":
			in.Values = []string{example}
		case one.Name == "what-if":
			in.Values = query["change"]
		}
		f.Open = f.Open || query.Get(one.Name) != "" && stated[one.Name] == ""
		f.Fields = append(f.Fields, in)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		shown := slices.ContainsFunc(f.Fields, func(i input) bool { return i.Name == name })
		if !shown && name != "change" && !strings.Contains(name, ".") && f.Path == "" {
			f.Kept = append(f.Kept, value{name, query[name]})
		}
	}
	if f.Fields == nil {
		return nil
	}
	return f
}

// offered reports whether the form of a path has the field. facts limits it to those of facts about hosts.
func (a *Asker) offered(name, path string, facts bool) bool {
	switch {
	case path == shapePath:
		return false
	case facts:
		return name == "assume-host"
	case name == "what-if" || path == whatIfPath:
		return name == "what-if" && path == whatIfPath
	case name == "hosts":
		return a.held != nil && a.held.Result.Fleet.Plans()
	case stated[name] != "":
		return a.names != nil
	}
	return true // ask.Explain has no other fields with a label
}

// shows reports whether the page of a path shows the form. The page of one object shows it only if its text names a field.
func (f *form) shows(path, text string) bool {
	return !slices.Contains([]string{"/vm", "/host", "/cluster", findPath, filePath}, path) || f.Open ||
		slices.ContainsFunc(f.Fields, func(i input) bool { return strings.Contains(text, "“"+i.Label+"”") })
}

// quoted matches a text in quotation marks.
var quoted = pattern.Of(`“[^”]*”`)

// linked returns HTML with links from the names of fields to the form.
func (f *form) linked(html string) string {
	return plain.HTML(html, func(text string) string {
		if !strings.Contains(text, "“") {
			return text
		}
		return quoted.Regexp().ReplaceAllStringFunc(text, f.link)
	})
}

// link returns a text in quotation marks as a link, if it names a field.
func (f *form) link(text string) string {
	i := slices.IndexFunc(f.Fields, func(i input) bool {
		return text == "“"+i.Label+"”" || i.Labels != nil && strings.HasPrefix(text, "“"+i.Label+" ")
	})
	if i < 0 {
		return text
	}
	return `<a href="#field-` + f.Fields[i].Name + `">` + text + `</a>`
}
