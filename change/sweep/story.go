package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"homenode/numa"
	"homenode/source/snapshot"
)

// storyFormat is the first field of a story as bytes, storyVersion its version.
const (
	storyFormat  = "homenode-story"
	storyVersion = 1
)

// storyForm is a numa.Story as JSON but for its fleet, which is a snapshot behind it.
type storyForm struct {
	Format   string               `json:"format"`
	Version  int                  `json:"version"`
	Name     string               `json:"name"`
	Start    time.Time            `json:"start"`
	Length   time.Duration        `json:"length"` // ns, as all durations
	Every    time.Duration        `json:"every"`
	Seed     uint64               `json:"seed"`
	Used     []numa.NodeUse       `json:"used"`
	Loads    []numa.VMLoad        `json:"loads"`
	Talks    []numa.Talk          `json:"talks"`
	Unstated numa.Fact[numa.Load] `json:"unstated"`
	Events   []numa.Event         `json:"events"`
	Seen     []numa.SeenVM        `json:"seen"`
}

// EncodeStory writes a story: one line of JSON, then its fleet as a snapshot. Equal
// stories have equal bytes.
func EncodeStory(w io.Writer, s *numa.Story) error {
	form := storyForm{
		Format: storyFormat, Version: storyVersion,
		Name: s.Name, Start: s.Start, Length: s.Length, Every: s.Every, Seed: s.Seed,
		Used: s.Used, Loads: s.Loads, Talks: s.Talks, Unstated: s.Unstated, Events: s.Events, Seen: s.Seen,
	}
	if err := json.NewEncoder(w).Encode(&form); err != nil { // ends in a line break
		return fmt.Errorf("story: %w", err)
	}
	return snapshot.Write(w, s.Fleet)
}

// DecodeStory reads what EncodeStory writes, and checks it.
func DecodeStory(b []byte) (*numa.Story, error) {
	first, rest, ok := bytes.Cut(b, []byte("\n"))
	if !ok {
		return nil, fmt.Errorf("story: found %d bytes without a line end, want a line of JSON and a snapshot", len(b))
	}
	var form storyForm
	dec := json.NewDecoder(bytes.NewReader(first))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&form); err != nil {
		return nil, fmt.Errorf("story: %w", err)
	}
	if dec.More() {
		return nil, fmt.Errorf("story: found more behind its JSON")
	}
	if form.Format != storyFormat || form.Version != storyVersion {
		return nil, fmt.Errorf("story: found format %.40q, version %d, want %q, version %d", form.Format, form.Version, storyFormat, storyVersion)
	}
	fleet, err := snapshot.Read("story", bytes.NewReader(rest))
	if err != nil {
		return nil, err
	}
	s := &numa.Story{
		Name: form.Name, Fleet: fleet, Start: form.Start, Length: form.Length, Every: form.Every, Seed: form.Seed,
		Used: form.Used, Loads: form.Loads, Talks: form.Talks, Unstated: form.Unstated, Events: form.Events, Seen: form.Seen,
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("story: %w", err)
	}
	return s, nil
}
