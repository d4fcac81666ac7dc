package httpapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/search"
)

// searchAPI serves the search for records of all kinds.
type searchAPI struct{ db *sqldb.DB }

// Register adds the search.
func (api searchAPI) Register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/search", endpoint.Op{
		Name: "search", Title: "Search", Summary: "Find contacts, segments, broadcasts and other records by their names.", Tag: "search", Session: true,
		Description: "Contacts are found by parts of their names, addresses and companies, other records by the beginnings of words of their names, slugs or subjects; each word of q must match, without regard to case and accents. " +
			"The best of each type come first: those that begin with q. Of contacts, the 50 newest that match are ranked, of broadcasts, library entries and automations the 5,000 newest are compared.",
	}.ExampleQuery("q=ann&types=contact,segment&limit=5"), api.search, checkRecordSearch)
}

type recordSearchRequest struct {
	Q     string `query:"q" as:"text" maxLength:"200" doc:"The words to find. Without a word, nothing is found."`
	Types string `query:"types" as:"list" enum:"contact,segment,broadcast,template,block,message,sequence,automation,form,domain,identity" doc:"Only records of these types; all when absent."`
	Limit string `query:"limit" as:"integer" minimum:"1" maximum:"25" default:"8" doc:"Results of each type. A number outside of the bounds becomes the nearest of them."`
}

// types returns the types in the query.
func (in *recordSearchRequest) types() ([]search.Type, error) {
	var bad fault.Problems
	if utf8.RuneCountInString(in.Q) > search.MaxText {
		bad.Add("q", fmt.Sprintf("must have at most %d characters", search.MaxText))
	}
	var types []search.Type
	for _, name := range endpoint.CommaList(in.Types) {
		if !slices.Contains(search.Types(), search.Type(name)) {
			var known []string
			for _, t := range search.Types() {
				known = append(known, string(t))
			}
			bad.Add("types", "must be a comma list of "+strings.Join(known, ", "))
			break
		}
		types = append(types, search.Type(name))
	}
	if len(types) == 0 {
		types = search.Types()
	}
	return types, bad.Err()
}

// limit returns the limit in the query, within its bounds.
func (in *recordSearchRequest) limit() int {
	n, err := strconv.Atoi(in.Limit)
	if err != nil {
		return search.DefaultLimit
	}
	return min(max(n, 1), search.MaxLimit)
}

func checkRecordSearch(_ auth.Principal, in *recordSearchRequest) error {
	_, err := in.types()
	return err
}

type recordSearchResult struct {
	Type     search.Type `json:"type" enum:"contact,segment,broadcast,template,block,message,sequence,automation,form,domain,identity"`
	ID       string      `json:"id" format:"uuid"`
	Title    string      `json:"title" doc:"The name; of a contact without one, the address."`
	Subtitle *string     `json:"subtitle" doc:"Of a contact the address, of a broadcast the subject, of others the slug, key or address."`
	Status   *string     `json:"status,omitempty"`
	Match    *[]int      `json:"match,omitempty" doc:"Start and end, exclusive, of the first word of q in the title, in UTF-16 code units; absent if it is not there."`
}

type recordSearchAnswer struct {
	Data []recordSearchResult `json:"data"`
}

func (api searchAPI) search(ctx context.Context, p auth.Principal, in *recordSearchRequest) (recordSearchAnswer, error) {
	types, err := in.types()
	if err != nil {
		return recordSearchAnswer{}, err
	}
	list, err := search.Find(ctx, api.db, p.Tenant, in.Q, types, in.limit())
	if err != nil {
		return recordSearchAnswer{}, err
	}
	out := recordSearchAnswer{Data: make([]recordSearchResult, len(list))}
	for i, r := range list {
		row := recordSearchResult{Type: r.Type, ID: r.ID, Title: r.Title, Subtitle: optional.Pointer(r.Subtitle), Status: optional.Pointer(r.Status)}
		if r.Match != nil {
			row.Match = new(r.Match[:])
		}
		out.Data[i] = row
	}
	return out, nil
}
