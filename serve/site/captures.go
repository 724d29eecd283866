package site

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/ask/compare"
	"example.org/homenode/ask/recording"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/turns"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/finding"
	"example.org/homenode/serve/captures"
	"example.org/homenode/source/hostcmd"
	"example.org/homenode/source/open"
	"example.org/homenode/source/text"
	"example.org/homenode/source/ticks"
)

// demoCapture is the generated capture of the demo.
const demoCapture = "demo"

// uploadLongest is the timeout of an upload.
const uploadLongest = 30 * time.Minute

// showCaptures lists the available captures, with a form for uploads.
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
		a.Verdict = []string{words.Plural(n, "capture") + "."}
	}
	if left > 0 {
		a.Note(words.Verb(left, "file is", "files are") + " left out: links out of the folder, special files, and files beyond the first thousands")
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

// listed returns the available captures.
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
	if name == "." {
		return "all files of the folder"
	}
	if folder, file, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(folder, "upload-") {
		return file
	}
	return name
}

// captureChoices returns the captures as choices of a field.
func (x *request) captureChoices(none string) []choice {
	out := []choice{{"", none}}
	all, _, _ := x.listed() // an incomplete list is enough
	for i := range all {
		out = append(out, choice{all[i].Name, shortName(all[i].Name)})
	}
	return out
}

// captureTabs returns the tabs of a capture's pages.
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
	}
	return append(out, tab{"Compare", address("/compare", "a"), here == "/compare"})
}

// askOf answers a question about captures. form is the output format of the command, if it affects the question. Readable captures are shown even if
// others fail, with the errors.
func (x *request) askOf(names []string, t *ask.Entry, q ask.Question, form string) (*answer.Answer, error) {
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
	e := x.env()
	e.Own, e.Form = only, form
	var said []string // errors name each unreadable file without its path
	e.Warn = func(text string) { said = append(said, texttab.Line(text)) }
	r, err := x.reply(t, q, e)
	if err != nil && said != nil {
		err = fmt.Errorf("%w: %s", err, strings.Join(said, " "))
	}
	if err != nil {
		return nil, err
	}
	if r.Partly == nil {
		return r.Answers[0], nil
	}
	out := *r.Answers[0]
	out.Notes = append(slices.Clone(out.Notes), answer.Note{Text: r.Partly.Error(), From: "capture"})
	return &out, nil
}

// recorded is the question about a capture.
var recorded = ask.Named(recording.Entries, "capture")

// showCapture shows the NUMA findings in a capture.
func showCapture(x *request) (*view, error) {
	name := x.query.Get("capture")
	q := recorded.Ask()
	fields, _, err := x.form(q, "vm", "host", "from", "to")
	v := &view{tabs: x.captureTabs(name, "/capture"), most: 5, recorded: name}
	if x.fleet != nil {
		alone := field{Name: "alone", Label: "Without the inventory of the fleet", Check: true, Value: x.query.Get("alone")}
		fields = append(fields, alone)
		if alone.Value == "" {
			err = cmp.Or(err, give(q, "fleet", Source))
		}
	}
	v.fields = append([]field{{Name: "capture", Value: name, Hidden: true}}, fields...)
	if err := cmp.Or(err, give(q, "file", name)); err != nil {
		return v, err
	}
	a, err := x.askOf([]string{name}, recorded, q, "")
	if a != nil && name == demoCapture {
		out := *a
		out.Verdict = append(slices.Clone(a.Verdict), "An invented night, to try with: nothing of this fleet.")
		a = &out
	}
	v.answer, v.command = a, ask.Line(recorded.Name, q)
	return v, err
}

