package hostcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"

	"homenode/source/text"
)

// jsonText is JSON with the places of its lines.
type jsonText struct {
	text   string
	starts []int // where each line begins in text
	lines  []text.Line
	d      *json.Decoder
}

// readJSON reads what esxcli --formatter=json prints: an object, or a list of them.
// Its keys are those of the text without their blanks.
func (o *Output) readJSON(lines []text.Line) {
	var b strings.Builder
	j := &jsonText{lines: lines}
	for _, l := range lines {
		j.starts = append(j.starts, b.Len())
		b.WriteString(l.Text + "\n")
	}
	j.text = b.String()
	j.d = json.NewDecoder(strings.NewReader(j.text))
	j.d.UseNumber()
	records, err := j.records()
	if err != nil {
		at := j.place(int(j.d.InputOffset()))
		o.file.Warn(at.N, at.Col, "not JSON as esxcli writes it: %v", err)
	}
	if format := jsonFormat([]byte(j.text)); format != "" {
		o.Format = format
		o.file.Format = format + " (JSON)"
	} else {
		o.file.Warn(o.Line, 0, "found JSON of no command that is known")
		return
	}
	for _, r := range records {
		switch o.Format {
		case KernelList:
			o.bootOption(r)
		case CoredumpFiles:
			o.dumpFile(r.get("path").Text, r.get("active"), r.get("configured"), r.get("size"))
		default:
			o.readRecords([]record{r})
		}
	}
}

// records reads all objects that hold values, however deep.
func (j *jsonText) records() ([]record, error) {
	var done []record
	var open []record // of the objects around
	var inArray []bool
	key := ""
	for {
		before := int(j.d.InputOffset())
		token, err := j.d.Token()
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		isObject := len(inArray) > 0 && !inArray[len(inArray)-1]
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open, inArray = append(open, nil), append(inArray, false)
			case '[':
				inArray = append(inArray, true)
			case '}':
				if r := open[len(open)-1]; len(r) > 0 {
					done = append(done, r)
				}
				open, inArray = open[:len(open)-1], inArray[:len(inArray)-1]
			case ']':
				inArray = inArray[:len(inArray)-1]
			}
			key = ""
		default:
			name, isString := t.(string)
			if isObject && key == "" && isString {
				key = name
				continue
			}
			if len(open) > 0 && t != nil {
				at := j.place(before + j.gap(before))
				at.Text = fmt.Sprint(t)
				open[len(open)-1] = append(open[len(open)-1], field{key, at})
			}
			if isObject {
				key = ""
			}
		}
	}
}

// gap returns how far the next value is from an offset.
func (j *jsonText) gap(offset int) int {
	rest := j.text[offset:]
	return len(rest) - len(strings.TrimLeft(rest, " \t\n:,"))
}

// place returns the line and column of an offset, without text.
func (j *jsonText) place(offset int) text.Line {
	i := max(sort.SearchInts(j.starts, offset+1)-1, 0)
	return text.Line{N: j.lines[i].N, Col: j.lines[i].Col + max(offset-j.starts[i], 0)}
}
