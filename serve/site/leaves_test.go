package site

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/serve/held"
	"example.org/homenode/source/scenario/given"
)

// TestLeaves asks pages and the API for a reader who has gone: nothing is answered, however much is asked.
func TestLeaves(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\ncluster c\nhost esx1 cluster=c nodes=2 cores=18 memory=512GB\nvm db[1-9] host=esx1 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on\n"))
	fleet := &held.Fleet{Name: "c", Result: rules.Run(f, rules.Options{}), Sources: []string{"fleet.txt"}}
	s := &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{fleet} }}
	mux := http.NewServeMux()
	for pattern, h := range s.Handlers() {
		mux.Handle(pattern, h)
	}
	for _, path := range []string{"/?", apiPath + "fleet?"} {
		for i := range 20 { // the turn and the end are waited for at once
			address := fmt.Sprintf(`%sselect=vcpus+%%3E+%d`, path, i)
			ask := func(ctx context.Context) int {
				w := httptest.NewRecorder()
				mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil).WithContext(ctx))
				return w.Code
			}
			gone, leave := context.WithCancel(t.Context())
			leave()
			if code := ask(gone); code == http.StatusOK {
				t.Errorf("%s: answered for a reader who has gone", address)
			}
			if code := ask(t.Context()); code != http.StatusOK {
				t.Errorf("%s: status %d for a reader who stays", address, code)
			}
		}
	}
}
