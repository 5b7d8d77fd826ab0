package main

import (
	"math"
	"slices"
)

func sqrt(v float64) float64 { return math.Sqrt(max(v, 0)) }

// A matrix is square, row by row.
type matrix [][]float64

func newMatrix(n int) matrix {
	m := make(matrix, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

// add adds the outer product of v with itself, weighted, to m.
func (m matrix) add(v []float64, weight float64) {
	for i, x := range v {
		for j, y := range v {
			m[i][j] += weight * x * y
		}
	}
}

// root returns the lower triangle whose product with its transpose is m, which
// must be positive.
func (m matrix) root() matrix {
	l := newMatrix(len(m))
	for i := range m {
		for j := range i + 1 {
			sum := m[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(sum)
			} else {
				l[i][j] = sum / l[j][j]
			}
		}
	}
	return l
}

// solve returns x with l x = v, for a lower triangle.
func (l matrix) solve(v []float64) []float64 {
	x := slices.Clone(v)
	for i := range x {
		for k := range i {
			x[i] -= l[i][k] * x[k]
		}
		x[i] /= l[i][i]
	}
	return x
}

// solveTransposed returns x with lᵀ x = v.
func (l matrix) solveTransposed(v []float64) []float64 {
	x := slices.Clone(v)
	for i := len(x) - 1; i >= 0; i-- {
		for k := i + 1; k < len(x); k++ {
			x[i] -= l[k][i] * x[k]
		}
		x[i] /= l[i][i]
	}
	return x
}

// between returns l⁻¹ m l⁻ᵀ, for a symmetric m.
func (l matrix) between(m matrix) matrix {
	out := newMatrix(len(m))
	for i := range m {
		out[i] = l.solve(m[i]) // row i of m l⁻ᵀ
	}
	for j := range out {
		column := make([]float64, len(out))
		for i := range out {
			column[i] = out[i][j]
		}
		for i, v := range l.solve(column) {
			out[i][j] = v
		}
	}
	return out
}

// eigen returns the eigenvectors of a symmetric matrix, that of the largest value
// first, by Jacobi's rotations. It destroys m.
func (m matrix) eigen() [][]float64 {
	vectors := newMatrix(len(m))
	for i := range m {
		vectors[i][i] = 1
	}
	for range 20 {
		for p := range m {
			for q := p + 1; q < len(m); q++ {
				if math.Abs(m[p][q]) > 1e-14 {
					m.rotate(vectors, p, q)
				}
			}
		}
	}
	order := make([]int, len(m))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if m[i][i] > m[j][j] {
			return -1
		}
		return 1
	})
	sorted := make([][]float64, len(m))
	for i, o := range order {
		sorted[i] = vectors[o]
	}
	return sorted
}

// rotate makes m[p][q] nothing, and turns the vectors along.
func (m matrix) rotate(vectors matrix, p, q int) {
	angle := (m[q][q] - m[p][p]) / (2 * m[p][q])
	t := math.Copysign(1/(math.Abs(angle)+math.Sqrt(angle*angle+1)), angle)
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	turn := func(x, y *float64) { *x, *y = c**x-s**y, s**x+c**y }
	for k := range m {
		turn(&m[k][p], &m[k][q])
	}
	for k := range m {
		turn(&m[p][k], &m[q][k])
		turn(&vectors[p][k], &vectors[q][k])
	}
}
