package numa

import (
	"slices"
	"strings"
	"testing"
)

// TestFollow states what vSphere changes along with an edit of memory, and that the edits between both configurations name it, there
// and back: a rollback gives it back.
func TestFollow(t *testing.T) {
	vm := func(memory, reserved Bytes, all bool) Config {
		return Config{Memory: ReadAt(memory*GiB, "x"), MemoryReservation: ReadAt(reserved*GiB, "x"), MemoryReservationLocked: ReadAt(all, "x")}
	}
	memory := func(to int) Edit { return EditMemory.To(to * 1024) }
	reservation := func(to int) Edit { return EditMemoryReservation.To(to * 1024) }
	all := func(to string) Edit { return Edit{Kind: EditReserveAll, To: Is(to)} }
	for _, tt := range []struct {
		name     string
		from, to Config
		edits    []Edit
	}{
		{"less memory than is reserved", vm(256, 200, false), vm(128, 128, false), []Edit{memory(128)}},
		{"less memory, as much as is reserved", vm(256, 128, false), vm(128, 128, false), []Edit{memory(128)}},
		{"more memory", vm(256, 256, false), vm(512, 256, false), []Edit{memory(512)}},
		{"all is reserved: less memory", vm(256, 256, true), vm(128, 128, true), []Edit{memory(128)}},
		{"all is reserved: more memory", vm(256, 256, true), vm(512, 512, true), []Edit{memory(512)}},
		{"all is reserved, and no source says how much", vm(256, 0, true), vm(128, 0, true), []Edit{memory(128)}},
		{"reserve all", vm(256, 200, false), vm(256, 256, true), []Edit{all("true")}},
		{"reserve all no longer", vm(256, 256, true), vm(256, 256, false), []Edit{all("false")}},
		{"reserve less than all", vm(256, 256, true), vm(256, 100, false), []Edit{reservation(100)}},
		{"less memory, and another reservation", vm(256, 200, false), vm(128, 64, false), []Edit{memory(128), reservation(64)}},
	} {
		check := func(name string, from Config, edits []Edit, want Config) {
			for _, e := range edits {
				if err := e.Configure(&from, "test"); err != nil {
					t.Fatal(err)
				}
			}
			if from.Memory.Value != want.Memory.Value || from.MemoryReservation.Value != want.MemoryReservation.Value || from.MemoryReservationLocked.Value != want.MemoryReservationLocked.Value {
				t.Errorf("%s: memory %v, reserved %v, all %t; want %v, %v, %t", name, from.Memory.Value, from.MemoryReservation.Value, from.MemoryReservationLocked.Value,
					want.Memory.Value, want.MemoryReservation.Value, want.MemoryReservationLocked.Value)
			}
		}
		check(tt.name, tt.from, tt.edits, tt.to)
		check(tt.name+", all edits", tt.from, Edits(&tt.from, &tt.to), tt.to)
		check(tt.name+", back", tt.to, Edits(&tt.to, &tt.from), tt.from)
		for _, kind := range []EditKind{EditMemoryReservation, EditReserveAll} {
			changed := (Edit{Kind: kind}).ValueOf(&tt.from) != (Edit{Kind: kind}).ValueOf(&tt.to)
			if named := slices.ContainsFunc(Edits(&tt.from, &tt.to), func(e Edit) bool { return e.Kind == kind }); named != changed {
				t.Errorf("%s: %s is among the edits: %t, and changes: %t", tt.name, strings.ToLower(string(kind)), named, changed)
			}
		}
	}
}

// TestTitle: one change has one name, whether a what-if, an edit or a key states it.
// TestStateBehind checks that a changed field changes the setting behind it, which ESXi reads, where a VM has both.
func TestStateBehind(t *testing.T) {
	settings := func(key, value string) Fact[Settings] {
		return ReadAt(Settings(nil).With(key, value), "")
	}
	for _, tt := range []struct {
		edit Edit
		has  Fact[Settings]
		want Settings
	}{
		{EditCoresPerNUMANode.To(6), settings("numa.vcpu.coresPerNode", "12"), Settings{{Key: "numa.vcpu.coresPerNode", Value: "6"}}},
		{EditCoresPerNUMANode.To(0), settings("numa.vcpu.coresPerNode", "12"), nil},
		{EditCoresPerNUMANode.To(6), settings("numa.vcpu.min", "8"), Settings{{Key: "numa.vcpu.min", Value: "8"}}},
		{Edit{Kind: EditVNUMAHotAdd, To: Is("true")}, settings("numa.allowHotadd", "FALSE"), Settings{{Key: "numa.allowHotadd", Value: "TRUE"}}},
	} {
		c := Config{Settings: tt.has, AutoCoresPerNUMANode: ReadAt(true, ""), VNUMAHotAdd: ReadAt(false, "")}
		if err := tt.edit.Configure(&c, "test"); err != nil || !slices.Equal(c.Settings.Value, tt.want) {
			t.Errorf("%s → %s: %v, %v; want %v", tt.edit.Name(), tt.edit.To, c.Settings.Value, err, tt.want)
		}
	}
}

func TestTitle(t *testing.T) {
	for setting, want := range map[string]string{
		"hotAdd": "CPU hot add", "cpuHotAdd": "CPU hot add", "coresPerSocket": "cores per socket", "NUMA.vcpu.coresPerNode": "cores of NUMA Nodes (numa.vcpu.coresPerNode)",
		"coresPerNUMANode": "cores of NUMA Nodes (numa.vcpu.coresPerNode)", "numa.vcpu.preferHT": "numa.vcpu.preferHT", "": "",
	} {
		if got := Title(setting); got != want {
			t.Errorf("%s: found %q, want %q", setting, got, want)
		}
	}
}
