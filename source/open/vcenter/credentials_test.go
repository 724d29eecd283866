package vcenter

import (
	"slices"
	"strings"
	"testing"
)

func TestParseCredentials(t *testing.T) {
	got, err := parseCredentials("f", []byte("\xEF\xBB\xBF# all vCenters\r\n\r\n"+
		"VC01.example.com administrator@vsphere.local pa#ss\"word\r\n"+
		"  vc02:8443\t\"DOM\\\\audit user\" \"two words \\\"q\\\" c:\\temp\"  \n"+
		"* audit \"\"\n"+
		"vc01.example.com other #x"))
	want := []credential{
		{"vc01.example.com", "administrator@vsphere.local", `pa#ss"word`},
		{"vc02:8443", `DOM\audit user`, `two words "q" c:\temp`},
		{"*", "audit", ""},
		{"vc01.example.com", "other", "#x"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("parseCredentials = %q, %v\nwant %q", got, err, want)
	}
	for _, tt := range []struct{ in, want string }{
		{"vc01 user", "f:1: found 2 words, want a host, a user and a password (quote a word with blanks)"},
		{"\nvc01 user my secret", "f:2: found 4 words, want a host, a user and a password (quote a word with blanks)"},
		{`vc01 user "secret`, "f:1: found no closing quote"},
		{`vc01 user "sec"ret`, `f:1: found no blank after a closing quote; a quote inside is written \"`},
		{"https://vc01 user secret", "f:1: want a host as in its URL, without https://, and a user"},
		{`vc01 "" secret`, "f:1: want a host as in its URL, without https://, and a user"},
		{"vc01 u secret\n# again\nVC01 u secret2", "f:3: the host and user of line 1 again"},
	} {
		if list, err := parseCredentials("f", []byte(tt.in)); err == nil || err.Error() != tt.want || list != nil {
			t.Errorf("parseCredentials(%q) = %q, %v; want %s", tt.in, list, err, tt.want)
		}
	}
}

func TestFindCredential(t *testing.T) {
	list := []credential{{"*", "all", "1"}, {"vc01", "a", "2"}, {"vc01", "b", "3"}, {"vc01:8443", "c", "4"}, {"::1", "v6", "5"}}
	for _, tt := range []struct{ host, user, want string }{
		{"VC01", "", "2"},
		{"vc01:443", "", "2"},
		{"vc01:8443", "", "4"},
		{"vc01:8443", "b", "3"},
		{"vc01", "c", "none"},
		{"vc02", "", "1"},
		{"vc02", "all", "1"},
		{"[::1]:443", "", "5"},
		{"[::1]", "", "5"},
	} {
		got := "none"
		if c, ok := findCredential(list, tt.host, tt.user); ok {
			got = c.password
		}
		if got != tt.want {
			t.Errorf("findCredential(%s, %q) = %s, want %s", tt.host, tt.user, got, tt.want)
		}
	}
}

// FuzzCredentials checks that no error shows what a line holds, and that what is
// written with quotes is read back.
func FuzzCredentials(f *testing.F) {
	f.Add("vc01", "user", `pa"ss\wo rd`)
	f.Add("*", "DOM\\u", "")
	f.Add("a b", "#", "\"")
	f.Fuzz(func(t *testing.T, host, user, password string) {
		quote := func(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
		got, err := parseCredentials("f", []byte(quote(host)+" "+quote(user)+" "+quote(password)))
		plain := !strings.ContainsAny(host+user+password, "\n/") && host != "" && user != ""
		if plain && (err != nil || len(got) != 1 || got[0] != credential{strings.ToLower(host), user, password}) {
			t.Errorf("%q %q %q: read as %q, %v", host, user, password, got, err)
		}
		if _, err := parseCredentials("f", []byte(host+" "+user+" "+password)); err != nil && len(password) > 5 &&
			strings.Contains(err.Error(), password) && !strings.Contains("f:1: found words, want a host as in its URL without https:// and a user (quote a word with blanks) the host and of line again found no closing quote blank after", password) {
			t.Errorf("error %q shows the password", err)
		}
	})
}
