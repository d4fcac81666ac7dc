package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/workingcopy"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/accountapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/audienceapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/campaignapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/contentapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/sendingapi"
)

// collectionsAPI serves several collections at once. It reads them by the operations of their resources.
type collectionsAPI struct {
	list           []collection
	workingCopy    func(context.Context, auth.Principal, *accountapi.WorkingCopyPath) (accountapi.WorkingCopy, error)
	bindingOptions func(context.Context, auth.Principal, *contentapi.TemplatePath) (contentapi.BindingOptions, error)
}

// collection is what can be requested: its kind, the role that its own operation needs, and what reads it.
type collection struct {
	kind string
	role auth.Role
	read func(context.Context, auth.Principal, *CollectionsView) error
}

// collect returns a collection whose rows read returns, and which is shown in a field.
func collect[Row any](kind string, role auth.Role, read func(context.Context, auth.Principal) ([]Row, error), field func(*CollectionsView) **[]Row) collection {
	return collection{kind, role, func(ctx context.Context, p auth.Principal, v *CollectionsView) error {
		rows, err := read(ctx, p)
		*field(v) = &rows
		return err
	}}
}

// every returns a function that returns the rows of a list without filters.
func every[In, Row any](list func(context.Context, auth.Principal, *In) (endpoint.List[Row], error)) func(context.Context, auth.Principal) ([]Row, error) {
	return func(ctx context.Context, p auth.Principal) ([]Row, error) {
		out, err := list(ctx, p, new(In))
		return out.Data, err
	}
}

// Register adds the operation.
func (api collectionsAPI) Register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/collections", endpoint.Op{
		Name: "getCollections", Summary: "Get several collections at once, each with the rows of its own operation.", Tag: "account", Session: true,
		Description: "It is one request instead of one for each collection that a page names or offers. Of library entries the 1,000 newest are in the answer, without the archived; templates and blocks are complete, as with full=true. Working copies need the role editor. Working copies with their data, and binding options of templates, are in the answer for those that the query names.",
	}.ExampleQuery("kinds=segments,email_types,stages"), api.getCollections, api.check)
}

// CollectionsView has the requested collections.
type CollectionsView struct {
	BindingOptions    *[]contentapi.BindingOptions   `json:"binding_options,omitempty" doc:"What the templates in binding_options can be filled with, without those that do not exist."`
	Blocks            *[]contentapi.BlockRow         `json:"blocks,omitempty"`
	Broadcasts        *[]campaignapi.BroadcastRow    `json:"broadcasts,omitempty"`
	Copies            *[]accountapi.WorkingCopy      `json:"copies,omitempty" doc:"The working copies in copies, without those that do not exist."`
	CustomFields      *[]audienceapi.CustomFieldRow  `json:"custom_fields,omitempty"`
	EmailCategories   *[]sendingapi.EmailCategoryRow `json:"email_categories,omitempty"`
	EmailTypes        *[]sendingapi.EmailTypeRow     `json:"email_types,omitempty"`
	Forms             *[]audienceapi.FormSummary     `json:"forms,omitempty"`
	Messages          *[]contentapi.MessageRow       `json:"messages,omitempty"`
	MTAConfigs        *[]sendingapi.MtaConfigRow     `json:"mta_configs,omitempty"`
	SavedFilters      *[]audienceapi.SavedFilterRow  `json:"saved_filters,omitempty"`
	SeedLists         *[]sendingapi.SeedListRow      `json:"seed_lists,omitempty"`
	Segments          *[]audienceapi.SegmentForm     `json:"segments,omitempty"`
	SendingIdentities *[]sendingapi.IdentityRow      `json:"sending_identities,omitempty"`
	Sequences         *[]campaignapi.Sequence        `json:"sequences,omitempty"`
	Stages            *[]audienceapi.StageRow        `json:"stages,omitempty"`
	Templates         *[]contentapi.TemplateRow      `json:"templates,omitempty"`
	WorkingCopies     *[]accountapi.WorkingCopyRow   `json:"working_copies,omitempty"`
}

