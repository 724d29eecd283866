package site

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/rules/finding"
	"homenode/serve/captures"
)

// demoCapture is the capture that the program invents, for who looks at the demo.
const demoCapture = "demo"

// uploadLongest is how long an upload may take.
const uploadLongest = 30 * time.Minute

// showCaptures lists the captures that can be opened, and takes uploads.
func showCaptures(x *request) (*view, error) {
	all, left, err := x.listed()
	if err != nil {
		return nil, err
	}
	a := &answer.Answer{Command: "capture", Title: "Captures"}
	t := answer.Table{Name: "captures", Title: "Captures", Columns: answer.Columns("name", ">size", "written", "what")}
	for i := range all {
		e := &all[i]
		what := "file"
		switch {
		case e.Uploaded:
			what = "uploaded, kept until " + e.Until.UTC().Format("2006-01-02 15:04") + " UTC"
		case e.Files > 0:
			what = "folder of " + words.Plural(e.Files, "file")
		case e.Name == demoCapture && e.Size == 0:
			what = "invented night of two hosts, to try with: not of this fleet"
		}
		size, written := answer.Cell{}, answer.Cell{}
		if e.Size > 0 || e.Name != demoCapture {
			size = answer.Cell{Text: numa.Bytes(e.Size).String(), Sort: strconv.FormatInt(e.Size, 10)}
			written.Text = e.Written.UTC().Format("2006-01-02 15:04")
		}
		t.Rows = append(t.Rows, []answer.Cell{{Text: shortName(e.Name), To: answer.Object{Kind: "capture", ID: e.Name}}, size, written, {Text: what}})
	}
	switch n := len(all); n {
	case 0:
		a.Verdict = []string{"There is no capture here yet."}
	default:
		a.Verdict = []string{words.Plural(n, "capture") + " can be opened."}
	}
	if left > 0 {
		a.Note(words.Verb(left, "file is", "files are") + " left out: what leads out of the folder, what is no file, and what is beyond the first thousands")
	}
	if x.site.Captures == nil || len(all) == 0 {
		a.Note("To see captures of a folder here, start the server with --captures DIR.")
	}
	a.Tables = []answer.Table{t}
	v := &view{answer: a}
	if x.site.Captures != nil {
		v.actions = append(v.actions, action{Path: "/captures", Label: "Upload", Files: true, Note: fmt.Sprintf("One file of at most %s: a batch file of esxtop, outputs of host commands, or an archive of them. It is removed after a day, and when this server ends.", numa.Bytes(x.site.Captures.Limit())),
			Fields: []field{{Name: "file", Label: "Capture", File: true}}})
	}
	var uploads []choice
	for i := range all {
		if e := &all[i]; e.Uploaded {
			uploads = append(uploads, choice{e.Name, shortName(e.Name)})
		}
	}
	if len(uploads) > 0 {
		v.actions = append(v.actions, action{Path: "/captures/remove", Label: "Remove", Fields: []field{{Name: "capture", Label: "Uploaded capture", Choices: uploads}}})
	}
	if len(all) > 0 {
		v.tabs = x.captureTabs("", "/captures")
	}
	return v, nil
}

// listed returns the captures that can be opened.
func (x *request) listed() (all []captures.Entry, left int, err error) {
	if x.site.Captures != nil {
		all, left, err = x.site.Captures.List()
	}
	if x.fleet != nil && slices.Contains(x.fleet.Sources, demoCapture) {
		all = append(all, captures.Entry{Name: demoCapture})
	}
	return all, left, err
}

// shortName returns the name of a capture without the folder of an upload.
func shortName(name string) string {
	if folder, file, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(folder, "upload-") {
		return file
	}
	return name
}

// captureChoices are the captures of a field.
func (x *request) captureChoices(none string) []choice {
	out := []choice{{"", none}}
	all, _, _ := x.listed() // what can be listed
	for i := range all {
		out = append(out, choice{all[i].Name, shortName(all[i].Name)})
	}
	return out
}

