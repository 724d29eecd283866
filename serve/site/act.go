package site

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"homenode/output/answer"
)

// An action is something that a form asks the server to do.
type action struct {
	Path, Label, Note string
	Files             bool // a field of it sends a file
	Fields            []field
	Hidden            []choice
}

// act does what a posted form asks and shows the page that it leads to, or why it was not done.
func (s *Site) act(w http.ResponseWriter, r *http.Request, do func(*request) (string, error)) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	x := &request{Request: r, site: s, page: &screen{path: r.URL.Path, title: "Not done"}, query: url.Values{}}
	err := r.ParseForm()
	for _, values := range r.PostForm {
		if slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(strings.TrimSpace(v), "@") }) {
			err = errors.New("a page reads no files")
		}
	}
	x.do(w, err, do)
}

// do does what was asked, unless there is an error already, and shows the page that it leads to, or why it was not done.
func (x *request) do(w http.ResponseWriter, err error, do func(*request) (string, error)) {
	to := ""
	if err == nil {
		to, err = do(x)
	}
	if err != nil {
		x.write(w, statusOf(err), &view{answer: &answer.Answer{Title: "Not done", Verdict: []string{sentence(err.Error())}}, back: to})
		return
	}
	http.Redirect(w, x.Request, to, http.StatusSeeOther)
}
