package recording

import (
	"fmt"
	"io"
	"strings"

	"homenode/internal/texttab"
	"homenode/output/answer"
	"homenode/output/table"
	"homenode/source/esxtop/explore"
)

// ExtractedTable returns the extracted values as a table: the time in milliseconds and the
// cells of the file.
func ExtractedTable(x *explore.Extraction) table.Table {
	t := table.Table{Name: "extracted", Columns: []table.Column{{Name: "time"}}}
	for _, name := range x.Columns {
		t.Columns = append(t.Columns, table.Column{Name: name})
	}
	t.Rows = func(yield func([]table.Cell) bool) {
		row := make([]table.Cell, len(t.Columns))
		for at, cells := range x.Each {
			row[0] = table.Text(at.Format("2006-01-02T15:04:05.999Z07:00"))
			for i, c := range cells {
				row[i+1] = table.Figure(string(c))
			}
			if !yield(row) {
				return
			}
		}
	}
	return t
}

// shownNames is the maximum number of names that the table lists for an object that the pattern
// does not select.
const shownNames = 30

// WriteListing prints the facts, then the objects or, if the pattern selects some, their
// counters and instances. all prints every one instead of the first ones.
func WriteListing(w io.Writer, a *answer.Answer, all bool) error {
	facts := texttab.Table{}
	for _, one := range a.Facts {
		facts.Row(one.Name, one.Text)
	}
	if _, err := facts.WriteTo(w); err != nil {
		return err
	}
	next, object := "", ""
	for i := range a.Tables {
		t := &a.Tables[i]
		if strings.HasPrefix(t.Name, "counters") {
			object = t.Title
		}
		text := texttab.Table{Right: map[int]bool{}}
		if t.Name != "objects" {
			text.Indent = "  "
		}
		row := make([]string, len(t.Columns)+1) // an empty column after the numbers
		for i, c := range t.Columns {
			row[i], text.Right[i] = strings.ToUpper(c.Name), c.Right
		}
		text.Row(row...)
		for n, cells := range t.Rows {
			if n == shownNames && !all && strings.HasPrefix(t.Name, "instances") {
				text.Row(fmt.Sprintf("and %d more: --explore '%s(*)' lists all", len(t.Rows)-n, texttab.Clean(object)))
				break
			}
			for i := range cells {
				row[i] = cells[i].Text
			}
			text.Row(row...)
			if t.Name == "objects" && (next == "" || row[0] == "Group Memory") { // the object with the NUMA counters of VMs
				next = row[0]
			}
		}
		fmt.Fprintln(w)
		if strings.HasPrefix(t.Name, "counters") {
			fmt.Fprintln(w, texttab.Clean(t.Title))
		}
		if _, err := text.WriteTo(w); err != nil {
			return err
		}
	}
	if next == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nnext   --explore '%s' lists its counters and instances\n", texttab.Clean(next))
	return err
}
