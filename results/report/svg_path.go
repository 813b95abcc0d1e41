package report

import (
	"math"
	"regexp"
	"strconv"
)

// straight is a path of straight lines as the canvas writes it: absolute positions.
var (
	straight = regexp.MustCompile(`^([ML]-?[\d.]+,-?[\d.]+|Z)+$`)
	pathStep = regexp.MustCompile(`([ML])(-?[\d.]+),(-?[\d.]+)|Z`)
)

// compact writes the data of a path to a tenth of a point and, if it is one of straight lines, as
// steps from point to point, which takes half the room. Rounding does not add up: each point
// lies where it would by itself. Of points on a level line the first and the last are kept.
func compact(data []byte) []byte {
	if !straight.Match(data) {
		return fineNumber.ReplaceAllFunc(data, tenths)
	}
	var out []byte
	type place struct{ x, y int64 } // tenths
	var at, start, level place      // level: a step with no height that is not written yet
	flush := func() {
		if level.x != 0 {
			out = appendStep(out, 'l', level.x, 0)
			level.x = 0
		}
	}
	for _, step := range pathStep.FindAllSubmatch(data, -1) {
		if step[0][0] == 'Z' {
			flush()
			out, at = append(out, 'z'), start
			continue
		}
		to := place{inTenths(step[2]), inTenths(step[3])}
		dx, dy := to.x-at.x, to.y-at.y
		switch {
		case step[1][0] == 'M':
			flush()
			out, start = appendStep(out, 'M', to.x, to.y), to
		case dy == 0 && (level.x == 0 || level.x > 0 == (dx > 0)):
			level.x += dx
		case dy == 0:
			flush()
			level.x = dx
		default:
			flush()
			out = appendStep(out, 'l', dx, dy)
		}
		at = to
	}
	flush()
	return out
}

func inTenths(number []byte) int64 {
	v, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		return 0
	}
	return int64(math.Round(v * 10))
}

// appendStep writes a command with two numbers; that of the step before is not repeated.
func appendStep(out []byte, command byte, x, y int64) []byte {
	first := len(out) == 0 || command == 'M' || !hasStep(out)
	if first {
		out = append(out, command)
	} else if x >= 0 {
		out = append(out, ' ')
	}
	out = appendTenths(out, x)
	if y >= 0 {
		out = append(out, ' ')
	}
	return appendTenths(out, y)
}

// hasStep reports whether the last command of out is a relative line.
func hasStep(out []byte) bool {
	for i := len(out) - 1; i >= 0; i-- {
		switch out[i] {
		case 'l':
			return true
		case 'M', 'z':
			return false
		}
	}
	return false
}

func appendTenths(out []byte, v int64) []byte {
	if v < 0 {
		out, v = append(out, '-'), -v
	}
	if v >= 10 || v%10 == 0 {
		out = strconv.AppendInt(out, v/10, 10)
	}
	if rest := v % 10; rest != 0 {
		out = append(out, '.', byte('0'+rest))
	}
	return out
}
