package audience

import (
	"encoding/json"
	"net/url"
	"time"
)

// question is something that is asked of a large database.
type question struct {
	name         string
	method, path string
	body         any           // JSON; nil: none
	target       time.Duration // of p95 for pages, of p50 for counts; 0: none is set
	relaxed      bool          // SQLite may take four times as long
	depth        float64       // how far into the list the page is, of 1
	segment      any           // definition of the segment that the path is about, whose key is appended
	warm         bool          // asked before it is measured, until attributes are in memory
	texts        []string      // texts that the box of the search is asked for in turn, as the owner
}

// object is a JSON object.
type object = map[string]any

func leaf(field, operator string, value any) object {
	return object{"field": field, "operator": operator, "value": value}
}

func group(logic string, conditions ...object) object {
	return object{"logic": logic, "conditions": conditions}
}

func inTheLast(days int) object {
	return object{"in_the_last": object{"amount": days, "unit": "day"}}
}

func email(event string, days int) object {
	return object{"type": "email", "event": event, "operator": "did", "window": inTheLast(days)}
}

func event(name string, times, days int) object {
	return object{"type": "event", "event_name": name, "operator": "did", "count": object{"operator": "at_least", "value": times}, "window": inTheLast(days)}
}

// The rules that are asked.
var (
	pairSelective = group("and", leaf("country", "equals", "IS"), leaf("city", "equals", "Bergen"))
	pairBroad     = group("and", leaf("country", "in", []string{"US", "DE"}), leaf("source", "equals", "website"))
	pairFields    = group("and", leaf("custom_fields.plan", "equals", "enterprise"), leaf("custom_fields.age", "greater_than", 75))
	pairFieldsAll = group("and", leaf("custom_fields.plan", "equals", "free"), leaf("custom_fields.age", "greater_or_equal", 30))
	pairTags      = group("and", object{"field": "tags", "operator": "has_any", "value": []string{"vip", "press"}}, leaf("country", "equals", "DE"))

	// buyers is a segment of five leaves.
	buyers = group("and", leaf("country", "in", []string{"DE", "AT"}), leaf("custom_fields.plan", "in", []string{"pro", "enterprise"}),
		event("order_placed", 2, 90), group("or", email("opened", 30), object{"type": "list", "operator": "in", "segment_keys": []string{"vip"}}))
	// browsers is the same for nearly all contacts.
	browsers = group("and", leaf("country", "not_in", []string{"IS"}), group("or", event("product_viewed", 1, 365), email("opened", 365)),
		group("or", object{"type": "list", "operator": "in", "segment_keys": []string{"newsletter"}},
			object{"type": "page_view", "match": "starts_with", "url": "https://www.example.com/page/1", "operator": "did", "window": inTheLast(365)}))
	// sleepers asks for what did not happen.
	sleepers = group("and", leaf("country", "equals", "US"), object{"type": "email", "event": "opened", "operator": "did_not", "window": inTheLast(180)},
		object{"type": "email", "event": "sent", "operator": "did", "count": object{"operator": "at_least", "value": 3}},
		object{"type": "event", "event_name": "login", "operator": "did_not", "window": inTheLast(180)},
		object{"type": "suppression", "operator": "not_listed"})
)

const (
	pageTarget  = 50 * time.Millisecond
	countTarget = 80 * time.Millisecond
	boxTarget   = 100 * time.Millisecond
	treeTarget  = 300 * time.Millisecond
)

