package snapshot

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"example.org/homenode/numa"
)

// FuzzRead demands that what reads can be written and reads again as the same
// fleet, and that an error names a place inside the input.
func FuzzRead(f *testing.F) {
	f.Add(write(f, fullFleet(f)))
	f.Add(write(f, &numa.Fleet{}))
	f.Add([]byte(vms(`{"id": "v\u0000\ud83d\ude00", "name": "a", "cpuLimit": {"value": -1, "assumed": ""}}`)))
	f.Add([]byte(hosts(`{"id": "h", "name": "ä", "distance": {"value": [[10, 21], [], null], "derived": "x"}}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		fleet, err := Read("fleet.json", bytes.NewReader(data))
		if err != nil {
			var e *numa.SyntaxError
			lines := bytes.Split(data, []byte("\n"))
			if !errors.As(err, &e) || e.Line < 1 || e.Line > len(lines) || e.Col < 1 || e.Col > len(lines[e.Line-1])+1 {
				t.Fatalf("the error names no place of the input: %v", err)
			}
			return
		}
		again, err := Read("again.json", bytes.NewReader(write(t, fleet)))
		if err != nil {
			t.Fatalf("what was written does not read: %v", err)
		}
		if !reflect.DeepEqual(fleet, again) {
			t.Fatalf("read again it differs:\n%+v\n%+v", fleet, again)
		}
	})
}
