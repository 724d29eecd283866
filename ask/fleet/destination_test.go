package fleet

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/ask"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestDestination says that --on names the destination of a vMotion to the host where the VM runs.
func TestDestination(t *testing.T) {
	f := given.Fleet(t, "fleet", []byte("release 8.0U3\ncluster a\nhost esx[1-2] nodes=2 cores=18 memory=512GB\nvm db host=esx1 vcpus=24 memory=64GB hw=19 power=on\n"))
	for on, want := range map[string]bool{"": true, "esx2": false} {
		e := &ask.Env{Held: &ask.Held{Sources: []string{"SOURCE"}, Result: rules.Run(f, rules.Options{})}}
		x := &Explain{Event: "vmotion", On: on}
		x.Args = []string{"SOURCE", "db"}
		r, err := x.Answer(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(fmt.Sprint(r.Answers[0].Notes), "--on names another destination"); got != want {
			t.Errorf("--on %q: noted: %v, want %v", on, got, want)
		}
	}
}
