package site

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"homenode/numa"
	"homenode/output/answer"
	"homenode/serve/shelf"
)

// demoCapture is the name of the invented night that every server shows.
const demoCapture = "demo"

// Of a file that is sent: how long it may take, and how much a form has beside it.
const (
	uploadLongest = 15 * time.Minute
	uploadBeside  = 64 << 10
)

// capturePages are what can be asked of captures.
var capturePages = [][2]string{{"", "What NUMA did"}, {"compare", "Compare two"}, {"rightsize", "Rightsize VMs from it"}}

// files returns the captures that the page of a request names, with where they lie; nothing else may be read.
type files map[string]string

// name takes a capture by its name.
func (f files) name(x *request, name string) error {
	if name == demoCapture {
		f[name] = name
		return nil
	}
	if x.site.Captures == nil {
		return &unknownError{"no captures can be opened here: start the server with --captures DIR"}
	}
	path, err := x.site.Captures.Path(name)
	if errors.Is(err, shelf.ErrUnknown) {
		return &unknownError{fmt.Sprintf("no capture is named %q", name)}
	}
	if err != nil {
		return err
	}
	f[name] = path
	return nil
}

// captureChoices are the captures that can be opened.
func (x *request) captureChoices(none string) (out []choice, all []shelf.File, err error) {
	out = []choice{{"", none}, {demoCapture, "demo: an invented night"}}
	if x.site.Captures == nil {
		return out, nil, nil
	}
	all, cut, err := x.site.Captures.List()
	for _, f := range all {
		out = append(out, choice{f.Name, f.Name})
	}
	if cut {
		err = errors.Join(err, errors.New("the folder has more files than are listed"))
	}
	return out, all, err
}

// showCaptures shows the captures that can be opened, and what one of them tells, or how two of them differ.
func showCaptures(x *request) (*view, error) {
	kind := x.query.Get("kind")
	if !slices.ContainsFunc(capturePages, func(p [2]string) bool { return p[0] == kind }) {
		return nil, &unknownError{"no such question about captures"}
	}
	known, all, listErr := x.captureChoices("choose one")
	ask := []field{{Name: "kind", Value: kind, flag: "-", Hidden: true}, {Name: "file", Label: "Capture", Choices: known, flag: "-"}}
	switch kind {
	case "compare":
		ask[1].Label = "Before"
		second := slices.Clone(known)
		second[0].Label = "the same, divided at the time beside"
		ask = append(ask, field{Name: "with", Label: "After", Choices: second, flag: "-"}, field{Name: "at", Label: "Divided at (UTC)", Hint: "2026-11-03 02:00"}, field{Name: "vm", Label: "VMs", Hint: "sql*"}, field{Name: "details", Label: "Also VMs that are not told apart", Check: true})
	case "rightsize":
		ask = append(ask, field{Name: "vm", Label: "One VM alone", Hint: "sql01"}, field{Name: "percentile", Label: "Percent of the time in which demand is met", Hint: "99"},
			field{Name: "headroom", Label: "Headroom", Hint: "20%"}, field{Name: "least", Label: "Observed at least", Hint: "24h", Default: "3h"}, field{Name: "node", Label: "NUMA node of unknown hosts", Hint: "16c/256GB"})
	default:
		ask = append(ask, field{Name: "vm", Label: "VMs", Hint: "sql01, or sql*"}, field{Name: "host", Label: "Hosts", Hint: "esx0*"}, field{Name: "from", Label: "From (UTC)", Hint: "2026-11-03 02:00"}, field{Name: "to", Label: "To (UTC)", Hint: "2026-11-03 04:00"})
	}
	if kind != "compare" && x.fleet != nil {
		ask = append(ask, field{Name: "inventory", Label: "Beside my fleet", Check: true, flag: "-"})
	}
	fields, flags := x.asked(ask...)
	v := &view{fields: fields, most: 10}
	fields[0].Value = kind
	for _, p := range capturePages {
		q := url.Values{}
		if p[0] != "" {
			q.Set("kind", p[0])
		}
		if file := valueOf(fields, "file"); file != "" {
			q.Set("file", file)
		}
		v.tabs = append(v.tabs, entry{"/captures?" + q.Encode(), p[1], p[0] == kind})
	}
	x.uploads(v, valueOf(fields, "file"))
	name := valueOf(fields, "file")
	if name == "" {
		v.answer = shelved(all, listErr)
		return v, nil
	}
	read := files{}
	if err := read.name(x, name); err != nil {
		return v, err
	}
	if valueOf(fields, "inventory") != "" {
		flags = append(flags, "--fleet="+Source)
	}
	switch kind {
	case "compare":
		v.command = commandOf([]string{"compare"}, flags, name)
		if with := valueOf(fields, "with"); with != "" {
			if err := read.name(x, with); err != nil {
				return v, err
			}
			if valueOf(fields, "at") != "" {
				return v, errors.New("a time divides one capture: choose no second one, or no time")
			}
			v.command = slices.Concat([]string{"compare"}, flags, []string{name, "--", with})
		} else if valueOf(fields, "at") == "" {
			v.command = nil
			v.answer = &answer.Answer{Title: "Compare", Verdict: []string{"Choose a second capture, or a time that divides the first one."}}
			return v, nil
		}
	case "rightsize":
		v.command = commandOf([]string{"size", "rightsize"}, flags, name)
	default:
		v.command = commandOf([]string{"capture"}, flags, name)
	}
	x.read = read
	a, err := x.site.recent.ask(x, stampOf(all, read), v.command...)
	if err != nil {
		return v, err
	}
	out := *a
	out.Next = nil
	out.Tables = slices.Clone(a.Tables)
	for i := range out.Tables {
		out.Tables[i] = x.vmsIn(out.Tables[i])
	}
	v.answer = &out
	return v, nil
}

