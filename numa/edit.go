package numa

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An EditKind is the target of an Edit: a property of the vSphere API, or a setting by its key.
type EditKind string

// The kinds of edits of a VM, in the order of writing.
const (
	EditHardware          EditKind = "hardware"           // virtual hardware version; irreversible
	EditVCPUs             EditKind = "vcpus"              // numCPUs
	EditMemory            EditKind = "memory"             // memoryMB
	EditCoresPerSocket    EditKind = "coresPerSocket"     // numCoresPerSocket; 0 is assigned at power on
	EditCPUHotAdd         EditKind = "cpuHotAdd"          // cpuHotAddEnabled
	EditMemoryHotAdd      EditKind = "memoryHotAdd"       // memoryHotAddEnabled
	EditCoresPerNUMANode  EditKind = "coresPerNUMANode"   // virtualNuma.coresPerNumaNode; 0 is assigned at power on
	EditVNUMAHotAdd       EditKind = "vnumaHotAdd"        // virtualNuma.exposeVnumaOnCpuHotadd
	EditCPUAffinity       EditKind = "cpuAffinity"        // PCPU numbers with commas; "" is none
	EditLatency           EditKind = "latencySensitivity" // latencySensitivity.level
	EditMemoryReservation EditKind = "memoryReservation"  // memoryAllocation.reservation in MB
	EditReserveAll        EditKind = "reserveAll"         // memoryReservationLockedToMax
	EditCPUReservation    EditKind = "cpuReservation"     // cpuAllocation.reservation in MHz
	EditExtraConfig       EditKind = "extraConfig"        // a setting; absent is removed
	EditHostOption        EditKind = "hostOption"         // an advanced option of a host
	EditDRSRule           EditKind = "drsRule"            // a rule of a cluster by its name; absent is removed
)

// The kinds of edits that advice names but homenode does not write.
const (
	EditIOMMU          EditKind = "iommu"          // flags.vvtdEnabled
	EditMemoryAffinity EditKind = "memoryAffinity" // numbers of nodes with commas; "" is none
)

var vmEdits = []EditKind{EditHardware, EditVCPUs, EditMemory, EditCoresPerSocket, EditCPUHotAdd, EditMemoryHotAdd,
	EditCoresPerNUMANode, EditVNUMAHotAdd, EditCPUAffinity, EditLatency, EditMemoryReservation, EditReserveAll, EditCPUReservation}

// Written reports whether homenode writes edits of the kind, all of which change a property of a VM.
func (k EditKind) Written() bool { return slices.Contains(vmEdits, k) }

// A Needs is the condition under which an edit takes effect.
type Needs string

// The needs of edits, which compare as they cost. An edit with NeedsOff is written while the VM is powered off.
const (
	NeedsNothing Needs = ""
	NeedsCycle   Needs = "cycle" // a power cycle; it may be written before
	NeedsOff     Needs = "off"   // powered off
)

// A Value is the value of a setting. The zero Value is an absent setting.
type Value struct {
	Text string
	Set  bool
}

// Is returns a setting with this value.
func Is(text string) Value { return Value{text, true} }

// String returns the value, "absent" for none.
func (v Value) String() string {
	if !v.Set {
		return "absent"
	}
	return v.Text
}

// Same reports whether ESXi treats a and b as equal: TRUE and FALSE ignore case.
func (v Value) Same(o Value) bool {
	isBool := strings.EqualFold(v.Text, "true") || strings.EqualFold(v.Text, "false")
	return v == o || v.Set && o.Set && isBool && strings.EqualFold(v.Text, o.Text)
}

// An Edit changes one setting from one value to another.
type Edit struct {
	Kind EditKind
	Key  string // of extraConfig, hostOption and drsRule
	From Value
	To   Value
	// Assumed: From was not read. It is predicted, or assumed to be unset.
	Assumed bool
}

// Needs returns the condition under which the edit takes effect (vSphere API, VirtualMachineConfigSpec: properties that change "only when
// powered off"; settings are read at power-on, rule book D-1; CPU affinity: vSphere Virtual Machine Administration 6.7, configure processor
// scheduling affinity).
func (e Edit) Needs() Needs {
	switch e.Kind {
	case EditHostOption, EditDRSRule, EditMemoryAffinity, EditReserveAll, EditMemoryReservation, EditCPUReservation:
		return NeedsNothing
	case EditExtraConfig:
		return NeedsCycle
	}
	return NeedsOff
}