// captureTabs are the pages about a capture.
func (x *request) captureTabs(name, here string) []tab {
	q := url.Values{}
	if f := x.query.Get("fleet"); f != "" {
		q.Set("fleet", f)
	}
	address := func(path, key string) string {
		q := cloned(q)
		if name != "" {
			q.Set(key, name)
		}
		if len(q) == 0 {
			return path
		}
		return path + "?" + q.Encode()
	}
	out := []tab{{"All captures", "/captures", here == "/captures"}}
	if name != "" {
		out = append(out, tab{"What happened", address("/capture", "capture"), here == "/capture"})
		if name != demoCapture {
			out = append(out, tab{"Counters", address("/counters", "capture"), here == "/counters"})
		}
	}
	return append(out, tab{"Compare", address("/compare", "a"), here == "/compare"})
}

// askOf asks about captures. What could be read is shown, with why the rest was not.
func (x *request) askOf(names []string, args ...string) (*answer.Answer, error) {
	var files []string
	for _, name := range names {
		if name != demoCapture || x.fleet == nil || !slices.Contains(x.fleet.Sources, demoCapture) {
			files = append(files, name)
		}
	}
	shelf := x.site.Captures
	if shelf == nil {
		if len(files) > 0 {
			return nil, &unknownError{"no captures are kept here: start the server with --captures DIR"}
		}
		shelf, _ = captures.Open("", 0) // opens nothing
	}
	only, err := shelf.Only(files...)
	if errors.Is(err, captures.ErrUnknown) {
		return nil, &unknownError{err.Error()}
	}
	if err != nil {
		return nil, err
	}
	all, err := x.site.Ask(captures.With(x.Context(), only), x.fleet, args)
	if len(all) == 0 {
		if err == nil {
			err = errors.New("the command gave no answer")
		}
		return nil, err
	}
	if err == nil {
		return all[0], nil
	}
	out := *all[0]
	out.Notes = append(slices.Clone(out.Notes), answer.Note{Text: err.Error(), From: "capture"})
	return &out, nil
}

// stretchFields bound the time of a capture.
func stretchFields() []field {
	return []field{{Name: "from", Label: "From, UTC", Hint: "2026-11-03 02:00"}, {Name: "to", Label: "To, UTC", Hint: "2026-11-03 04:00"}}
}

// showCapture says what NUMA did in a capture.
func showCapture(x *request) (*view, error) {
	name := x.query.Get("capture")
	fields, args := x.asked(append([]field{
		{Name: "vm", Label: "VM", Hint: "sql*"},
		{Name: "host", Label: "Host", Hint: "esx0*"},
	}, stretchFields()...)...)
	v := &view{tabs: x.captureTabs(name, "/capture"), most: 5, recorded: name}
	if x.fleet != nil {
		with := field{Name: "with", Label: "Beside the inventory of the fleet", Check: true, Value: x.query.Get("with")}
		fields = append(fields, with)
		if with.Value != "" {
			args = append(args, "--fleet="+Source)
		}
	}
	v.fields = append([]field{{Name: "capture", Value: name, Hidden: true}}, fields...)
	args = append([]string{"capture", name}, args...)
	a, err := x.askOf([]string{name}, args...)
	if a != nil && name == demoCapture {
		out := *a
		out.Verdict = append(slices.Clone(a.Verdict), "An invented night, to try with: nothing of this fleet.")
		a = &out
	}
	v.answer, v.command = a, args
	return v, err
}

// inCapture returns the address of what a finding is about, alone in its capture.
func (x *request) inCapture(name string, f *finding.Finding) string {
	q := url.Values{"capture": {name}}
	for _, key := range []string{"fleet", "from", "to", "with"} {
		if v := x.query.Get(key); v != "" {
			q.Set(key, v)
		}
	}
	if f.VM != "" {
		q.Set("vm", f.VM)
	} else {
		q.Set("host", f.Host)
	}
	return "/capture?" + q.Encode()
}

