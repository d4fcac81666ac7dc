package event

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// addPaths adds the paths of all values in properties, as rules write them (items[].sku), with the
// kinds of the values. Names that rules cannot refer to are ignored.
func addPaths(paths map[string][]string, prefix string, properties map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if name == "" || strings.ContainsAny(name, ".[]") {
			continue
		}
		addValue(paths, prefix+name, properties[name])
	}
}

func addValue(paths map[string][]string, path string, v any) {
	if len(path) > maxPathLength || len(paths) >= maxEventPaths {
		return
	}
	kind := ""
	switch v := v.(type) {
	case bool:
		kind = "boolean"
	case float64, json.Number:
		kind = "number"
	case string:
		if kind = "string"; isTime(v) {
			kind = "date"
		}
	case map[string]any:
		addPaths(paths, path+".", v)
		return
	case []any:
		for _, e := range v[:min(len(v), maxElements)] {
			addValue(paths, path+"[]", e)
		}
		kind = "array"
	default:
		return
	}
	if list := paths[path]; !slices.Contains(list, kind) {
		paths[path] = append(list, kind)
	}
}
