package accept

import (
	"os"
	"path/filepath"
	"testing"

	"homenode/rules/policy"
)

func TestBook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "accepted.yaml")
	b, err := Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := policy.Suppression{Rules: []string{"N001"}, VM: []string{"sql\"01: {}"}, Reason: "ticket 4711: \"#\" \u202e", Until: "2099-01-31"}
	if err := b.Add(one); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct {
		s    policy.Suppression
		want string
	}{
		{policy.Suppression{Rules: []string{"N001"}, VM: []string{"a"}, Until: "2099-01-31"}, "found an empty reason: say why the findings are accepted"},
		{policy.Suppression{Rules: []string{"N001"}, VM: []string{"a"}, Reason: "x\nuntil: 2100-01-01", Until: "soon"}, `found until = "soon", want a date such as 2027-01-31`},
		{policy.Suppression{VM: []string{"*"}, Reason: "all", Until: "2099-01-31"}, ""},
	} {
		err := b.Add(bad.s)
		if err == nil || bad.want != "" && err.Error() != bad.want {
			t.Errorf("%+v: %v, want %s", bad.s, err, bad.want)
		}
	}
	again, err := Open(file, nil)
	if err != nil {
		text, _ := os.ReadFile(file)
		t.Fatalf("%v\n%s", err, text)
	}
	if own := again.Own(); len(own) != 1 || Key(&own[0]) != Key(&one) {
		t.Errorf("found %+v, want %+v", own, one)
	}
	if err := again.Remove(one); err != nil || len(again.Own()) != 0 || len(again.Policy().Suppress) != 0 {
		t.Errorf("not removed: %v, %+v", err, again.Own())
	}
	if err := again.Remove(one); err == nil {
		t.Error("removed twice")
	}
	if b, err = Open(file, &policy.Policy{File: "homenode.yaml", Suppress: []policy.Suppression{one}}); err != nil || len(b.Policy().Suppress) != 1 || b.Policy().File != "homenode.yaml" {
		t.Errorf("%v, %+v", err, b)
	}
}