// showCounters says which counters a batch file holds, and draws some of them.
func showCounters(x *request) (*view, error) {
	name := x.query.Get("capture")
	fields, args := x.asked(field{Name: "explore", Label: "Columns", Hint: `Group Memory(*:sql01)\Numa *`, Long: true, Default: "*"})
	draw := field{Name: "draw", Label: "Draw their values", Check: true, Value: x.query.Get("draw")}
	between, times := x.asked(stretchFields()...)
	v := &view{tabs: x.captureTabs(name, "/counters"), fields: slices.Concat([]field{{Name: "capture", Value: name, Hidden: true}}, fields, []field{draw}, between)}
	if draw.Value != "" {
		args = slices.Concat(args, []string{"--format=csv"}, times)
	}
	args = append([]string{"capture", name}, args...)
	a, err := x.askOf([]string{name}, args...)
	v.answer, v.command = a, args
	return v, err
}

// showCompare compares two captures, or what is before and after a time in one.
func showCompare(x *request) (*view, error) {
	fields, args := x.asked(
		field{Name: "a", Label: "A", flag: "-", Choices: x.captureChoices("choose")},
		field{Name: "b", Label: "B", flag: "-", Choices: x.captureChoices("none: A before and after a time")},
		field{Name: "at", Label: "Time, UTC", Hint: "2026-11-03 02:00"},
		field{Name: "vm", Label: "VM", Hint: "sql*"},
		field{Name: "host-name", Label: "Name of the host", Hint: "esx07"},
		field{Name: "details", Label: "Also VMs that are not told apart", Check: true},
	)
	a, b := valueOf(fields, "a"), valueOf(fields, "b")
	v := &view{fields: fields, tabs: x.captureTabs(a, "/compare")}
	switch {
	case a == "" || b == "" && valueOf(fields, "at") == "":
		v.answer = &answer.Answer{Title: "Compare", Verdict: []string{"Choose two captures, or one and a time: B, or what comes after, stands beside A."}}
		return v, nil
	case b == "":
		args = append([]string{"compare", a}, args...)
	default:
		i := slices.IndexFunc(args, func(s string) bool { return strings.HasPrefix(s, "--at=") })
		if i >= 0 {
			return v, errors.New("two captures are compared, or one before and after a time: leave out B or the time")
		}
		args = slices.Concat([]string{"compare"}, args, []string{a, "--", b})
	}
	names := []string{a}
	if b != "" {
		names = append(names, b)
	}
	out, err := x.askOf(names, args...)
	v.answer, v.command = out, args
	return v, err
}

// upload keeps a capture that a form sends.
func (s *Site) upload(w http.ResponseWriter, r *http.Request) {
	x := &request{Request: r, site: s, page: &screen{path: r.URL.Path, title: "Not done"}, query: url.Values{}}
	if s.Captures == nil {
		x.do(w, errors.New("this server takes no uploads"), nil)
		return
	}
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(uploadLongest)) // a test's has none
	_ = c.SetWriteDeadline(time.Now().Add(uploadLongest + time.Minute))
	r.Body = http.MaxBytesReader(w, r.Body, s.Captures.Limit()+64<<10) // and what stands around the file
	x.do(w, nil, func(*request) (string, error) {
		e, err := s.take(r)
		if err != nil {
			return "/captures", err
		}
		return answer.Object{Kind: "capture", ID: e.Name}.Address(), nil
	})
}

// take keeps the one file of a form.
func (s *Site) take(r *http.Request) (*captures.Entry, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, errors.New("found no form with a file")
	}
	for range 10 { // parts
		part, err := form.NextPart()
		if err != nil {
			break
		}
		if part.FormName() != "file" {
			continue
		}
		if part.FileName() == "" {
			break
		}
		e, err := s.Captures.Take(part.FileName(), part)
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			err = captures.ErrTooLarge
		}
		if errors.Is(err, captures.ErrTooLarge) {
			err = fmt.Errorf("%w: at most %s", captures.ErrTooLarge, numa.Bytes(s.Captures.Limit()))
		}
		return e, err
	}
	return nil, errors.New("choose a file")
}

// forget removes an upload.
func (s *Site) forget(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, func(*request) (string, error) {
		err := captures.ErrUnknown
		if s.Captures != nil {
			err = s.Captures.Remove(r.PostForm.Get("capture"))
		}
		if errors.Is(err, captures.ErrUnknown) {
			err = &unknownError{err.Error()}
		}
		return "/captures", err
	})
}
