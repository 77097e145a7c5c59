"use strict";
// Finds the sections that hold all words of the query ?q=, the last as a beginning, and
// lists those first whose words are rare or stand in a heading.
(function () {
  var index = window.gapwiseIndex, query = new URLSearchParams(location.search).get("q") || "";
  var said = document.getElementById("said"), found = document.getElementById("found");
  document.querySelector(".find input").value = query;
  var words = query.toLowerCase().split(/[^\p{L}\p{N}_-]+/u).filter(function (w) { return w.length > 1; });
  if (!words.length) { return; }

  // sections returns a word's sections, which are stored as differences.
  var sections = function (word) {
    var at = 0;
    return index.words[word].map(function (d) { at += d; return at; });
  };
  var has = function (w) { return Object.prototype.hasOwnProperty.call(index.words, w); };
  var all = Object.keys(index.words), scores = null;
  words.forEach(function (word, k) {
    var mine = new Map();
    var matches = k === words.length - 1 ? all.filter(function (w) { return w.startsWith(word); }) : all.filter(function (w) { return w === word; });
    if (!matches.length) { matches = all.filter(function (w) { return w.includes(word); }); }
    matches.forEach(function (w) {
      var some = has(w) ? sections(w) : [], rare = Math.log(1 + index.parts.length / some.length) * (w === word ? 2 : 1);
      some.forEach(function (s) {
        var p = index.parts[s], title = (p[0] + " " + p[1]).toLowerCase(), score = rare;
        if (title.includes(word)) { score *= p[1] === "" || p[1].toLowerCase().includes(word) ? 4 : 1.5; }
        mine.set(s, Math.max(mine.get(s) || 0, score));
      });
    });
    if (scores) {
      scores.forEach(function (score, s) { if (mine.has(s)) { scores.set(s, score + mine.get(s)); } else { scores.delete(s); } });
    } else {
      scores = mine;
    }
  });

  var best = Array.from(scores).sort(function (a, b) { return b[1] - a[1] || a[0] - b[0]; });
  said.textContent = best.length + (best.length === 1 ? " section" : " sections") + " with “" + query + "”" + (best.length > 50 ? ", the first 50" : "");
  best.slice(0, 50).forEach(function (entry) {
    var p = index.parts[entry[0]], li = document.createElement("li"), a = document.createElement("a"), small = document.createElement("small");
    a.href = p[2];
    a.textContent = p[1] || p[0];
    small.textContent = p[1] ? " " + p[0] : "";
    li.append(a, small);
    found.append(li);
  });
})();
