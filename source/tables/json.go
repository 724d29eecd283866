package tables

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.org/homenode/source/strict"
)

// memberKey is the header for the key of a row in an object of rows.
const memberKey = "%key%"

// A member is a value of an object or list. Values are string, bool, nil, json.Number, object or []any.
type member struct {
	key   string
	value any
}

// An object is a JSON object in the order of the file.
type object []member

// Limits for a document: a VM of the API has some hundred values that are not skipped.
const (
	maxDepth  = 64
	maxValues = 20_000_000
	maxKeys   = 200_000 // of one object: more VMs and hosts by name than a fleet has
)

// skipped are members of API objects without topology data, which are most of their text.
var skipped = map[string]bool{"device": true, "layout": true, "layoutex": true, "files": true, "datastore": true, "guest": true, "network": true, "snapshot": true,
	"capability": true, "storage": true, "alarm": true, "declaredalarmstate": true, "triggeredalarmstate": true, "filesystemvolume": true, "storagedevice": true,
	"featurerequirement": true, "featuremask": true, "pcipassthruinfo": true, "pcidevice": true, "certificate": true, "vm": true, "datastoreurl": true, "effectiverole": true, "permission": true}

// A jsonReader reads the values of a file.
type jsonReader struct {
	d      *jsontext.Decoder
	values int
}

// parseJSON parses all documents of a file: a program that runs twice may append a second one.
func parseJSON(file string, b []byte) ([]any, error) {
	b, err := decoded(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	r := &jsonReader{d: jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	var docs []any
	for {
		v, err := r.value(0)
		switch {
		case err == io.EOF && docs != nil:
			return docs, nil
		case err != nil:
			at := min(int(r.d.InputOffset()), len(b))
			if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
				err, at = syntax.Err, min(int(syntax.ByteOffset), len(b))
			}
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = errors.New("the file is cut off")
			}
			return nil, strict.At(file, b, int64(at), strings.TrimPrefix(err.Error(), "jsontext: "))
		}
		docs = append(docs, v)
	}
}

// value reads the next value.
func (r *jsonReader) value(depth int) (any, error) {
	if r.values++; r.values > maxValues || depth > maxDepth {
		return nil, fmt.Errorf("more than %d values, or nested deeper than %d: refused", maxValues, maxDepth)
	}
	t, err := r.d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return r.object(depth)
	case '[':
		list := []any{}
		for r.d.PeekKind() != ']' {
			v, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := r.d.ReadToken()
		return list, err
	case '"':
		return t.String(), nil
	case '0':
		return json.Number(t.String()), nil
	case 't', 'f':
		return t.Bool(), nil
	}
	return nil, nil
}

// object reads the members of an object. A typed value of the API, with its type around it, is reduced to
// the value.
func (r *jsonReader) object(depth int) (any, error) {
	o := object{}
	for r.d.PeekKind() != '}' {
		if len(o) >= maxKeys {
			return nil, fmt.Errorf("more than %d keys in one object: refused", maxKeys)
		}
		key, err := r.d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := key.String()
		if k := r.d.PeekKind(); skipped[strings.ToLower(name)] && (k == '{' || k == '[') && depth > 1 {
			if err := r.d.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if name == "_value" {
			o = object{{name, v}}
		} else if len(o) != 1 || o[0].key != "_value" {
			o = append(o, member{name, v})
		}
	}
	if _, err := r.d.ReadToken(); err != nil {
		return nil, err
	}
	if len(o) == 1 && o[0].key == "_value" {
		return o[0].value, nil
	}
	return o, nil
}

// get returns the member with this name, ignoring case.
func (o object) get(key string) any {
	for _, m := range o {
		if strings.EqualFold(m.key, key) {
			return m.value
		}
	}
	return nil
}
