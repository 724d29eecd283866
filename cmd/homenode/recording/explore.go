package recording

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/texttab"
	"homenode/output/answer"
	"homenode/output/recording"
	"homenode/output/table"
	"homenode/rules/rule"
	"homenode/source/esxtop/explore"
	"homenode/source/open"
)

// exploreFlags look into one batch file: what columns it has, and single ones of them.
type exploreFlags struct {
	patterns []string // OBJECT(INSTANCE)\COUNTER
	extract  bool     // write the columns that match; otherwise list them
}

func (f *exploreFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.patterns, "explore", nil, `list the columns of one batch file of esxtop: '*' (objects), 'Group Memory', 'Group Memory(*:sql01)\Numa *'; with --format csv write them, again for more`)
}

// notExplored are flags that mean nothing without a judgement; times say which rows are written.
var notExplored = append([]string{"from", "to", "host-name", "start", "interval", "parquet", "openmetrics", "fleet", "merge", "table"}, flags.FilterNames...)

// on reports whether a file is to be explored instead of judged.
func (f *exploreFlags) on() bool { return f.patterns != nil }

// Check looks at the flags before anything is read.
func (f *exploreFlags) Check(cmd *cobra.Command, out *flags.Output, files []string) error {
	if !f.on() {
		return nil
	}
	f.extract = out.Format == "csv"
	for _, name := range notExplored {
		if cmd.Flags().Changed(name) && (!f.extract || name != "from" && name != "to") {
			return fmt.Errorf("--%s: not with --explore", name)
		}
	}
	switch {
	case len(files) != 1:
		return fmt.Errorf("--explore: found %s, want one, as in: homenode capture --explore '*' esx01.csv", rule.Plural(len(files), "file"))
	case !f.extract && out.Format != "table" && out.Format != "json":
		return fmt.Errorf("--explore: found --format %s, want table or json for what there is, csv for the values", out.Format)
	case !f.extract && len(f.patterns) > 1:
		return fmt.Errorf("--explore: found %s, want one: several are for --format csv", rule.Plural(len(f.patterns), "pattern"))
	}
	return nil
}

// run explores a file, or standard input for "-"; workers read ahead.
func (f *exploreFlags) run(cmd *cobra.Command, out *flags.Output, file string, workers int, in *flags.Captures) error {
	if err := in.ReadTimes(); err != nil {
		return err
	}
	files, err := flags.CaptureFiles(cmd)
	if err != nil {
		return err
	}
	if info, err := os.Stat(file); files == nil && file == open.Demo && (err != nil || info.IsDir()) {
		return errors.New("--explore: the demo is no file: homenode demo --captures DIR writes it as files, which can be explored")
	}
	r, err := opened(cmd, files, file)
	if err != nil {
		return err
	}
	defer r.Close()
	if f.extract {
		return f.write(cmd, out, files, file, r, workers, explore.Stretch{From: in.Window[0], To: in.Window[1]})
	}
	pick := explore.Picks(f.patterns[0])
	pick.Workers = workers
	listing, err := explore.List(file, r, pick)
	if listing == nil || cmd.Context().Err() != nil {
		return err
	}
	picked := pick.Object != "" || pick.Instance != "" || pick.Counter != ""
	a := recording.Listing(listing, picked)
	if files != nil {
		return errors.Join(out.Print(cmd, a), err)
	}
	return errors.Join(out.Write(cmd, func(w io.Writer, _ bool) error {
		if out.Format == "json" {
			e := json.NewEncoder(texttab.EscapedJSON(w))
			e.SetIndent("", "  ")
			return e.Encode(listing)
		}
		return writeListing(w, a, pick.Instance != "")
	}), err)
}

// opened opens a file, unpacked: among files, or on this machine when they are nil.
func opened(cmd *cobra.Command, files fs.FS, file string) (io.ReadCloser, error) {
	if files == nil {
		return open.Plain(cmd.Context(), file, cmd.InOrStdin())
	}
	return open.PlainIn(cmd.Context(), files, file)
}

// write extracts. What could be read of a damaged file is written, too.
func (f *exploreFlags) write(cmd *cobra.Command, out *flags.Output, files fs.FS, file string, r io.Reader, workers int, during explore.Stretch) error {
	var again func() (io.ReadCloser, error)
	if info, err := os.Stat(file); files != nil || file != "-" && err == nil && info.Mode().IsRegular() {
		again = func() (io.ReadCloser, error) { return opened(cmd, files, file) }
	}
	x, err := explore.Extract(file, r, again, f.patterns, workers, during)
	if err != nil {
		return err
	}
	defer x.Close()
	if files != nil {
		a, err := recording.Extracted(x)
		if err != nil {
			return err
		}
		return out.Print(cmd, a)
	}
	err = out.Write(cmd, func(w io.Writer, _ bool) error {
		if err := table.CSV(w, extracted(x)); err != nil || cmd.Context().Err() != nil {
			return cmp.Or(err, x.Err())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if x.Rows == 0 && x.Outside > 0 {
		cmd.PrintErrln(fmt.Sprintf("warning: %s: all %s are outside --from and --to", file, rule.Plural(x.Outside, "row")))
	}
	for _, warning := range x.Warnings {
		cmd.PrintErrln("warning: " + texttab.Clean(warning))
	}
	return x.Err()
}

// extracted returns what is extracted as a table: the time to the millisecond and the
// cells of the file.
func extracted(x *explore.Extraction) table.Table {
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

// shownNames is how many names the table lists of an object, unless the pattern picks
// them.
const shownNames = 30

// writeListing prints the facts, then the objects, or when the pattern picks some, their
// counters and instances: all of these, or the first.
func writeListing(w io.Writer, a *answer.Answer, all bool) error {
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
		row := make([]string, len(t.Columns)+1) // nothing stands behind the numbers
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
			if t.Name == "objects" && (next == "" || row[0] == "Group Memory") { // where the NUMA counters of VMs are
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
