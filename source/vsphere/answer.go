package vsphere

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
	"github.com/vmware/govmomi/vim25/xml"

	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere/xmlscan"
)

// An answer parses the property collector's output object by object as it arrives: a page is never
// in memory as a whole. The library decodes 1 MB in about 40 ms, nine tenths of the time of a read
// (docs/evidence/performance.md), so the values of VMs are parsed here. Anything other than the few
// types below is passed to the library unparsed.
type answer struct {
	scan    *xmlscan.Scanner
	strings map[string]string            // cache of repeated texts
	options map[string]*keptOptions      // by path
	keep    map[string]func(string) bool // the options worth keeping, by path
	found   content                      // reused
}

// A content is the answer's data about one object.
type content struct {
	ref     types.ManagedObjectReference
	props   map[string]any // by path; lists of options as optionList, all others in the library's types
	missing []types.MissingProperty
}

// errUnexpected reports XML in a form that is not parsed here.
var errUnexpected = errors.New("found another element than expected")

func newAnswer(keep map[string]func(string) bool) *answer {
	return &answer{
		scan:    xmlscan.New(nil),
		strings: make(map[string]string),
		options: make(map[string]*keptOptions),
		keep:    keep,
		found:   content{props: make(map[string]any)},
	}
}

const (
	envelopeSpace = "http://schemas.xmlsoap.org/soap/envelope/"
	vimSpace      = "urn:vim25"
)

// read calls each with every object of the response in r, valid during the call, and returns the
// token of the next page, empty on the last one.
func (a *answer) read(r io.Reader, response string, each func(*content) error) (token string, err error) {
	a.scan.Reset(r)
	if err := a.open("Envelope", envelopeSpace); err != nil {
		return "", err
	}
	read := false
	err = a.children(func(name string) error {
		if name != "Body" || a.scan.Namespace() != envelopeSpace {
			return a.scan.Skip()
		}
		if read {
			return errors.New("found two bodies in one answer")
		}
		read = true
		token, err = a.body(response, each)
		return err
	})
	if err == nil && !read {
		err = errors.New("found no body in the answer")
	}
	if err == nil {
		_, err = a.scan.Next() // the end, so that the connection can be used again
	}
	return token, err
}

// open reads the start of the root element.
func (a *answer) open(name, space string) error {
	k, err := a.scan.Next()
	if err != nil {
		return err
	}
	if k != xmlscan.Start || string(a.scan.Name()) != name || a.scan.Namespace() != space {
		return fmt.Errorf("found <%.40s>, want <%s>", a.scan.Name(), name)
	}
	return nil
}

// children calls each with the name of every element in the open one; each must read its element to the end.
func (a *answer) children(each func(name string) error) error {
	for {
		k, err := a.scan.Next()
		if err != nil || k == xmlscan.End {
			return err
		}
		if k != xmlscan.Start {
			return io.ErrUnexpectedEOF
		}
		if err := each(a.intern(a.scan.Name())); err != nil {
			return err
		}
	}
}

// body parses the response, or the fault in its place.
func (a *answer) body(response string, each func(*content) error) (token string, err error) {
	s := a.scan
	mark := s.Mark()
	defer s.Release()
	k, err := s.Next()
	if err != nil {
		return "", err
	}
	switch {
	case k == xmlscan.Start && string(s.Name()) == response && s.Namespace() == vimSpace:
	case k == xmlscan.Start && string(s.Name()) == "Fault" && s.Namespace() == envelopeSpace:
		return "", a.fault(mark)
	default:
		return "", fmt.Errorf("found <%.60s>, want <%s>", s.Name(), response)
	}
	s.Release()
	results := 0
	err = a.children(func(name string) error {
		if name != "returnval" {
			return s.Skip()
		}
		if results++; results > 1 {
			return errors.New("found two results in one answer")
		}
		token, err = a.result(each)
		return err
	})
	if err != nil {
		return "", err
	}
	if k, err := s.Next(); err != nil || k != xmlscan.End {
		return "", errors.Join(err, errUnexpected)
	}
	return token, nil
}

// fault parses a SOAP fault with the library.
func (a *answer) fault(mark xmlscan.Mark) error {
	var f struct {
		Fault *soap.Fault `xml:"http://schemas.xmlsoap.org/soap/envelope/ Fault"`
	}
	if err := a.byLibrary(mark, &f); err != nil {
		return err
	}
	if f.Fault == nil {
		return errUnexpected
	}
	return soap.WrapSoapFault(f.Fault)
}

