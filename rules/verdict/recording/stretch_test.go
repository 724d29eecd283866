package recording_test

import (
	"strings"
	"testing"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/verdict/recording"
	"example.org/homenode/source/incident"
)

// TestStretch checks that the verdict on hosts that were recorded apart names no time that nobody recorded.
func TestStretch(t *testing.T) {
	for _, tt := range []struct{ second, want string }{
		{"01:00:00", "in 1 h on 2 hosts"},
		{"13:46:00", "in up to 1 h on each of 2 hosts"},
	} {
		r := capture.NewRecorders(rules.CaptureOptions(nil))
		for host, start := range map[string]string{"esx01": "01:00:00", "esx02": tt.second} {
			in, err := incident.Read(host, []byte("start 2026-11-02T"+start+"Z\nhost "+host+"\nnode 0 memory=512GB free=60GB busy=10%\nnode 1 memory=512GB free=60GB busy=12%\n"+
				"vm db01 gid=101 vcpus=8 memory=64GB homes=0 local=60GB remote=0\n60m end\n"))
			if err != nil {
				t.Fatal(err)
			}
			if err := in.Ticks(func(k *numa.Tick) error { r.Add(k); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		verdict, _ := recording.Of(rules.Watch(r.Recordings(), nil, rules.Options{})).Verdict()
		if !strings.Contains(verdict, tt.want) {
			t.Errorf("second host at %s: %s, want %q", tt.second, verdict, tt.want)
		}
		cut := r.Recordings()
		cut[0].Files = []capture.File{{Name: "esx01.csv", Cut: true}}
		if verdict, _ := recording.Of(rules.Watch(cut, nil, rules.Options{})).Verdict(); !strings.Contains(verdict, "cannot be ruled out") || !strings.Contains(verdict, "esx01.csv could not be read completely") {
			t.Errorf("of a cut file: %s", verdict)
		}
	}
}