// Stated reports whether the edit has both values of a setting that is never absent, so that it can be compared and reverted.
func (e Edit) Stated() bool {
	switch e.Kind {
	case EditHardware, EditVCPUs, EditMemory, EditCoresPerSocket, EditLatency, EditMemoryReservation, EditCPUReservation, EditHostOption:
		return e.From.Set && e.To.Set
	}
	return true
}

// Undo returns the edit that reverts e once it is made. It changes nothing where e removed a setting whose value was only assumed.
func (e Edit) Undo() Edit {
	if e.Kind == EditExtraConfig && e.Assumed && e.From.Set {
		e.From = e.To
	}
	e.From, e.To, e.Assumed = e.To, e.From, false
	return e
}

// Was returns a text for From, and marks it if it is assumed.
func (e Edit) Was(text string) string {
	if e.Assumed {
		return text + " (assumed)"
	}
	return text
}

// Like reports whether both edits change the same thing.
func (e Edit) Like(o Edit) bool { return e.Kind == o.Kind && e.Key == o.Key }

// Name returns the name of the changed property: the kind, or the key.
func (e Edit) Name() string {
	if e.Key != "" {
		return e.Key
	}
	return string(e.Kind)
}

// NUMANodesKey is the advanced setting behind NUMA Nodes of the vSphere Client: the cores of each virtual node.
const NUMANodesKey = "numa.vcpu.coresPerNode"

// vnumaHotAddKey is the advanced setting behind vNUMA with CPU hot add.
const vnumaHotAddKey = "numa.allowHotadd"

// sizeText returns the value of the setting behind NUMA Nodes; "" for nodes that are assigned at power on.
func sizeText(cores int) string {
	if cores == 0 {
		return ""
	}
	return strconv.Itoa(cores)
}

// stateBehind gives the setting behind a field its value, and removes it for "", where the configuration states it.
func (c *Config) stateBehind(key, value string) {
	if _, set := c.Settings.Value.Lookup(key); !set {
		return
	}
	if c.Settings.Value = c.Settings.Value.Without(key); value != "" {
		c.Settings.Value = c.Settings.Value.With(key, value)
	}
}

// Title returns the name in the vSphere Client of a setting, with its key in parentheses: the setting is the word of a what-if, the kind of an edit, or a key,
// which is returned as it is where the Client has no name for it.
func Title(setting string) string {
	if setting == string(EditCoresPerNUMANode) || strings.EqualFold(setting, NUMANodesKey) {
		return "cores of NUMA Nodes (" + NUMANodesKey + ")"
	}
	for i := range VMFacts {
		if p := &VMFacts[i]; setting == p.Word || setting != "" && setting == string(p.Edit) {
			return p.Name
		}
	}
	return setting
}

// titles are the names of edits with the units of their values, and of those that change no VM.
var titles = map[EditKind]string{
	EditHardware: "virtual hardware", EditMemory: "memory (MB)", EditDRSRule: "DRS rule",
	EditMemoryReservation: "memory reservation (MB)", EditCPUReservation: "CPU reservation (MHz)",
}

// Text describes the edit for human readers: "CPU hot add on → off".
func (e Edit) Text() string {
	name := cmp.Or(titles[e.Kind], Title(e.Name()))
	if e.From == e.To { // a rollback of a size that ESXi has stored since: the present value is unknown
		return fmt.Sprintf("%s → %s", name, e.shown(e.To))
	}
	return fmt.Sprintf("%s %s → %s", name, e.Was(e.shown(e.From)), e.shown(e.To))
}

// shown formats a value for human readers.
func (e Edit) shown(v Value) string {
	switch {
	case e.Key == "" && v.Text == "true":
		return "on"
	case e.Key == "" && v.Text == "false":
		return "off"
	case e.Kind == EditCoresPerNUMANode && !v.Set:
		return "automatic"
	case v.Text == "0" && (e.Kind == EditCoresPerSocket || e.Kind == EditCoresPerNUMANode):
		return "automatic"
	case v.Set && v.Text == "" && e.Kind == EditCPUAffinity:
		return "none"
	}
	return v.String()
}

// ValueOf returns the value in the configuration of the setting that the edit changes.
func (e Edit) ValueOf(c *Config) Value {
	switch e.Kind {
	case EditCoresPerSocket:
		if c.AutoCoresPerSocket.Value {
			return Is("0")
		}
	case EditCoresPerNUMANode:
		switch {
		case c.AutoCoresPerNUMANode.Value:
			return Is("0")
		case c.AutoCoresPerNUMANode.Known():
			return factValue(c.CoresPerNUMANode)
		}
		return Value{}
	}
	switch f := e.fact(c).(type) {
	case *Fact[int]:
		return factValue(*f)
	case *Fact[bool]:
		return factValue(*f)
	case *Fact[string]:
		return factValue(*f)
	case *Fact[Bytes]:
		return factValue(Fact[int64]{int64(f.Value / MiB), f.Origin})
	case *Fact[[]int]:
		return factValue(Fact[string]{strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Value), " ", ","), "[]"), f.Origin})
	}
	if v, ok := c.Settings.Value.Lookup(e.Key); ok && v != "" {
		return Is(v)
	}
	return Value{}
}