// stampOf tells one file of a name from another that came in its place.
func stampOf(all []shelf.File, read files) string {
	var out strings.Builder
	for _, f := range all {
		if read[f.Name] != "" {
			fmt.Fprintln(&out, f.Name, f.Size, f.Time.UnixNano())
		}
	}
	return out.String()
}

// shelved lists the captures that can be opened.
func shelved(all []shelf.File, err error) *answer.Answer {
	a := &answer.Answer{Title: "Captures", Verdict: []string{"Choose a capture: it tells which VMs lost locality, when and why."}}
	t := answer.Table{Name: "files", Title: "Captures", Columns: answer.Columns("Name", ">Size", "Changed or sent")}
	link := func(name string) answer.Cell {
		return answer.Cell{Text: name, To: answer.Object{Kind: answer.Elsewhere, ID: "/captures?" + url.Values{"file": {name}}.Encode()}}
	}
	t.Rows = append(t.Rows, []answer.Cell{link(demoCapture), {Text: "–"}, {Text: "an invented night"}})
	for _, f := range all {
		t.Rows = append(t.Rows, []answer.Cell{link(f.Name), {Text: numa.Bytes(f.Size).String(), Sort: fmt.Sprint(f.Size)}, {Text: f.Time.UTC().Format("2006-01-02 15:04") + " UTC"}})
	}
	if err != nil {
		a.Notes = append(a.Notes, answer.Note{Text: err.Error()})
	}
	a.Tables = []answer.Table{t}
	return a
}

// uploads adds the forms that send a file and remove the one that is shown.
func (x *request) uploads(v *view, shown string) {
	s := x.site.Captures
	if s == nil || s.Limit() == 0 || !x.site.mayUpload(x.Request) {
		return
	}
	v.actions = append(v.actions, action{Path: "/captures/send", Label: "Send a capture", File: "esxtop batch file, FetchStats, or an archive of them, up to " + s.Limit().String(), Note: "Send a capture of your own: it is kept for a day, for this server alone."})
	if strings.HasPrefix(shown, "sent:") {
		v.actions = append(v.actions, action{Path: "/captures/remove", Label: "Remove this capture", Hidden: []choice{{"file", shown}}})
	}
}

