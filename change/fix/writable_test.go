package fix

import (
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// TestClosedList holds the settings that homenode writes to those that predictions read, each with a privilege, and to those that readers keep: what is written can
// be read back.
func TestClosedList(t *testing.T) {
	read := map[string]bool{strings.ToLower(RebootKey): true}
	for _, k := range vnuma.Keys {
		_, setting := settingForms[strings.ToLower(k.Name)]
		_, option := optionForm(k.Name)
		if k.Host && !option || !k.Host && !setting {
			t.Errorf("%s is read by predictions, and no form says which values it takes", k.Name)
		}
		read[strings.ToLower(k.Name)] = true
	}
	for key := range settingForms {
		if !read[key] && !strings.HasSuffix(key, ".affinity") {
			t.Errorf("%s is written, and no prediction reads it", key)
		}
		if !numa.KeepSetting(key) {
			t.Errorf("%s is written, and readers do not keep it", key)
		}
	}
	for key := range optionForms {
		if !numa.KeepOption(key) {
			t.Errorf("%s is written, and readers do not keep it", key)
		}
	}
	for _, p := range numa.VMFacts {
		if _, writes := kindForms[p.Edit]; writes != p.Edit.Written() {
			t.Errorf("%s: written %v, and declared %v", p.Word, writes, p.Edit.Written())
		}
	}
	for kind := range kindForms {
		if Privileges[kind] == "" {
			t.Errorf("%s is written, and no privilege is named for it", kind)
		}
		if e := (numa.Edit{Kind: kind}); e.ValueOf(&numa.Config{}).Set {
			t.Errorf("%s of a VM of which nothing is known is set", kind)
		}
	}
}
