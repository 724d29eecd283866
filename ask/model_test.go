package ask

import "testing"

// TestModels: host models in the words of size fit and of scenarios, and what is wrong with them.
func TestModels(t *testing.T) {
	hosts, err := models([]string{"2x16c/512GB release=7.0U3 llcCores=8", "1x32c/1TB"})
	if err != nil {
		t.Fatal(err)
	}
	a, b := &hosts[0], &hosts[1]
	if a.Name != "2x16c/512GB release=7.0U3 llcCores=8" || a.Release.Value.String() != "7.0 U3" || len(a.Nodes.Value) != 2 || a.Nodes.Value[0].Cores != 16 || a.LLCCores.Value != 8 {
		t.Errorf("%+v", a)
	}
	if b.Release.Value.String() != "8.0 U3" || len(b.Nodes.Value) != 1 || a.ID == b.ID {
		t.Errorf("%+v", b)
	}
	for text, want := range map[string]string{
		"2x16c":                  `--hosts: "2x16c": column 6: the memory of the host is missing, as in 2x32c/1TB`,
		"2x16c/512GB releas=7.0": `--hosts: "2x16c/512GB releas=7.0": found "releas", which no host line knows; is release meant?`,
		"2x16c/512GB\nvm a":      "--hosts: found a line break, want one line",
	} {
		if _, err := models([]string{text}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
