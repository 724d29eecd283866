package plain

import "testing"

// TestText names controls for flags, and leaves commands and pictures as they are.
func TestText(t *testing.T) {
	controls := map[string]string{"allow split": "“Allow splitting”", "release": "“ESXi release”", "format json": "“Save as JSON”", "details": "“Save as Report”", "fleet": "the inventory of the fleet"}
	for in, want := range map[string]string{
		`<p title="--release">--allow split, or no --release</p>`: `<p title="--release">“Allow splitting”, or no “ESXi release”</p>`,
		`<code>homenode fix --release 8.0</code> and --release`:   `<code>homenode fix --release 8.0</code> and “ESXi release”`,
		`<svg><text>--details</text></svg>--details`:              `<svg><text>--details</text></svg>“Save as Report”`,
		`--format json holds everything, --details shows it`:      `“Save as JSON” holds everything, “Save as Report” shows it`,
		`with --fleet SOURCE; say --product`:                      `with the inventory of the fleet; say the option product of the command`,
		`homenode serve -- a dash — and a--b`:                     `homenode serve -- a dash — and a--b`,
	} {
		if got := HTML(in, func(text string) string { return Text(text, controls) }); got != want {
			t.Errorf("%s\n%s\nwant %s", in, got, want)
		}
	}
}
