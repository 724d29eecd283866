//go:build linux

package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// byEncodingCSV answers with the CSV reader of the standard library.
func byEncodingCSV(f *os.File) (fmt.Stringer, error) {
	r, paths, err := openCSV(f)
	if err != nil {
		return nil, err
	}
	vms, err := find(paths)
	if err != nil {
		return nil, err
	}
	for rows := 0; ; rows++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return outcomeOf(vms, rows), nil
		}
		if err != nil {
			return nil, err
		}
		for i := range vms {
			t := &vms[i]
			var cells [counters]int64
			for k, c := range t.columns {
				if k == onHomes {
					continue
				}
				if cells[k], err = inHundredths(record[c]); err != nil {
					return nil, err
				}
			}
			t.add(&cells)
			t.addHomes(record[t.columns[onHomes]])
		}
	}
}

// allByEncodingCSV converts every column.
func allByEncodingCSV(f *os.File) (fmt.Stringer, error) {
	r, paths, err := openCSV(f)
	if err != nil {
		return nil, err
	}
	var columns []int
	for i, p := range paths {
		if i > 0 && p != "" && !strings.HasSuffix(p, `\Numa Home Nodes`) {
			columns = append(columns, i)
		}
	}
	t := total{columns: len(columns)}
	for ; ; t.rows++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			n, err := inHundredths(record[c])
			if err != nil {
				return nil, err
			}
			t.sum += n
		}
	}
}

func openCSV(f *os.File) (*csv.Reader, []string, error) {
	r := csv.NewReader(f)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return nil, nil, err
	}
	// the reader reuses the record, but not its strings
	return r, append([]string(nil), header...), nil
}

// inHundredths parses a cell as a typical program based on encoding/csv would.
func inHundredths(cell string) (int64, error) {
	x, err := strconv.ParseFloat(cell, 64)
	return cents(x), err
}
