// Package recall finds the notes of a project that answer a question asked in
// plain words, in English or in French, without a language model.
//
// It is a pure, in-memory index: it knows no store and no service, keeps a
// copy of what it is given and forgets everything with the process. Notes are
// the truth; an Index is rebuilt from them whenever it is wanted.
//
// # How a query is answered
//
// Text is cut into words; identifiers give their parts and themselves. Words
// are indexed as they are written, without accents and in lower case; the
// English and the French stem of each distinct word lead back to it. A query
// becomes units, one for each word that carries meaning. A unit has
// alternatives: the word itself, words of the same stem, compounds, and what
// the glossary knows (translations, synonyms, related words). For one note a
// unit counts once, by its best alternative, and an alternative never counts
// more than the word itself would. The score of a note is BM25F over its
// fields divided by what a note could reach at best, so that it lies between
// 0 and 1.
//
// Notes that matching notes link to gain a part of their score. Notes whose
// match is too thin a part of the question are not returned: a question about
// something the notes do not hold has no answer. Of notes that say the same,
// the first comes first and the others later.
//
// Answers are deterministic: the same notes and query give the same hits in
// the same order, whatever the history of the index.
package recall