// mayUpload reports whether the user of a request may send files.
func (s *Site) mayUpload(r *http.Request) bool { return s.MayUpload == nil || s.MayUpload(r) }

// vmsIn returns a table with links from the names of VMs to their series.
func (x *request) vmsIn(t answer.Table) answer.Table {
	i := slices.IndexFunc(t.Columns, func(c answer.Column) bool { return c.Name == "VM" })
	if i < 0 || x.query.Get("vm") != "" {
		return t
	}
	if t.Fill != nil {
		t.Rows, t.Fill = t.Fill(), nil
	}
	rows := make([][]answer.Cell, len(t.Rows))
	for k, row := range t.Rows {
		rows[k] = slices.Clone(row)
		if c := &rows[k][i]; onlyPlain.MatchString(c.Text) && c.Parts == nil {
			q := cloned(x.query)
			q.Set("vm", c.Text)
			c.To = answer.Object{Kind: answer.Elsewhere, ID: "/captures?" + q.Encode()}
			c.Ref = ""
		}
	}
	t.Rows = rows
	return t
}

// send takes a capture that somebody sends.
func (s *Site) send(w http.ResponseWriter, r *http.Request) {
	name, err := s.receive(w, r)
	x := &request{Request: r, site: s, page: &screen{path: "/captures", title: "Captures"}, query: url.Values{}}
	to := "/captures?" + url.Values{"file": {name}}.Encode()
	if s.Log != nil {
		s.Log(r, r.URL.Path, to, err)
	}
	if err != nil {
		status := http.StatusBadRequest
		_, large := errors.AsType[*http.MaxBytesError](err)
		switch {
		case large || errors.Is(err, shelf.ErrLarge):
			status, err = http.StatusRequestEntityTooLarge, fmt.Errorf("%w: up to %s is taken", shelf.ErrLarge, s.Captures.Limit())
		case errors.Is(err, errNotAllowed):
			status = http.StatusForbidden
		}
		x.write(w, status, &view{answer: &answer.Answer{Title: "Not sent", Verdict: []string{sentence(err.Error())}}, back: "/captures"})
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

var errNotAllowed = errors.New("sending captures needs the role operator")

// receive streams the only file of a form to the shelf.
func (s *Site) receive(w http.ResponseWriter, r *http.Request) (string, error) {
	if s.Captures == nil || s.Captures.Limit() == 0 {
		return "", errors.New("this server takes no files")
	}
	if !s.mayUpload(r) {
		return "", errNotAllowed
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return "", fmt.Errorf("found the type %q, want a form with a file (multipart/form-data)", cmp.Or(kind, "none"))
	}
	until := time.Now().Add(uploadLongest)
	control := http.NewResponseController(w)
	_, _ = control.SetReadDeadline(until), control.SetWriteDeadline(until.Add(time.Minute)) // a test's has none
	r.Body = http.MaxBytesReader(w, r.Body, int64(s.Captures.Limit())+uploadBeside)
	form, err := r.MultipartReader()
	if err != nil {
		return "", err
	}
	part, err := form.NextPart()
	if err == io.EOF {
		return "", errors.New("the form is empty, want a file")
	}
	if err != nil {
		return "", err
	}
	defer part.Close()
	if part.FormName() != "file" || part.FileName() == "" {
		return "", fmt.Errorf("found the part %q, want a file", part.FormName())
	}
	return s.Captures.Add(part.FileName(), part)
}

// removeSent removes a capture that was sent.
func (s *Site) removeSent(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, func(*request) (string, error) {
		if s.Captures == nil || !s.mayUpload(r) {
			return "/captures", errNotAllowed
		}
		return "/captures", s.Captures.Remove(r.PostForm.Get("file"))
	})
}
