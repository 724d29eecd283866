package vsphere

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere/xmlscan"
)

// value parses the open element by its xsi:type. It supports the types of the properties of a VM
// and the lists of options; errUnexpected is returned for all others. For a view it returns only
// the number of its objects: an int.
func (a *answer) value(path string) (any, error) {
	kind, err := a.scan.Type()
	if err != nil {
		return nil, err
	}
	if string(kind) == "ManagedObjectReference" {
		var ref types.ManagedObjectReference
		err := a.reference(&ref)
		return ref, err
	}
	if !a.scan.Only("", "") {
		return nil, errUnexpected
	}
	switch string(kind) {
	case "xsd:string":
		return a.text()
	case "xsd:boolean":
		return a.boolean()
	case "xsd:short":
		n, err := a.number(16)
		return int16(n), err
	case "xsd:int":
		n, err := a.number(32)
		return int32(n), err
	case "xsd:long":
		return a.number(64)
	case "VirtualMachinePowerState":
		s, err := a.text()
		return types.VirtualMachinePowerState(s), err
	case "VirtualMachineConnectionState":
		s, err := a.text()
		return types.VirtualMachineConnectionState(s), err
	case "VirtualMachineFaultToleranceState":
		s, err := a.text()
		return types.VirtualMachineFaultToleranceState(s), err
	case "HostSystemConnectionState":
		s, err := a.text()
		return types.HostSystemConnectionState(s), err
	case "ArrayOfOptionValue":
		return a.readOptions(path)
	case "ArrayOfManagedObjectReference":
		a.scan.Release() // the list of a view is as long as the inventory
		if path == "view" {
			n := 0
			err := a.references(func(types.ManagedObjectReference) { n++ })
			return n, err
		}
		var list types.ArrayOfManagedObjectReference
		err := a.references(func(ref types.ManagedObjectReference) {
			list.ManagedObjectReference = append(list.ManagedObjectReference, ref)
		})
		return list, err
	case "VirtualMachineVirtualNumaInfo":
		return a.numaInfo()
	case "VirtualMachineAffinityInfo":
		return a.affinityInfo()
	case "LatencySensitivity":
		return a.latency()
	}
	return nil, errUnexpected
}

func (a *answer) text() (string, error) {
	b, err := a.scan.Text()
	return a.intern(b), err
}

// boolean parses the values that the library accepts as true and false.
func (a *answer) boolean() (bool, error) {
	b, err := a.scan.Text()
	if err != nil {
		return false, err
	}
	switch string(b) {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, errUnexpected
}

// number parses a decimal number of so many bits.
func (a *answer) number(bits int) (int64, error) {
	b, err := a.scan.Text()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(b), 10, bits)
	if err != nil {
		return 0, errUnexpected
	}
	return n, nil
}

// reference parses the open element as a reference.
func (a *answer) reference(ref *types.ManagedObjectReference) error {
	if !a.scan.Only("type", "serverGuid") {
		return errUnexpected
	}
	kind, err := a.scan.Attr("type")
	if err != nil {
		return err
	}
	ref.Type = a.intern(kind)
	guid, err := a.scan.Attr("serverGuid")
	if err != nil {
		return err
	}
	ref.ServerGUID = a.intern(guid)
	id, err := a.scan.Text()
	ref.Value = string(id)
	return err
}

// references parses the open element as a list of references.
func (a *answer) references(each func(types.ManagedObjectReference)) error {
	err := a.children(func(name string) error {
		if name != "ManagedObjectReference" {
			return errUnexpected
		}
		var ref types.ManagedObjectReference
		err := a.reference(&ref)
		each(ref)
		return err
	})
	if fallBack(err) { // the consumed input cannot be parsed again
		return fmt.Errorf("a list of references: %v", err)
	}
	return err
}

// fields parses the children of a structure, each at most once and without attributes; read is
// called with their index in names.
func (a *answer) fields(names []string, read func(i int) error) error {
	var seen uint
	return a.children(func(name string) error {
		i := slices.Index(names, name)
		if i < 0 || seen&(1<<i) != 0 || a.scan.Attributed() {
			return errUnexpected
		}
		seen |= 1 << i
		return read(i)
	})
}

var (
	numaInfoFields = []string{"coresPerNumaNode", "autoCoresPerNumaNode", "vnumaOnCpuHotaddExposed"}
	latencyFields  = []string{"level", "sensitivity"}
)

func (a *answer) numaInfo() (types.VirtualMachineVirtualNumaInfo, error) {
	var info types.VirtualMachineVirtualNumaInfo
	err := a.fields(numaInfoFields, func(i int) error {
		if i == 0 {
			n, err := a.number(32)
			info.CoresPerNumaNode = types.NewInt32(int32(n))
			return err
		}
		b, err := a.boolean()
		if i == 1 {
			info.AutoCoresPerNumaNode = &b
		} else {
			info.VnumaOnCpuHotaddExposed = &b
		}
		return err
	})
	return info, err
}

