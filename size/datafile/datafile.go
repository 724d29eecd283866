// Package datafile parses tables of published figures that are compiled into the program:
//
//	# The contents of the file, and its source.
//	block  | read | iops   | source
//	32 KiB | 1    | 721317 | b-vsan
//
// Cells are separated by bars. The first line that is not a comment names the columns. A list in a
// cell is separated by commas.
package datafile

import (
	"encoding"
	"fmt"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Must returns the rows of an embedded file. It panics when the file is malformed, which every test
// of its package shows.
func Must[T any](files fs.FS, name string) []T {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err)
	}
	rows, err := Read[T](name, string(text))
	if err != nil {
		panic(err)
	}
	return rows
}

// Read parses the rows into structs. A column is the field with its name, ignoring case; every
// field of T has a column. An empty cell is the zero value.
func Read[T any](name, text string) (rows []T, err error) {
	var fields []int
	for number, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "|")
		at := func(cell int) string {
			before := strings.Join(cells[:cell], "|")
			blank := len(cells[cell]) - len(strings.TrimLeft(cells[cell], " "))
			return fmt.Sprintf("%s:%d:%d", name, number+1, utf8.RuneCountInString(before)+min(cell, 1)+blank+1)
		}
		if fields == nil {
			if fields, err = columns[T](cells, at); err != nil {
				return nil, err
			}
			continue
		}
		if len(cells) != len(fields) {
			return nil, fmt.Errorf("%s: found %d cells, want %d", at(0), len(cells), len(fields))
		}
		var row T
		for i, field := range fields {
			if cell := strings.TrimSpace(cells[i]); cell != "" {
				if err := set(reflect.ValueOf(&row).Elem().Field(field), cell); err != nil {
					return nil, fmt.Errorf("%s: %w", at(i), err)
				}
			}
		}
		rows = append(rows, row)
	}
	if rows == nil {
		return nil, fmt.Errorf("%s:1:1: found no rows", name)
	}
	return rows, nil
}

// columns returns the index of the field of T for each column.
func columns[T any](cells []string, at func(int) string) ([]int, error) {
	t := reflect.TypeFor[T]()
	var out []int
	seen := map[int]bool{}
	for i, cell := range cells {
		name := strings.TrimSpace(cell)
		field, ok := t.FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, name) })
		if !ok || len(field.Index) != 1 || seen[field.Index[0]] {
			return nil, fmt.Errorf("%s: found the column %q, want each field of %s once", at(i), name, t.Name())
		}
		seen[field.Index[0]] = true
		out = append(out, field.Index[0])
	}
	if len(out) != t.NumField() {
		return nil, fmt.Errorf("%s: found %d columns, want one for each of the %d fields of %s", at(0), len(out), t.NumField(), t.Name())
	}
	return out, nil
}

// binary are the units of whole numbers.
var binary = map[string]int64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

// set parses a cell into a field.
func set(v reflect.Value, cell string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(cell))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(cell)
	case reflect.Bool:
		if cell != "yes" {
			return fmt.Errorf("found %q, want yes or nothing", cell)
		}
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		number, unit, _ := strings.Cut(cell, " ")
		n, err := strconv.ParseInt(number, 10, 64)
		factor, ok := binary[unit]
		if err != nil || !ok {
			return fmt.Errorf("found %q, want a whole number, or one with B, KiB, MiB, GiB or TiB", cell)
		}
		v.SetInt(n * factor)
	case reflect.Float64:
		f, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return fmt.Errorf("found %q, want a number", cell)
		}
		v.SetFloat(f)
	case reflect.Slice:
		for part := range strings.SplitSeq(cell, ",") {
			one := reflect.New(v.Type().Elem()).Elem()
			if err := set(one, strings.TrimSpace(part)); err != nil {
				return err
			}
			v.Set(reflect.Append(v, one))
		}
	default:
		return fmt.Errorf("no cell can be a %s", v.Type())
	}
	return nil
}
