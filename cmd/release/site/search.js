// Finds sections that have all words, those with a word in the title first. sections is before this: [address, title, text].
const box = document.getElementById("search"), list = document.getElementById("found"), up = document.body.dataset.up;
const most = 30;
function find() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.replaceChildren();
  list.hidden = !words.length;
  if (!words.length) return;
  const hits = [];
  for (const [to, title, text] of sections) {
    const low = text.toLowerCase(), name = title.toLowerCase();
    if (!words.every(w => low.includes(w) || name.includes(w))) continue;
    let rank = 0;
    for (const w of words) rank += (name.includes(w) ? 4 : 0) + (low.slice(0, 80).includes(w) ? 2 : 0) + Math.min(2, low.split(w).length - 1) / 4;
    hits.push({to, title, text, rank, at: Math.max(0, low.indexOf(words[0]) - 60)});
  }
  hits.sort((a, b) => b.rank - a.rank);
  for (const h of hits.slice(0, most)) {
    const item = document.createElement("li"), link = document.createElement("a"), words = document.createElement("small");
    link.href = up + h.to;
    link.textContent = h.title + (h.to.includes("#") ? " · " + h.to.split("#")[1].replaceAll("-", " ") : "");
    words.textContent = h.text.slice(h.at, h.at + 180);
    item.append(link, words);
    list.append(item);
  }
  if (!hits.length) list.append(Object.assign(document.createElement("li"), {textContent: "nothing found"}));
}
box.addEventListener("input", find);