func (a *answer) affinityInfo() (types.VirtualMachineAffinityInfo, error) {
	var info types.VirtualMachineAffinityInfo
	err := a.children(func(name string) error {
		if name != "affinitySet" || a.scan.Attributed() {
			return errUnexpected
		}
		n, err := a.number(32)
		info.AffinitySet = append(info.AffinitySet, int32(n))
		return err
	})
	return info, err
}

func (a *answer) latency() (types.LatencySensitivity, error) {
	var l types.LatencySensitivity
	err := a.fields(latencyFields, func(i int) error {
		if i == 0 {
			s, err := a.text()
			l.Level = types.LatencySensitivitySensitivityLevel(s)
			return err
		}
		n, err := a.number(32)
		l.Sensitivity = int32(n)
		return err
	})
	return l, err
}

// keptOptions caches which keys of a list are worth keeping: most VMs have the same ones.
type keptOptions struct {
	keep func(key string) bool
	keys map[string]string // key → itself, empty for an omitted one
}

func (k *keptOptions) wants(key string) bool { return k.keep == nil || k.keep(key) }

// lookup returns the key as a string when it is worth keeping.
func (k *keptOptions) lookup(b []byte) (key string, keep bool) {
	key, ok := k.keys[string(b)]
	if ok {
		return key, key != ""
	}
	if len(k.keys) >= mostStrings {
		clear(k.keys)
	}
	whole := string(b)
	if k.wants(whole) {
		key = whole
	}
	k.keys[whole] = key
	return key, key != ""
}

// keeps returns the rule for the options at path; without a rule all are kept.
func (a *answer) keeps(path string) *keptOptions {
	k := a.options[path]
	if k == nil {
		k = &keptOptions{keep: a.keep[path], keys: make(map[string]string)}
		a.options[path] = k
	}
	return k
}

// An optionList is a list of options of which only some are kept.
type optionList struct {
	kept  []numa.Setting
	total int
}

// readOptions parses the options at path.
func (a *answer) readOptions(path string) (list optionList, err error) {
	kept := a.keeps(path)
	for {
		k, err := a.scan.Next()
		if err != nil || k == xmlscan.End {
			return list, err
		}
		if string(a.scan.Name()) != "OptionValue" {
			return list, errUnexpected
		}
		kind, err := a.scan.Type()
		if err != nil {
			return list, err
		}
		if len(kind) > 0 && string(kind) != "OptionValue" {
			return list, errUnexpected
		}
		key, value, keep, err := a.option(kept)
		if err != nil {
			return list, err
		}
		list.total++
		if keep {
			list.kept = append(list.kept, numa.Setting{Key: key, Value: value})
		}
	}
}

// option parses <key> and <value> to the end of the open element.
func (a *answer) option(kept *keptOptions) (key, value string, keep bool, err error) {
	if err := a.expect("key"); err != nil {
		return "", "", false, err
	}
	if a.scan.Attributed() {
		return "", "", false, errUnexpected
	}
	b, err := a.scan.Text()
	if err != nil {
		return "", "", false, err
	}
	if len(b) == 0 {
		return "", "", false, errUnexpected
	}
	key, keep = kept.lookup(b)
	if err := a.expect("value"); err != nil {
		return "", "", false, err
	}
	kind, err := a.scan.Type()
	if err != nil {
		return "", "", false, err
	}
	if value, err = a.optionValue(string(kind), keep); err != nil {
		return "", "", false, err
	}
	if k, err := a.scan.Next(); err != nil || k != xmlscan.End {
		return "", "", false, orUnexpected(err)
	}
	return key, value, keep, nil
}

func orUnexpected(err error) error {
	if err != nil {
		return err
	}
	return errUnexpected
}

// expect reads the start of an element of this name.
func (a *answer) expect(name string) error {
	k, err := a.scan.Next()
	if err != nil || k != xmlscan.Start || string(a.scan.Name()) != name {
		return orUnexpected(err)
	}
	return nil
}

// optionValue parses the open element into the text that fmt.Sprint produces for the value; the
// text is only built if keep is true.
func (a *answer) optionValue(kind string, keep bool) (string, error) {
	var n int64
	var err error
	switch kind {
	case "xsd:string":
		b, err := a.scan.Text()
		if err != nil || !keep {
			return "", err
		}
		return a.intern(b), nil
	case "xsd:boolean":
		b, err := a.boolean()
		return strconv.FormatBool(b), err
	case "xsd:short":
		n, err = a.number(16)
	case "xsd:int":
		n, err = a.number(32)
	case "xsd:long":
		n, err = a.number(64)
	default:
		return "", errUnexpected
	}
	if err != nil || !keep {
		return "", err
	}
	return strconv.FormatInt(n, 10), nil
}
