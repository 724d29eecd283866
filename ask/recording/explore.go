package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"homenode/ask"
	"homenode/internal/words"
	"homenode/output/answer"
	"homenode/output/recording"
	"homenode/output/table"
	"homenode/source/esxtop/explore"
	"homenode/source/open"
)

// notExplored are the fields that have no effect without an assessment.
var notExplored = append([]string{"host-name", "start", "interval", "fleet", "merge"}, ask.FilterNames...)

// explore lists the columns of one batch file, or extracts some.
func (f *Capture) explore(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	if err := cmp.Or(f.checkExplore(e), f.ReadTimes()); err != nil {
		return nil, err
	}
	if info, err := os.Stat(f.Files[0]); e.Own == nil && f.Files[0] == open.Demo && (err != nil || info.IsDir()) {
		return nil, ask.Wrong("explore", errors.New("the demo is no file: homenode demo --captures DIR writes it as files, which can be explored"))
	}
	if e.Form == "csv" {
		return f.extract(ctx, e)
	}
	return f.list(ctx, e)
}

// checkExplore validates the fields before anything is read. The times select rows.
func (f *Capture) checkExplore(e *ask.Env) error {
	extract := e.Form == "csv"
	if err := f.Refuse("not with --explore", notExplored...); err != nil {
		return err
	}
	if !extract {
		if err := f.Refuse("not with --explore", "from", "to"); err != nil {
			return err
		}
	}
	switch {
	case e.Table != "":
		return ask.Wrong("table", errors.New("not with --explore"))
	case len(f.Files) != 1:
		return ask.Wrong("explore", fmt.Errorf("found %s, want one, as in: homenode capture --explore '*' esx01.csv", words.Plural(len(f.Files), "file")))
	case !extract && e.Form != "table" && e.Form != "json" && e.Form != "":
		return ask.Wrong("explore", fmt.Errorf("found --format %s, want table or json for what there is, csv for the values", e.Form))
	case !extract && len(f.Explore) > 1:
		return ask.Wrong("explore", fmt.Errorf("found %s, want one: several are for --format csv", words.Plural(len(f.Explore), "pattern")))
	}
	return nil
}

// opened opens the file, decompressed: from the files of the process, or from this machine.
func (f *Capture) opened(ctx context.Context, e *ask.Env) (io.ReadCloser, error) {
	if e.Own == nil {
		return open.Plain(ctx, f.Files[0], e.In)
	}
	return open.PlainIn(ctx, e.Own, f.Files[0])
}

// list answers with the list of columns.
func (f *Capture) list(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	file, err := f.opened(ctx, e)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	pick := explore.Picks(f.Explore[0])
	pick.Workers = runtime.GOMAXPROCS(0)
	listing, err := explore.List(f.Files[0], file, pick)
	if listing == nil || ctx.Err() != nil {
		return nil, err
	}
	a := recording.Listing(listing, pick.Object != "" || pick.Instance != "" || pick.Counter != "", pick.Instance != "")
	return &ask.Reply{Answers: []*answer.Answer{a}, Partly: err}, nil
}

// extract answers with the values of columns. For a damaged file it writes the readable part.
func (f *Capture) extract(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	r := &ask.Reply{}
	if !e.Shared { // the values may not fit into memory
		r.Write = func(w io.Writer) error {
			return f.extracted(ctx, e, func(x *explore.Extraction) error {
				if err := table.CSV(w, recording.ExtractedTable(x)); err != nil || ctx.Err() != nil {
					return cmp.Or(err, x.Err())
				}
				if x.Rows == 0 && x.Outside > 0 {
					e.Tell(fmt.Sprintf("%s: all %s are outside --from and --to", f.Files[0], words.Plural(x.Outside, "row")))
				}
				for _, warning := range x.Warnings {
					e.Tell(warning)
				}
				r.Partly = x.Err()
				return nil
			})
		}
		return r, nil
	}
	return r, f.extracted(ctx, e, func(x *explore.Extraction) error {
		a, err := recording.Extracted(x)
		r.Answers = []*answer.Answer{a}
		return err
	})
}

// extracted opens the file and calls use with the extraction.
func (f *Capture) extracted(ctx context.Context, e *ask.Env, use func(*explore.Extraction) error) error {
	name := f.Files[0]
	file, err := f.opened(ctx, e)
	if err != nil {
		return err
	}
	defer file.Close()
	var again func() (io.ReadCloser, error)
	if info, err := os.Stat(name); e.Own != nil || name != open.StandardInput && err == nil && info.Mode().IsRegular() {
		again = func() (io.ReadCloser, error) { return f.opened(ctx, e) }
	}
	x, err := explore.Extract(name, file, again, f.Explore, runtime.GOMAXPROCS(0), explore.Stretch{From: f.Window[0], To: f.Window[1]})
	if err != nil {
		return err
	}
	defer x.Close()
	return use(x)
}
