package console

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const loaded = `document.querySelectorAll("#nodes tbody tr").length === 6 && document.querySelector("#live").textContent === "live"`

// cell is an expression for a cell of a node's row.
func cell(node, column string) string {
	return fmt.Sprintf(`document.querySelector('#nodes tr[data-node=%s] td[data-label="%s"]').textContent`, node, column)
}

// button is a selector of the button of a verb.
func button(words string) string {
	return `[data-words='[[` + words + `]]']`
}

// A newcomer finds out which node owns a key, and causes a failover.
func TestTour(t *testing.T) {
	r := start(t, "--replicas", "1", "--node-timeout", "2s")
	p := visit(t, r.URL, 1280, 900)
	p.until(loaded)
	if got := p.text("#agree"); got != "nodes agree" {
		t.Errorf("the badge says %q", got)
	}

	// Live: what a client does is seen without a reload.
	ctx := context.Background()
	if err := r.client.Set(ctx, "{user:42}:cart", "apples", 0).Err(); err != nil {
		t.Fatal(err)
	}
	// CLUSTER KEYSLOT {user:42}:cart is 15880, which the third of three masters has.
	p.until(cell("n3", "Keys") + ` === "1"`)
	p.until(`[...document.querySelectorAll("#feed tbody td.mono")].some(td => td.textContent === "set {user:42}:cart apples")`)

	// Which slot is this key?
	p.write("#key", "{user:42}:cart")
	p.until(`document.querySelector("#answer [data-owner]")?.dataset.owner === "n3"`)
	if got := p.text("#answer [data-slot]"); got != "slot 15880" {
		t.Errorf("the slot is %q", got)
	}
	if got := p.text("#answer mark"); got != "user:42" {
		t.Errorf("the tag highlighted is %q", got)
	}
	p.click("#answer button")
	p.until(`document.querySelector("#value td.mono")?.textContent === "apples"`)

	// A failover by click, shown as the command that does the same.
	p.click(button(`"failover","n1"`))
	p.until(cell("n1", "Role") + ` === "replica of n4"`)
	p.until(`document.querySelector("#said").textContent === "OK"`)
	if got := p.text("#line"); !strings.HasPrefix(got, "fakecluster ctl --addr 127.0.0.1:") || !strings.HasSuffix(got, " failover n1") {
		t.Errorf("the line is %q", got)
	}
	p.until(`document.querySelector("#legend").textContent.includes("n4 5461")`)
	if nodes := r.client.ClusterNodes(ctx).Val(); !strings.Contains(nodes, "slave") {
		t.Errorf("the nodes: %s", nodes)
	}
}

// Two sides are made by dragging a node, and with the keyboard.
func TestPartition(t *testing.T) {
	r := start(t, "--replicas", "1", "--node-timeout", "1s")
	p := visit(t, r.URL, 1280, 1000)
	p.until(loaded)
	p.do(chromedp.ScrollIntoView(chromedp.CSS("#network")))
	type place struct{ X, Y float64 }
	middle := func(selector string) place {
		return eval[place](p, fmt.Sprintf(`(() => { const b = document.querySelector(%q).getBoundingClientRect(); return {X: b.x + b.width / 2, Y: b.y + b.height / 2} })()`, selector))
	}
	from, to := middle("[data-chip=n1]"), middle("[data-side='1']")
	p.do(chromedp.DragAndDropXY(from.X, from.Y, to.X, to.Y))
	p.until(`document.querySelector("[data-side='1'] [data-chip=n1]") !== null`)
	p.do(chromedp.Focus(chromedp.CSS("[data-chip=n5]")), chromedp.KeyEvent(kb.ArrowRight))
	p.until(`document.querySelector("[data-side='1'] [data-chip=n5]") !== null`)
	if got := p.text("#line"); !strings.HasSuffix(got, "partition n1,n5 '|' n2,n3,n4,n6") {
		t.Errorf("the line is %q", got)
	}
	p.click("#cut")
	p.until(`document.querySelector("#cuts").textContent.startsWith("n1 is not heard by n2, n3, n4, n6")`)
	// The majority elects n4, and the page tells both sides apart.
	p.until(cell("n4", "Role") + ` === "master"`)
	p.until(`document.querySelector("#agree").textContent.startsWith("nodes disagree")`)
	p.shot("partition")
	p.choose("#view", "n1")
	p.until(cell("n4", "Role") + ` === "replica of n1"`)
	p.click(button(`"heal"`))
	p.until(cell("n1", "Role") + ` === "replica of n4"`)
	p.until(`document.querySelector("#cuts").textContent === "All nodes hear each other."`)
}