type collectionsRequest struct {
	Kinds          string `query:"kinds" as:"list" enum:"blocks,broadcasts,custom_fields,email_categories,email_types,forms,messages,mta_configs,saved_filters,seed_lists,segments,sending_identities,sequences,stages,templates,working_copies" doc:"The collections. May be absent with copies or binding_options."`
	Copies         string `query:"copies" as:"list" maxItems:"20" doc:"Working copies that are returned with their data, each as kind/id."`
	BindingOptions string `query:"binding_options" as:"list" maxItems:"5" doc:"Templates, by id or slug, whose binding options are returned."`
}

// How many working copies and binding options an answer has at most.
const (
	collectedCopies  = 20
	collectedOptions = 5
)

// requested returns the collections in the query.
func (api collectionsAPI) requested(in *collectionsRequest) ([]collection, error) {
	var list []collection
	var known []string
	kinds := endpoint.CommaList(in.Kinds)
	for _, c := range api.list {
		known = append(known, c.kind)
		if slices.Contains(kinds, c.kind) {
			list = append(list, c)
		}
	}
	copies, templates := endpoint.CommaList(in.Copies), endpoint.CommaList(in.BindingOptions)
	var bad fault.Problems
	if len(kinds)+len(copies)+len(templates) == 0 || slices.ContainsFunc(kinds, func(k string) bool { return !slices.Contains(known, k) }) {
		bad.Add("kinds", "must be a comma list of "+strings.Join(known, ", "))
	}
	if len(copies) > collectedCopies {
		bad.Add("copies", fmt.Sprintf("at most %d", collectedCopies))
	}
	if len(templates) > collectedOptions {
		bad.Add("binding_options", fmt.Sprintf("at most %d", collectedOptions))
	}
	return list, bad.Err()
}

func (api collectionsAPI) check(_ auth.Principal, in *collectionsRequest) error {
	_, err := api.requested(in)
	return err
}

func (api collectionsAPI) getCollections(ctx context.Context, p auth.Principal, in *collectionsRequest) (CollectionsView, error) {
	list, err := api.requested(in)
	if err != nil {
		return CollectionsView{}, err
	}
	var out CollectionsView
	for _, c := range list {
		if !p.Role.AtLeast(c.role) {
			return CollectionsView{}, endpoint.ErrRole.Sayf("%s need the role %s", c.kind, c.role)
		}
		if err := c.read(ctx, p, &out); err != nil {
			return CollectionsView{}, err
		}
	}
	if out.Copies, err = api.copies(ctx, p, endpoint.CommaList(in.Copies)); err != nil {
		return CollectionsView{}, err
	}
	out.BindingOptions, err = api.options(ctx, p, endpoint.CommaList(in.BindingOptions))
	return out, err
}

// copies returns the working copies with the given kinds and ids; nil if none are requested.
func (api collectionsAPI) copies(ctx context.Context, p auth.Principal, refs []string) (*[]accountapi.WorkingCopy, error) {
	if len(refs) > 0 && !p.Role.AtLeast(auth.Editor) {
		return nil, endpoint.ErrRole.Sayf("copies need the role %s", auth.Editor)
	}
	return readEach(refs, workingcopy.ErrNotFound, func(ref string) (accountapi.WorkingCopy, error) {
		kind, record, _ := strings.Cut(ref, "/")
		return api.workingCopy(ctx, p, &accountapi.WorkingCopyPath{Kind: kind, ID: record})
	})
}

// options returns the binding options of templates; nil if none are requested.
func (api collectionsAPI) options(ctx context.Context, p auth.Principal, refs []string) (*[]contentapi.BindingOptions, error) {
	return readEach(refs, template.ErrNotFound, func(ref string) (contentapi.BindingOptions, error) {
		return api.bindingOptions(ctx, p, &contentapi.TemplatePath{ID: ref})
	})
}

// readEach reads what refs name, and leaves out what is missing; nil if they name nothing.
func readEach[T any](refs []string, missing error, read func(ref string) (T, error)) (*[]T, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	found := []T{}
	for _, ref := range refs {
		one, err := read(ref)
		if errors.Is(err, missing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return &found, nil
}
