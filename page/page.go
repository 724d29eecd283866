// Package page writes homenode.html: one file with homenode compiled to WebAssembly and its user interface. It needs no server and cannot send anything.
package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
	"unicode/utf16"

	"example.org/homenode/numa"
	drawn "example.org/homenode/output/draw/picture"
	answers "example.org/homenode/output/format/page"
	"example.org/homenode/page/asker"
)

var (
	//go:embed page.tmpl
	text string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
	//go:embed worker.js
	worker string

	tmpl = template.Must(template.New("page").Parse(text))
)

// promise is the footer text.
const promise = "This page works offline, and its content security policy blocks every request"

// A release is an option of the release field.
type release struct {
	Value, Label string
	Now          bool
}

// offered returns the options of the release field.
func offered() (out []release) {
	for _, r := range numa.Offered() {
		out = append(out, release{strings.ReplaceAll(r.String(), " ", ""), r.String(), r == numa.ESXi80+3})
	}
	return out
}

// question is the question of the sentence as the page opens.
const question = "vm=24x512GB+hotAdd%3Don&host=2x16c%2F768GB&release=8.0U3"

// An opening is the answer that the page shows while its worker starts. Its HTML is the content of main.
type opening struct {
	Question string   `json:"question"`
	Title    string   `json:"title"`
	Command  string   `json:"command"`
	Pages    []string `json:"pages"`
	Tell     []string `json:"tell"`
}

// opened answers the question, as the worker would.
func opened(version string) (*opening, template.HTML, error) {
	a := asker.Asker{Version: version, Now: func() time.Time { return time.Time{} }} // a commit has one page
	r, err := a.Answer(context.Background(), "/shape?"+question, "page")
	if err != nil {
		return nil, "", err
	}
	return &opening{question, r.Title, r.Command, r.Pages, append([]string{}, r.Tell...)}, template.HTML(r.HTML), nil
}

// Write writes the page. wasm is package page/wasm compiled for js/wasm; runtime is wasm_exec.js of the Go distribution.
func Write(w io.Writer, version string, wasm, runtime []byte) error {
	packed, err := packed(wasm)
	if err != nil {
		return err
	}
	first, html, err := opened(version)
	if err != nil {
		return err
	}
	style := answers.AppStyle() + style + drawn.Style
	var b strings.Builder
	if err := tmpl.Execute(&b, struct {
		Version, Promise, Policy string
		Style                    template.CSS
		Script                   template.JS
		Wasm, Worker             template.HTML
		Releases                 []release
		First                    *opening
		Main                     template.HTML // of the first answer
	}{version, promise, policy(style, script), template.CSS(style), template.JS(script), template.HTML(packed), template.HTML(string(runtime) + worker), offered(), first, html}); err != nil {
		return err
	}
	// browsers prefer the byte order mark to the charset sent by a server
	return binary.Write(w, binary.LittleEndian, utf16.Encode([]rune("\ufeff"+b.String())))
}

// policy is the content security policy: it allows this style, this script, its worker and WebAssembly, and blocks every request.
func policy(style, script string) string {
	return strings.Join([]string{"default-src 'none'", "connect-src 'none'", "worker-src blob:", "script-src '" + hash(script) + "' 'wasm-unsafe-eval'",
		"style-src '" + hash(style) + "'", "base-uri 'none'", "form-action 'none'"}, "; ")
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// packed compresses b with gzip and returns it as text: its length in bytes, a colon, and 31 bits in each two characters from U+0100 on, as the digits of
// a number. The page is UTF-16, so this is 3 % larger than the bytes; base64 in UTF-8 would be a third larger.
func packed(b []byte) (string, error) {
	var z bytes.Buffer
	w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(b); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	const first, base, width = 0x100, 46341, 31 // base² is just above 2³¹, and no character is a surrogate
	var out strings.Builder
	fmt.Fprintf(&out, "%d:", z.Len())
	bits, held := uint64(0), 0
	write := func(n uint64) {
		out.WriteRune(rune(first + n/base))
		out.WriteRune(rune(first + n%base))
	}
	for _, c := range z.Bytes() {
		bits, held = bits<<8|uint64(c), held+8
		if held >= width {
			held -= width
			write(bits >> held & (1<<width - 1))
		}
	}
	write(bits << (width - held) & (1<<width - 1))
	return out.String(), nil
}
