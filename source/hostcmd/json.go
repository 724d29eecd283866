package hostcmd

import (
	"example.org/homenode/source/jsontree"
	"example.org/homenode/source/text"
)

// readJSON parses the output of esxcli --formatter=json: an object, or a list of them. Its keys are
// those of the text without their blanks.
func (o *Output) readJSON(lines []text.Line) {
	doc, err := jsontree.Lines(lines)
	if err != nil {
		o.file.Warn(err.Line, err.Col, "not JSON as esxcli writes it: %s", err.Msg)
	}
	var all []byte
	for _, l := range lines {
		all = append(append(all, l.Text...), '\n')
	}
	format := jsonFormat(all)
	if format == "" {
		o.file.Warn(o.Line, 0, "found JSON of no command that is known")
		return
	}
	o.Format, o.file.Format = format, format+" (JSON)"
	for _, r := range recordsIn(doc, nil) {
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

// recordsIn adds the objects with values, at any depth; truncated ones are omitted.
func recordsIn(v *jsontree.Value, records []record) []record {
	var r record
	for i, m := range v.List() {
		switch m.Kind {
		case jsontree.Object:
			records = recordsIn(m, records)
		case jsontree.List:
			records = recordsIn(m, records)
			for _, one := range m.List() {
				if one.Members == nil && one.Kind != jsontree.Null {
					r = append(r, field{v.Keys[i], one.Cell()})
				}
			}
		case jsontree.Null:
		default:
			r = append(r, field{v.Keys[i], m.Cell()})
		}
	}
	if v.Kind == jsontree.Object && len(r) > 0 && !v.Cut {
		records = append(records, r)
	}
	return records
}
