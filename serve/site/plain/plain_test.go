package plain

import "testing"

// TestWithoutFlags names fields for flags, and leaves commands as they are.
func TestWithoutFlags(t *testing.T) {
	labels := map[string]string{"allow-split": "Allow splitting", "release": "ESXi release"}
	for in, want := range map[string]string{
		`<p title="--release">--allow split, or no --release</p>`: `<p title="--release">“Allow splitting”, or no “ESXi release”</p>`,
		`<code>homenode fix --release 8.0</code> and --release`:   `<code>homenode fix --release 8.0</code> and “ESXi release”`,
		`--format json holds everything, --details shows it`:      `“Save as JSON” holds everything, “Save as Report” shows it`,
		`with --fleet SOURCE; say --product`:                      `with the inventory of the fleet; say the option product of the command`,
		`homenode serve -- a dash — and a--b`:                     `homenode serve -- a dash — and a--b`,
	} {
		if got := string(WithoutFlags([]byte(in), labels)); got != want {
			t.Errorf("%s\n%s\nwant %s", in, got, want)
		}
	}
}
