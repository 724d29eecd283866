package capture

import (
	"bytes"
	"strings"
	"testing"
)

func encode(t testing.TB, r *Recording) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t testing.TB, b []byte) *Recording {
	t.Helper()
	r, rest, err := Decode(b)
	if err != nil || len(rest) > 0 {
		t.Fatalf("Decode = %v, %d bytes left", err, len(rest))
	}
	return r
}

// text returns the JSON of an encoded recording.
func text(encoded string) string {
	line, _, _ := strings.Cut(encoded, "\n")
	return line + "\n"
}

// What crosses processes merges to the bytes of the whole.
func TestCodec(t *testing.T) {
	const n = 80
	all := newWorld(7).ticks(n)
	want := record(tight, n/2, all)
	bytesWanted := encode(t, want)
	same(t, "the whole", decode(t, bytesWanted), want)
	for cut := 1; cut < n; cut++ {
		a := decode(t, encode(t, record(tight, n/2, all[:cut])))
		b := decode(t, encode(t, record(tight, n/2, all[cut:])))
		if got := encode(t, merge(t, a, b)); !bytes.Equal(got, bytesWanted) {
			t.Fatalf("cut at %d: the merged parts have other bytes than the whole", cut)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	good := string(encode(t, record(some, 0, newWorld(8).ticks(3))))
	for _, tt := range []struct{ name, old, new, want string }{
		{"version", `"version":7`, `"version":1`, `read recording: found 1, want 7, as in version 7 of a recording`},
		{"unknown field", `{"host":"esx01"`, `{"colour":1,"host":"esx01"`, `read recording: column 27: recording: found "colour", which no recording has here`},
		{"unknown field outside", `{"version":7`, `{"colour":1,"version":7`, `read recording: found colour, want version, as in version 7 of a recording`},
		{"options", `"buckets":256`, `"buckets":0`, `read recording of esx01: capture options: found buckets 0, want one from 1 to 65536`},
		{"ticks", `"ticks":3,"covered"`, `"ticks":0,"covered"`, `read recording of esx01: found 0 ticks from 2026-11-20 08:00:15 +0000 UTC to 2026-11-20 08:06:15 +0000 UTC`},
		{"width", `"timeline":{"width":2000000000`, `"timeline":{"width":3000000000`, `read recording of esx01: node 0: found buckets of 3s, want a power of two in seconds`},
		{"node", `"nodes":[{"id":0`, `"nodes":[{"id":2`, `read recording of esx01: found node 1 at place 2, want nodes by number`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := strings.Replace(good, tt.old, tt.new, 1)
			if bad == good {
				t.Fatalf("%s is not in the recording", tt.old)
			}
			if _, _, err := Decode([]byte(bad)); err == nil || err.Error() != tt.want {
				t.Errorf("Decode() = %v, want %s", err, tt.want)
			}
		})
	}
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", "read recording: unexpected EOF"},
		{"cut", good[:100], "read recording: unexpected EOF"},
		{"without buckets", text(good), "read recording of esx01: found no number where the buckets of its timelines are"},
		{"cut within them", good[:len(good)-1], "read recording of esx01: found no number where the buckets of its timelines are"},
		{"none", "{\"version\":7}\n", "read recording: found none"},
		{"null", "{\"version\":7,\"recording\":null}\n", "read recording: found none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := Decode([]byte(tt.in)); err == nil || err.Error() != tt.want {
				t.Errorf("Decode() = %v, want %s", err, tt.want)
			}
		})
	}
	if _, _, err := Decode([]byte(strings.TrimSpace(text(good)) + "{\n")); err == nil || !strings.HasPrefix(err.Error(), "read recording: column ") {
		t.Errorf("Decode() of more = %v, want an error about more", err)
	}
	if _, rest, err := Decode([]byte(good + "more")); err != nil || string(rest) != "more" {
		t.Errorf("Decode() with more behind it = %q, %v; want more", rest, err)
	}
}

// What Decode takes, Merge takes too.
func FuzzDecode(f *testing.F) {
	all := newWorld(9).ticks(6)
	other := record(tight, 3, all[3:])
	f.Add(encode(f, record(tight, 3, all[:1])))
	f.Add(encode(f, story(some, quiet)))
	f.Add(encode(f, story(tight, quiet, memory(1, 7), homes(1))))
	f.Add([]byte("{\"version\":7,\"recording\":{}}\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, _, err := Decode(in)
		if err != nil {
			return
		}
		again := decode(t, encode(t, r))
		if _, _, err := Merge([]*Recording{r, other}); err != nil && r.Options == other.Options {
			t.Errorf("Merge() = %v, want no error", err)
		}
		if !bytes.Equal(encode(t, again), encode(t, r)) {
			t.Error("encoding twice gives other bytes")
		}
	})
}
