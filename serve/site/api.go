package site

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/output/format"
)

// The API answers the requests of the pages with the JSON of the commands (docs/reference/json.md), for the same parameters.

// apiPath is the prefix of the API's addresses.
const apiPath = "/api/homenode/v1/"

// name returns the name of the page in the API.
func (p *screen) name() string {
	if p.path == "/" {
		return "fleet"
	}
	return p.path[1:]
}

// question reports whether a command answers the page. The others have their own addresses in the API.
func (p *screen) question() bool {
	return !slices.Contains([]string{"/status", "/captures", "/capture", "/compare", "/rules", "/rule"}, p.path)
}

// answer returns the handler of a page in the API.
func (s *Site) answer(p *screen) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x, err := s.request(p, r)
		if err == nil && p.needs != "" && x.query.Get(p.needs) == "" {
			err = errors.New(p.needs + ": it is missing")
		}
		if err == nil {
			err = valid(x.query, append(s.asksOf(r.Context(), p, x.query.Get("kind")), field{Name: "fleet"}, field{Name: p.needs}))
		}
		var v *view
		if err == nil {
			v, err = x.shown()
		}
		if err == nil && v.answer.Result == nil && len(v.links) > 0 && v.links[0].Text == exampleLink {
			err = errors.New("nothing is asked: give a parameter that says what")
		}
		var b bytes.Buffer
		if err == nil {
			err = format.JSON(&b, v.answer, format.Options{Version: s.Version})
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if err != nil {
			retry(w.Header(), statusOf(err))
			w.WriteHeader(statusOf(err))
			_ = json.NewEncoder(w).Encode(map[string]string{"error": strings.TrimPrefix(ask.Undashed(err).Error(), "--")}) // the client is gone
			return
		}
		_, _ = w.Write(b.Bytes()) // the client is gone
	})
}

// refuse sends an error response.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text}) // the client is gone
}

// kindsWith lists the calculators that have a parameter, unless all have it.
func (s *Site) kindsWith(ctx context.Context, p *screen, name string) string {
	if p.path != "/calculator" || name == "kind" {
		return ""
	}
	var with []string
	for _, kind := range append([]string{topology}, kindsOf(calculations())...) {
		if slices.ContainsFunc(s.asksOf(ctx, p, kind), func(f field) bool { return f.Name == name }) {
			with = append(with, "kind "+kind)
		}
	}
	return strings.Join(with, ", ")
}

// kindsOf returns the names of calculators in addresses.
func kindsOf(all []*ask.Entry) (out []string) {
	for _, t := range all {
		out = append(out, kindOf(t))
	}
	return out
}

// describe answers with the OpenAPI document of the API. It covers everything that pages can ask.
func (s *Site) describe(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(s.openAPI(r.Context())) // the client is gone
}

// A node is a part of a JSON document.
type node = map[string]any

// asksOf returns the fields of a page without computing an answer. For the calculator these are the fields of one kind, or
// of all kinds.
func (s *Site) asksOf(ctx context.Context, p *screen, kind string) (all []field) {
	addresses := []string{p.path + "?" + url.Values{p.needs: {s.anyOf(p.needs)}}.Encode()}
	if p.path == "/calculator" {
		addresses = []string{p.path + "?" + url.Values{"kind": {cmp.Or(kind, topology)}}.Encode()}
		for _, t := range calculations() {
			if kind == "" {
				addresses = append(addresses, p.path+"?kind="+kindOf(t))
			}
		}
	}
	for _, address := range addresses {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			continue
		}
		x, err := s.request(p, r)
		if x.quiet = true; err == nil {
			_, _ = x.shown() // it stops before the question is answered
		}
		all = append(all, x.asks...)
	}
	return all
}

// schema returns the schema of a parameter's value.
func (f *field) schema() node {
	switch {
	case f.Check:
		return node{"type": "boolean", "default": false}
	case f.Choices == nil:
		return node{"type": cmp.Or(f.Type, "string")}
	}
	out := node{"type": "string", "enum": f.values()}
	if f.Choices[0].Value == "" {
		out["default"] = f.called(f.Choices[0])
	} else if f.Default != "" {
		out["default"] = f.Default
	}
	return out
}

