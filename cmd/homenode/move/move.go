// Package move has the command that writes VMs for other platforms.
package move

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/change/move"
	"homenode/cmd/homenode/flags"
	"homenode/internal/version"
	"homenode/internal/words"
	"homenode/output/answer"
	"homenode/output/format"
	answers "homenode/output/move"
	"homenode/output/move/target"
	"homenode/rules"
)

// A command is what the user asked for.
type command struct {
	src    flags.Source
	out    flags.Output
	choose flags.Choice
	part   flags.Filter

	to    []string
	shape string
	hosts hosts
	check string
	patch string
	// renamed says that the file of patch is that of the only VM, whatever its name.
	renamed bool
}

// endings are those of pages, by form.
var endings = map[string]string{"table": "txt", "json": "json", "html": "html", "csv": "csv", "markdown": "md"}

// read are the forms that pages of VMs are written in: the others have all of them in one file.
var read = []string{"table", "html", "markdown"}

// filters are the flags that narrow what is moved: those of findings do not.
var filters = []string{"vm", "cluster", "host", "folder", "tag", "select"}

// New returns the command.
func New() *cobra.Command {
	c := &command{}
	cmd := &cobra.Command{Args: cobra.ArbitraryArgs, RunE: c.run}
	flags.Group(cmd, "Which VMs", func(cmd *cobra.Command) { c.part.RegisterOnly(cmd, filters...) })
	flags.Group(cmd, "Target", c.registerTarget, c.choose.Register)
	flags.Group(cmd, "Hosts", c.hosts.register)
	flags.Group(cmd, "Files of other tools", c.registerFiles)
	flags.Group(cmd, "Output", func(cmd *cobra.Command) { c.out.Register(cmd, "table", "json", "html", "csv", "markdown") })
	flags.Group(cmd, "Source", func(cmd *cobra.Command) { c.src.RegisterOnly(cmd, flags.SourceSeen...) })
	cmd.Flags().Lookup("output").Usage = "write the files, and a page for each VM with losses of its own, into this folder, which is new or empty"
	return cmd
}

func (c *command) registerTarget(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&c.to, "to", []string{"libvirt"}, "platforms: "+strings.Join(move.Names(), ", "))
	fl.StringVar(&c.shape, "shape", move.Same, "shape of guests: same as on vSphere, fit for --hosts, or flat")
	flags.Complete(cmd, "to", flags.Among(move.Names()))
	flags.Complete(cmd, "shape", flags.Among(move.Shapes))
}

func (c *command) registerFiles(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&c.check, "check", "", "check the files in this folder instead")
	fl.StringVar(&c.patch, "patch", "", "put the NUMA of the moves into this domain XML of another tool, or those of a folder, instead: -o DIR gets the result")
	fl.BoolVar(&c.renamed, "renamed", false, "the file of --patch is that of the only VM of --vm, whatever name, vCPUs and memory it has")
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	if err := c.out.Check(cmd); err != nil {
		return err
	}
	folder := c.out.File
	if c.out.File = ""; folder == "-" {
		folder = ""
	}
	if c.check != "" {
		return c.checkFiles(cmd, args, folder)
	}
	if len(args) == 0 {
		return errors.New("want a SOURCE, or --check DIR: homenode move --help")
	}
	platforms, o, err := c.asked()
	if err != nil {
		return err
	}
	if err := c.hosts.refuse(cmd); err != nil {
		return err
	}
	choices, err := c.choose.Choices()
	if err != nil {
		return err
	}
	shown, err := c.part.Compile()
	if err != nil {
		return err
	}
	whole, _, err := c.src.Judged(cmd, rules.Options{Choices: choices, Today: time.Now()}, args...)
	if err != nil {
		return err
	}
	result, err := shown.Fleet(whole)
	if err != nil {
		return err
	}
	planned, err := c.hosts.plan(result, platforms, &o)
	if err != nil {
		return err
	}
	if planned != nil {
		planned.Whole = whole
	}
	moves := move.Fleet(result, platforms, o)
	if len(moves) == 0 {
		return errors.New(strings.Join(args, ", ") + ": no VM is shown that could be judged: there is nothing to move")
	}
	names := slices.Concat(flags.SourceNames, filters, []string{"choose", "to", "shape", "patch", "renamed"}, hostNames)
	if c.patch != "" {
		return c.patchAll(cmd, moves, folder, flags.Typed(cmd, args, names))
	}
	files := target.Files(moves)
	named := namesOf(files)
	answer := answers.Fleet(moves, planned, folder, named, flags.Typed(cmd, args, names)...)
	if folder != "" {
		if err := c.write(folder, moves, planned, answer, files, named); err != nil {
			return err
		}
	}
	if err := c.out.Print(cmd, answer); err != nil {
		return err
	}
	if slices.ContainsFunc(moves, func(m *move.Move) bool { return m.Refused != nil }) {
		return flags.ErrFindings
	}
	return c.src.Incomplete()
}

// asked reads the flags that say where VMs go and how.
func (c *command) asked() (to []*move.Platform, o move.Options, err error) {
	for _, name := range c.to {
		p := move.PlatformOf(name)
		switch {
		case p == nil:
			return nil, o, fmt.Errorf("--to: found %q, want one of %s", name, strings.Join(move.Names(), ", "))
		case slices.Contains(to, p):
			return nil, o, fmt.Errorf("--to: found %s twice", name)
		}
		to = append(to, p)
	}
	if o.Shape = c.shape; !slices.Contains(move.Shapes, c.shape) {
		return nil, o, fmt.Errorf("--shape: found %q, want one of %s", c.shape, strings.Join(move.Shapes, ", "))
	}
	if c.patch != "" && (len(to) != 1 || to[0].Name != "libvirt") {
		return nil, o, errors.New("--patch takes domain XML: --to is libvirt")
	}
	if c.renamed && c.patch == "" {
		return nil, o, errors.New("--renamed is about --patch FILE")
	}
	if o.Host, err = c.hosts.read(); err != nil {
		return nil, o, err
	}
	if o.Shape == move.Fit && o.Host == nil {
		return nil, o, errors.New("--shape fit wants --hosts: the hosts of the target, or what each has, such as 2x32c/1TB")
	}
	return to, o, nil
}

// patchAll patches what another tool wrote.
func (c *command) patchAll(cmd *cobra.Command, moves []*move.Move, folder string, typed []string) error {
	list, err := patchFiles(c.patch, folder, moves, c.renamed)
	if err != nil {
		return err
	}
	if err := c.out.Print(cmd, answers.Patches(list, folder, typed...)); err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(p answers.Patch) bool { return p.Bad() }) {
		return flags.ErrFindings
	}
	return c.src.Incomplete()
}

// namesOf returns the names of the files of a move.
func namesOf(files []target.File) func(m *move.Move) []string {
	of := map[*move.Move][]string{}
	for _, f := range files {
		for _, m := range f.Of {
			of[m] = append(of[m], f.Name)
		}
	}
	return func(m *move.Move) []string { return of[m] }
}

// write writes the files, the table of all VMs, and a page for each VM with losses of its own, into a folder, and nothing outside of it.
func (c *command) write(folder string, moves []*move.Move, planned *answers.Planned, all *answer.Answer, files []target.File, named func(m *move.Move) []string) error {
	out, err := open(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		out.write(f.Name, func(w io.Writer) error { _, err := w.Write(f.Data); return err })
	}
	for first := 0; first < len(moves); {
		next := first + 1
		for next < len(moves) && moves[next].Name == moves[first].Name {
			next++
		}
		if of := moves[first:next]; slices.Contains(read, c.out.Format) && slices.ContainsFunc(of, func(m *move.Move) bool { return len(m.Own()) > 0 }) {
			page := answers.VM(of, planned, named)
			out.write(of[0].Name+"."+endings[c.out.Format], func(w io.Writer) error { return writePage(w, c.out.Format, page) })
		}
		first = next
	}
	out.write(move.TableName+"."+endings[c.out.Format], func(w io.Writer) error { return writePage(w, c.out.Format, all) })
	for _, d := range all.Drawings {
		out.write(move.TableName+"."+d.ID+".svg", d.Draw)
	}
	return out.close()
}

func writePage(w io.Writer, form string, a *answer.Answer) error {
	return format.Write(w, form, a, format.Options{Version: version.String()})
}

// checkFiles checks the files of a folder.
func (c *command) checkFiles(cmd *cobra.Command, args []string, folder string) error {
	if len(args) > 0 || folder != "" {
		return errors.New("--check takes a folder, no SOURCE and no -o")
	}
	if err := flags.Refuse(cmd, "--check reads files as they are", slices.Concat([]string{"to", "shape", "patch", "renamed", "evidence"}, hostNames, filters)...); err != nil {
		return err
	}
	checked, err := check(c.check)
	if err != nil {
		return err
	}
	if checked.Files+len(checked.Unread) == 0 {
		below := ""
		if checked.Folders != nil {
			below = fmt.Sprintf(": %s in it are not looked into", words.Plural(len(checked.Folders), "folder"))
			if len(checked.Folders) == 1 {
				below = fmt.Sprintf(": the folder %s in it is not looked into", checked.Folders[0])
			}
		}
		return fmt.Errorf("%s: found no domain XML, arguments of QEMU or configuration of Proxmox%s", c.check, below)
	}
	if err := c.out.Print(cmd, answers.Faults(checked)); err != nil {
		return err
	}
	if len(checked.Faults) > 0 {
		return flags.ErrFindings
	}
	if n := len(checked.Unread); n > 0 {
		return fmt.Errorf("not everything was checked: %s could not be read", words.Plural(n, "file"))
	}
	return nil
}
