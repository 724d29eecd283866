package story

import (
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// resizeWords are the words of a resize: the words of a vm line that can change a powered-off VM.
var resizeWords = slices.DeleteFunc(append(slices.Clone(word.VMKeys), "stored"), func(key string) bool {
	return slices.Contains([]string{"power", "template", "folder", "tags"}, key)
})

// hotWords are those that can change a running VM.
var hotWords = []string{"vcpus", "memory"}

// resized returns the configuration of v changed by the words, whose origin is where.
func resized(kind numa.EventKind, v *numa.VM, now *numa.Config, ws []word.Word, where string) (*numa.Config, error) {
	c := numa.VM{Name: v.Name, Config: *now}
	known := resizeWords
	if kind == numa.HotAdd {
		known = hotWords
	}
	stored := word.Word{}
	for _, w := range ws {
		if err := change(&c, w, kind, known, where); err != nil {
			return nil, err
		}
		if w.Key == "stored" { // it applies to the vCPUs set by any other word
			stored = w
		}
	}
	if stored.HasValue {
		n, err := stored.Number(1, numa.MaxVCPUs)
		if err != nil {
			return nil, err
		}
		c.SizeAssumed = false
		c.Settings = numa.ReadAt(word.WithStored(c.Settings.Value, &c, n), where)
	}
	if err := c.Check(); err != nil {
		return nil, word.Errorf(ws[0].Col, "%v", err)
	}
	n, cps := c.VCPUs.Value, c.CoresPerSocket.Value
	if cps > 1 && n%cps != 0 && !c.AutoCoresPerSocket.Value {
		return nil, word.Errorf(ws[0].Col, "VM %s: %d vCPUs do not divide into sockets of %d cores: say coresPerSocket= too", v.Name, n, cps)
	}
	if kind == numa.HotAdd {
		return &c.Config, hotter(v.Name, now, &c.Config, ws)
	}
	return &c.Config, nil
}

// change applies one word to a VM.
func change(c *numa.VM, w word.Word, kind numa.EventKind, known []string, where string) error {
	if kind == numa.Resize && w.HasValue && numa.KeepSetting(w.Key) {
		settings := c.Settings.Value.With(w.Key, w.Value)
		if w.Value == "" {
			settings = c.Settings.Value.Without(w.Key)
		}
		c.Settings = numa.ReadAt(settings, where)
		return nil
	}
	if err := value(w, kind.String(), known); err != nil {
		return err
	}
	switch {
	case w.Key == "host":
		return word.Errorf(w.Col, "found host= of a %s; vmotion moves a VM, power-on VM host=HOST starts it elsewhere", kind)
	case !slices.Contains(known, w.Key):
		return w.Unknown(kind.String(), known)
	case w.Value == word.Unknown:
		return word.Errorf(w.Col, "found %s=?, want a value", w.Key)
	case w.Key == "stored":
		return nil
	}
	return word.VM(c, w, where)
}

// hotter returns the reason why vSphere would reject a hot add to a running VM.
func hotter(name string, before, after *numa.Config, ws []word.Word) error {
	for _, w := range ws {
		switch {
		case w.Key == "vcpus" && before.CPUHotAdd.Known() && !before.CPUHotAdd.Value:
			return word.Errorf(w.Col, "found hot-add of vCPUs to %s, for which CPU hot add is off: say hotAdd=on in its vm line", name)
		case w.Key == "memory" && before.MemoryHotAdd.Known() && !before.MemoryHotAdd.Value:
			return word.Errorf(w.Col, "found hot-add of memory to %s, for which memory hot add is off: say memoryHotAdd=on in its vm line", name)
		case w.Key == "vcpus" && after.VCPUs.Value <= before.VCPUs.Value:
			return word.Errorf(w.Col, "found hot-add of %s to %d vCPUs, want more than its %d", name, after.VCPUs.Value, before.VCPUs.Value)
		case w.Key == "memory" && after.Memory.Value <= before.Memory.Value:
			return word.Errorf(w.Col, "found hot-add of %s to %s, want more than its %s", name, after.Memory.Value, before.Memory.Value)
		}
	}
	return nil
}
