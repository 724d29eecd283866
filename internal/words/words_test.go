package words

import "testing"

func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Plural(1, "VM"), "1 VM"}, {Plural(0, "VM"), "0 VMs"}, {Plural(1204, "VM"), "1,204 VMs"}, {Verb(2, "loses", "lose"), "2 lose"},
		{Thousands(999), "999"}, {Thousands(1234567), "1,234,567"}, {Thousands(-999), "-999"}, {Thousands(-1234), "-1,234"}, {Paragraph(" a\n  b "), "a b"},
	} {
		if tt.got != tt.want {
			t.Errorf("found %q, want %q", tt.got, tt.want)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"sql01", "sql01"}, {"größe-01.example.com", "größe-01.example.com"}, {"", "''"}, {"a b", "'a b'"}, {"it's", `'it'\''s'`}, {"$(reboot)", "'$(reboot)'"},
		{"#1", "'#1'"}, {"~root", "'~root'"}, {"a!b", "'a!b'"}, {"--host=x", "--host=x"},
	} {
		if got := Command("homenode", tt.word); got != "homenode "+tt.want {
			t.Errorf("%s, want homenode %s", got, tt.want)
		}
	}
}
