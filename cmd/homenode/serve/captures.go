package serve

import (
	"fmt"

	"github.com/spf13/cobra"

	"homenode/numa/unit"
	"homenode/serve/shelf"
)

// captures say which captures pages may open.
type captures struct{ dir, limit string }

func (c *captures) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&c.dir, "captures", "", "folder whose captures the pages can open; symbolic links in it are not followed")
	fl.StringVar(&c.limit, "upload-limit", "200MB", "how large a capture may be that is sent to the pages, which keep it for a day; 0 takes none")
}

// shelf returns the captures; the caller closes it.
func (c *captures) shelf() (*shelf.Shelf, error) {
	limit, err := unit.ParseSize(c.limit)
	if c.limit == "0" {
		limit, err = 0, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--upload-limit: %w", err)
	}
	s, err := shelf.New(c.dir, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("--captures: %w", err)
	}
	return s, nil
}
