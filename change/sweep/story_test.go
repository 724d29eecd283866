package sweep

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"homenode/numa"
	"homenode/source/demo"
)

func encoded(t testing.TB, s *numa.Story) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := EncodeStory(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// full returns a story in which no field is zero.
func full(t testing.TB) *numa.Story {
	t.Helper()
	s := read(t, small)
	load := numa.Load{CPU: numa.Demand{Low: 0.1, High: 0.6, Peak: 14 * time.Hour, Noise: 0.05, Points: []numa.DemandPoint{{At: 0, Share: 0.5}, {At: time.Minute, Share: 1}}},
		Memory: -1, Over: time.Minute, Active: 1, Zero: 0.4, Common: 0.5, Image: "<&\u2028>", AsksLarge: 0.02, Workload: "database"}
	config := s.Fleet.VMs[0].Config
	s.Unstated = numa.DerivedFrom(load, "x")
	s.Seen = []numa.SeenVM{{VM: "web01", Host: "esx01", Homes: numa.SetOf(0, 1), Local: 1 << 40, Remote: 3, OnNode: []numa.MemoryOnNode{{Node: 0, Guest: 5, Overhead: -1}}}}
	s.Events = append(s.Events, numa.Event{At: time.Hour, Line: 9, Text: "x", Note: "n", Link: 1, Dirty: 1, Kind: numa.Resize, VM: "web01", Host: "esx01",
		Load: &load, Config: &config, Options: numa.Settings{{Key: "Numa.PreferHT", Value: "1"}}, Talk: &numa.Talk{A: "web01", B: "web02", Rate: 0.1}})
	return s
}

func TestStoryRoundTrip(t *testing.T) {
	d, err := demo.Story()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]*numa.Story{"full": full(t), "small": read(t, small), "demo": d} {
		b := encoded(t, want)
		got, err := DecodeStory(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(normal(got), normal(want)) {
			t.Errorf("%s: the story that is read is another one", name)
		}
		if again := encoded(t, got); !bytes.Equal(again, b) {
			t.Errorf("%s: its bytes are others the second time", name)
		}
	}
}

// normal returns the story with no list that is empty and not nil.
func normal(s *numa.Story) string {
	var walk func(v reflect.Value) string
	walk = func(v reflect.Value) string {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				return "nil"
			}
			return "&" + walk(v.Elem())
		case reflect.Struct:
			if t, ok := v.Interface().(time.Time); ok {
				return t.String()
			}
			var b strings.Builder
			for i := range v.NumField() {
				fmt.Fprintf(&b, "%s:%s ", v.Type().Field(i).Name, walk(v.Field(i)))
			}
			return "{" + b.String() + "}"
		case reflect.Slice:
			var b strings.Builder
			for i := range v.Len() {
				b.WriteString(walk(v.Index(i)) + ",")
			}
			return "[" + b.String() + "]"
		}
		return fmt.Sprintf("%#v", v.Interface())
	}
	return walk(reflect.ValueOf(s))
}

// TestStoryForm checks that a field that stories get is not forgotten here, and that full
// sets all of what it holds.
func TestStoryForm(t *testing.T) {
	story := reflect.TypeFor[numa.Story]()
	for i := range story.NumField() {
		if f := story.Field(i); f.Name != "Fleet" && f.Tag.Get("json") == "-" {
			t.Errorf("a story's %s is not encoded", f.Name)
		}
	}
	s := full(t)
	last := reflect.ValueOf(s.Events[len(s.Events)-1])
	for _, v := range []reflect.Value{reflect.ValueOf(*s), last, reflect.ValueOf(s.Unstated.Value), reflect.ValueOf(s.Unstated.Value.CPU), reflect.ValueOf(s.Seen[0])} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%s.%s of the test is zero", v.Type(), v.Type().Field(i).Name)
			}
		}
	}
}

func TestDecodeStoryErrors(t *testing.T) {
	good := string(encoded(t, read(t, small)))
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", "story: found 0 bytes without a line end, want a line of JSON and a snapshot"},
		{"another format", strings.Replace(good, storyFormat, "x", 1), `story: found format "x", version 1, want "homenode-story", version 1`},
		{"another version", strings.Replace(good, `"version":1`, `"version":2`, 1), `story: found format "homenode-story", version 2, want "homenode-story", version 1`},
		{"an unknown field", strings.Replace(good, `"seed"`, `"sed"`, 1), `story: json: unknown field "sed"`},
		{"more", strings.Replace(good, "\n", "{}\n", 1), "story: found more behind its JSON"},
		{"no fleet", good[:strings.Index(good, "\n")+1], "story:1:1: found the end of the file: it is cut short"},
		{"cannot be", strings.Replace(good, `"length":3600000000000`, `"length":1`, 1), "story: length of 1ns, want a multiple of 2s"},
	} {
		if _, err := DecodeStory([]byte(tt.in)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

func FuzzDecodeStory(f *testing.F) {
	f.Add(encoded(f, read(f, "host a nodes=2 cores=8 memory=64GB\nvm v host=a vcpus=4 memory=8GB memoryHotAdd=on\nload v cpu=5..9% image=x common=1%\nat 2h hot-add v memory=9GB\n")))
	f.Add(encoded(f, read(f, "host a nodes=1 cores=8\nused a node=0 memory=1GB\nrun 2h seed=4\n")))
	f.Add([]byte("{}\n{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := DecodeStory(in)
		if err != nil {
			return
		}
		b := encoded(t, s)
		again, err := DecodeStory(b)
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if normal(again) != normal(s) {
			t.Error("the story changes from one reading to the next")
		}
	})
}
