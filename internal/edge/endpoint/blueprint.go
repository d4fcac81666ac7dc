package endpoint

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Blueprint returns a document like Document, but of all operations and with whole paths: operations for
// sessions are marked x-session, public ones x-public, and x-role is the minimum role. What requests
// are checked for stands where documents show something else. It is for tests of the whole table; nothing serves it.
func (r *Router) Blueprint() ([]byte, error) {
	if r.schemas == nil {
		return nil, errReleased
	}
	d := r.newDocumentWriter()
	d.checked = true
	paths := object{}
	for _, rt := range r.routes {
		op, err := d.operation(rt)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", rt.Name, err)
		}
		op["x-session"], op["x-public"] = rt.Session || rt.Installation && !rt.Public, rt.Public
		if !rt.Public && !rt.Installation {
			op["x-role"] = rt.role(rt.method)
		}
		op["x-max-body"] = rt.maxBody()
		item, _ := paths[rt.path].(object)
		if item == nil {
			item = object{}
			paths[rt.path] = item
		}
		item[strings.ToLower(rt.method)] = op
	}
	for path, item := range paths {
		if params := placeholders(path); len(params) > 0 {
			item.(object)["parameters"] = params
		}
	}
	return json.MarshalIndent(object{
		"openapi": "3.1.0", "info": object{"title": "Every operation", "version": Version}, "paths": paths,
		"components": object{"schemas": d.schemas, "headers": sharedHeaders()},
	}, "", "  ")
}

// placeholders declares the parameter for the tenant, which operations do not declare.
func placeholders(path string) []object {
	if !strings.HasPrefix(path, tenantPath) {
		return nil
	}
	return []object{{"name": "tenant", "in": "path", "required": true, "schema": object{"type": "string"}}}
}