// Origin returns where the configuration has what the edit changes.
func (e Edit) Origin(c *Config) Origin {
	if f := e.fact(c); f != nil {
		return f.From()
	}
	if e.Kind == EditCoresPerNUMANode {
		return c.AutoCoresPerNUMANode.Origin
	}
	return c.SettingOrigin(e.Key)
}

// fact returns the fact of VMFacts that the edit changes; nil for none.
func (e Edit) fact(c *Config) AnyFact {
	i := slices.IndexFunc(VMFacts, func(p Property[Config]) bool { return p.Edit == e.Kind })
	if i < 0 {
		return nil
	}
	return VMFacts[i].Fact(c)
}

func factValue[T any](f Fact[T]) Value {
	if !f.Known() {
		return Value{}
	}
	return Is(fmt.Sprint(f.Value))
}

// Edits returns the edits that change the configuration from into to, in the order of writing. Properties unknown in to are not changed.
func Edits(from, to *Config) (out []Edit) {
	add := func(e Edit) {
		e.From, e.To = e.ValueOf(from), e.ValueOf(to)
		origin := e.Origin(from).Kind
		if e.Kind == EditCoresPerNUMANode && origin == Unknown { // absent is automatic, where the settings are known
			origin = from.Settings.Origin.Kind
		}
		e.Assumed = origin == Unknown || origin == Assumed
		if e.From != e.To && (e.To.Set || e.Kind == EditExtraConfig) {
			out = append(out, e)
		}
	}
	for _, kind := range vmEdits {
		add(Edit{Kind: kind})
	}
	var keys []string
	for _, list := range []Settings{from.Settings.Value, to.Settings.Value} {
		for _, s := range list {
			if !slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, s.Key) }) {
				keys = append(keys, s.Key)
			}
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		add(Edit{Kind: EditExtraConfig, Key: key})
	}
	return out
}

// Configure sets the edited value in the configuration; where becomes its origin.
func (e Edit) Configure(c *Config, where string) error {
	switch e.Kind {
	case EditExtraConfig:
		c.SizeAssumed = c.SizeAssumed && !strings.EqualFold(e.Key, StoredKey)
		if !c.Settings.Known() {
			c.Settings.Origin = Origin{Kind: Derived, Where: where}
		}
		if c.Settings.Value = c.Settings.Value.Without(e.Key); e.To.Set {
			c.Settings.Value = c.Settings.Value.With(e.Key, e.To.Text)
		}
		return nil
	case EditCoresPerSocket, EditCoresPerNUMANode: // 0 is assigned at power on
		number, err := e.number()
		if err != nil {
			return err
		}
		auto := DerivedFrom(number == 0, where)
		if e.Kind == EditCoresPerSocket {
			c.CoresPerSocket, c.AutoCoresPerSocket = DerivedFrom(max(1, number), where), auto
			return nil
		}
		c.CoresPerNUMANode, c.AutoCoresPerNUMANode = Fact[int]{}, auto
		if number > 0 {
			c.CoresPerNUMANode = DerivedFrom(number, where)
		}
		c.stateBehind(NUMANodesKey, sizeText(number))
		return nil
	}
	before := *c
	var err error
	switch f := e.fact(c).(type) {
	case *Fact[int]:
		*f, err = derived(e.number, where)
	case *Fact[bool]:
		*f, err = derived(e.truth, where)
	case *Fact[Bytes]:
		*f, err = derived(func() (Bytes, error) { n, err := e.number(); return Bytes(n) * MiB, err }, where)
	case *Fact[[]int]:
		*f, err = derived(e.numbers, where)
	case *Fact[string]:
		*f = DerivedFrom(e.To.Text, where)
	default:
		err = fmt.Errorf("found an edit of the kind %q, want one of a VM", e.Kind)
	}
	c.Follow(&before, where)
	return err
}

