// Package page writes homenode.html: one file with homenode compiled to WebAssembly and its user interface. It needs no server and cannot send anything.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode/utf16"

	"homenode/numa"
	drawn "homenode/output/draw/picture"
	answers "homenode/output/format/page"
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

// Write writes the page. wasm is package page/wasm compiled for js/wasm; runtime is wasm_exec.js of the Go distribution.
func Write(w io.Writer, version string, wasm, runtime []byte) error {
	packed, err := packed(wasm)
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
	}{version, promise, policy(style, script), template.CSS(style), template.JS(script), template.HTML(packed), template.HTML(string(runtime) + worker), offered()}); err != nil {
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

// packed compresses b with gzip and returns it as text: its length in bytes, a colon, and 15 bits in each character from U+4000 on. The page is UTF-16, so
// this is 7 % larger than the bytes; base64 in UTF-8 would be a third larger.
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
	var out strings.Builder
	fmt.Fprintf(&out, "%d:", z.Len())
	bits, held := uint32(0), 0
	for _, c := range z.Bytes() {
		bits, held = bits<<8|uint32(c), held+8
		if held >= 15 {
			held -= 15
			out.WriteRune(rune(0x4000 + bits>>held&0x7fff))
		}
	}
	out.WriteRune(rune(0x4000 + bits<<(15-held)&0x7fff))
	return out.String(), nil
}
