package liquid

import (
	"strings"
	"time"
)

// filter is the implementation of a filter.
type filter struct {
	min, max int    // how many arguments it takes
	option   string // a named argument, passed after the others
	apply    func(s *state, in any, args []any) any
	looks    bool // it accepts what peek returns, and returns that unchanged or not at all

	// prepare checks arguments that are literals in the template and may replace them. It caches
	// zones.
	prepare func(args []expr, zones map[string]*time.Location) error
}

// filters are all filters, by name.
var filters = map[string]*filter{
	// Text.
	"append":         {min: 1, max: 1, apply: appendFilter},
	"prepend":        {min: 1, max: 1, apply: prependFilter},
	"capitalize":     {apply: textFilter(capitalize)},
	"downcase":       {apply: textFilter(strings.ToLower)},
	"upcase":         {apply: textFilter(strings.ToUpper)},
	"strip":          {apply: textFilter(strip)},
	"lstrip":         {apply: textFilter(lstrip)},
	"rstrip":         {apply: textFilter(rstrip)},
	"squish":         {apply: textFilter(squish)},
	"strip_newlines": {apply: textFilter(stripNewlines)},
	"strip_html":     {apply: textFilter(stripHTML)},
	"newline_to_br":  {apply: newlineToBreak},
	"escape":         {apply: escape},
	"h":              {apply: escape},
	"escape_once":    {apply: escapeOnce},
	"raw":            {apply: raw},
	"remove":         {min: 1, max: 1, apply: replaceFilter(everywhere)},
	"remove_first":   {min: 1, max: 1, apply: replaceFilter(first)},
	"remove_last":    {min: 1, max: 1, apply: replaceFilter(last)},
	"replace":        {min: 1, max: 2, apply: replaceFilter(everywhere)},
	"replace_first":  {min: 1, max: 2, apply: replaceFilter(first)},
	"replace_last":   {min: 2, max: 2, apply: replaceFilter(last)},
	"slice":          {min: 1, max: 2, apply: slice},
	"split":          {min: 1, max: 1, apply: split},
	"truncate":       {max: 2, apply: truncateFilter},
	"truncatewords":  {max: 2, apply: truncateWords},
	"pluralize":      {min: 2, max: 2, apply: pluralize},

	// Encodings.
	"base64_encode":          {apply: encodeBase64(base64Standard)},
	"base64_decode":          {apply: decodeBase64(base64Standard)},
	"base64_url_safe_encode": {apply: encodeBase64(base64URL)},
	"base64_url_safe_decode": {apply: decodeBase64(base64URL)},
	"url_encode":             {apply: urlEncode},
	"url_decode":             {apply: urlDecode},
	"sha256":                 {apply: sha256Filter},
	"json":                   {apply: jsonFilter},

	// Numbers.
	"abs":        {apply: abs},
	"at_least":   {min: 1, max: 1, apply: atLeast},
	"at_most":    {min: 1, max: 1, apply: atMost},
	"ceil":       {apply: ceil},
	"floor":      {apply: floor},
	"round":      {max: 1, apply: roundFilter},
	"plus":       {min: 1, max: 1, apply: plus},
	"minus":      {min: 1, max: 1, apply: minus},
	"times":      {min: 1, max: 1, apply: times},
	"divided_by": {min: 1, max: 1, apply: dividedBy},
	"modulo":     {min: 1, max: 1, apply: moduloFilter},
	"money":      {min: 1, max: 1, apply: money, prepare: prepareMoney},

	// Lists.
	"compact":      {max: 1, apply: compact},
	"concat":       {min: 1, max: 1, apply: concat},
	"find":         {min: 1, max: 2, apply: find},
	"find_index":   {min: 1, max: 2, apply: findIndex},
	"first":        {apply: firstFilter},
	"has":          {min: 1, max: 2, apply: has},
	"join":         {max: 1, apply: join},
	"last":         {apply: lastFilter},
	"map":          {min: 1, max: 1, apply: mapFilter},
	"reject":       {min: 1, max: 2, apply: reject},
	"reverse":      {apply: reverse},
	"size":         {apply: sizeFilter},
	"sort":         {max: 1, apply: sortFilter},
	"sort_natural": {max: 1, apply: sortNatural},
	"sum":          {max: 1, apply: sum},
	"uniq":         {max: 1, apply: uniq},
	"where":        {min: 1, max: 2, apply: where},

	// Anything and dates.
	"default":   {max: 1, option: "allow_false", apply: defaultFilter, looks: true},
	"date":      {min: 1, max: 1, apply: dateFilter},
	"time_zone": {min: 1, max: 1, apply: timeZone, prepare: prepareTimeZone},
}

// apply runs a filter and charges for the text that it makes.
func (s *state) apply(c *filterCall, in any) any {
	if !s.tick(nodeCost) {
		return nil
	}
	base := len(s.args)
	for _, arg := range c.args {
		v := arg.eval(s)
		s.args = append(s.args, v)
	}
	out := c.filter.apply(s, in, s.args[base:])
	clear(s.args[base:])
	s.args = s.args[:base]
	switch out := out.(type) {
	case string:
		s.charge(len(out))
	case Raw:
		s.charge(len(out))
	}
	return out
}

// argument returns args[i], or nil if there are fewer.
func argument(args []any, i int) any {
	if i < len(args) {
		return args[i]
	}
	return nil
}

// texts converts values that become parts of one text to strings. If one of them is Raw, in HTML, the
// others are escaped and the whole is Raw.
func (s *state) texts(values ...any) (texts []string, isRaw bool) {
	texts = make([]string, len(values))
	if s.html {
		for _, v := range values {
			if _, ok := v.(Raw); ok {
				isRaw = true
			}
		}
	}
	for i, v := range values {
		texts[i] = s.text(v)
		if _, ok := v.(Raw); isRaw && !ok {
			texts[i] = s.escaped(texts[i])
		}
	}
	return texts, isRaw
}

// escaped returns text as HTML, after charging for it.
func (s *state) escaped(text string) string {
	if !strings.ContainsAny(text, `&<>"'`) {
		return text
	}
	if !s.charge(len(text)) {
		return ""
	}
	return string(appendEscaped(nil, text))
}

// filterResult returns the result of a filter as a text or a Raw.
func filterResult(text string, isRaw bool) any {
	if isRaw {
		return Raw(text)
	}
	return text
}

func defaultFilter(s *state, in any, args []any) any {
	allowFalse := truthy(argument(args, 1))
	if in == false && allowFalse {
		return in
	}
	switch text := in.(type) {
	case *string:
		if *text != "" {
			return in
		}
		in = nil
	case Appender:
		in = s.resolvePeeked(in)
	}
	if !truthy(in) || s.equalSpecial(emptyValue, in) {
		if len(args) == 0 {
			return ""
		}
		return args[0]
	}
	return in
}

func raw(s *state, in any, _ []any) any {
	if v, ok := in.(Raw); ok {
		return v
	}
	return filterResult(s.text(in), s.html)
}

func firstFilter(s *state, in any, _ []any) any { return s.first(in) }

func lastFilter(s *state, in any, _ []any) any { return s.last(in) }

func sizeFilter(s *state, in any, _ []any) any {
	if n := s.size(in); n != nil {
		return n
	}
	return int64(0)
}
