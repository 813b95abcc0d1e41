package engine

// line is a queue that its elements leave at or near the front: to put one in costs, on
// average, the same however many there are, and to take one out as much as there are
// before it. The zero line is empty.
type line[T any] struct {
	elements []T
	first    int // those before have left
}

// all are the elements, first come first. It is valid until the line changes.
func (l *line[T]) all() []T { return l.elements[l.first:] }

func (l *line[T]) push(v T) {
	if l.first > len(l.elements)/2 {
		n := copy(l.elements, l.all())
		clear(l.elements[n:])
		l.elements, l.first = l.elements[:n], 0
	}
	l.elements = append(l.elements, v)
}

// remove takes out the element that all has at i.
func (l *line[T]) remove(i int) {
	in := l.all()
	copy(in[1:i+1], in[:i])
	clear(in[:1])
	if l.first++; l.first == len(l.elements) {
		l.elements, l.first = l.elements[:0], 0
	}
}