// openAPI returns the OpenAPI document.
func (s *Site) openAPI(ctx context.Context) node {
	failure := apiBody("why there is no answer", node{"type": "object", "required": []string{"error"}, "properties": node{"error": apiText}})
	var names []string
	for _, f := range s.Fleets() {
		names = append(names, f.Name)
	}
	paths := node{
		apiPath + "status":    apiGet("how collecting goes", nil, node{"200": apiBody("each vCenter and host", apiObject("format", "version", "vcenters"))}),
		apiPath + "findings":  apiGet("the findings that hold now, and those that ended", nil, node{"200": apiBody("findings with their begin", apiObject("format", "version", "open", "ended"))}),
		apiPath + "vms":       apiGet("the current state of every VM", nil, node{"200": apiBody("VMs, the lowest locality first", apiObject("format", "version", "vms"))}),
		apiPath + "inventory": apiGet("a snapshot of the inventory with observations", []node{apiQuery("vcenter", "which, where there are several", false, apiText)}, node{"200": apiBody("a snapshot", apiObject()), "404": node{"description": "no inventory was read", "content": node{"text/plain": node{"schema": apiText}}}}),
	}
	for _, p := range pages() {
		if !p.question() {
			continue
		}
		parameters := []node{apiQuery("fleet", "the vCenter, where there are several", false, node{"type": "string", "enum": append([]string{""}, names...)})}
		if p.needs != "" {
			one := apiQuery(p.needs, "its name or ID", true, node{"type": "string", "minLength": 1})
			if name := s.anyOf(p.needs); name != "" {
				one["example"] = name
			}
			parameters = append(parameters, one)
		}
		told := map[string]bool{"fleet": true, p.needs: true}
		for _, f := range s.asksOf(ctx, p, "") {
			if told[f.Name] {
				continue
			}
			told[f.Name] = true
			about := cmp.Or(f.Label, f.Name)
			if kinds := s.kindsWith(ctx, p, f.Name); kinds != "" {
				about += " (" + kinds + ")"
			}
			if f.Hint != "" {
				about += ", such as " + f.Hint
			}
			parameters = append(parameters, apiQuery(f.Name, about, false, f.schema()))
		}
		paths[apiPath+p.name()] = apiGet("the content of page "+p.path+": "+p.title, parameters,
			node{"200": apiBody("the answer, as docs/reference/json.md describes it", answered(p)), "400": failure, "404": failure, "503": failure})
	}
	return node{"openapi": "3.1.0", "info": node{"title": "homenode", "version": "1", "description": "The questions of homenode's pages, answered with the JSON of its commands. It only reads."}, "paths": paths}
}

var apiText = node{"type": "string"}

// apiObject returns the schema of an object with required members.
func apiObject(required ...string) node {
	out := node{"type": "object"}
	if len(required) > 0 {
		properties := node{}
		for _, name := range required {
			properties[name] = node{}
		}
		out["required"], out["properties"] = required, properties
	}
	return out
}

// apiBody returns a response in JSON.
func apiBody(about string, schema node) node {
	return node{"description": about, "content": node{"application/json": node{"schema": schema}}}
}

// apiGet returns a path for GET.
func apiGet(about string, parameters []node, responses node) node {
	operation := node{"summary": about, "responses": responses}
	if parameters != nil {
		operation["parameters"] = parameters
	}
	return node{"get": operation}
}

// apiQuery returns a query parameter.
func apiQuery(name, about string, required bool, schema node) node {
	return node{"name": name, "in": "query", "description": about, "required": required, "schema": schema}
}

// formatsOf has the formats of the answers of pages; for a page without any only the frame is described.
var formatsOf = map[string][]string{
	"/": {"homenode-assessment", "homenode-assessment-kvm"}, "/cluster": {"homenode-matrix"}, "/host": {"homenode-topo"}, "/vm": {"homenode-explanation"},
	"/what-if": {"homenode-what-if"}, "/simulate": {"homenode-simulation", "homenode-simulation-vm"},
}

// answered returns the schema of the answers of a page.
func answered(p *screen) node {
	text := node{"type": "string"}
	formats := formatsOf[p.path]
	if p.path == "/calculator" {
		formats = []string{"homenode-explanation"}
		for _, t := range calculations() {
			formats = append(formats, "homenode-"+strings.ReplaceAll(t.Name, " ", "-"))
		}
	}
	if formats == nil {
		return node{"type": "object", "required": []string{"format", "version", "command", "verdict"},
			"properties": node{"format": text, "version": node{"type": "integer"}, "command": text, "verdict": node{"type": "array", "items": text}}}
	}
	var any []node
	for _, name := range formats {
		any = append(any, node{"$ref": schemaPath + name + ".json"})
	}
	return node{"anyOf": any}
}

// schemaPath is the prefix of the addresses of schemas.
const schemaPath = apiPath + "schema/"

// anyOf returns the name of any existing VM, host or cluster; "" for none.
func (s *Site) anyOf(kind string) string {
	for _, f := range s.Fleets() {
		switch fleet := f.Result.Fleet; {
		case kind == "vm" && len(fleet.VMs) > 0:
			return fleet.VMs[0].ID
		case kind == "host" && len(fleet.Hosts) > 0:
			return fleet.Hosts[0].ID
		case kind == "cluster" && len(fleet.Clusters) > 0:
			return fleet.Clusters[0].Name
		}
	}
	return ""
}
