package site

import (
	"bytes"
	"html/template"
	"net/http"

	"homenode/serve/access"
)

// Login writes the page to sign in. It has no navigation: who is not signed in sees nothing of a fleet.
func (s *Site) Login(w http.ResponseWriter, r *http.Request, status int, l access.Login) {
	var content bytes.Buffer
	if err := layout.ExecuteTemplate(&content, "login", &l); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	page := &shown{Title: "Sign in", Content: template.HTML(content.String()), Version: s.Version, User: access.Of(r.Context())} // the template escapes
	page.speak(r)
	page.write(w, status)
}
