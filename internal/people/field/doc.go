// Package field stores the custom fields that a tenant declares for its contacts, and validates
// values.
//
// A field's key and type never change, since stored values depend on both. A deleted field
// disappears at once; its row stays until its values are erased from the contacts (FinishErasure), so that
// the key cannot be declared again before that.
//
// The package also has the closed lists that values are checked against: time zones, countries and
// currencies.
package field
