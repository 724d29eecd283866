package table

import (
	"bytes"
	"encoding/json"
	"slices"
)

// An Object is a row in JSON: an object with the column names as keys, in order. Unknown values are omitted.
type Object struct {
	columns []Column
	cells   []Cell
}

// Objects returns the rows of the table for JSON.
func (t *Table) Objects() []Object {
	out := make([]Object, 0, t.Len)
	for row := range t.Rows {
		out = append(out, Object{t.Columns, slices.Clone(row)})
	}
	return out
}

// MarshalJSON writes the object: numbers as numbers, yes and no as true and false, the rest as strings.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, c := range o.cells {
		if c.kind == unknownCell {
			continue
		}
		name, err := json.Marshal(o.columns[i].Name)
		if err != nil {
			return nil, err
		}
		var value any = c.text
		switch c.kind {
		case numberCell:
			value = c.number
		case boolCell:
			value = c == YesNo(true)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		b.WriteByte(',')
		b.Write(append(append(name, ':'), text...))
	}
	return append(append([]byte{'{'}, bytes.TrimPrefix(b.Bytes(), []byte{','})...), '}'), nil
}
