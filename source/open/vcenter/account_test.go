package vcenter

import "testing"

// TestAddress checks that an address that is shown has no account.
func TestAddress(t *testing.T) {
	env := map[string]string{"GOVC_URL": "https://reader:r@vc01.example.com/sdk"}
	o := Options{Env: func(name string) string { return env[name] }}
	for name, want := range map[string]string{"https://reader@vc01.example.com": "https://vc01.example.com", "vcenter": "https://vc01.example.com/sdk"} {
		u, err := o.Address(name)
		if err != nil || u.String() != want {
			t.Errorf("Address(%s) = %v, %v; want %s", name, u, err, want)
		}
	}
}