// questions are asked in this order.
func questions() []question {
	page := func(name, query string) question {
		return question{name: name, method: "GET", path: "/contacts?limit=50" + query, target: pageTarget}
	}
	deep := func(q question, depth float64) question {
		q.depth = depth
		return q
	}
	search := func(name, text string) question { return page("search, "+name, "&search="+url.QueryEscape(text)) }
	box := func(name string, texts ...string) question {
		return question{name: "search box, " + name, method: "GET", path: "/search?q=", target: boxTarget, texts: texts}
	}
	chosen := func(rule any) string {
		b, err := json.Marshal(rule)
		if err != nil {
			panic(err) // our own rules always encode
		}
		return "&definition=" + url.QueryEscape(string(b))
	}
	count := func(name string, rule any, target time.Duration) question {
		return question{name: "count, " + name, method: "GET", path: "/contacts/count?" + chosen(rule), target: target, relaxed: true}
	}
	warmed := func(q question) question {
		q.name, q.warm = q.name+", again", true
		return q
	}
	refresh := func(name string, rule any) question {
		return question{name: "refresh, " + name, method: "POST", path: "/segments/", segment: rule, target: treeTarget, relaxed: true}
	}
	list := []question{
		page("list", ""),
		deep(page("list, half way", ""), .5),
		deep(page("list, 9/10 deep", ""), .9),
	}
	for _, sort := range []string{"email", "last_name", "company", "country", "updated_at", "last_activity_at", "total_emails_opened"} {
		list = append(list, page("list by "+sort, "&dir=asc&sort="+sort))
	}
	return append(list,
		deep(page("list by last_name, deep", "&dir=asc&sort=last_name"), .5),
		page("list of one status", "&status=complained"),
		search("common", "anna"), search("rare", rare), search("nobody", "qxyzzyq"), search("two terms", "maria garnier"), search("company", "kestrel bakery"),
		search("part of an address", "firm77"), search("two letters", "zo"),
		box("name's beginning", "ann", "mari", "björ", "zen", "quen", "feather", "zimm", "iñi"),
		box("address", "anna.keller", "@firm77.example", "gmx.example", "maria.smith1000@gmail.example", "ada.wolf@", "rosa.garcia4711@outlook.example"),
		box("middle of a word", "mann", "ström", "stone", "light", "kery", "wich", "brick", "field"),
		box("two words", "maria garnier", "kestrel bakery", "anna smith", "lang music", "ada rare", "paul roux"),
		box("few letters", "zo", "x", "a", "bj", "9", "qu"),
		box("nobody", "qxyzzyq", "annannannaq", "smith qxyzzyq", "nobody@nowhere.invalid", "zzzz"),
		question{name: "count, everybody", method: "GET", path: "/contacts/count", target: countTarget, relaxed: true},
		question{name: "count, two statuses", method: "GET", path: "/contacts/count?status=active,bounced", target: countTarget, relaxed: true},
		question{name: "count, search", method: "GET", path: "/contacts/count?search=anna"},
		warmed(count("2 columns, few", pairSelective, countTarget)), warmed(count("2 columns, many", pairBroad, countTarget)),
		warmed(count("2 fields, few", pairFields, countTarget)), warmed(count("2 fields, many", pairFieldsAll, countTarget)), warmed(count("tags, column", pairTags, countTarget)),
		count("5 leaves, few", buyers, treeTarget), count("5 leaves, many", browsers, treeTarget), count("5 leaves, not", sleepers, treeTarget),
		page("list of 5 leaves, few", chosen(buyers)), page("list of 5 leaves, many", chosen(browsers)), page("list of 5 leaves, not", chosen(sleepers)),
		page("list of 2 fields, few", chosen(pairFields)),
		question{name: "preview, 5 leaves", method: "POST", path: "/segments/preview", body: object{"definition": buyers}, target: treeTarget, relaxed: true},
		refresh("5 leaves, few", buyers), refresh("5 leaves, many", browsers),
		question{name: "refresh, list of 60 %", method: "POST", path: "/segments/newsletter/refresh-count"},
		question{name: "refresh, all_sendable", method: "POST", path: "/segments/all_sendable/refresh-count"},
		question{name: "refresh, engaged", method: "POST", path: "/segments/engaged_30_days/refresh-count"},
		question{name: "refresh, sunset", method: "POST", path: "/segments/sunset_candidates/refresh-count"},
		question{name: "members, list", method: "GET", path: "/segments/newsletter/members?limit=50", target: pageTarget},
		question{name: "members, 5 leaves", method: "GET", path: "/segments/", segment: buyers},
	)
}
