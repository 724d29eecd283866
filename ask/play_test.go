package ask

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/source/open"
)

// TestStorySize checks that the ticks of a large story are coarse unless it says every=.
func TestStorySize(t *testing.T) {
	var fleet strings.Builder
	fmt.Fprintf(&fleet, "host esx[1-60] nodes=2 cores=16 memory=768GB\n")
	for h := range 60 {
		fmt.Fprintf(&fleet, "vm v%d-[001-100] host=esx%d vcpus=1 memory=1GB\n", h, h+1)
	}
	for _, tt := range []struct {
		lines, at string
		want      time.Duration
	}{
		{"", "", 5 * time.Minute},
		{"load * cpu=10%\n", "", 5 * time.Minute},
		{"run 2h seed=3\n", "", 5 * time.Minute},
		{"run 2h every=20s\n", "", 20 * time.Second},
		{"load * cpu=10%\n", "run 24h every=40s", 40 * time.Second},
	} {
		path := filepath.Join(t.TempDir(), "large.txtar")
		golden.Write(t, path, []byte(fleet.String()+tt.lines))
		var p Play
		if tt.at != "" {
			p.At = []string{tt.at}
		}
		s, _, o, err := p.Told(t.Context(), &Env{Open: open.Fleet}, &Asked{}, path)
		if err != nil {
			t.Fatal(err)
		}
		if s.Every != tt.want || o.Silent {
			t.Errorf("%q, --at %q: a tick every %s, silent %v; want %s", tt.lines, tt.at, s.Every, o.Silent, tt.want)
		}
	}
}
