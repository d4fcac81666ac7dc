package fault

// ErrDeadline reports work that was ended because it took longer than a request
// may take. It has the code of every other outage; its details tell it apart.
var ErrDeadline = New(Unavailable, "UNAVAILABLE", "the request took longer than it may; try again, or ask for less").
	With(map[string]string{"reason": "deadline"})
