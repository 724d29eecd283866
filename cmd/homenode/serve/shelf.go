package serve

import (
	"fmt"

	"github.com/spf13/cobra"

	"homenode/numa/unit"
	"homenode/serve/captures"
)

// shelving is which captures pages may open.
type shelving struct{ folder, limit string }

func (s *shelving) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&s.folder, "captures", "", "folder of captures that pages list and open; nothing outside of it is read")
	fl.StringVar(&s.limit, "upload-limit", "200MB", "how large a capture may be that is uploaded, which is kept for a day at most; 0 takes none")
}

// open returns the captures.
func (s *shelving) open() (*captures.Shelf, error) {
	limit, err := unit.ParseSize(s.limit)
	if s.limit == "0" {
		limit, err = 0, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--upload-limit: %w", err)
	}
	shelf, err := captures.Open(s.folder, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("--captures: %w", err)
	}
	return shelf, nil
}
