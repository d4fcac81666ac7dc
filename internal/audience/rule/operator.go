package rule

import "slices"

// kind determines the operators and values of a field of contacts.
type kind int

const (
	textKind kind = iota + 1
	numberKind
	booleanKind
	choiceKind // one of a vocabulary: enum, country, time zone, status, stage
	dateKind
	momentKind
	clockKind
	tagsKind
	referenceKind // to a record, by its id
	listKind
	consentKind
)

var dateOperators = []Operator{
	On, NotOn, Before, After, OnOrBefore, OnOrAfter, Between, InTheLast, NotInTheLast, InTheNext, MoreThanAgo, AnniversaryInNext, IsSet, IsNotSet,
}

// operators are the operators of each kind.
var operators = map[kind][]Operator{
	textKind:      {Equals, NotEquals, Contains, NotContains, StartsWith, EndsWith, In, NotIn, IsSet, IsNotSet},
	numberKind:    {Equals, NotEquals, GreaterThan, GreaterOrEqual, LessThan, LessOrEqual, Between, In, NotIn, IsSet, IsNotSet},
	booleanKind:   {Equals, IsTrue, IsFalse, IsSet, IsNotSet},
	choiceKind:    {Equals, NotEquals, In, NotIn, IsSet, IsNotSet},
	dateKind:      dateOperators,
	momentKind:    dateOperators,
	clockKind:     {Equals, Before, After, Between, IsSet, IsNotSet},
	tagsKind:      {HasAny, HasAll, HasNone, IsSet, IsNotSet},
	referenceKind: {Equals, NotEquals, In, NotIn, IsSet, IsNotSet},
	listKind:      {In, NotIn},
	consentKind:   {Subscribed, Unsubscribed},
}

// aliases are alternative names of operators in requests.
var aliases = map[string]Operator{
	"eq": Equals, "is": Equals, "=": Equals,
	"neq": NotEquals, "is_not": NotEquals, "!=": NotEquals,
	"gt": GreaterThan, "gte": GreaterOrEqual, "lt": LessThan, "lte": LessOrEqual,
	"exists": IsSet, "not_exists": IsNotSet, "is_empty": IsNotSet,
}

// canonical returns the operator for a name in a request.
func canonical(s string) Operator {
	if op, ok := aliases[s]; ok {
		return op
	}
	return Operator(s)
}

// operator returns the canonical operator, and whether fields of the kind have it.
func (k kind) operator(s string) (Operator, bool) {
	op := canonical(s)
	if k == tagsKind && op == Contains {
		op = HasAny
	}
	return op, slices.Contains(operators[k], op)
}

// positives maps each negative operator to its positive one. Negative operators therefore match
// unset values.
var positives = map[Operator]Operator{
	NotEquals:    Equals,
	NotContains:  Contains,
	NotIn:        In,
	HasNone:      HasAny,
	NotOn:        On,
	NotInTheLast: InTheLast,
	IsNotSet:     IsSet,
	Unsubscribed: Subscribed,
	DidNot:       Did,
	NotListed:    Listed,
	Never:        Ever,
}

// positive returns the positive operator of op, and whether op is negative.
func (op Operator) positive() (Operator, bool) {
	if p, ok := positives[op]; ok {
		return p, true
	}
	return op, false
}

// shape is the form of an operator's value.
type shape int

const (
	nothing   shape = iota
	oneValue        // of the field's kind
	twoValues       // the first not after the second
	manyValues
	aSpan // {"amount", "unit"}
)

// shape returns the form of the value of op.
func (op Operator) shape() shape {
	switch op {
	case IsSet, IsNotSet, IsTrue, IsFalse, Subscribed, Unsubscribed:
		return nothing
	case Between:
		return twoValues
	case In, NotIn, HasAny, HasAll, HasNone:
		return manyValues
	case InTheLast, NotInTheLast, InTheNext, MoreThanAgo, AnniversaryInNext:
		return aSpan
	}
	return oneValue
}
