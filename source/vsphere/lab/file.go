package lab

import (
	"net/http"

	"github.com/vmware/govmomi/vim25/soap"

	"homenode/source/privilege"
)

// serveFile serves a file of the datastore to sessions whose account may read it.
func (v *VCenter) serveFile(w http.ResponseWriter, r *http.Request) {
	cookie, err := r.Cookie(soap.SessionCookieName)
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	store := v.Model.Map().Any("Datastore").Reference()
	var needs []Need
	for _, p := range privilege.Files {
		needs = append(needs, Need{p, store})
	}
	v.ask(Call{Method: "GET /folder", Object: store, Needs: needs})
	for _, s := range v.sessions() {
		if s.Key != cookie.Value {
			continue
		}
		for _, n := range needs {
			if !v.may(s.UserName, n.Privilege, n.On) {
				w.WriteHeader(http.StatusForbidden)
				return
			}
		}
		v.Model.Service.ServeDatastore(w, r)
		return
	}
	w.WriteHeader(http.StatusUnauthorized)
}
