package site

import (
	"bytes"
	"embed"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/text/language"

	"homenode/serve/access"
)

// A page is written in English. For who reads another language its navigation, headings, labels and the titles of rules are
// replaced at the end, by the catalogues in words: the sentences stay, for they are those of the commands.

//go:embed words/*.json
var catalogues embed.FS

// languages are those with a catalogue, English first; their names are their own.
var languages = []choice{{"en", "English"}, {"fr", "français"}, {"de", "Deutsch"}, {"ru", "русский"}}

// words returns the catalogue of a language; nil for English and what there is none of.
var catalogue = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, l := range languages[1:] {
		b, err := catalogues.ReadFile("words/" + l.Value + ".json")
		if err == nil {
			var one map[string]string
			err = json.Unmarshal(b, &one)
			all[l.Value] = one
		}
		if err != nil {
			panic(err) // they are part of the program
		}
	}
	return all
})

// languageCookie holds the language that was chosen.
const languageCookie = "homenode-language"

var matcher = language.NewMatcher(func() (tags []language.Tag) {
	for _, l := range languages {
		tags = append(tags, language.Make(l.Value))
	}
	return tags
}())

// languageOf returns the language of a request: the chosen one, else the one that the browser prefers.
func languageOf(r *http.Request) string {
	if c, err := r.Cookie(languageCookie); err == nil && slices.ContainsFunc(languages, func(l choice) bool { return l.Value == c.Value }) {
		return c.Value
	}
	wanted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil || len(wanted) == 0 {
		return languages[0].Value
	}
	_, i, _ := matcher.Match(wanted...)
	return languages[i].Value
}

// choose takes the language that a form says.
func (s *Site) choose(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	to := r.PostFormValue("to")
	if !slices.ContainsFunc(languages, func(l choice) bool { return l.Value == to }) {
		http.Error(w, "no such language", http.StatusBadRequest)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: languageCookie, Value: to, Path: "/", MaxAge: 400 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
	http.Redirect(w, r, access.LocalPath(r.PostFormValue("back")), http.StatusSeeOther)
}

// translated are the elements whose texts may be in a catalogue. Names of objects stand in others: rows of tables, h4, links.
var translated = map[string]bool{"title": true, "h1": true, "h2": true, "h3": true, "summary": true, "dt": true, "button": true, "legend": true, "label": true, "option": true, "p": true, "strong": true}

// void are the elements without an end.
var void = map[string]bool{"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true, "link": true, "meta": true, "source": true, "track": true, "wbr": true}

// An element is open while its inside is read.
type element struct {
	name string
	says bool // its text may be in a catalogue
}

// translate writes a page in a language.
func translate(w io.Writer, page []byte, lang string) error {
	to := catalogue()[lang]
	if to == nil {
		_, err := w.Write(page)
		return err
	}
	var out bytes.Buffer
	out.Grow(len(page) + len(page)/8)
	var open []element
	var tag []byte // of the innermost element, kept back until it is known whether its text is of the language
	inside := func(name string) bool {
		return slices.ContainsFunc(open, func(e element) bool { return e.name == name })
	}
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		raw := z.Raw()
		if kind == html.TextToken && len(open) > 0 && open[len(open)-1].says {
			text := html.UnescapeString(string(raw))
			bare := strings.TrimSpace(text)
			if say := to[bare]; bare != "" && say != "" {
				if tag != nil && inside("main") { // which is English
					tag = append(tag[:len(tag)-1], ` lang="`+lang+`">`...)
				}
				before, after, _ := strings.Cut(text, bare)
				raw = []byte(before + html.EscapeString(say) + after)
			}
		}
		out.Write(tag)
		tag = nil
		switch kind {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return err
			}
			_, err := w.Write(out.Bytes())
			return err
		case html.StartTagToken:
			written := slices.Clone(raw)
			t := z.Token()
			switch {
			case t.Data == "html":
				written = []byte(`<html lang="` + lang + `">`)
			case t.Data == "main":
				written = append(written[:len(written)-1], ` lang="en">`...)
			case t.Data == "input":
				if hint := attribute(&t, "placeholder"); to[hint] != "" {
					written = bytes.Replace(written, []byte(`placeholder="`+html.EscapeString(hint)+`"`), []byte(`placeholder="`+html.EscapeString(to[hint])+`"`), 1)
				}
			}
			if void[t.Data] {
				out.Write(written)
				continue
			}
			class := attribute(&t, "class")
			e := element{t.Data, translated[t.Data]}
			switch t.Data {
			case "th":
				e.says = attribute(&t, "scope") == "col"
			case "a":
				e.says = inside("nav") || class == "skip" || inside("thead") || strings.Contains(class, "accept")
			case "span":
				e.says = class == "title" || class == "hide" || strings.HasPrefix(class, "mark") || inside("label")
			}
			open, tag = append(open, e), written
		case html.EndTagToken:
			out.Write(raw)
			name, _ := z.TagName()
			for i := range slices.Backward(open) {
				if open[i].name == string(name) {
					open = open[:i]
					break
				}
			}
		default:
			out.Write(raw)
		}
	}
}

// attribute returns an attribute of an element; "" for none.
func attribute(t *html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
