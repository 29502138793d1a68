// Package verdict is how a reviewer is asked and how its answer is read: the
// system prompt that tells it the form, and the one parser of that form.
//
// What it promises: only an answer that was made for this call is a verdict.
// A call has a nonce, which stands in its system prompt and nowhere else, so
// that no story, document, diff or earlier answer can hold it; the answer is one
// JSON object, exact to its keys; whatever else an agent says is no verdict, and
// never an accept.
//
// verdict.go reads answers, charter.go writes the system prompt.
package verdict
