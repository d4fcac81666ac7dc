// Package field holds the custom fields a tenant declares for its contacts, and
// judges whether a value fits its field.
//
// A field's key and type never change, because values are stored under the one
// and by the other. A deleted field is gone for everybody at once; its row stays
// until the values are erased from the contacts (Erased), which keeps the key
// from being declared again too early.
//
// The package also knows the closed lists that values are checked against:
// time zones, countries and currencies.
package field
