package compare

import (
	"strings"
	"testing"

	"homenode/rules"
	"homenode/source/scenario"
)

// TestUnjudged: a comparison of a fleet in which nothing can be judged is an error that says why; in part of one it is none.
func TestUnjudged(t *testing.T) {
	for text, want := range map[string]string{
		"vm a vcpus=4\nvm b vcpus=4\n": "none of 2 VMs could be judged",
		"release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm a vcpus=4 host=h\n":               "",
		"release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm a vcpus=4 host=h\nvm b vcpus=4\n": "",
		"release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\n":                                    "",
	} {
		f, err := scenario.Read("a.txt", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := unjudged(rules.Run(f, rules.Options{}))
		if (got == nil) != (want == "") || got != nil && !strings.Contains(got.Error(), want) {
			t.Errorf("%s: found %v, want %q", text, got, want)
		}
	}
}
