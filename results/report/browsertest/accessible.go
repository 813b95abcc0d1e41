package browsertest

import (
	"flag"
	"os"

	"github.com/chromedp/chromedp"
)

var axe = flag.String("axe", "", "check pages with this `file` too: axe.min.js of axe-core")

// Accessible fails the test if the page has a barrier for users of screen readers or keyboards: controls without names,
// references without targets, duplicate identifiers, skipped heading levels, or text of low contrast. With -axe it
// also runs axe-core.
func (tb *Tab) Accessible() {
	tb.t.Helper()
	if faults := Eval[[]string](tb, `(() => {
		const faults = [], all = selector => [...document.querySelectorAll(selector)].filter(e => e.checkVisibility());
		const name = e => e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent || e.title;
		for (const e of all("input, select, button, a, [role=region], dialog[open]")) if (!(name(e) || "").trim()) faults.push("no name: " + e.outerHTML.slice(0, 120));
		for (const key of ["aria-describedby", "aria-labelledby"]) for (const e of document.querySelectorAll("[" + key + "]")) if (!e.getAttribute(key).split(" ").every(id => document.getElementById(id))) faults.push(key + " leads nowhere: " + e.getAttribute(key));
		const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
		for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push("twice: " + id);
		let level = 0;
		for (const h of all("h1, h2, h3, h4")) { const n = Number(h.tagName[1]); if (n > level + 1 && level) faults.push("heading: " + h.textContent); level = n; }
		const channels = color => { const c = new OffscreenCanvas(1, 1).getContext("2d"); c.fillStyle = color; c.fillRect(0, 0, 1, 1); return c.getImageData(0, 0, 1, 1).data; };
		const light = color => [...channels(color)].slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
		const ground = e => { for (; e; e = e.parentElement) { const color = getComputedStyle(e).backgroundColor; if (channels(color)[3] === 255) return color; } return getComputedStyle(document.documentElement).getPropertyValue("--bg"); };
		for (const e of all("body *:not(svg *)")) {
			if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || e.closest(".hide, .skip") || e.disabled) continue;
			const a = light(getComputedStyle(e).color), b = light(ground(e)), contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
			if (contrast < 4.5) faults.push("contrast " + contrast.toFixed(1) + ": " + e.textContent.trim().slice(0, 60));
		}
		return faults;
	})()`); len(faults) > 0 {
		tb.t.Errorf("%d faults: %q", len(faults), faults)
	}
	if *axe == "" {
		return
	}
	script, err := os.ReadFile(*axe)
	if err != nil {
		tb.t.Fatal(err)
	}
	tb.Run(chromedp.Evaluate[chromedp.Void](string(script) + ";undefined"))
	if faults := Eval[[]string](tb, `axe.run({preload: false}).then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.html.slice(0, 200) + " " + n.failureSummary.slice(0, 200))))`); len(faults) > 0 {
		tb.t.Errorf("axe-core finds %d faults: %q", len(faults), faults)
	}
}