// Follow applies the changes that vSphere makes along with the change from before. A reservation above the reduced memory is lowered to it
// (vSphere Virtual Machine Administration 6.7, GUID-49D7217C). While all memory is reserved, the reservation follows the memory size (API
// reference, memoryReservationLockedToMax); setting another reservation ends that.
//
// The setting behind a changed field has the value of the field, since ESXi reads the setting.
func (c *Config) Follow(before *Config, where string) {
	if c.VNUMAHotAdd.Known() && c.VNUMAHotAdd.Value != before.VNUMAHotAdd.Value {
		c.stateBehind(vnumaHotAddKey, strings.ToUpper(strconv.FormatBool(c.VNUMAHotAdd.Value)))
	}
	is, was, memory := c.MemoryReservation.Value, before.MemoryReservation.Value, c.Memory.Value
	all, locked := c.MemoryReservationLocked.Value, before.MemoryReservationLocked.Value
	follows := all && (!locked || is == was && was == before.Memory.Value)
	lowered := is == was && is > memory && memory < before.Memory.Value
	switch {
	case !c.Memory.Known() || is == memory:
	case follows || lowered:
		c.MemoryReservation = DerivedFrom(memory, where)
	case all && is != was:
		c.MemoryReservationLocked = DerivedFrom(false, where)
	}
}

func derived[T any](value func() (T, error), where string) (Fact[T], error) {
	v, err := value()
	return DerivedFrom(v, where), err
}

func (e Edit) number() (int, error) {
	n, err := strconv.Atoi(e.To.Text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s: found %q, want a number", e.Name(), e.To)
	}
	return n, nil
}

func (e Edit) truth() (bool, error) {
	yes := strings.EqualFold(e.To.Text, "true")
	if !yes && !strings.EqualFold(e.To.Text, "false") {
		return false, fmt.Errorf("%s: found %q, want true or false", e.Name(), e.To)
	}
	return yes, nil
}

func (e Edit) numbers() ([]int, error) {
	set := []int{}
	for _, text := range strings.FieldsFunc(e.To.Text, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%s: found %q, want numbers", e.Name(), text)
		}
		set = append(set, n)
	}
	return set, nil
}

// editJSON is an Edit in JSON: numbers and booleans bare, settings as texts, null for absent.
type editJSON struct {
	Kind    EditKind        `json:"kind"`
	Key     string          `json:"key,omitempty"`
	From    json.RawMessage `json:"from"`
	To      json.RawMessage `json:"to"`
	Needs   Needs           `json:"needs,omitempty"`
	Assumed bool            `json:"assumed,omitempty"`
}

func (e Edit) bare(v Value) json.RawMessage {
	_, number := strconv.Atoi(v.Text)
	switch {
	case !v.Set:
		return json.RawMessage("null")
	case e.Key == "" && e.Kind != EditCPUAffinity && (number == nil || v.Text == "true" || v.Text == "false"):
		return json.RawMessage(v.Text)
	}
	text, _ := json.Marshal(v.Text) // a text can always be encoded
	return text
}

// MarshalJSON writes {"kind":"cpuHotAdd","from":true,"to":false,"needs":"off"}.
func (e Edit) MarshalJSON() ([]byte, error) {
	return json.Marshal(editJSON{e.Kind, e.Key, e.bare(e.From), e.bare(e.To), e.Needs(), e.Assumed})
}

// UnmarshalJSON parses the output of MarshalJSON.
func (e *Edit) UnmarshalJSON(data []byte) error {
	var j editJSON
	var fields map[string]json.RawMessage // with their names as they are: editJSON takes any case
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for name := range fields {
		if !slices.Contains([]string{"kind", "key", "from", "to", "needs", "assumed"}, name) {
			return fmt.Errorf("found the unknown field %.40q in an edit", name)
		}
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	keyed := slices.Contains([]EditKind{EditExtraConfig, EditHostOption, EditDRSRule}, j.Kind)
	if known := keyed || j.Kind.Written(); !known || keyed != (j.Key != "") {
		return fmt.Errorf("found an edit of the kind %q with the key %q", j.Kind, j.Key)
	}
	*e = Edit{Kind: j.Kind, Key: j.Key, Assumed: j.Assumed}
	for to, raw := range map[*Value]json.RawMessage{&e.From: j.From, &e.To: j.To} {
		switch {
		case len(raw) == 0 || string(raw) == "null":
		case raw[0] == '"':
			to.Set = true
			if err := json.Unmarshal(raw, &to.Text); err != nil {
				return err
			}
		case raw[0] == '{' || raw[0] == '[':
			return fmt.Errorf("found the value %s of %s, want a text, a number, true, false or null", raw, e.Name())
		default:
			*to = Is(string(raw))
		}
	}
	return nil
}