// Slots are chosen with the keyboard, moved by the form, and told to readers.
func TestMapAndForms(t *testing.T) {
	r := start(t, "--replicas", "1")
	p := visit(t, r.URL, 1280, 900)
	p.until(loaded)
	said := `document.querySelector("#slots").getAttribute("aria-valuetext")`
	p.do(chromedp.Focus(chromedp.CSS("#slots")), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight))
	p.until(said + ` === "Slot 129: n1"`)
	p.do(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	p.until(`document.querySelector("#move").slots.value === "129-130"`)
	p.choose("#move select", "n3")
	p.click("#move button:not([name])")
	p.until(`document.querySelector("#legend").textContent.includes("n3 5463")`)
	p.until(said + `.startsWith("Slot 130: n3")`)

	p.write("#fault input[name=command]", "get")
	p.click("#fault button")
	p.until(`document.querySelector("#faults code")?.textContent === "fault on command get error OOM"`)
	if err := r.client.Get(context.Background(), "x").Err(); err == nil || !strings.HasPrefix(err.Error(), "OOM") {
		t.Errorf("GET: %v", err)
	}
	p.click(button(`"fault-remove","1"`))
	p.until(`document.querySelector("#faults code") === null`)

	p.click(button(`"clock","advance","1h"`))
	p.until(`/\(\+36\d\d s\)/.test(document.querySelector("#clock").textContent)`)
}

// Every control has a name that a screen reader can say.
func TestControlsHaveNames(t *testing.T) {
	r := start(t, "--replicas", "1")
	p := visit(t, r.URL, 1280, 900)
	p.until(loaded)
	tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	controls := map[string]int{}
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		role := strings.Trim(string(node.Role.Value), `"`)
		switch role {
		case "button", "textbox", "combobox", "checkbox", "slider", "table", "region":
		default:
			continue
		}
		controls[role]++
		if role != "table" && (node.Name == nil || strings.Trim(string(node.Name.Value), `"`) == "") {
			t.Errorf("a %s has no name: %v", role, node.BackendDOMNodeID)
		}
	}
	for _, role := range []string{"button", "textbox", "combobox", "checkbox", "slider", "region"} {
		if controls[role] == 0 {
			t.Errorf("there is no %s", role)
		}
	}
}

// A small screen shows all without scrolling sideways, dark or light.
func TestSmallScreen(t *testing.T) {
	r := start(t, "--replicas", "1")
	p := visit(t, r.URL, 360, 740)
	p.until(loaded)
	for _, scheme := range []string{"light", "dark"} {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media); err != nil {
			t.Fatal(err)
		}
		if width := eval[int](p, "document.documentElement.scrollWidth"); width > 360 {
			t.Errorf("%s: the page is %d pixels wide", scheme, width)
		}
		p.shot("small-" + scheme)
	}
	light := eval[bool](p, `matchMedia("(prefers-color-scheme: light)").matches`)
	ground := `getComputedStyle(document.body).backgroundColor`
	before := eval[string](p, ground)
	p.click("#theme")
	if after := eval[string](p, ground); light || after == before {
		t.Errorf("the button changes the ground from %s to %s", before, after)
	}
}

// With a token the page asks for it once, unless the address has it.
func TestToken(t *testing.T) {
	r := start(t, "--replicas", "1", "--http-token", "secret")
	p := visit(t, strings.TrimSuffix(r.URL, "#token=secret"), 1280, 900)
	p.until(`document.querySelector("#ask").open`)
	p.write("#ask input", "secret"+kb.Enter)
	p.until(loaded)

	p = visit(t, r.URL, 1280, 900)
	p.until(loaded)
	if address := eval[string](p, "location.href"); strings.Contains(address, "secret") {
		t.Errorf("the address still holds the token: %s", address)
	}
}

// The pictures for the README: a cluster at work in the middle of a resharding,
// in both colours.
func TestPictures(t *testing.T) {
	r := start(t, "--replicas", "1", "--node-timeout", "2s")
	p := visit(t, r.URL, 1440, 1000)
	p.until(loaded)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	t.Cleanup(func() { stop(); <-ended })
	go func() {
		defer close(ended)
		work(ctx, r)
	}()
	p.write("#key", "{user:42}:cart")
	p.until(`document.querySelector("#answer [data-owner]") !== null`)
	p.choose("#any select", "migrate")
	p.write("#any input", "15880 n1"+kb.Enter)
	p.until(`document.querySelector("#moving").textContent.includes("n3 → n1")`)
	p.until(`Number(document.querySelector("#figures dd").textContent.replace(/,/g, "")) > 50`)
	p.until(`document.querySelector("#slot-said").textContent.includes("commands/s")`)
	seconds := eval[int](p, `Date.now() / 1000 | 0`)
	p.until(fmt.Sprintf(`Date.now() / 1000 > %d`, seconds+8)) // for the charts
	for _, scheme := range []string{"light", "dark"} {
		p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.documentElement.dataset.theme = %q; dispatchEvent(new Event("themed")); scrollTo(0, 0)`, scheme)))
		p.until(`document.querySelector(".chart canvas") !== null`)
		p.shot("console-" + scheme)
		p.keep("whole-"+scheme, chromedp.FullScreenshot(100))
	}
}

// work is what an application might do.
func work(ctx context.Context, r *running) {
	for i := 0; ctx.Err() == nil; i++ {
		user := rand.IntN(400)
		if rand.IntN(3) > 0 {
			user = 38 + rand.IntN(8)
		}
		key := fmt.Sprintf("{user:%d}", user)
		r.client.HSet(ctx, key+":profile", "visits", i)
		r.client.ZIncrBy(ctx, key+":seen", 1, fmt.Sprint("page", rand.IntN(20)))
		r.client.Get(ctx, key+":cart")
		if i%40 == 0 {
			r.client.Do(ctx, "MGET", "a", "b")
		}
	}
}
