package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

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
	Format  string `json:"format"`
	Version int    `json:"version"`
	*numa.Story
}

// EncodeStory writes a story: one line of JSON, then its fleet as a snapshot. Equal
// stories have equal bytes.
func EncodeStory(w io.Writer, s *numa.Story) error {
	form := storyForm{storyFormat, storyVersion, s}
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
	form := storyForm{Story: &numa.Story{}}
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
	s := form.Story
	s.Fleet = fleet
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("story: %w", err)
	}
	return s, nil
}
