package xmlscan

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// events writes what the scanner finds, one line a tag; text is joined as
// encoding/xml joins it around comments and CDATA.
func events(r io.Reader) (lines []string, err error) {
	s := New(r)
	var joined []byte
	text := func() {
		if len(joined) > 0 {
			lines = append(lines, fmt.Sprintf("text %q", joined))
			joined = joined[:0]
		}
	}
	for {
		k, err := s.token()
		if err != nil {
			return lines, err
		}
		switch k {
		case Start:
			text()
			line := fmt.Sprintf("start %s %s", s.Namespace(), s.Name())
			for _, a := range s.attrs {
				v, err := s.value(a.raw)
				if err != nil {
					return lines, err
				}
				line += fmt.Sprintf(" %s:%s=%q", a.prefix, a.local, v)
			}
			lines = append(lines, line)
		case End:
			text()
			lines = append(lines, "end")
		case chardata:
			if len(s.starts) == 0 {
				continue
			}
			if joined, err = s.decode(s.chunk, joined); err != nil {
				return lines, err
			}
		case EOF:
			return lines, nil
		}
	}
}

// specification does the same with encoding/xml.
func specification(b []byte) (lines []string, err error) {
	d := xml.NewDecoder(bytes.NewReader(b))
	raw := xml.NewDecoder(bytes.NewReader(b)) // attributes with their prefixes
	text, depth := "", 0
	flush := func() {
		if text != "" {
			lines = append(lines, fmt.Sprintf("text %q", text))
			text = ""
		}
	}
	for {
		t, err := d.Token()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		var plain xml.Token
		if _, end := t.(xml.EndElement); !end {
			if plain, err = raw.RawToken(); err != nil {
				return lines, err
			}
			if _, end := plain.(xml.EndElement); end {
				if plain, err = raw.RawToken(); err != nil {
					return lines, err
				}
			}
		}
		switch t := t.(type) {
		case xml.StartElement:
			flush()
			depth++
			line := fmt.Sprintf("start %s %s", t.Name.Space, t.Name.Local)
			for _, a := range plain.(xml.StartElement).Attr {
				line += fmt.Sprintf(" %s:%s=%q", a.Name.Space, a.Name.Local, a.Value)
			}
			lines = append(lines, line)
		case xml.EndElement:
			flush()
			depth--
			lines = append(lines, "end")
			if _, err := raw.RawToken(); err != nil {
				return lines, err
			}
		case xml.CharData:
			if depth > 0 {
				text += string(t)
			}
		}
	}
}

var documents = []string{
	`<a/>`,
	"<?xml version=\"1.0\" encoding='utf-8'?>\n<!-- before --><a>\n</a >\n<!-- after -->\n",
	`<p:a xmlns:p="urn:1" xmlns="urn:2"><b xmlns=""/><b x = '"' p:y="&quot;&#65;>"/><p:c xmlns:p="urn:3"><p:d/></p:c><p:d/></p:a>`,
	"<a>1&lt;2<!-- c -->3<![CDATA[<&amp;]]]]><![CDATA[>]]>\r\n\r&#13;&#x1F600;é</a>",
	`<a><b.-1_>]]</b.-1_><c> ] ]> </c></a>`,
}

func TestLikeEncodingXML(t *testing.T) {
	for _, doc := range documents {
		want, err := specification([]byte(doc))
		if err != nil {
			t.Fatal(doc, err)
		}
		for _, r := range []io.Reader{strings.NewReader(doc), iotest.OneByteReader(strings.NewReader(doc)), iotest.DataErrReader(strings.NewReader(doc))} {
			if got, err := events(r); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s\nread as %q, %v\nwant    %q", doc, got, err, want)
			}
		}
	}
}

// FuzzScanner checks that encoding/xml takes with the same result what is taken.
func FuzzScanner(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := events(bytes.NewReader(b))
		if err != nil {
			return
		}
		want, err := specification(b)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q\nread as %q\nencoding/xml has %q, %v", b, got, want, err)
		}
	})
}

func TestText(t *testing.T) {
	s := New(strings.NewReader(`<a><b>one</b><c/><d><e>x</e>y</d><f> <g/> </f><h>two<!-- -->!</h></a>`))
	next := func(want Kind, name string) {
		t.Helper()
		if k, err := s.Next(); err != nil || k != want || string(s.Name()) != name {
			t.Fatalf("Next = %v %s, %v; want %v %s", k, s.Name(), err, want, name)
		}
	}
	text := func(want string) {
		t.Helper()
		if b, err := s.Text(); err != nil || string(b) != want {
			t.Fatalf("Text = %q, %v; want %q", b, err, want)
		}
	}
	next(Start, "a")
	next(Start, "b")
	text("one")
	next(Start, "c")
	text("")
	m := s.Mark()
	next(Start, "d")
	if _, err := s.Text(); err != ErrElement {
		t.Fatalf("Text of an element with children: %v", err)
	}
	s.Restore(m)
	next(Start, "d")
	next(Start, "e")
	text("x")
	if _, err := s.Next(); err != ErrText {
		t.Fatalf("Next before text: %v", err)
	}
	if _, raw, err := s.Raw(m); err != nil || string(raw) != "<d><e>x</e>y</d>" || len(s.starts) != 1 {
		t.Fatalf("Raw = %s, %v at depth %d", raw, err, len(s.starts))
	}
	s.Release()
	next(Start, "f")
	if err := s.Skip(); err != nil {
		t.Fatal(err)
	}
	next(Start, "h")
	text("two!")
	next(End, "a")
	if k, err := s.Next(); k != EOF || err != nil {
		t.Fatalf("Next at the end = %v, %v", k, err)
	}
}

