package memorysvc

// Split gives tests the parts of a body.
var Split = split
