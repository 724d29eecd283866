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
	explore bool
	pick    explore.Options
	extract []string
}

func (f *exploreFlags) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.explore, "explore", false, "list what one batch file of esxtop holds: objects, instances, counters, its time and its damage")
	cmd.Flags().StringVar(&f.pick.Object, "object", "", "with --explore: only objects of this name, such as 'Group Memory'; * is any text")
	cmd.Flags().StringVar(&f.pick.Instance, "instance", "", "with --explore: only instances of this name, such as '*:sql01'")
	cmd.Flags().StringVar(&f.pick.Counter, "counter", "", "with --explore: only counters of this name, such as 'Numa *'")
	cmd.Flags().StringArrayVar(&f.extract, "extract", nil, `write these columns of one batch file as CSV, such as 'Group Memory(*:sql01)\Numa % Local'; again for more`)
}

// notExplored are flags that mean nothing without a judgement; --extract heeds the times.
var notExplored = append([]string{"from", "to", "host-name", "start", "interval", "locality", "parquet", "openmetrics", "fleet", "table", "archive", "queue"}, flags.FilterNames...)

// on reports whether a file is to be explored instead of judged.
func (f *exploreFlags) on() bool { return f.explore || f.extract != nil }

// check looks at the flags before anything is read.
func (f *exploreFlags) Check(cmd *cobra.Command, out *flags.Output, files []string) error {
	for _, name := range []string{"object", "instance", "counter"} {
		if cmd.Flags().Changed(name) && !f.explore {
			return fmt.Errorf("--%s: only with --explore", name)
		}
	}
	if f.on() {
		for _, name := range notExplored {
			if cmd.Flags().Changed(name) && (f.explore || name != "from" && name != "to") {
				return fmt.Errorf("--%s: not with %s", name, f.flag())
			}
		}
	}
	switch {
	case !f.on():
		return nil
	case f.explore && f.extract != nil:
		return errors.New("--extract: not with --explore: one lists the columns, the other writes some")
	case len(files) != 1:
		return fmt.Errorf("%s: found %s, want one", f.flag(), rule.Plural(len(files), "file"))
	case f.explore && out.Format != "table" && out.Format != "json":
		return fmt.Errorf("--explore: found --format %s, want table or json", out.Format)
	case f.extract != nil && cmd.Flags().Changed("format") && out.Format != "csv":
		return fmt.Errorf("--extract: found --format %s: it writes CSV", out.Format)
	}
	return nil
}

func (f *exploreFlags) flag() string {
	if f.explore {
		return "--explore"
	}
	return "--extract"
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
		return fmt.Errorf("%s: the demo is no file: homenode demo --captures DIR writes it as files, which can be read with %s", f.flag(), f.flag())
	}
	r, err := opened(cmd, files, file)
	if err != nil {
		return err
	}
	defer r.Close()
	if f.extract != nil {
		return f.write(cmd, out, files, file, r, workers, explore.Stretch{From: in.Window[0], To: in.Window[1]})
	}
	f.pick.Workers = workers
	listing, err := explore.List(file, r, f.pick)
	if listing == nil || cmd.Context().Err() != nil {
		return err
	}
	picked := f.pick.Object != "" || f.pick.Instance != "" || f.pick.Counter != ""
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
		return f.writeListing(w, a)
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
	x, err := explore.Extract(file, r, again, f.extract, workers, during)
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

// shownNames is how many names the table lists of an object, unless the flags choose
// them.
const shownNames = 30

// writeListing prints the facts, then the objects, or when the flags pick some, their
// counters and instances.
func (f *exploreFlags) writeListing(w io.Writer, a *answer.Answer) error {
	facts := texttab.Table{}
	for _, one := range a.Facts {
		facts.Row(one.Name, one.Text)
	}
	if _, err := facts.WriteTo(w); err != nil {
		return err
	}
	next := ""
	for i := range a.Tables {
		t := &a.Tables[i]
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
			if n == shownNames && f.pick.Instance == "" && strings.HasPrefix(t.Name, "instances") {
				text.Row(fmt.Sprintf("and %d more: --instance '*' lists all", len(t.Rows)-n))
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
	_, err := fmt.Fprintf(w, "\nnext   --explore --object '%s' lists its counters and instances\n", texttab.Clean(next))
	return err
}