func TestAttributes(t *testing.T) {
	s := New(strings.NewReader(`<a xmlns:i="` + XSI + `" xmlns:q="x&quot;&lt;&amp;"><b type="T" i:type="xsd:int" id="&#49;"/><b q:type="no"/><b other="1"/></a>`))
	for range 2 {
		if k, err := s.Next(); k != Start || err != nil {
			t.Fatal(k, err)
		}
	}
	kind, err := s.Type()
	if string(kind) != "xsd:int" || err != nil {
		t.Errorf("Type = %q, %v", kind, err)
	}
	plain, err := s.Attr("type")
	if string(plain) != "T" || err != nil {
		t.Errorf("Attr = %q, %v", plain, err)
	}
	if id, err := s.Attr("id"); string(id) != "1" || err != nil || s.Only("type", "") || !s.Only("type", "id") {
		t.Errorf("Attr = %q, %v, Only = %v, %v", id, err, s.Only("type", ""), s.Only("type", "id"))
	}
	if err := s.Skip(); err != nil {
		t.Fatal(err)
	}
	m := s.Mark()
	declarations, raw, err := s.Raw(m)
	if want := ` xmlns:i="` + XSI + `" xmlns:q="x&#34;&lt;&amp;"`; declarations != want || string(raw) != `<b q:type="no"/>` || err != nil {
		t.Errorf("Raw = %s %s, %v; want %s", declarations, raw, err, want)
	}
	s.Restore(m)
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Type(); err == nil || err.Error() != `XML at byte 139: found the attribute "q" of an unknown namespace` {
		t.Errorf("Type = %v", err)
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "unexpected EOF"},
		{"  ", "unexpected EOF"},
		{"hello", "XML at byte 0: found text outside the root element"},
		{"\xEF\xBB\xBF<a/>", "XML at byte 0: found text outside the root element"},
		{"<a/>x", "XML at byte 4: found text outside the root element"},
		{"<a/><b/>", "XML at byte 4: found a second root element"},
		{"</a>", "XML at byte 0: found an end tag, want the root element"},
		{"<a></b>", "XML at byte 3: found </b>, want </a>"},
		{"<a><p:b></b></a>", "XML at byte 8: found </b>, want </p:b>"},
		{"<a", "unexpected EOF"},
		{"<a b='>", "unexpected EOF"},
		{"<a" + strings.Repeat(" b='>'", 65), "XML at byte 0: found more than 64 attributes"},
		{"<1/>", `XML at byte 0: found "1", want the name of an element`},
		{"<ä/>", `XML at byte 0: found "ä", want the name of an element`},
		{"<a:/>", `XML at byte 0: found "a:", want the name of an element`},
		{"<a b/>", "XML at byte 0: found an attribute without a quoted value"},
		{"<a b=c/>", "XML at byte 0: found an attribute without a quoted value"},
		{`<a b="1"c="2"/>`, `XML at byte 0: found "c=\"2\"", want an attribute`},
		{`<a b="<"/>`, "XML at byte 0: found < in the value of an attribute"},
		{`<a b="&x;"/>`, `XML at byte 0: found "&x;", want an entity of XML`},
		{`<a xmlns:b=""/>`, "XML at byte 0: found a prefix for no namespace"},
		{"<a><!-- a -- b --></a>", "XML at byte 10: found -- inside a comment"},
		{"<a>&#xD800;</a>", `XML at byte 11: found "&#xD800;", want an entity of XML`},
		{"<a>&#0;</a>", `XML at byte 7: found "&#0;", want an entity of XML`},
		{"<a>&</a>", `XML at byte 4: found "&", want an entity of XML`},
		{"<a>\uFFFE</a>", "XML at byte 6: found bytes that are not UTF-8, or no character of XML"},
		{"<![CDATA[x]]><a/>", "XML at byte 0: found a document type or the like, want elements and text"},
		{"<a/><?xml version=\"1.0\"?>", "XML at byte 4: found a processing instruction"},
	} {
		if _, err := events(strings.NewReader(tt.in)); err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v\nwant %s", tt.in, err, tt.want)
		}
	}
	want := errors.New("disk on fire")
	if _, err := events(io.MultiReader(strings.NewReader("<a>"), iotest.ErrReader(want))); err != want {
		t.Errorf("error of the input: %v", err)
	}
	if _, err := events(stuck{}); err != io.ErrNoProgress {
		t.Errorf("an input that stands still: %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }
