package fleet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/numa"
	"homenode/rules"
	"homenode/size/fit"
	"homenode/source/scenario"
	"homenode/source/word"
)

// questionFlags ask about one VM on one host without a file: shapes, a release, and every
// word that a line of a scenario has for a VM.
type questionFlags struct {
	vm, host, release string
	words             map[string]*string // by word of a scenario
	settings          []string
	hostWords         string
}

func (f *questionFlags) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.vm, "vm", "", "without a SOURCE: a VM of this shape, such as 24x512GB")
	flags.StringVar(&f.host, "host", "", "without a SOURCE: a host of this shape, such as 2x16c/768GB or 2x32c/1TB/snc2")
	flags.StringVar(&f.release, "release", "8.0U3", "without a SOURCE: release of the host")
	flags.StringVar(&f.hostWords, "host-words", "", "without a SOURCE: more words about the host, as in a scenario: 'llcCores=8 option:Numa.PreferHT=1'")
	flags.StringArrayVar(&f.settings, "set", nil, "without a SOURCE: an advanced setting of the VM: numa.vcpu.maxPerVirtualNode=8")
	f.words = map[string]*string{}
	for _, key := range slices.Concat(word.VMKeys, []string{"stored"}) {
		if key == "vcpus" || key == "memory" || key == "template" || key == "folder" || key == "tags" || key == "product" {
			continue // the shape or a flag of sources has them, or they decide nothing
		}
		name := kebab(key)
		f.words[key] = flags.String(name, "", "without a SOURCE: "+key+"= of a scenario")
		if key != "hotAdd" && key != "coresPerSocket" && key != "hw" {
			must(flags.MarkHidden(name))
		}
		if slices.Contains([]string{"hotAdd", "memoryHotAdd", "vnumaHotAdd", "reserveAll"}, key) {
			flags.Lookup(name).NoOptDefVal = "on"
		}
	}
}

// must ends the program for a mistake of its own.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// kebab writes a word of a scenario as a flag: coresPerSocket is cores-per-socket.
func kebab(key string) string {
	var b strings.Builder
	for _, r := range key {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// asked returns the flags of a question that were given.
func (f *questionFlags) asked(cmd *cobra.Command) []string {
	names := []string{"vm", "host", "release", "host-words", "set"}
	for key := range f.words {
		names = append(names, kebab(key))
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return !cmd.Flags().Changed(name) })
}

// read returns the judged fleet and the name of the VM that is explained: of a SOURCE, or of the question. change is called
// with the fleet before it is judged; nil changes nothing.
func (f *questionFlags) read(cmd *cobra.Command, args []string, src *flags.Source, o rules.Options, change func(fleet *numa.Fleet, name string) error) (*rules.Result, string, error) {
	asked := f.asked(cmd)
	if len(args) > 1 && len(asked) == 0 && change == nil {
		r, _, err := src.Judged(cmd, o, args[:len(args)-1]...)
		return r, args[len(args)-1], err
	}
	fleet, name, err := f.fleetAsked(cmd, args, src)
	if err != nil {
		return nil, "", err
	}
	if change != nil {
		if err := change(fleet, name); err != nil {
			return nil, "", err
		}
	}
	return rules.Run(fleet, o), name, nil
}

// fleetAsked returns the fleet of a SOURCE or of the question, and the name of the VM.
func (f *questionFlags) fleetAsked(cmd *cobra.Command, args []string, src *flags.Source) (fleet *numa.Fleet, vm string, err error) {
	asked := f.asked(cmd)
	switch {
	case len(args) == 0 && len(asked) > 0:
		if fleet, err = f.fleet(); err == nil {
			err = src.State(fleet)
		}
		return fleet, askedVM, err
	case slices.Contains(asked, "host"):
		return nil, "", errors.New("--host describes a host where there is no SOURCE: --on names the one of the SOURCE to explain the VM on")
	case len(asked) > 0:
		return nil, "", fmt.Errorf("--%s describes a VM where there is no SOURCE: to change one of a SOURCE, homenode assess SOURCE --what-if", asked[0])
	case len(args) < 2:
		return nil, "", errors.New("want SOURCE... and VM, or --vm SHAPE and --host SHAPE: homenode explain --help")
	}
	fleet, err = src.Read(cmd, args[:len(args)-1]...)
	return fleet, args[len(args)-1], err
}

// The names of the VM and the host of a question.
const askedVM, askedHost = "vm", "host"

// fleet returns the VM and the host of the question as a fleet.
func (f *questionFlags) fleet() (*numa.Fleet, error) {
	if f.vm == "" || f.host == "" {
		return nil, errors.New("a question without a SOURCE needs --vm SHAPE and --host SHAPE: --vm 24x512GB --host 2x16c/768GB")
	}
	shape, err := fit.ParseShape(f.vm)
	if err != nil {
		return nil, fmt.Errorf("--vm: %w", err)
	}
	if shape.Count > 1 {
		return nil, fmt.Errorf("--vm: found %d VMs, want one", shape.Count)
	}
	release, err := numa.ParseRelease(f.release)
	if err != nil {
		return nil, fmt.Errorf("--release: %w", err)
	}
	if _, _, ok := numa.ModelOf(release); !ok {
		return nil, fmt.Errorf("--release: %w", numa.NotModelled(release))
	}
	on, err := fit.ParseType(f.host, release)
	if err != nil {
		return nil, fmt.Errorf("--host: %w", err)
	}
	fleet, err := scenario.Read("question", []byte(f.scenario(&shape, &on)))
	if err != nil {
		return nil, fmt.Errorf("%w (in %s)", err, strings.ReplaceAll(strings.TrimSpace(f.scenario(&shape, &on)), "\n", "; "))
	}
	fleet.Source = f.vm + " on " + f.host
	return fleet, nil
}

// scenario writes the question as one.
func (f *questionFlags) scenario(shape *fit.Shape, on *fit.Type) string {
	h := &on.Host
	var b strings.Builder
	fmt.Fprintf(&b, "release %s\nhost %s packages=%d nodes=%d cores=%d memory=%dMB", f.release, askedHost,
		h.Packages.Value, len(h.Nodes.Value), h.Nodes.Value[0].Cores, h.Memory.Value/numa.MiB)
	if !h.HyperThreading.Value {
		b.WriteString(" ht=off")
	}
	if mhz := h.CoreMHz.Value; mhz > 0 {
		fmt.Fprintf(&b, " mhz=%d", mhz)
	}
	if f.hostWords != "" {
		b.WriteString(" " + f.hostWords)
	}
	fmt.Fprintf(&b, "\nvm %s host=%s vcpus=%d memory=%dMB", askedVM, askedHost, shape.VCPUs, shape.Memory/numa.MiB)
	for _, key := range slices.Sorted(maps.Keys(f.words)) {
		if value := *f.words[key]; value != "" {
			fmt.Fprintf(&b, " %s=%s", key, wordValue(value))
		}
	}
	for _, setting := range f.settings {
		key, value, _ := strings.Cut(setting, "=")
		fmt.Fprintf(&b, " set:%s=%s", key, wordValue(value))
	}
	b.WriteByte('\n')
	return b.String()
}

// wordValue writes the value of a word: quoted where it has blanks.
func wordValue(value string) string {
	if strings.ContainsAny(value, " \t") {
		return `"` + value + `"`
	}
	return value
}
