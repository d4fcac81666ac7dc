// Package liquid renders merge fields: the subset of Shopify's Liquid language that messages need, with
// limits that hold for all templates and all data.
//
// A template is parsed once, when its content is saved, and is immutable; each recipient renders it with
// an Env. Parsing reports the author's mistakes: an unknown tag, an unknown filter, a wrong number of
// arguments or an open block is a ParseError with its line. Rendering fails with ErrLimit if the Budget
// is exceeded, with a RenderError if the data are invalid (a division by zero, a number compared with a
// text), and with the context's error.
//
// # The language
//
// The tags are if, unless, case, for, break, continue, assign, capture, comment,
// raw, cycle, increment and decrement; the filters are Shopify's standard ones
// and raw, money, time_zone, sha256 and pluralize. Placeholders of other languages ({{{name}}},
// *|NAME|*) are text.
//
// # Escaping
//
// In HTML mode the result of an output is escaped, unless it is a Raw. The filters raw, escape,
// escape_once and newline_to_br return a Raw, and so does a captured block, whose outputs were escaped
// when it was rendered. Filters that change a text keep it Raw and escape the plain arguments that they
// insert.
//
// # Values
//
// Values are nil, bool, int64, float64, string, Raw, time.Time, []any, map[string]any, Drop and Object;
// other integers, json.Number, []string, *string, Appender and fmt.Stringer are converted to the nearest
// of these, and anything else to nil. A float64 prints with a decimal point, so whole numbers should be
// passed as int64. A calendar date is passed as the string 2006-01-02: the date filter reads it without
// converting it between time zones.
package liquid
