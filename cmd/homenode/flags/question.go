package flags

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/ask"
	"homenode/internal/atomicfile"
	"homenode/internal/texttab"
	"homenode/internal/version"
	"homenode/numa"
	"homenode/output/format"
	"homenode/source/open"
)

// asking is a command that asks a question: its flags are the fields of the question, and those of every command that has such a question.
type asking struct {
	entry    *ask.Entry
	question ask.Question
	wrong    error // the first value that a field refused
	out      Output
	session  Source // how vCenters are reached, of a question that reads sources
	config   Config // of a question that judges
	table    Table  // of an answer with several tables
}

// Question returns the command of a question. The file help/NAME.txt says what it does; forms are those of its answer, all without any.
func Question(t *ask.Entry, files fs.FS, forms ...string) *cobra.Command {
	c := &asking{entry: t, question: t.Ask()}
	cmd := Describe(files, strings.ReplaceAll(t.Name, " ", "-"), &cobra.Command{RunE: c.run})
	least, most := 0, 0
	reads, judges := false, false
	for _, f := range ask.Fields(c.question) {
		if f.Argument && f.Needed {
			least++
		}
		switch {
		case f.Argument && f.Kind == ask.Texts:
			most = math.MaxInt
		case f.Argument:
			most++
		default:
			reads, judges = reads || f.Name == "nodes-per-socket", judges || f.Name == "choose"
			Group(cmd, f.Group, func(cmd *cobra.Command) { c.register(cmd, f) })
		}
	}
	cmd.Args = cobra.RangeArgs(least, most)
	if judges && !t.Unconfigured {
		Group(cmd, "Judge", c.config.Register)
	}
	if forms == nil {
		forms = format.Names
	}
	Group(cmd, "Output", func(cmd *cobra.Command) {
		c.out.Register(cmd, forms...)
		if t.Tables != nil {
			c.table.Register(cmd, t.Tables())
		}
	})
	if reads {
		Group(cmd, "Source", func(cmd *cobra.Command) { c.session.RegisterOnly(cmd, SourceSession...) })
	}
	return cmd
}

// register makes a flag of a field.
func (c *asking) register(cmd *cobra.Command, f *ask.Field) {
	flag := cmd.Flags().VarPF(&value{f, &c.wrong}, f.Name, "", f.Help)
	if f.Kind == ask.Truth {
		flag.NoOptDefVal = "true"
	}
	if f.Choices != nil {
		Complete(cmd, f.Name, Among(f.Choices))
	}
}

// A value is a field as the value of a flag. What it refuses is said when the command runs: pflag would name the flag in words of its own.
type value struct {
	field *ask.Field
	wrong *error
}

func (v *value) String() string {
	if v.field == nil { // of the library, which asks for the zero value
		return ""
	}
	return strings.Join(v.field.Values(), ",")
}

// Set takes the value of the flag.
func (v *value) Set(text string) error {
	if err := v.field.Set(text); err != nil && *v.wrong == nil {
		*v.wrong = err
	}
	return nil
}

// Type names the kind of value in the help.
func (v *value) Type() string {
	switch v.field.Kind {
	case ask.Truth:
		return "bool"
	case ask.Count:
		return "int"
	case ask.Number:
		return "float"
	case ask.Span:
		return "duration"
	case ask.Texts:
		if v.field.List {
			return "strings"
		}
		return "stringArray"
	}
	return "string"
}

func (c *asking) run(cmd *cobra.Command, args []string) error {
	if err := c.out.Check(cmd); err != nil {
		return err
	}
	if c.wrong != nil {
		return c.wrong
	}
	if c.entry.Tables != nil {
		if err := c.table.Check(cmd, &c.out); err != nil {
			return err
		}
	}
	rest := args
	for _, f := range ask.Fields(c.question) {
		if !f.Argument {
			continue
		}
		taken := rest
		if f.Kind != ask.Texts && len(rest) > 0 {
			taken = rest[:1]
		}
		for _, text := range taken {
			if err := f.Set(text); err != nil {
				return err
			}
		}
		rest = rest[len(taken):]
	}
	e, err := c.env(cmd)
	if err != nil {
		return err
	}
	r, err := c.entry.Answer(cmd.Context(), c.question, e)
	if err != nil {
		return err
	}
	return c.print(cmd, args, r)
}

// env returns what the command lends to its question.
func (c *asking) env(cmd *cobra.Command) (*ask.Env, error) {
	e := &ask.Env{
		Open: func(ctx context.Context, sources []string, o open.Options) (*numa.Fleet, []numa.Note, error) {
			own := c.session.Options(cmd)
			o.Dial, o.Progress = own.Dial, own.Progress
			return open.Fleet(ctx, sources, o)
		},
		Logs: func(wanted func(*numa.VM) bool) { c.session.Logs = wanted },
		Save: func(name string, data []byte) error {
			return atomicfile.Write(name, func(w io.Writer) error {
				_, err := w.Write(data)
				return err
			})
		},
		In: cmd.InOrStdin(), Today: time.Now(), Version: version.String(), Form: c.out.Format,
		Flags: map[string][]string{},
		Timed: IsTerminal(cmd.OutOrStdout()) && c.out.File == "", // elsewhere the same input gives the same bytes
		Warn:  func(text string) { Warn(cmd.ErrOrStderr(), text) },
		Progress: func(did, noun string) (func(done, total int), func()) {
			line := NewProgress(cmd, did, noun)
			return line.Show, line.Clear
		},
	}
	if cmd.Flags().Changed("table") {
		e.Table = c.table.Name
	}
	for _, name := range []string{"config", "credentials", "insecure"} {
		switch f := cmd.Flags().Lookup(name); {
		case f == nil || !f.Changed || f.Value.String() == "false":
		case f.Value.Type() == "bool":
			e.Flags[name] = nil
		default:
			e.Flags[name] = []string{f.Value.String()}
		}
	}
	if cmd.Flags().Lookup("config") != nil {
		var err error
		if e.Policy, err = c.config.Policy(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// print prints the reply, and returns what the exit code says.
func (c *asking) print(cmd *cobra.Command, args []string, r *ask.Reply) error {
	form := r.Form
	form.SourceFiles = SourceFiles(args)
	if form.Table == "" && !r.AllTables {
		form.Table = c.table.Name
	}
	var err error
	if r.Lines != nil {
		err = c.out.Write(cmd, func(w io.Writer, _ bool) error {
			for _, line := range r.Lines {
				if _, err := fmt.Fprintln(w, texttab.Clean(line)); err != nil {
					return err
				}
			}
			return nil
		})
	} else {
		err = c.out.PrintJudged(cmd, form, r.Answers...)
	}
	switch {
	case err != nil:
		return err
	case r.Found:
		return ErrFindings
	}
	return r.Partly
}
