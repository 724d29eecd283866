package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"homenode/capture"
	"homenode/rules"
)

// TestCaptureVMNames checks which lives a name picks, and what is said when it picks none.
func TestCaptureVMNames(t *testing.T) {
	w := &rules.Watched{Recordings: []*capture.Recording{
		{Host: "esx01", VMs: []capture.VM{{Name: "sql01", GID: 7}, {Name: "sql01", GID: 9}, {Name: "web", GID: 8}}},
		{Host: "esx02", VMs: []capture.VM{{Name: "web", GID: 3}}},
	}}
	for _, tt := range []struct{ name, want, err string }{
		{"sql01", "esx01 7, esx01 9, ", ""},
		{"sql01 (gid 9)", "esx01 9, ", ""},
		{"web", "esx01 8, esx02 3, ", ""},
		{"esx02/web", "esx02 3, ", ""},
		{"esx02", "", `"esx02" is a host: --format svg draws hosts, else --vm takes a VM`},
		{"sql02", "", `no VM "sql02" was recorded; alike: sql01`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			err := CaptureVMJSON(&b, w, tt.name)
			if err != nil {
				if err.Error() != tt.err {
					t.Errorf("%v, want %s", err, tt.err)
				}
				return
			}
			var j struct {
				Lives []struct {
					Host string
					GID  json.Number
				}
			}
			if err := json.Unmarshal(b.Bytes(), &j); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, l := range j.Lives {
				got += l.Host + " " + l.GID.String() + ", "
			}
			if got != tt.want || tt.err != "" {
				t.Errorf("found %s, want %s%s", got, tt.want, tt.err)
			}
		})
	}
}
