package liquid

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// property returns item[key] for the filters on lists. For a text and a text key, that is the key if the
// text contains it; for a number, the character at that index; a whole number has its bits. ok is false
// if the item cannot have such a property.
func (s *state) property(item, key any) (v any, ok bool) {
	switch item := item.(type) {
	case map[string]any, Drop:
		return s.index(item, key), true
	case int64:
		if bit, isNumber := key.(int64); isNumber {
			return bitOf(item, bit), true
		}
		return nil, false
	case string, Raw:
		if at, isNumber := key.(int64); isNumber {
			return s.characterAt(s.text(item), at), true
		}
		text, whole := s.text(key), s.text(item)
		if key != nil && s.tick(len(whole)) && strings.Contains(whole, text) {
			return text, true
		}
		return nil, true
	}
	return nil, false
}

// bitOf returns bit number bit of n, counted from the lowest.
func bitOf(n, bit int64) int64 {
	if bit < 0 {
		return 0
	}
	return n >> min(bit, 63) & 1
}

// characterAt returns the character of a text at an index, counted from its end if negative, or nil.
func (s *state) characterAt(text string, at int64) any {
	if !s.tick(len(text)) {
		return nil
	}
	n := int64(utf8.RuneCountInString(text))
	if at < 0 {
		at += n
	}
	if at < 0 || at >= n {
		return nil
	}
	for _, r := range text {
		if at == 0 {
			return string(r)
		}
		at--
	}
	return nil
}

// propertyError returns the error of a filter that needs objects and got something else.
func (s *state) propertyError(item, key any) any {
	return s.fail(`%s has no property "%.40s"`, kindOf(item), s.text(key))
}

// eachMatch calls each for the items of a list, until it returns false. match means that the item has the
// wanted property. It returns false if the input is not a list of things with properties, which makes
// the result of the filter nil.
func (s *state) eachMatch(in any, args []any, each func(i int, item any, match bool) bool) bool {
	target := argument(args, 1)
	for i, item := range s.list(in) {
		if !s.tick(nodeCost) {
			return false
		}
		item = s.normalize(item)
		if args[0] == nil && kindOf(item) == "a text" { // the argument is not set
			return false
		}
		v, ok := s.property(item, args[0])
		if !ok {
			if kind := kindOf(item); kind == "nothing" || kind == "a boolean" {
				return false
			}
			s.propertyError(item, args[0])
			return false
		}
		match := truthy(v)
		if target != nil {
			match = s.equal(v, target)
		}
		if !each(i, item, match) {
			return true
		}
	}
	return true
}

// selectItems returns the items that match, or those that do not.
func (s *state) selectItems(in any, args []any, wanted bool) any {
	var kept []any
	ok := s.eachMatch(in, args, func(_ int, item any, match bool) bool {
		if match == wanted {
			kept = append(kept, item)
		}
		return s.charge(elementCost)
	})
	if !ok {
		return nil
	}
	return kept
}

func where(s *state, in any, args []any) any  { return s.selectItems(in, args, true) }
func reject(s *state, in any, args []any) any { return s.selectItems(in, args, false) }

func find(s *state, in any, args []any) any {
	var found any
	s.eachMatch(in, args, func(_ int, item any, match bool) bool {
		if match {
			found = item
		}
		return !match
	})
	return found
}

func findIndex(s *state, in any, args []any) any {
	var found any
	s.eachMatch(in, args, func(i int, _ any, match bool) bool {
		if match {
			found = int64(i)
		}
		return !match
	})
	return found
}

func has(s *state, in any, args []any) any {
	found := false
	ok := s.eachMatch(in, args, func(_ int, _ any, match bool) bool {
		found = match
		return !match
	})
	if !ok {
		return nil
	}
	return found
}

// itemsWithKey returns the items of a list together with their property; without a key, the items themselves
// are used.
func (s *state) itemsWithKey(in, key any) []keyedItem {
	list := s.list(in)
	if !s.chargeElements(2 * len(list)) {
		return nil
	}
	items := make([]keyedItem, len(list))
	for i, item := range list {
		item = s.normalize(item)
		items[i] = keyedItem{item, item}
		if key == nil {
			continue
		}
		v, ok := s.property(item, key)
		if !ok && item != nil {
			s.propertyError(item, key)
			return nil
		}
		items[i].key = v
	}
	return items
}

type keyedItem struct{ key, item any }

func unkeyed(items []keyedItem) []any {
	list := make([]any, len(items))
	for i := range items {
		list[i] = items[i].item
	}
	return list
}

