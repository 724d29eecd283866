package site

import (
	"net/http"
	"os"
	"path/filepath"
)

// oneFile is the name of the page that contains the whole analysis (package page), and its address.
const oneFile = "homenode.html"

// OneFile returns the path of homenode.html: beside the program in an archive, in its share folder in a package, and in dist
// of a checkout. It returns "" if there is none.
func OneFile() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	for _, dir := range []string{".", "../share/homenode", "../dist"} {
		path := filepath.Join(filepath.Dir(program), dir, oneFile)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// save offers homenode.html for download: opened from a server, it could not keep its promise to make no requests.
func (s *Site) save(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Disposition", `attachment; filename="`+oneFile+`"`)
	http.ServeFile(w, r, s.OneFile)
}
