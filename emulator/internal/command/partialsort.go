package command

// partialSort moves the n least elements to the front of s, in order. compare
// is negative, zero or positive as its first argument belongs before, beside or
// behind the second.
//
// It is the quicksort of Bentley and McIlroy, "Engineering a Sort Function",
// which leaves out the parts nobody asked for. Redis uses it too, and it is not
// stable: which of several equal elements come first depends on each of its
// steps, so that these must not be improved.
func partialSort[T any](s []T, compare func(a, b *T) int, n int) {
	for {
		if len(s) < 7 {
			insertionSort(s, compare)
			return
		}
		swap(s, 0, pivot(s, compare))
		less, greater := partition(s, compare)
		if less > 1 && n > 0 {
			partialSort(s[:less], compare, n)
		}
		start := len(s) - greater
		if greater <= 1 || n <= start {
			return
		}
		s, n = s[start:], n-start
	}
}

func swap[T any](s []T, i, j int) { s[i], s[j] = s[j], s[i] }

func insertionSort[T any](s []T, compare func(a, b *T) int) {
	for i := 1; i < len(s); i++ {
		for j := i; j > 0 && compare(&s[j-1], &s[j]) > 0; j-- {
			swap(s, j, j-1)
		}
	}
}

// pivot picks the median of three elements or, among many, of three medians.
func pivot[T any](s []T, compare func(a, b *T) int) int {
	n := len(s)
	low, middle, high := 0, n/2, n-1
	if n == 7 {
		return middle
	}
	if n > 40 {
		d := n / 8
		low = median(s, compare, low, low+d, low+2*d)
		middle = median(s, compare, middle-d, middle, middle+d)
		high = median(s, compare, high-2*d, high-d, high)
	}
	return median(s, compare, low, middle, high)
}

func median[T any](s []T, compare func(a, b *T) int, i, j, k int) int {
	a, b, c := &s[i], &s[j], &s[k]
	if compare(a, b) < 0 {
		switch {
		case compare(b, c) < 0:
			return j
		case compare(a, c) < 0:
			return k
		}
		return i
	}
	switch {
	case compare(b, c) > 0:
		return j
	case compare(a, c) < 0:
		return i
	}
	return k
}

// partition puts what is less than the first element before, and what is
// greater behind those equal to it, and returns how many there are of both.
func partition[T any](s []T, compare func(a, b *T) int) (less, greater int) {
	// Until the end, equal elements are kept in s[:a] and s[d+1:], lesser ones in
	// s[a:b] and greater ones in s[c+1:d+1].
	a, b, c, d := 1, 1, len(s)-1, len(s)-1
	for {
		for b <= c {
			order := compare(&s[b], &s[0])
			if order > 0 {
				break
			}
			if order == 0 {
				swap(s, a, b)
				a++
			}
			b++
		}
		for b <= c {
			order := compare(&s[c], &s[0])
			if order < 0 {
				break
			}
			if order == 0 {
				swap(s, c, d)
				d--
			}
			c--
		}
		if b > c {
			break
		}
		swap(s, b, c)
		b++
		c--
	}
	exchange(s, 0, b, min(a, b-a))
	exchange(s, b, len(s), min(d-c, len(s)-1-d))
	return b - a, d - c
}

// exchange swaps the n elements from start on with the n before end.
func exchange[T any](s []T, start, end, n int) {
	for i := range n {
		swap(s, start+i, end-n+i)
	}
}
