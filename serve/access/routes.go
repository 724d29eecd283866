package access

// A Route says who may ask for what.
type Route struct {
	Pattern string // of http.ServeMux, as it is registered
	Least   Role
	Methods string // those of a pattern without a method, with a blank between
}

// Routes are all routes of a server. A request for one that is not here is refused, and a test fails for it.
var Routes = []Route{
	{"GET /static/site.css", Anyone, ""},
	{"GET /static/site.js", Anyone, ""},
	{"GET /static/uPlot.js", Anyone, ""},
	{"GET /static/series.js", Anyone, ""},
	{"GET /static/play.js", Anyone, ""},
	{"POST /language", Anyone, ""}, // which one the pages are in
	{"GET /login", Anyone, ""},
	{"POST /login", Anyone, ""},
	{"GET /login/oidc", Anyone, ""},
	{"GET /login/oidc/return", Anyone, ""},
	{"POST /logout", Anyone, ""},
	{"GET /healthz", Anyone, ""},

	{"/", Viewer, "GET"}, // what nothing is at
	{"GET /{$}", Viewer, ""},
	{"GET /findings", Viewer, ""},
	{"GET /cluster", Viewer, ""},
	{"GET /host", Viewer, ""},
	{"GET /vm", Viewer, ""},
	{"GET /what-if", Viewer, ""},
	{"GET /calculator", Viewer, ""},
	{"GET /simulate", Viewer, ""},
	{"GET /plans", Viewer, ""},
	{"GET /plan", Viewer, ""},
	{"GET /accepted", Viewer, ""},
	{"GET /captures", Viewer, ""},
	{"GET /capture", Viewer, ""},
	{"GET /counters", Viewer, ""},
	{"GET /compare", Viewer, ""},
	{"GET /rules", Viewer, ""},
	{"GET /rule", Viewer, ""},
	{"GET /status", Viewer, ""},
	{"GET /events", Viewer, ""},
	{"GET /vm/series", Viewer, ""},
	{"GET /search", Viewer, ""},
	{"GET /metrics", Viewer, ""},
	{"GET /api/homenode/v1/status", Viewer, ""},
	{"GET /api/homenode/v1/findings", Viewer, ""},
	{"GET /api/homenode/v1/vms", Viewer, ""},
	{"GET /api/homenode/v1/inventory", Viewer, ""},
	{"GET /api/homenode/v1/openapi.json", Viewer, ""},
	{"GET /api/homenode/v1/fleet", Viewer, ""},
	{"GET /api/homenode/v1/cluster", Viewer, ""},
	{"GET /api/homenode/v1/host", Viewer, ""},
	{"GET /api/homenode/v1/vm", Viewer, ""},
	{"GET /api/homenode/v1/what-if", Viewer, ""},
	{"GET /api/homenode/v1/calculator", Viewer, ""},
	{"GET /api/homenode/v1/simulate", Viewer, ""},
	{"GET /api/homenode/v1/plans", Viewer, ""},
	{"POST /host/closely", Operator, ""},
	{"POST /plans/keep", Operator, ""},
	{"POST /plan/{what}", Operator, ""},
	{"POST /accepted/{what}", Operator, ""},
	{"POST /captures", Operator, ""},
	{"POST /captures/remove", Operator, ""},
	{"/api/v1/", Viewer, "GET HEAD POST"}, // queries: a POST reads as a GET does, and is longer
}

// LocalToo are routes of operators that a request of this machine has without signing in, on a server that listens on loopback alone:
// what they change is gone when the server ends.
var LocalToo = []string{"POST /captures", "POST /captures/remove"}
