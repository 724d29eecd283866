package flags

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/internal/words"
)

// progress returns a function that shows how many of a noun are done, and one that clears the display. A terminal shows one line, updated several
// times a second; other output has one line per minute.
func progress(cmd *cobra.Command, did, noun string) (show func(done, total int), clear func()) {
	const empty = "\r\x1b[K"
	w, began := cmd.ErrOrStderr(), time.Now()
	every, before, after, shown := time.Minute, "homenode: ", "\n", began
	if IsTerminal(w) {
		every, before, after, shown = time.Second/4, empty, "", time.Time{}
	}
	show = func(done, total int) {
		if time.Since(shown) < every || time.Since(began) < time.Second {
			return
		}
		shown = time.Now()
		fmt.Fprintf(w, "%s%s %d of %s%s", before, did, done, words.Plural(total, noun), after)
	}
	return show, func() {
		if after == "" {
			fmt.Fprint(w, empty)
		}
	}
}
