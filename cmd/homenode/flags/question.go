package flags

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/output/format"
)

// Asking registers the fields of questions as flags, and provides their Env.
type Asking struct {
	Output  Output
	Session Session // for questions that read sources
	Config  Config  // for questions with an assessment
	table   Table   // for answers with several tables

	wrong  error // error of the first invalid flag value
	beside Beside
}

// Beside has the parts of a question's command that only a command line has. All are optional.
type Beside struct {
	Register func(cmd *cobra.Command)                                    // registers flags of the output
	Lend     func(cmd *cobra.Command, e *ask.Env) error                  // adds resources to the Env
	Divide   func(cmd *cobra.Command, args []string) ([][]string, error) // splits the arguments, one list for each positional field
}

// Question returns the command of a question. The file help/NAME.txt has its help. forms are the output forms; the default is all.
func Question(t *ask.Entry, files fs.FS, forms ...string) *cobra.Command {
	return QuestionBeside(t, files, Beside{}, forms...)
}

// QuestionBeside returns the command of a question with additional parts.
func QuestionBeside(t *ask.Entry, files fs.FS, beside Beside, forms ...string) *cobra.Command {
	q, c := t.Ask(), &Asking{beside: beside}
	cmd := Describe(files, strings.ReplaceAll(t.Name, " ", "-"), &cobra.Command{RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args, t, q) }})
	c.Register(cmd, q)
	cmd.Args = arguments(q)
	if t.Configured {
		Group(cmd, "Judge", c.Config.Register)
	}
	if forms == nil {
		forms = format.Names
	}
	Group(cmd, "Output", func(cmd *cobra.Command) {
		c.Output.Register(cmd, forms...)
		if t.Tables != nil {
			c.table.Register(cmd, t.Tables())
		}
	})
	if beside.Register != nil {
		Group(cmd, "Output", beside.Register)
	}
	if ask.Reads(q) {
		Group(cmd, "Source", c.Session.Register)
	}
	return cmd
}

// Register adds a flag for each field that is not positional.
func (c *Asking) Register(cmd *cobra.Command, q ask.Fielded) {
	for _, f := range ask.Fields(q) {
		if f.Argument {
			continue
		}
		Group(cmd, f.Group, func(cmd *cobra.Command) { c.register(cmd, f) })
	}
}

// arguments returns the validation of the number of arguments.
func arguments(q ask.Question) cobra.PositionalArgs {
	least, most := 0, 0
	for _, f := range ask.Fields(q) {
		switch {
		case !f.Argument:
			continue
		case f.Needed:
			least++
		}
		if most++; f.Kind == ask.Texts {
			most = math.MaxInt
		}
	}
	return cobra.RangeArgs(least, most)
}

// register adds the flag of a field.
func (c *Asking) register(cmd *cobra.Command, f *ask.Field) {
	flag := cmd.Flags().VarPF(&value{f, &c.wrong}, f.Name, "", f.Help)
	if f.Kind == ask.Truth {
		flag.NoOptDefVal = "true"
	}
	if f.Choices != nil {
		Complete(cmd, f.Name, Among(f.Choices))
	}
}

// A value adapts a field to pflag. Errors are reported when the command runs, because pflag would add its own wording.
type value struct {
	field *ask.Field
	wrong *error
}

func (v *value) String() string {
	if v.field == nil || v.field.Default == "" && !v.field.Given() { // the help then shows no default
		return ""
	}
	return strings.Join(v.field.Values(), ",")
}

// Set sets the value of the flag. It stores an error in v.wrong.
func (v *value) Set(text string) error {
	if err := v.field.Set(text); err != nil && *v.wrong == nil {
		*v.wrong = err
	}
	return nil
}

// Type is the type shown in the help.
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

func (c *Asking) run(cmd *cobra.Command, args []string, t *ask.Entry, q ask.Question) error {
	err := c.Output.Check(cmd)
	if err == nil && c.beside.Divide != nil {
		err = c.takeDivided(cmd, q, args)
	} else if err == nil {
		err = c.Take(q, args)
	}
	if err == nil && t.Tables != nil {
		err = c.table.Check(cmd, &c.Output)
	}
	if err != nil {
		return err
	}
	e, err := c.Env(cmd)
	if err == nil && c.beside.Lend != nil {
		err = c.beside.Lend(cmd, e)
	}
	if err != nil {
		return err
	}
	r, err := t.Answer(cmd.Context(), q, e)
	if err != nil {
		return err
	}
	return c.Print(cmd, args, r)
}

// Take sets the positional fields. It returns the error of an invalid flag first.
func (c *Asking) Take(q ask.Fielded, args []string) error {
	if c.wrong != nil {
		return c.wrong
	}
	for _, f := range ask.Fields(q) {
		if !f.Argument {
			continue
		}
		taken := args
		if f.Kind != ask.Texts && len(args) > 0 {
			taken = args[:1]
		}
		for _, text := range taken {
			if err := f.Set(text); err != nil {
				return err
			}
		}
		args = args[len(taken):]
	}
	return nil
}

// takeDivided sets the positional fields from the lists of Beside.Divide.
func (c *Asking) takeDivided(cmd *cobra.Command, q ask.Question, args []string) error {
	all, err := c.beside.Divide(cmd, args)
	err = cmp.Or(c.wrong, err)
	for _, f := range ask.Fields(q) {
		if !f.Argument || len(all) == 0 {
			continue
		}
		for _, text := range all[0] {
			err = cmp.Or(err, f.Set(text))
		}
		all = all[1:]
	}
	return err
}

// Env returns the resources for the question.
func (c *Asking) Env(cmd *cobra.Command) (*ask.Env, error) {
	e := c.Session.Env(cmd)
	e.Form, e.Timed = c.Output.Format, IsTerminal(cmd.OutOrStdout()) && c.Output.File == "" // elsewhere the output must be reproducible
	if cmd.Flags().Changed("table") {
		e.Table = c.table.Name
	}
	var err error
	if cmd.Flags().Lookup("config") != nil {
		e.Policy, err = c.Config.Policy()
	}
	return e, err
}

// given returns the values of the named flags that were given; an enabled boolean flag has none.
func given(cmd *cobra.Command, names ...string) map[string][]string {
	out := map[string][]string{}
	for _, name := range names {
		switch f := cmd.Flags().Lookup(name); {
		case f == nil || !f.Changed || f.Value.String() == "false":
		case f.Value.Type() == "bool":
			out[name] = nil
		default:
			out[name] = []string{f.Value.String()}
		}
	}
	return out
}

// Print prints the reply and returns the error that sets the exit code.
func (c *Asking) Print(cmd *cobra.Command, args []string, r *ask.Reply) error {
	form := r.Form
	form.SourceFiles = SourceFiles(args)
	switch {
	case c.Output.Format != "csv" && !cmd.Flags().Changed("table"):
		form.Table = ""
	case form.Table == "" && !r.AllTables:
		form.Table = c.table.Name
	}
	var err error
	if r.Write != nil {
		err = c.Output.Write(cmd, func(w io.Writer, _ bool) error { return r.Write(w) })
	} else if r.Lines != nil {
		err = c.Output.Write(cmd, func(w io.Writer, _ bool) error {
			for _, line := range r.Lines {
				if _, err := fmt.Fprintln(w, texttab.Clean(line)); err != nil {
					return err
				}
			}
			return nil
		})
	} else {
		err = c.Output.PrintJudged(cmd, form, r.Answers...)
	}
	switch {
	case err != nil:
		return err
	case r.Found:
		return ErrFindings
	}
	return r.Partly
}
