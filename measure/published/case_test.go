package published

import (
	"reflect"
	"strings"
	"testing"
)

func TestReadJSON(t *testing.T) {
	want := Case{ID: "a", Source: "s", Kind: "observed", Release: "7.0", Hardware: "19",
		Host: map[string]any{"sockets": 2.0}, Observed: map[string]any{"wide": true}}
	const text = `{"id": "a", "source_url": "s", "kind": "observed", "release": 7.0, "hw_version": 19, "event": null, "host": {"sockets": 2}, "observed": {"wide": true}, "quote": [1]}`
	for name, in := range map[string]string{
		"object": text, "list": "[" + text + "]", "byte order mark": "\ufeff" + text, "blank lines": "\r\n\n  " + text + "\n\n",
	} {
		if got, err := Read("cases.json", []byte(in)); err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := Read("cases.json", []byte("[]")); err != nil || len(got) != 0 {
		t.Errorf("empty list: %v, %v", got, err)
	}
	from, err := Read("cases.json", []byte(`[{"id": "a", "source_host": {"sockets": 2}}, {"id": "b", "source_host": "2x20"}, {"id": "c", "release": ["6.5"], "source_host": null}]`))
	if err != nil || from[0].From["sockets"] != 2.0 || from[1].From["shape"] != "2x20" || from[2].From != nil || from[2].Release != `["6.5"]` {
		t.Errorf("host before: %+v, %v", from, err)
	}
}

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		// JSON.
		{"cut", "[\n{\"id\": \"a\"", `:2:11: unexpected end of JSON input`},
		{"cut after a newline", "[\n", `:2:1: unexpected end of JSON input`},
		{"comma", "[{\"id\": \"a\"},\n ]", `:2:2: invalid character ']' looking for beginning of value`},
		{"first byte but one", "[x", `:1:2: invalid character 'x' looking for beginning of value`},
		{"after blank lines and a mark", "\ufeff\n\n[x", `:3:2: invalid character 'x' looking for beginning of value`},
		{"trailing", "{\"id\": \"a\"} x", `:1:13: invalid character 'x' after top-level value`},
		{"no case", "[{\"id\": \"a\"},\n 7]", `:2:2: found number, want an object`},
		{"host of a word", "[{\"id\": \"a\",\n \"host\": \"esx01\"}]", `:2:16: host: found string, want an object`},
		{"VM of a list", "{\"id\": \"a\", \"vm\": [1]}", `:1:19: vm: found array, want an object`},
		{"no id", `[{"id": "a"}, {"kind": "observed"}]`, `: case 2 has no id`},
		{"id twice", `[{"id": "a"}, {"id": "a"}]`, `: case a stands there twice`},
		// Text.
		{"empty", "", `: no line "id" in a section "-- case --"`},
		{"no section", "id a\n", `: no line "id" in a section "-- case --"`},
		{"no id in text", "-- case --\nkind observed\n", `: no line "id" in a section "-- case --"`},
		{"section", "words\n-- case --\nid a\n-- findings --\nN001\n", `:5: found section "findings", want case or observed`},
		{"word", "words\n-- case --\nid a\nhosts 2\n", `:4: found "hosts", want id, source, gave, kind, release, hardware, event, host, from or vm`},
		{"no value", "-- case --\nid a\nhost sockets\n", `:3: found "sockets", want key=value`},
		{"no key", "-- case --\nid a\nvm =2\n", `:3: found "=2", want key=value`},
		{"blank in a key", "-- case --\nid a\nvm cores per socket=2\n", `:3: found "cores per socket=2", want key=value`},
		{"no JSON", "-- case --\nid a\nfrom sockets=two\n", `:3: sockets: found "two", want a JSON value`},
		{"observed", "-- case --\nid a\n-- observed --\nvpd_count=2\nwide=yes\n", `:5: wide: found "yes", want a JSON value`},
		{"not UTF-8", "-- case --\nid a\nvm \xff=1\n", `:3: found bytes that are not UTF-8`},
		{"CRLF", "words\r\n-- case --\r\nid a\r\n-- observed --\r\nwide=yes\r\n", `:5: wide: found "yes", want a JSON value`},
		{"byte order mark", "\ufeff-- case --\nid a\nwhat\n", `:3: found "what", want id, source, gave, kind, release, hardware, event, host, from or vm`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cases, err := Read("cases", []byte(tt.in))
			if err == nil || cases != nil {
				t.Fatalf("Read returned cases: %v, %v", cases, err)
			}
			if got, want := err.Error(), "cases"+tt.want; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	if _, err := ReadFile("testdata/none.json"); err == nil || !strings.HasPrefix(err.Error(), "open testdata/none.json: ") {
		t.Errorf("ReadFile of nothing: %v", err)
	}
}

func TestReadText(t *testing.T) {
	const text = "Words.\n-- case --\nid a\nsource http://x y\nkind stated\nrelease 6.7 era (early)\nhardware vmx-14\nevent vmotion\n\n" +
		"host sockets=2  cpu_model=\"Xeon E5\"\nhost cores_per_socket=10\nfrom sockets=4\nvm vcpus=8 extra.numa.vcpu.min=\"4\" extra.event=\"x\"\n" +
		"-- observed --\nvcpus_per_node=[4, 4]\nwide=true\n"
	want := Case{ID: "a", Source: "http://x y", Kind: "stated", Release: "6.7 era (early)", Hardware: "vmx-14", Event: "vmotion",
		Host:     map[string]any{"sockets": 2.0, "cpu_model": "Xeon E5", "cores_per_socket": 10.0},
		From:     map[string]any{"sockets": 4.0},
		VM:       map[string]any{"vcpus": 8.0, "extra": map[string]any{"numa.vcpu.min": "4", "event": "x"}},
		Observed: map[string]any{"vcpus_per_node": []any{4.0, 4.0}, "wide": true},
	}
	for name, in := range map[string]string{"LF": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "byte order mark": "\ufeff" + text} {
		if got, err := Read("a.txtar", []byte(in)); err != nil || !reflect.DeepEqual(got, []Case{want}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
