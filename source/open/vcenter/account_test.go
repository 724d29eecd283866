package vcenter

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// TestOnlyCredentials checks that an account that may write is taken from its file alone, never from the variables of the one that reads.
func TestOnlyCredentials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "writer")
	if err := os.WriteFile(file, []byte("vc01.example.com writer w\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"GOVC_URL": "https://reader:r@vc01.example.com/sdk", "GOVC_USERNAME": "reader", "GOVC_PASSWORD": "r"}
	o := Options{CredentialsFile: file, OnlyCredentials: true, Env: func(name string) string { return env[name] },
		Ask: func(string, *Account) error { return errors.New("asked") }}
	for name, want := range map[string]string{"https://vc01.example.com": "writer", "https://reader@vc01.example.com": "", "https://vc02.example.com": "", "vcenter": ""} {
		_, _, own, err := o.target(name)
		if own.Username != want || (err == nil) != (want != "") {
			t.Errorf("%s: user %q, %v; want %q", name, own.Username, err, want)
		}
	}
	for name, want := range map[string]string{"https://reader@vc01.example.com": "https://vc01.example.com", "vcenter": "https://vc01.example.com/sdk"} {
		u, err := o.Address(name)
		if err != nil || u.String() != want {
			t.Errorf("Address(%s) = %v, %v; want %s", name, u, err, want)
		}
	}
	known, other := &url.URL{Host: "vc01.example.com"}, &url.URL{Host: "vc02.example.com"}
	if err := CheckCredentials(file, known); err != nil {
		t.Error(err)
	}
	if err := CheckCredentials(file, known, other); err == nil || err.Error() != `vc02.example.com: no account: want a line "vc02.example.com user password" in `+file {
		t.Errorf("no line: %v", err)
	}
}