func sortFilter(s *state, in any, args []any) any {
	items := s.itemsWithKey(in, argument(args, 0))
	slices.SortStableFunc(items, func(a, b keyedItem) int {
		if !s.tick(nodeCost) {
			return 0
		}
		if a.key == nil || b.key == nil {
			return nilsLast(a.key, b.key)
		}
		order, ok := s.compare(a.key, b.key)
		if !ok {
			s.fail("%s and %s cannot be sorted together", kindOf(a.key), kindOf(b.key))
		}
		return order
	})
	return unkeyed(items)
}

// sortNatural sorts by the printed values, ignoring case.
func sortNatural(s *state, in any, args []any) any {
	items := s.itemsWithKey(in, argument(args, 0))
	for i := range items {
		if items[i].key == nil {
			continue
		}
		text := s.text(items[i].key)
		if !s.charge(len(text)) {
			return nil
		}
		items[i].key = strings.ToLower(text)
	}
	slices.SortStableFunc(items, func(a, b keyedItem) int {
		if !s.tick(nodeCost) {
			return 0
		}
		if a.key == nil || b.key == nil {
			return nilsLast(a.key, b.key)
		}
		order, _ := s.compare(a.key, b.key)
		return order
	})
	return unkeyed(items)
}

func nilsLast(a, b any) int {
	rank := func(v any) int {
		if v == nil {
			return 1
		}
		return 0
	}
	return cmp.Compare(rank(a), rank(b))
}

func uniq(s *state, in any, args []any) any {
	items := s.itemsWithKey(in, argument(args, 0))
	seen := make(map[any]bool, len(items))
	kept := items[:0]
	for _, item := range items {
		key := item.key
		switch k := key.(type) {
		case nil, bool, int64, float64, string, special, span:
		case Raw:
			key = string(k)
		default:
			key = Raw(s.text(k)) // different from all keys of other types
		}
		if !s.tick(nodeCost) {
			return nil
		}
		if !seen[key] {
			seen[key] = true
			kept = append(kept, item)
		}
	}
	return unkeyed(kept)
}

func compact(s *state, in any, args []any) any {
	items := s.itemsWithKey(in, argument(args, 0))
	return unkeyed(slices.DeleteFunc(items, func(i keyedItem) bool { return i.key == nil }))
}

func concat(s *state, in any, args []any) any {
	switch args[0].(type) {
	case []any, span:
	default:
		return s.fail("concat takes a list, not %s", kindOf(args[0]))
	}
	a, b := s.list(in), s.list(args[0])
	if !s.chargeElements(len(a) + len(b)) {
		return nil
	}
	return slices.Concat(a, b)
}

func mapFilter(s *state, in any, args []any) any {
	list := s.list(in)
	if !s.chargeElements(len(list)) {
		return nil
	}
	mapped := make([]any, len(list))
	for i, item := range list {
		item = s.normalize(item)
		v, ok := s.property(item, args[0])
		if !ok && item != nil {
			return s.propertyError(item, args[0])
		}
		mapped[i] = v
	}
	return mapped
}

func reverse(s *state, in any, _ []any) any {
	list := s.list(in)
	if !s.chargeElements(len(list)) {
		return nil
	}
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// join puts a separator, by default a space, between the items of a list.
func join(s *state, in any, args []any) any {
	var separator any = " "
	if len(args) > 0 {
		separator = args[0]
	}
	list := s.list(in)
	isRaw := s.html && (slices.ContainsFunc(list, isRawValue) || isRawValue(separator))
	glue := s.partText(separator, isRaw)
	var b []byte
	for i, item := range list {
		if i > 0 {
			if !s.charge(len(glue)) {
				return nil
			}
			b = append(b, glue...)
		}
		text := s.partText(s.normalize(item), isRaw)
		if !s.charge(len(text)) || !s.tick(nodeCost) {
			return nil
		}
		b = append(b, text...)
	}
	return filterResult(string(b), isRaw)
}

func isRawValue(v any) bool {
	_, ok := v.(Raw)
	return ok
}

// partText returns a part of a text, escaped if the whole is Raw and the part is not.
func (s *state) partText(v any, inRaw bool) string {
	text := s.text(v)
	if inRaw && !isRawValue(v) {
		return s.escaped(text)
	}
	return text
}

func sum(s *state, in any, args []any) any {
	var total any = int64(0)
	key := argument(args, 0)
	for _, item := range s.list(in) {
		if !s.tick(nodeCost) {
			return nil
		}
		item = s.normalize(item)
		if key != nil {
			v, ok := s.property(item, key)
			if !ok && item != nil {
				return s.propertyError(item, key)
			}
			item = v
		}
		total = s.arithmetic('+', total, item)
	}
	return total
}
