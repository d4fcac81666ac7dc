package contact

// Value returns a field by its name in the API, as a template may print it:
// texts (those that are the contact's own by reference), numbers, booleans, times
// and lists. A field without a value is known and nil.
func (c *Contact) Value(name string) (value any, known bool) {
	switch name {
	case "id":
		return c.ID.String(), true
	case "email":
		return &c.Email, true
	case "email_domain":
		return &c.EmailDomain, true
	case "external_id":
		return textOf(c.ExternalID), true
	case "first_name":
		return textOf(c.FirstName), true
	case "last_name":
		return textOf(c.LastName), true
	case "full_name":
		return textOf(c.FullName), true
	case "title":
		return textOf(c.Title), true
	case "company":
		return textOf(c.Company), true
	case "phone":
		return textOf(c.Phone), true
	case "website":
		return textOf(c.Website), true
	case "timezone":
		return textOf(c.Timezone), true
	case "address_line1":
		return textOf(c.AddressLine1), true
	case "address_line2":
		return textOf(c.AddressLine2), true
	case "city":
		return textOf(c.City), true
	case "state":
		return textOf(c.State), true
	case "postal_code":
		return textOf(c.PostalCode), true
	case "country":
		return textOf(c.Country), true
	case "source":
		return textOf(c.Source), true
	case "tags":
		list := make([]any, len(c.Tags))
		for i, t := range c.Tags {
			list[i] = t
		}
		return list, true
	case "global_status":
		return string(c.Status), true
	case "do_not_contact":
		return c.DoNotContact, true
	case "prospect_score":
		return c.ProspectScore, true
	case "customer_score":
		return c.CustomerScore, true
	case "created_at":
		return c.CreatedAt, true
	case "updated_at":
		return c.UpdatedAt, true
	}
	return c.Activity.value(name)
}

func textOf(s *string) any {
	if s == nil {
		return nil
	}
	return s
}
