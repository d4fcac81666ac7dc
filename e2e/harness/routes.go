package harness

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Pages are routes of the application below /app/{tenant}, by subject. {name} in one stands for the id of a record.
// Tests check them for accessibility, and "make screens" takes pictures of them.
type Pages []string

// Routes returns all pages that are checked.
func Routes() (setUp, content, sequences, reports Pages) {
	setUp = Pages{
		"/", "/contacts", "/contacts?q=nobody-has-this", "/contacts?new=1", "/contacts/import",
		"/contacts/{contact}", "/contacts/{contact}?tab=profile", "/contacts/{contact}?tab=consent", "/contacts/" + Nobody,
		"/segments", "/segments/new", "/segments/{segment}", "/suppressions",
		"/forms", "/forms?new=1", "/forms/{form}", "/forms/{form}?tab=embed", "/forms/{form}?tab=submissions",
		"/templates", "/templates/{template}", "/broadcasts", "/broadcasts/new", "/broadcasts/{draft}/edit",
		"/sending", "/sending/domains/{domain}", "/sending/senders", "/sending/senders/{sender}", "/sending/types", "/sending/mta/new", "/sending/mta/{mta}", "/mailbox",
		"/sending/seeds", "/sending/seeds/{seeds}", "/sending/seeds/{seeds}?update=1", "/sending/seeds/{seeds}?tab=history",
		"/settings", "/settings/account", "/settings/brand", "/settings/members", "/settings/api-keys", "/settings/fields", "/settings/stages", "/settings/scoring", "/settings/audit",
		"/settings/webhooks", "/settings/webhooks?new=1", "/settings/webhooks/{webhook}", "/settings/website", "/jobs", "/no-such-page",
	}
	content = Pages{
		"/templates/{template}", "/templates/{template}?tab=schema", "/templates/{template}?tab=settings", "/templates/{template}?tab=own&as=own",
		"/blocks", "/blocks?new=1", "/blocks/{block}", "/blocks/{block}?tab=own&as=own&pane=preview", "/blocks/" + Nobody,
		"/library", "/library?new=1", "/library?status=archived", "/library/{entry}", "/library/{entry}?v=2&compare=1", "/library/{entry}?edit=1",
	}
	sequences = Pages{
		"/sequences", "/sequences/new", "/sequences/{sequence}?view=outline&node=decide", "/sequences/{sequence}?view=outline", "/sequences/{sequence}?view=canvas",
		"/sequences/{sequence}?tab=people", "/sequences/{sequence}?tab=report", "/sequences/{sequence}?node=~start",
		"/automations", "/automations/new", "/automations/{automation}", "/automations/{automation}?tab=runs",
	}
	reports = Pages{
		"/reports", "/reports?days=7&type=newsletter", "/reports?type=no_such_type", "/reports?from=2020-01-01&to=2020-01-31", "/reports?from=2020-01-31&to=2020-01-01",
		"/activity", "/activity?kind=website", "/activity?tab=seen", "/activity?tab=seen&name=order_placed", "/activity?tab=seen&q=nothing",
		"/broadcasts/{sent}/recipients/{recipient}", "/broadcasts/{sent}?tab=links",
		"/broadcasts/{sent}?tab=time", "/broadcasts/{sent}?tab=breakdown", "/broadcasts/{sent}?tab=bounces", "/broadcasts/{sent}?tab=people",
		"/broadcasts/{sent}/recipients/" + Nobody,
	}
	return setUp, content, sequences, reports
}

// Fresh returns the pages of an account in which nothing was made yet.
func Fresh() (fresh Pages) {
	setUp, content, sequences, reports := Routes()
	for _, page := range slices.Concat(setUp, content, sequences, reports) {
		if !idIn.MatchString(page) && !strings.Contains(page, Nobody) && !slices.Contains(fresh, page) {
			fresh = append(fresh, page)
		}
	}
	return fresh
}

// Outside returns the pages before signing in: addresses below the root, in which {invitation} stands for the token of
// an open invitation.
func Outside() Pages {
	return Pages{
		"/app/-/login", "/app/-/login-link", "/app/-/forgot-password", "/reset-password", "/reset-password?token=used", "/signup", "/signup?setup_token=used",
		"/accept-invitation", "/accept-invitation?token=used", "/accept-invitation?token={invitation}",
	}
}

// Nobody is an id that no record has.
const Nobody = "00000000-0000-7000-8000-000000000000"

// Settled is JavaScript that is true when a page of the application has its heading and loads nothing.
const Settled = `document.querySelector('h1') && document.querySelector('h1').textContent.trim() && !document.querySelector('[aria-busy=true]')`

var idIn = regexp.MustCompile(`\{\w+\}`)

// Of returns the pages with the ids of records in them, by name. The error names a record that is not in ids.
func (p Pages) Of(ids map[string]string) ([]string, error) {
	var routes []string
	for _, page := range p {
		missing := ""
		route := idIn.ReplaceAllStringFunc(page, func(name string) string {
			id, ok := ids[name[1:len(name)-1]]
			if !ok {
				missing = name
			}
			return id
		})
		if missing != "" {
			return nil, fmt.Errorf("%s: no record %s", page, missing)
		}
		routes = append(routes, route)
	}
	return routes, nil
}