// byLibrary decodes the next element into the field of v with its name.
func (a *answer) byLibrary(mark xmlscan.Mark, v any) error {
	declarations, element, err := a.scan.Raw(mark)
	if err != nil {
		return err
	}
	d := xml.NewDecoder(io.MultiReader(strings.NewReader("<x"+declarations+">"), strings.NewReader(string(element)), strings.NewReader("</x>")))
	d.TypeFunc = types.TypeFunc()
	return guarded(func() error { return d.Decode(v) })
}

// result parses the objects of a page.
func (a *answer) result(each func(*content) error) (token string, err error) {
	err = a.children(func(name string) error {
		switch name {
		case "token":
			text, err := a.scan.Text()
			token = string(text)
			return err
		case "objects":
			if err := a.object(); err != nil {
				if panicked := (panicError{}); errors.As(err, &panicked) && a.found.ref.Value != "" {
					return fmt.Errorf("%s: %w", a.found.ref.Value, err)
				}
				return err
			}
			return each(&a.found)
		}
		return a.scan.Skip()
	})
	return token, err
}

// object parses one object into found.
func (a *answer) object() error {
	o := &a.found
	clear(o.props)
	o.ref, o.missing = types.ManagedObjectReference{}, o.missing[:0]
	for {
		mark := a.scan.Mark() // a missing property is parsed again, by the library
		k, err := a.scan.Next()
		if err != nil {
			return err
		}
		if k == xmlscan.End {
			a.scan.Release()
			if o.ref.Value == "" {
				return errors.New("found an object without a reference")
			}
			return nil
		}
		switch string(a.scan.Name()) {
		case "obj":
			a.scan.Release()
			if o.ref.Value != "" {
				return errors.New("found an object with two references")
			}
			err = a.reference(&o.ref)
		case "propSet":
			a.scan.Release()
			err = a.property()
		case "missingSet":
			var m struct {
				MissingSet types.MissingProperty `xml:"missingSet"`
			}
			err = a.byLibrary(mark, &m)
			o.missing = append(o.missing, m.MissingSet)
		default:
			a.scan.Release()
			err = a.scan.Skip()
		}
		if err != nil {
			return err
		}
	}
}

// property parses a path and its value into found.
func (a *answer) property() error {
	path, has, done := "", false, false
	for {
		mark := a.scan.Mark()
		k, err := a.scan.Next()
		if err != nil {
			return err
		}
		if k == xmlscan.End {
			a.scan.Release()
			return nil
		}
		value := string(a.scan.Name()) == "val"
		if !value {
			a.scan.Release()
		}
		switch {
		case !has && string(a.scan.Name()) == "name":
			text, err := a.scan.Text()
			if err != nil {
				return err
			}
			path, has = a.intern(text), true
		case value && has && !done:
			done = true
			v, err := a.value(path)
			if err != nil && fallBack(err) {
				v, err = a.valueByLibrary(path, mark)
			}
			a.scan.Release()
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if v != nil {
				a.found.props[path] = v
			}
		default:
			return fmt.Errorf("found <%.40s> in a property, want <name> and <val>", a.scan.Name())
		}
	}
}

// fallBack reports whether the XML is well-formed but in another form than the one parsed here.
func fallBack(err error) bool {
	return errors.Is(err, errUnexpected) || errors.Is(err, xmlscan.ErrElement) || errors.Is(err, xmlscan.ErrText)
}

// valueByLibrary decodes a value of any other type.
func (a *answer) valueByLibrary(path string, mark xmlscan.Mark) (any, error) {
	var v types.DynamicProperty
	if err := a.byLibrary(mark, &v); err != nil {
		return nil, err
	}
	list, ok := v.Val.(types.ArrayOfOptionValue)
	if !ok {
		return v.Val, nil
	}
	options := optionList{total: len(list.OptionValue)}
	for _, o := range list.OptionValue {
		if o == nil { // of a type unknown to the library
			continue
		}
		if e := o.GetOptionValue(); a.keeps(path).wants(e.Key) {
			options.kept = append(options.kept, numa.Setting{Key: e.Key, Value: optionText(e.Value)})
		}
	}
	return options, nil
}

// optionText returns the value of an option as text.
func optionText(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// mostStrings bounds the number of cached texts; long texts are not cached.
const (
	mostStrings   = 1 << 14
	longestString = 64
)

// intern returns b as a string. Most short texts of a fleet are the same few.
func (a *answer) intern(b []byte) string {
	if len(b) > longestString {
		return string(b)
	}
	if s, ok := a.strings[string(b)]; ok {
		return s
	}
	if len(a.strings) >= mostStrings {
		clear(a.strings)
	}
	s := string(b)
	a.strings[s] = s
	return s
}
