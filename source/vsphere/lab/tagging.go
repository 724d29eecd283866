package lab

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/vmware/govmomi/vapi/rest"
)

// tagging is the path of the tags in the REST API.
const tagging = rest.Path + "/com/vmware/cis/tagging/"

// serveTagging serves tags to accounts that have the privilege, on the root folder.
func (v *VCenter) serveTagging(w http.ResponseWriter, r *http.Request) {
	api, _ := v.Model.Service.ServeMux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: rest.Path + "/"}})
	if p := taggingPrivilege(r); p != "" && !v.may(restUser(api, r), p, v.Model.ServiceContent.RootFolder) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	api.ServeHTTP(w, r)
}

// taggingPrivilege returns the privilege required by a call, none for a read.
func taggingPrivilege(r *http.Request) string {
	action := r.URL.Query().Get("~action")
	kind := "Tag"
	if strings.HasPrefix(r.URL.Path, tagging+"category") {
		kind = "Category"
	}
	switch {
	case strings.HasPrefix(action, "attach"), strings.HasPrefix(action, "detach"):
		return "InventoryService.Tagging.AttachTag"
	case action != "":
		return ""
	}
	does := map[string]string{http.MethodPost: "Create", http.MethodPatch: "Edit", http.MethodDelete: "Delete"}[r.Method]
	if does == "" {
		return ""
	}
	return "InventoryService.Tagging." + does + kind
}

// restUser asks the simulator for the user of a call's session.
func restUser(api http.Handler, r *http.Request) string {
	const session = "vmware-api-session-id"
	ask := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: rest.Path + "/com/vmware/cis/session"}, Header: r.Header.Clone()}
	if cookie, err := r.Cookie(session); err == nil && ask.Header.Get(session) == "" {
		ask.Header.Set(session, cookie.Value)
	}
	held := &heldAnswer{header: http.Header{}}
	api.ServeHTTP(held, ask)
	var answer struct{ Value struct{ User string } }
	if json.Unmarshal(held.body.Bytes(), &answer) != nil {
		return "" // no session: the simulator rejects the call itself
	}
	return answer.Value.User
}
