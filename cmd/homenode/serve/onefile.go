package serve

import (
	"os"
	"path/filepath"
)

// oneFile returns the path of homenode.html: beside the program in an archive, in its documents in a package, and in dist
// of a checkout. It returns "" if there is none.
func oneFile() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	for _, dir := range []string{".", "../share/doc/homenode", "../dist"} {
		path := filepath.Join(filepath.Dir(program), dir, "homenode.html")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
