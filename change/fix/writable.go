package fix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
)

// A form is the values that a setting may be given.
type form struct {
	least, most int // of a number, of each number of a list
	step        int // a number is a multiple of it; 0 for any
	list        bool
	single      bool // a list without ranges and blanks
	truth       bool
	only        []string // of a text
}

func number(least, most int) form { return form{least: least, most: most} }

// settingForms are the settings of VMs that homenode may write, and none else: those that predictions read, whose written value is read back.
// A vCPU or client of an affinity is <n>.
var settingForms = map[string]form{
	"cpuid.maxvcpus":                       number(1, numa.MaxVCPUs),
	"cpuid.numsmt":                         number(1, 2),
	"numa.allowhotadd":                     {truth: true},
	"numa.autosize":                        {truth: true},
	"numa.autosize.cookie":                 number(0, 1<<31-1),
	"numa.autosize.once":                   {truth: true},
	"numa.autosize.vcpu.maxpervirtualnode": number(0, numa.MaxVCPUs),
	"numa.consolidate":                     {truth: true},
	"numa.nodeaffinity":                    {list: true, most: numa.MaxNodes - 1},
	"numa.vcpu.corespernode":               number(0, numa.MaxVCPUs),
	"numa.vcpu.followcorespersocket":       {truth: true},
	"numa.vcpu.maxperclient":               number(0, numa.MaxVCPUs),
	"numa.vcpu.maxpermachinenode":          number(0, numa.MaxVCPUs),
	"numa.vcpu.maxpervirtualnode":          number(0, numa.MaxVCPUs),
	"numa.vcpu.min":                        number(0, numa.MaxVCPUs),
	"numa.vcpu.preferht":                   {truth: true},
	"sched.cpu.affinity":                   {list: true, most: mostPCPU},
	"sched.mem.affinity":                   {list: true, most: numa.MaxNodes - 1},
	"sched.mem.lpage.enable1gpage":         {truth: true},
	"sched.node<n>.affinity":               {list: true, most: numa.MaxNodes - 1},
	"sched.vcpu<n>.affinity":               {list: true, most: mostPCPU},
	strings.ToLower(RebootKey):             {truth: true},
}

const mostPCPU = numa.MaxNodes*numa.MaxCoresPerNode - 1

// optionForms are the options of hosts that homenode may write, besides those that change a simulation.
var optionForms = map[string]form{
	"mem.allocguestlargepage":   number(0, 1),
	"cpu.allowwidevsmp":         number(0, 1),
	"numa.followcorespersocket": number(0, 1),
	"numa.maxproximitydomains":  number(0, numa.MaxNodes),
	"numa.preferht":             number(0, 1),
}

// ByArrival reports whether an edit of a host acts on VMs that arrive there or power on: running VMs keep their behaviour. Clients are made anew at a
// vMotion (rule book D-1), and large pages are given then (NiTRo, Large pages on demand, hypervisor.fr, 2014-09-03).
func ByArrival(e numa.Edit) bool {
	return e.Kind == numa.EditHostOption && (strings.EqualFold(e.Key, "Numa.PreferHT") || strings.EqualFold(e.Key, "Mem.AllocGuestLargePage"))
}

// kindForms are the properties of VMs that homenode may write.
var kindForms = map[numa.EditKind]form{
	numa.EditHardware:          number(3, 99),
	numa.EditVCPUs:             number(1, numa.MaxVCPUs),
	numa.EditMemory:            {least: 4, most: int(numa.MaxVMMemory / numa.MiB), step: 4}, // "a multiple of 4 MB", vSphere Virtual Machine Administration
	numa.EditCoresPerSocket:    number(0, numa.MaxVCPUs),
	numa.EditCPUHotAdd:         {truth: true},
	numa.EditMemoryHotAdd:      {truth: true},
	numa.EditCoresPerNUMANode:  number(0, numa.MaxVCPUs),
	numa.EditVNUMAHotAdd:       {truth: true},
	numa.EditCPUAffinity:       {list: true, single: true, most: mostPCPU}, // a list of numbers in the API
	numa.EditLatency:           {only: []string{"low", "normal", "medium", "high"}},
	numa.EditReserveAll:        {truth: true},
	numa.EditMemoryReservation: number(0, int(numa.MaxVMMemory/numa.MiB)),
	numa.EditCPUReservation:    number(0, 1<<31-1),
}

// Plannable says why no plan makes an edit; nil when one may: it is Writable, and no key that the run itself sets. A rollback takes such a key back.
func Plannable(e numa.Edit) error {
	if e.Kind == numa.EditExtraConfig && strings.EqualFold(e.Key, RebootKey) {
		return fmt.Errorf("%s is set by --power reboot alone, and by no plan", RebootKey)
	}
	return Writable(e)
}

