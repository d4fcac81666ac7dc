package audienceapi

import (
	"cmp"
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// members registers the operations on the members of lists.
func (api Segments) members(r *endpoint.Router, read, write func(name, summary string, faults ...*fault.Error) endpoint.Op) {
	list := read("listSegmentMembers", "List the members of a list, newest first, or the contacts that a segment matches now. Also needs contacts:read.",
		segment.ErrNotFound, endpoint.ErrCursor)
	list.Scopes = append(list.Scopes, auth.ContactsRead)
	list.Pagination = "cursor"
	endpoint.Handle(r, "GET /t/{tenant}/api/segments/{key}/members", list, api.listSegmentMembers)
	endpoint.Handle(r, "POST /t/{tenant}/api/segments/{key}/members",
		write("addSegmentMembers", "Add existing contacts to a static list.",
			segment.ErrNotFound, segment.ErrNotStatic, segment.ErrLimit).ExampleBody(`{"emails": ["ann@example.org"]}`), api.addSegmentMembers, checkMembers)
	endpoint.Handle(r, "POST /t/{tenant}/api/segments/{key}/members/remove",
		write("removeSegmentMembers", "Remove contacts from a static list.",
			segment.ErrNotFound, segment.ErrNotStatic, segment.ErrLimit).ExampleBody(`{"emails": ["ann@example.org"]}`), api.removeSegmentMembers, checkMembers)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/segments/{key}/members/{contact_id}",
		write("removeSegmentMember", "Remove one contact from a static list.",
			segment.ErrNotFound, segment.ErrNotStatic, contact.ErrNotFound), api.removeSegmentMember)
}

type listSegmentMembersRequest struct {
	SegmentPath
	ContactPage
	Search string `query:"search" doc:"Every word must occur in names, company or address."`
}

func (api Segments) listSegmentMembers(ctx context.Context, p auth.Principal, in *listSegmentMembersRequest) (endpoint.List[Contact], error) {
	s, err := api.segmentFor(ctx, p, in.SegmentPath, segmentReads)
	if err != nil {
		return endpoint.List[Contact]{}, err
	}
	if err := p.Need(auth.ContactsRead); err != nil {
		return endpoint.List[Contact]{}, err
	}
	q, err := api.contacts.parsePage(in.ContactPage, contact.Selector{Search: in.Search}, s.MemberSort(in.Sort))
	if err != nil {
		return endpoint.List[Contact]{}, err
	}
	page, err := segment.Members(ctx, api.db, p.Tenant, s, q, api.now())
	if err != nil {
		return endpoint.List[Contact]{}, err
	}
	return api.contacts.contactList(ctx, p.Tenant, q, page)
}

// membersRequest names 1 to 1000 contacts.
type membersRequest struct {
	SegmentPath
	Body struct {
		ContactIDs []string `json:"contact_ids,omitempty"`
		Emails     []string `json:"emails,omitempty"`
	}
}

type addedMembers struct {
	Added          int      `json:"added"`
	AlreadyMembers int      `json:"already_members"`
	NotFound       []string `json:"not_found" doc:"Ids and addresses that no contact has."`
}

func checkMembers(_ auth.Principal, in *membersRequest) error {
	_, err := in.parse()
	return err
}

func (api Segments) addSegmentMembers(ctx context.Context, p auth.Principal, in *membersRequest) (addedMembers, error) {
	contacts, err := in.parse()
	if err != nil {
		return addedMembers{}, err
	}
	s, err := api.segmentFor(ctx, p, in.SegmentPath, segmentWrites)
	if err != nil {
		return addedMembers{}, err
	}
	r, err := segment.Add(ctx, api.db, p.Tenant, s.ID, contacts, api.now())
	return addedMembers{r.Added, r.Already, r.NotFound}, err
}

func (in *membersRequest) parse() (segment.People, error) {
	ids, err := contactIDs(in.Body.ContactIDs)
	contacts := segment.People{IDs: ids, Emails: in.Body.Emails}
	return contacts, cmp.Or(contacts.Check(), err)
}

type removedMembers struct {
	Removed    int `json:"removed"`
	NotMembers int `json:"not_members"`
}

func (api Segments) removeSegmentMembers(ctx context.Context, p auth.Principal, in *membersRequest) (removedMembers, error) {
	contacts, err := in.parse()
	if err != nil {
		return removedMembers{}, err
	}
	s, err := api.segmentFor(ctx, p, in.SegmentPath, segmentWrites)
	if err != nil {
		return removedMembers{}, err
	}
	r, err := segment.Remove(ctx, api.db, p.Tenant, s.ID, contacts, api.now())
	return removedMembers{r.Removed, r.NotMembers}, err
}

type removeSegmentMemberRequest struct {
	SegmentPath
	ContactID string `path:"contact_id" as:"text" format:"uuid" doc:"The contact's id."`
}

func (api Segments) removeSegmentMember(ctx context.Context, p auth.Principal, in *removeSegmentMemberRequest) (endpoint.None, error) {
	s, err := api.segmentFor(ctx, p, in.SegmentPath, segmentWrites)
	if err != nil {
		return endpoint.None{}, err
	}
	c, ok := id.Parse[id.Contact](in.ContactID)
	if !ok {
		return endpoint.None{}, contact.ErrNotFound
	}
	_, err = segment.Remove(ctx, api.db, p.Tenant, s.ID, segment.People{IDs: []id.Contact{c}}, api.now())
	return endpoint.None{}, err
}
