package memorysvc

// Split gives tests the parts of a body.
var Split = split

// Settle is how long a damaged note is recalled as it last was.
const Settle = settle

// Parse and Compose give tests a note's file in both directions.
var (
	Parse   = parseNote
	Compose = compose
)