// inCapture returns the address of the subject of a finding within its capture.
func (x *request) inCapture(name string, f *finding.Finding) string {
	q := url.Values{"capture": {name}}
	for _, key := range []string{"fleet", "from", "to", "alone"} {
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

// showCompare compares two captures, or the times before and after a moment in one.
func showCompare(x *request) (*view, error) {
	sides := x.asked(field{Name: "a", Label: "A", Choices: x.captureChoices("choose")}, field{Name: "b", Label: "B", Choices: x.captureChoices("none: A before and after a time")})
	q := compare.Entry.Ask()
	fields, _, err := x.form(q, "at", "vm", "host-name", "details")
	a, b := valueOf(sides, "a"), valueOf(sides, "b")
	v := &view{fields: append(sides, fields...), tabs: x.captureTabs(a, "/compare")}
	if err := cmp.Or(err, give(q, "a", a, "b", b)); err != nil {
		return v, err
	}
	switch {
	case a == "" || b == "" && valueOf(fields, "at") == "":
		v.answer = &answer.Answer{Title: compare.Entry.Title, Verdict: []string{compare.Entry.Lead}}
		return v, nil
	case b != "" && valueOf(fields, "at") != "":
		return v, errors.New("two captures are compared, or one before and after a time: leave out B or the time")
	}
	v.command = ask.Line(compare.Entry.Name, q)
	v.answer, err = x.askOf(slices.DeleteFunc([]string{a, b}, func(name string) bool { return name == "" }), compare.Entry, q, "")
	return v, err
}

// upload stores a capture sent by a form.
func (s *Site) upload(w http.ResponseWriter, r *http.Request) {
	x := &request{Request: r, site: s, page: &screen{path: r.URL.Path, title: "Not done"}, query: url.Values{}}
	if s.Captures == nil {
		x.do(w, errors.New("this server takes no uploads"), nil)
		return
	}
	c := http.NewResponseController(w)
	_ = c.SetWriteDeadline(time.Now().Add(uploadLongest + time.Minute)) // a test's connection has none
	r.Body = http.MaxBytesReader(w, r.Body, s.Captures.Limit()+64<<10)  // plus the other parts of the form
	r.Body = &paced{ReadCloser: r.Body, until: c.SetReadDeadline, last: time.Now().Add(uploadLongest), bytes: paceBytes, within: paceTime}
	x.do(w, nil, func(*request) (string, error) {
		e, err := s.take(r)
		if err == nil {
			err = x.readable(e)
		}
		if err != nil {
			return "/captures", err
		}
		return answer.Object{Kind: "capture", ID: e.Name}.Address(), nil
	})
}

// The slowest upload that is taken sends paceBytes in each paceTime (35 kbit/s).
const (
	paceBytes = 256 << 10
	paceTime  = time.Minute
)

// A paced body of a request has to send so many bytes within each such time, and all until last: else the read deadline of its connection passes.
type paced struct {
	io.ReadCloser
	until  func(time.Time) error
	last   time.Time
	bytes  int
	within time.Duration

	left int // of the bytes that the deadline is about
}

func (p *paced) Read(b []byte) (int, error) {
	if p.left <= 0 {
		end := time.Now().Add(p.within)
		if end.After(p.last) {
			end = p.last
		}
		_ = p.until(end) // a test's connection has none
		p.left = p.bytes
	}
	n, err := p.ReadCloser.Read(b)
	p.left -= n
	return n, err
}

// readLongest is how long an upload may keep the server busy before it is answered.
const readLongest = 30 * time.Second

// reading lets one upload at a time be read: a header of a million columns takes hundreds of MB.
var reading = turns.New(1, mostStreams)

// readable reads an uploaded capture; an unreadable one is removed. One that takes longer is kept, and read when it is shown.
func (x *request) readable(e *captures.Entry) error {
	ctx, cancel := context.WithTimeout(x.Context(), readLongest)
	defer cancel()
	defer func(was *http.Request) { x.Request = was }(x.Request)
	x.Request = x.WithContext(ctx)
	for _, t := range []*turns.Turns{reading, asking} {
		end, err := t.Take(ctx)
		if err != nil {
			return nil // it is read when it is shown
		}
		defer end()
	}
	q := recorded.Ask()
	err := give(q, "file", e.Name)
	if err == nil {
		_, err = x.askOf([]string{e.Name}, recorded, q, "")
	}
	if err == nil || errors.Is(err, turns.ErrBusy) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	_ = x.site.Captures.Remove(e.Name) // otherwise it is removed after a day
	return fmt.Errorf("%s is not kept, it cannot be read: %w", shortName(e.Name), err)
}

// take stores the single file of a form.
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
		in := bufio.NewReaderSize(part, text.HeadSize)
		head, _ := in.Peek(text.HeadSize) // Take reports the error
		if way := open.ElsewhereOf(part.FileName(), head); way != "" && ticks.Detect(head) == "" {
			if _, ok := hostcmd.Detect(text.Decoded(head)); !ok {
				return nil, fmt.Errorf("no capture, since it has no counters over time: %s", way)
			}
		}
		e, err := s.Captures.Take(part.FileName(), in)
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
