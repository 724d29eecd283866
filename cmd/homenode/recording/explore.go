package recording

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/texttab"
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
	if info, err := os.Stat(file); file == open.Demo && (err != nil || info.IsDir()) {
		return fmt.Errorf("%s: the demo is no file: homenode demo --captures DIR writes it as files, which can be read with %s", f.flag(), f.flag())
	}
	r, err := open.Plain(cmd.Context(), file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer r.Close()
	if f.extract != nil {
		return f.write(cmd, out, file, r, workers, explore.Stretch{From: in.Window[0], To: in.Window[1]})
	}
	f.pick.Workers = workers
	listing, err := explore.List(file, r, f.pick)
	if listing == nil || cmd.Context().Err() != nil {
		return err
	}
	return errors.Join(out.Write(cmd, func(w io.Writer, _ bool) error {
		if out.Format == "json" {
			e := json.NewEncoder(texttab.EscapedJSON(w))
			e.SetIndent("", "  ")
			return e.Encode(listing)
		}
		return writeListing(w, listing, f.pick)
	}), err)
}

// write extracts. What could be read of a damaged file is written, too.
func (f *exploreFlags) write(cmd *cobra.Command, out *flags.Output, file string, r io.Reader, workers int, during explore.Stretch) error {
	var again func() (io.ReadCloser, error)
	if info, err := os.Stat(file); file != "-" && err == nil && info.Mode().IsRegular() {
		again = func() (io.ReadCloser, error) { return open.Plain(cmd.Context(), file, cmd.InOrStdin()) }
	}
	x, err := explore.Extract(file, r, again, f.extract, workers, during)
	if err != nil {
		return err
	}
	defer x.Close()
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
func writeListing(w io.Writer, l *explore.Listing, pick explore.Options) error {
	if err := writeListingFacts(w, l); err != nil {
		return err
	}
	if pick.Object == "" && pick.Instance == "" && pick.Counter == "" {
		return writeObjects(w, l)
	}
	for _, o := range l.Objects {
		if err := writeObject(w, l, o, pick); err != nil {
			return err
		}
	}
	return nil
}

func writeListingFacts(w io.Writer, l *explore.Listing) error {
	t := texttab.Table{}
	form := "every field in quotes, as esxtop writes it"
	if !l.Quoted {
		form = fmt.Sprintf("fields without quotes, separated by %q: another program has saved it", l.Separator)
	}
	t.Row("file", l.File)
	t.Row("form", form)
	if l.Bias != 0 {
		t.Row("zone", fmt.Sprintf("%s, %g minutes added for UTC", l.Zone, l.Bias))
	}
	t.Row("host", strings.Join(l.Hosts, ", "))
	columns := fmt.Sprintf("%d and the time", l.Columns)
	if l.Headers > 1 {
		columns += fmt.Sprintf(", from %d headers", l.Headers)
	}
	t.Row("columns", columns)
	t.Row("rows", strconv.Itoa(l.Rows))
	if l.First != nil {
		t.Row("time", fmt.Sprintf("%s to %s UTC%s", l.First.Format(time.DateTime), l.Last.Format(time.DateTime), interval(l.Interval)))
	}
	for _, warning := range l.Warnings {
		t.Row("warning", warning)
	}
	_, err := t.WriteTo(w)
	return err
}

func interval(i *explore.Interval) string {
	switch {
	case i == nil:
		return ""
	case i.Least == i.Most:
		return fmt.Sprintf(", every %g s", i.Least)
	}
	return fmt.Sprintf(", every %g to %g s, %.3g s in the mean", i.Least, i.Most, i.Mean)
}

func writeObjects(w io.Writer, l *explore.Listing) error {
	t := texttab.Table{Right: map[int]bool{1: true, 2: true, 3: true}}
	t.Row("OBJECT", "INSTANCES", "COUNTERS", "COLUMNS", "")
	for _, o := range l.Objects {
		t.Row(orNone(o.Name), instances(o), strconv.Itoa(len(o.Counters)), strconv.Itoa(o.Columns), "")
	}
	fmt.Fprintln(w)
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	next := l.Objects[0].Name
	for _, o := range l.Objects {
		if o.Name == "Group Memory" { // where the NUMA counters of VMs are
			next = o.Name
		}
	}
	_, err := fmt.Fprintf(w, "\nnext   --explore --object '%s' lists its counters and instances\n", texttab.Clean(next))
	return err
}

// instances returns how many there are; an object that is the only one has none.
func instances(o *explore.Object) string {
	if len(o.Instances) == 1 && o.Instances[0].Name == "" {
		return "-"
	}
	return strconv.Itoa(len(o.Instances))
}

func orNone(name string) string {
	if name == "" {
		return "(no path)"
	}
	return name
}

// writeObject prints one object in full.
func writeObject(w io.Writer, l *explore.Listing, o *explore.Object, pick explore.Options) error {
	fmt.Fprintf(w, "\n%s\n", texttab.Clean(orNone(o.Name)))
	counters := texttab.Table{Indent: "  ", Right: map[int]bool{1: true}}
	counters.Row("COUNTER", "COLUMNS", "")
	for _, c := range o.Counters {
		counters.Row(c.Name, strconv.Itoa(c.Columns), "")
	}
	if _, err := counters.WriteTo(w); err != nil {
		return err
	}
	if instances(o) == "-" {
		return nil
	}
	list := texttab.Table{Indent: "  ", Right: map[int]bool{1: true}}
	list.Row("INSTANCE", "COLUMNS", "")
	for n, i := range o.Instances {
		if n == shownNames && pick.Instance == "" {
			list.Row(fmt.Sprintf("and %d more: --instance '*' lists all", len(o.Instances)-n))
			break
		}
		name := i.Name
		if len(l.Hosts) > 1 {
			name = i.Host + `\` + name
		}
		list.Row(name, strconv.Itoa(i.Columns), "")
	}
	fmt.Fprintln(w)
	_, err := list.WriteTo(w)
	return err
}
