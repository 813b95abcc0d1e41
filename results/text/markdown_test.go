package text

import (
	"regexp"
	"strings"
	"testing"

	"qsim/results"
	"qsim/results/measure"
)

// hostile is a label that would end cells, begin emphasis, code, links, elements, headings and entities in Markdown.
const hostile = "# a|b *c* _d_ `e` <b>f [g](h) [i]: j\\ &amp; ~~k~~"

// TestMarkdownShowsNamesAsTheyAre checks that no name of a user is taken for markup, in any table in Markdown.
func TestMarkdownShowsNamesAsTheyAre(t *testing.T) {
	sum := summarized(t, 6)
	for i := range sum.Policies {
		old, own := sum.Policies[i].Label, hostile+strings.Repeat("!", i)
		sum.Policies[i].Label = own
		for k := range sum.Objectives {
			if sum.Objectives[k].Policy == old {
				sum.Objectives[k].Policy, sum.Objectives[k].Outcome, sum.Objectives[k].Expect = own, results.Missed, false
			}
		}
	}
	sum.Scenario, sum.Settings.Storms[0].Name = hostile, hostile
	base := result(hostile, map[string][]float64{"sojourn.mean": before})
	base.Scenario = hostile
	c := compared(t, base, base, results.Gate{})
	c.Base.Name, c.New.Name, c.Warnings = hostile, hostile, []string{hostile}
	c.Keys = []results.KeyChange{{Key: hostile, Base: hostile, New: hostile + "!"}}
	sweep := &results.Sweep{Scenario: hostile, Axes: []results.Axis{{Key: hostile, Values: []string{"<b>*"}}}, Seeds: []uint64{1},
		Policies: []measure.PolicyInfo{{Label: hostile}}, Cells: []results.Cell{{Rows: []results.CellRow{{}}}}}
	o := TableOptions{Format: Markdown}
	for name, page := range map[string]string{"summary": Summary(sum, o), "comparison": Comparisons([]*results.Comparison{c}, o),
		"sweep": Sweep(sweep, o), "cells": Cells([]string{hostile}, [][]string{{hostile}}, 1, o), "prose": o.Prose(hostile)} {
		if left := regexp.MustCompile("[`*_<~&]|\\][(\\[:]|(?m:^[#>])").FindString(unmarked(page)); left != "" || !strings.Contains(page, "\\~") {
			t.Errorf("%s has %q as markup:\n%s", name, left, page)
		}
		cells := -1
		for _, line := range strings.Split(page, "\n") {
			if bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "|") {
				if cells < 0 {
					cells = bars
				}
				if bars != cells {
					t.Errorf("%s: %d cell ends instead of %d: %s", name, bars, cells, line)
				}
			}
		}
	}
	for s, want := range map[string]string{"snake_case [a, b] > c": "snake_case [a, b] > c", "> x": `\> x`, "## x": `\## x`, "a*b_": `a\*b\_`, "1. FIFO": `1\. FIFO`, "- x": `\- x`, "+ ": `\+ `, "1.5s": "1.5s", "+6%": "+6%", "-": `\-`} {
		if got := o.Prose(s); got != want+"\n" {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

// unmarked removes from a page in Markdown the markup that this package writes, and characters that are escaped.
func unmarked(page string) string {
	page = regexp.MustCompile(`\\[[:punct:]]`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`(?m)^\*\*(.*)\*\*`).ReplaceAllString(page, "$1")
	return regexp.MustCompile(`(?m)^\|.*\|$`).ReplaceAllStringFunc(page, func(row string) string { return strings.ReplaceAll(row, "|", "") })
}
