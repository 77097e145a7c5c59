
"use strict";
(function () {
  var root = document.documentElement;
  var each = function (list, f) { Array.prototype.forEach.call(list, f); };

  // The theme is the system's until the button is pressed.
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var chosen = function () {
    try { return localStorage.getItem("gapwise-theme"); } catch (e) { return null; } // not allowed here
  };
  if (chosen()) { root.dataset.theme = chosen(); }
  document.getElementById("theme").addEventListener("click", function () {
    root.dataset.theme = (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
    try { localStorage.setItem("gapwise-theme", root.dataset.theme); } catch (e) { /* for this visit alone */ }
  });

  var said = document.getElementById("said"), timer = 0;
  var say = function (text) {
    said.textContent = text;
    clearTimeout(timer);
    timer = setTimeout(function () { said.textContent = ""; }, 2000);
  };

  // compare orders two texts: as numbers if both are, unknown figures last whatever
  // the direction.
  var compare = function (a, b, sign) {
    var x = parseFloat(a), y = parseFloat(b), nx = a === "" || a === "–", ny = b === "" || b === "–";
    if (nx || ny) { return nx - ny; }
    if (a === "NaN" || b === "NaN") { return (a === "NaN") - (b === "NaN"); }
    if (!isNaN(x) && !isNaN(y) && isFinite(a.replace("+Inf", "1e308")) && isFinite(b.replace("+Inf", "1e308"))) {
      return sign * (parseFloat(a.replace("+Inf", "1e308")) - parseFloat(b.replace("+Inf", "1e308")));
    }
    return sign * a.localeCompare(b, "en", { numeric: true });
  };
  var reorder = function (parent, all, key, sign) {
    var keyed = Array.prototype.map.call(all, function (e, k) { return [key(e), k, e]; });
    keyed.sort(function (a, b) { return compare(a[0], b[0], sign) || a[1] - b[1]; });
    var f = document.createDocumentFragment();
    keyed.forEach(function (e) { f.appendChild(e[2]); });
    parent.appendChild(f);
  };

  // filters shows the elements that hold the text and have the chosen values.
  var filters = function (box, all) {
    var text = box.querySelector("input[type=search]"), out = box.querySelector("output");
    var selects = box.querySelectorAll("select[data-index]");
    var apply = function () {
      var want = text.value.trim().toLowerCase(), n = 0;
      each(all(), function (e) {
        var ok = want === "" || e.textContent.toLowerCase().indexOf(want) >= 0;
        each(selects, function (s) {
          if (s.value !== "" && e.getAttribute("data-v" + s.dataset.index) !== s.value) { ok = false; }
        });
        e.hidden = !ok;
        if (ok) { n++; }
      });
      out.textContent = n + " of " + all().length;
    };
    text.addEventListener("input", apply);
    each(selects, function (s) { s.addEventListener("change", apply); });
    apply();
  };

  // A row of the table of instances is a tbody of its own, with what opens below it.
  each(document.querySelectorAll(".sheet"), function (sheet) {
    var table = sheet.querySelector("table"), heads = table.tHead.rows[0].cells, items = sheet.classList.contains("items");
    var parent = items ? table : table.tBodies[0];
    var all = function () { return items ? table.tBodies : parent.rows; };
    each(heads, function (th, k) {
      th.querySelector("button").addEventListener("click", function () {
        var sign = th.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        each(heads, function (h) { h.removeAttribute("aria-sort"); });
        th.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        reorder(parent, all(), function (r) {
          var c = (items ? r.rows[0] : r).cells[k];
          return c.dataset.sort === undefined ? c.textContent : c.dataset.sort;
        }, sign);
      });
    });
    if (items) {
      each(table.tBodies, function (body) {
        var open = body.querySelector(".open");
        open.addEventListener("click", function () {
          var inside = body.rows[1];
          inside.hidden = !inside.hidden;
          open.setAttribute("aria-expanded", !inside.hidden);
        });
      });
    }
    var box = sheet.querySelector(".filters");
    if (box && box.parentNode === sheet) { filters(box, all); }
  });

  each(document.querySelectorAll(".figures"), function (set) {
    var selects = set.querySelectorAll("select"), all = set.querySelectorAll("figure");
    var show = function () {
      var first = null, shown = 0;
      each(all, function (f) {
        var ok = true;
        each(selects, function (s) { if (f.getAttribute("data-k" + s.dataset.index) !== s.value) { ok = false; } });
        f.hidden = !ok;
        if (ok) { shown++; }
        first = first || f;
      });
      if (!shown && first) { first.hidden = false; }
    };
    each(selects, function (s) { s.addEventListener("change", show); });
    if (selects.length) { show(); }
    each(all, function (f) {
      var curves = f.querySelectorAll("g[data-curve]");
      each(f.querySelectorAll(".legend button"), function (b) {
        b.addEventListener("click", function () {
          var on = b.getAttribute("aria-pressed") !== "true";
          b.setAttribute("aria-pressed", on);
          each(curves, function (g) { if (g.dataset.curve === b.dataset.curve) { g.toggleAttribute("hidden", !on); } });
        });
        var dim = function (yes) {
          each(curves, function (g) { g.classList.toggle("dimmed", yes && g.dataset.curve !== b.dataset.curve); });
        };
        b.addEventListener("mouseenter", function () { dim(true); });
        b.addEventListener("mouseleave", function () { dim(false); });
      });
    });
  });

  addEventListener("beforeprint", function () {
    each(document.querySelectorAll("details"), function (d) { d.open = true; });
  });

  each(document.querySelectorAll(".copy"), function (b) {
    b.addEventListener("click", function () {
      var code = b.parentNode.querySelector("code"), done = function () { say("Copied"); };
      var select = function () {
        var range = document.createRange(), s = getSelection();
        range.selectNodeContents(code);
        s.removeAllRanges();
        s.addRange(range);
        try { if (document.execCommand("copy")) { done(); } else { say("Selected: copy it"); } } catch (e) { say("Selected: copy it"); }
      };
      if (navigator.clipboard && window.isSecureContext) { navigator.clipboard.writeText(code.textContent).then(done, select); } else { select(); }
    });
  });
})();
