// Package liquid renders merge fields: Shopify's Liquid language, as far as a
// message needs it, with limits that no template and no data can get around.
//
// A template is parsed once, when its content is saved, and is immutable from
// then on; every recipient renders it with an Env of their own. Parsing is where
// mistakes of the author show: an unknown tag, an unknown filter, a wrong number
// of arguments or an open block is a ParseError with its line. Rendering fails
// with ErrLimit when the Budget is used up, with a RenderError when data makes
// no sense (a division by zero, a number compared with a text), and with the
// context's error when that ends.
//
// # The language
//
// The tags are if, unless, case, for, break, continue, assign, capture, comment,
// raw, cycle, increment and decrement; the filters are Shopify's standard ones
// and raw, money, time_zone, sha256 and pluralize. What looks like another
// language's placeholder ({{{name}}}, *|NAME|*) is text.
//
// # Escaping
//
// In HTML mode what an output prints is escaped, unless it is a Raw. The filters
// raw, escape, escape_once and newline_to_br make a Raw, and so does a captured
// block, whose outputs were escaped when it was filled. Filters that change a
// text keep it Raw and escape the plain arguments they put into it.
//
// # Values
//
// Values are nil, bool, int64, float64, string, Raw, time.Time, []any,
// map[string]any, Drop and Object; other integers, json.Number, []string, *string,
// Appender and fmt.Stringer are read as the nearest of these and anything else as nil. A
// float64 prints with a decimal point, so whole numbers are better passed as
// int64. A calendar date is passed as the string 2006-01-02: the date filter
// reads it without moving it between time zones.
package liquid
