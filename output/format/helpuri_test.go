package format

import "testing"

// TestHelpURI checks that only an address becomes a link: SARIF takes no path.
func TestHelpURI(t *testing.T) {
	for page, want := range map[string]string{
		"https://example.org/docs/reference/rules/N001.md": "https://example.org/docs/reference/rules/N001.md",
		"docs/reference/rules/N001.md":                     "",
		"javascript:alert(1)":                              "",
	} {
		if got := helpURI(page); got != want {
			t.Errorf("helpURI(%q) = %q, want %q", page, got, want)
		}
	}
}