// Writable says why homenode does not write an edit; nil when it does: the setting is one of a closed list, and the value has its form.
func Writable(e numa.Edit) error {
	var f form
	known := false
	switch e.Kind {
	case numa.EditExtraConfig:
		f, known = settingForms[general(strings.ToLower(e.Key))]
	case numa.EditHostOption:
		f, known = optionForm(e.Key)
	case numa.EditDRSRule:
		return writableRule(e)
	default:
		f, known = kindForms[e.Kind]
		known = known && e.Key == ""
	}
	if !known {
		return fmt.Errorf("%s %q is no setting that homenode writes", e.Kind, e.Key)
	}
	if i := strings.IndexFunc(e.Key+e.To.Text, func(r rune) bool { return r > unicode.MaxASCII }); i >= 0 { // letters that look or fold like others
		return fmt.Errorf("%s: found %+q, which has a letter that no setting has", e.Name(), e.Key+" = "+e.To.Text)
	}
	if !printable(e.To.Text) {
		return fmt.Errorf("%s: found %q, which has control characters", e.Name(), e.To.Text)
	}
	if err := (&Known{string(e.Kind), e.From.Text}).check(); e.From.Set && (!printable(e.From.Text) || e.Key == "" && err != nil) {
		return fmt.Errorf("%s: the value that it had, %.80q, is none that a setting has", e.Name(), e.From.Text)
	}
	if !e.To.Set && (e.Kind == numa.EditExtraConfig || e.Kind == numa.EditCoresPerNUMANode || f.truth && e.Kind != numa.EditHostOption) {
		return nil // it is removed, or left to its default
	}
	if !e.To.Set {
		return fmt.Errorf("%s: found no value to write", e.Name())
	}
	if key := strings.ToLower(e.Key); key == "sched.cpu.affinity" || key == "sched.mem.affinity" { // "silently ignored", API reference of extraConfig
		return fmt.Errorf("%s has a field of its own, and vSphere ignores it as a setting", e.Key)
	}
	if err := f.check(e.To.Text); err != nil {
		return fmt.Errorf("%s: %w", e.Name(), err)
	}
	if n, err := digits(e.To.Text); e.Kind == numa.EditHardware {
		if _, known := numa.HardwareOf(n); err != nil || !known {
			return fmt.Errorf("found the virtual hardware version %s, which no ESXi is known to have", e.To)
		}
	}
	if was, now := e.From.Text, e.To.Text; e.Kind == numa.EditHardware && e.From.Set && (len(now) < len(was) || len(now) == len(was) && now < was) {
		return fmt.Errorf("the virtual hardware version cannot be lowered, from %s to %s", was, now)
	}
	return nil
}

// general replaces the number of a vCPU or client in the key of an affinity.
func general(key string) string {
	for _, prefix := range []string{"sched.vcpu", "sched.node"} {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			if n, found := strings.CutSuffix(rest, ".affinity"); found {
				if i, err := strconv.ParseUint(n, 10, 16); err == nil && i < numa.MaxVCPUs {
					return prefix + "<n>.affinity"
				}
			}
		}
	}
	return key
}

func optionForm(key string) (form, bool) {
	if f, ok := optionForms[strings.ToLower(key)]; ok {
		return f, true
	}
	for _, o := range scheduler.HostOptions() {
		if strings.EqualFold(o.Key, key) {
			return number(o.Least, o.Most), true
		}
	}
	return form{}, false
}

// check says why a text is no value of the form.
func (f *form) check(text string) error {
	switch {
	case f.truth && !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false"):
		return fmt.Errorf("found %q, want TRUE or FALSE", text)
	case f.truth || slices.Contains(f.only, text):
		return nil
	case f.only != nil:
		return fmt.Errorf("found %q, want one of %s", text, strings.Join(f.only, ", "))
	case f.list && (text == "" || !f.single && strings.EqualFold(text, "all")):
		return nil
	case f.list:
		return f.checkList(text)
	}
	if n, err := digits(text); err != nil || n < f.least || n > f.most {
		return fmt.Errorf("found %q, want a number from %d to %d", text, f.least, f.most)
	} else if f.step > 0 && n%f.step != 0 {
		return fmt.Errorf("found %d, want a multiple of %d", n, f.step)
	}
	return nil
}

// digits reads a number without a sign.
func digits(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err
}

// checkList reads numbers and ranges with commas.
func (f *form) checkList(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		if f.single && strings.ContainsAny(part, "- ") {
			return fmt.Errorf("found %q, want numbers with commas, without ranges and blanks", text)
		}
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := digits(low)
		b := a
		if isRange && err == nil {
			b, err = digits(high)
		}
		if err != nil || b < a || b > f.most {
			return fmt.Errorf("found %q, want numbers from 0 to %d with commas", text, f.most)
		}
	}
	return nil
}

// writableRule checks a rule of DRS: one that homenode named, whose members are IDs.
func writableRule(e numa.Edit) error {
	v := e.To
	if !v.Set {
		v = e.From
	}
	rule, err := parseDRSValue(v.Text)
	if err == nil && e.Key != rule.name() {
		err = fmt.Errorf("its name does not fit %q", v.Text)
	}
	if err == nil && e.From.Set == e.To.Set {
		err = fmt.Errorf("a rule is added or removed")
	}
	if err != nil {
		return fmt.Errorf("the DRS rule %q: %w", e.Key, err)
	}
	return nil
}

// parseDRSValue reads what DRSValue.String writes.
func parseDRSValue(text string) (DRSValue, error) {
	kind, rest, _ := strings.Cut(text, " ")
	vms, hosts, on := strings.Cut(rest, " on ")
	v := DRSValue{Kind: DRSKind(kind), VMs: strings.Split(vms, ",")}
	if on {
		v.Hosts = strings.Split(hosts, ",")
	}
	if !slices.Contains([]DRSKind{Apart, Together, Prefer}, v.Kind) || on != (v.Kind == Prefer) || vms == "" || on && hosts == "" || v.String() != text || !printable(text) {
		return v, fmt.Errorf("found %q, want a rule such as \"apart vm-1,vm-2\"", text)
	}
	return v, nil
}

// printable reports whether a text has no control characters and no more bytes than a setting may have.
func printable(text string) bool {
	return len(text) <= mostText && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// mostText bounds an ID, a name and a value; a rule of DRS lists the IDs of its VMs.
const mostText = 64 << 10
