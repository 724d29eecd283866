// Command site writes the documents of the project as one folder of pages with a search, which needs no server: site ROOT OUT VERSION HOME. Every link is
// checked; one that leads nowhere is an error. Links to files that are no documents lead to HOME, the address of the project, while it has one.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html
var frame string

//go:embed site.css
var style []byte

//go:embed search.js
var search []byte

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return errors.New("want ROOT OUT VERSION HOME")
	}
	s := &site{root: os.DirFS(args[0]), out: args[1], version: args[2], home: args[3], pages: map[string]*page{}}
	if err := s.read(); err != nil {
		return err
	}
	return s.write()
}

// A page is one document.
type page struct {
	path    string // in the repository: docs/start.md
	title   string
	source  []byte
	tree    ast.Node
	anchors []string
	text    []string // below each anchor
}

// A site is all documents.
type site struct {
	root               fs.FS
	out, version, home string
	pages              map[string]*page // by path
	wrong              []error
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))

// read reads the documents.
func (s *site) read() error {
	return fs.WalkDir(s.root, ".", func(name string, d fs.DirEntry, err error) error {
		top, _, below := strings.Cut(name, "/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && top != "docs":
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md" || !below && name == "CLAUDE.md":
			return nil
		}
		b, err := fs.ReadFile(s.root, name)
		if err != nil {
			return err
		}
		p := &page{path: name, source: b, title: name, tree: markdown.Parser().Parse(text.NewReader(b))}
		p.sections()
		s.pages[name] = p
		return nil
	})
}

// sections finds the title, the anchors and what is searched below each.
func (p *page) sections() {
	p.anchors, p.text = []string{""}, []string{""}
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id, _ := h.AttributeString("id")
			p.anchors, p.text = append(p.anchors, string(id.([]byte))), append(p.text, "")
			if h.Level == 1 {
				p.title = words(n, p.source)
			}
		}
		p.text[len(p.text)-1] += words(n, p.source) + " "
	}
}

// words returns the text of a node without marks.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
			b.WriteByte(' ')
		}
		if n.Type() == ast.TypeBlock && entering && n.Kind() != ast.KindHTMLBlock && n.FirstChild() == nil {
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// address returns where a document of the repository is in the site: README.md of a folder is its index.
func address(name string) string {
	name = strings.TrimSuffix(name, ".md")
	if path.Base(name) == "README" {
		name = path.Join(path.Dir(name), "index")
	}
	return name + ".html"
}

// link returns what a link of a page becomes; "" for one that leads to no page of the site.
func (s *site) link(p *page, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return to
	}
	file, anchor, _ := strings.Cut(to, "#")
	target := path.Join(path.Dir(p.path), file)
	if file == "" {
		target = p.path
	}
	up := strings.Repeat("../", strings.Count(address(p.path), "/"))
	info, err := fs.Stat(s.root, target)
	if err == nil && info.IsDir() && s.pages[path.Join(target, "README.md")] != nil {
		target = path.Join(target, "README.md")
	}
	switch other := s.pages[target]; {
	case err != nil:
		s.wrong = append(s.wrong, fmt.Errorf("%s: %s leads nowhere", p.path, to))
	case other != nil && !slices.Contains(other.anchors, anchor):
		s.wrong = append(s.wrong, fmt.Errorf("%s: %s: no such heading", p.path, to))
	case other != nil && anchor != "":
		return up + address(target) + "#" + anchor
	case other != nil:
		return up + address(target)
	case strings.HasPrefix(target, "docs/") && !info.IsDir():
		return up + target
	case !strings.HasPrefix(s.home, "example.org/"):
		return "https://" + s.home + "/blob/HEAD/" + target
	}
	return ""
}

// relink rewrites the links of a page.
func (s *site) relink(p *page) {
	var none []ast.Node
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch l := n.(type) {
		case *ast.Link:
			if entering {
				if to := s.link(p, string(l.Destination)); to != "" {
					l.Destination = []byte(to)
				} else {
					none = append(none, n)
				}
			}
		case *ast.Image:
			if entering {
				l.Destination = []byte(s.link(p, string(l.Destination)))
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range none { // its words stay
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, c)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
}

// guides are the pages that the head of each page leads to.
var guides = []string{"README.md", "docs/start.md", "docs/checks.md", "docs/captures.md", "docs/watch.md", "docs/fix.md", "docs/plan.md", "docs/reference/rules/README.md", "docs/reference/README.md", "docs/evidence/README.md"}

// write writes the site.
func (s *site) write() error {
	t, err := template.New("page").Parse(frame)
	if err != nil {
		return err
	}
	var index [][3]string
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range s.pages {
			if !yield(name) {
				return
			}
		}
	}) {
		p := s.pages[name]
		for i, anchor := range p.anchors {
			at := address(name)
			if anchor != "" {
				at += "#" + anchor
			}
			if p.text[i] != "" {
				index = append(index, [3]string{at, p.title, strings.TrimSpace(p.text[i])})
			}
		}
		s.relink(p)
		if err := s.writePage(t, p); err != nil {
			return err
		}
	}
	if err := s.copyFiles(); err != nil {
		return err
	}
	b, err := json.Marshal(index)
	if err != nil {
		return err
	}
	s.wrong = append(s.wrong, s.put("search.js", slices.Concat([]byte("const sections = "), b, []byte(";\n"), search)), s.put("site.css", style))
	return errors.Join(s.wrong...)
}

// head is the comment that generated pages begin with.
var head = regexp.MustCompile(`^<!--[^>]*-->\n*`)

// writePage writes a page in its frame.
func (s *site) writePage(t *template.Template, p *page) error {
	var body, out bytes.Buffer
	if err := markdown.Renderer().Render(&body, p.source, p.tree); err != nil {
		return err
	}
	type entry struct{ To, Title string }
	up := strings.Repeat("../", strings.Count(address(p.path), "/"))
	var menu []entry
	for _, g := range guides {
		if s.pages[g] == nil {
			return fmt.Errorf("there is no %s", g)
		}
		menu = append(menu, entry{up + address(g), s.pages[g].title})
	}
	if err := t.Execute(&out, map[string]any{"Title": p.title, "Body": template.HTML(head.ReplaceAll(body.Bytes(), nil)), "Up": up, "Menu": menu, "Version": s.version, "Wide": len(body.Bytes()) > 200_000}); err != nil {
		return err
	}
	return s.put(address(p.path), out.Bytes())
}

// copyFiles copies what pages show and name: pictures, schemas, and homenode.html where it was built.
func (s *site) copyFiles() error {
	err := fs.WalkDir(s.root, "docs", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) == ".md" || path.Ext(name) == ".go" {
			return err
		}
		b, err := fs.ReadFile(s.root, name)
		return errors.Join(err, s.put(name, b))
	})
	b, missing := fs.ReadFile(s.root, "dist/homenode.html")
	if missing != nil {
		return errors.Join(err, missing)
	}
	return errors.Join(err, s.put("homenode.html", b))
}

// put writes a file of the site.
func (s *site) put(name string, b []byte) error {
	file := filepath.Join(s.out, filepath.FromSlash(name))
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, b, 0o644))
}
