/** The style of the page. Its digest is in the Content-Security-Policy, so nothing else can style it. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #ffffff; --panel: #f6f7f9; --line: #dde1e7; --text: #1c2430; --soft: #596475; --link: #0b5cad;
  --code: #eef1f5; --name: #7a3e00; --string: #1a6b2f;
  --get: #0b5cad; --post: #17703a; --put: #8a5300; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14181e; --panel: #1b2028; --line: #323a46; --text: #e3e8ef; --soft: #a0abba; --link: #7db8ff;
    --code: #262d38; --name: #f0b67a; --string: #8fd6a0;
    --get: #7db8ff; --post: #7fd6a0; --put: #f0b35a; --delete: #ff9a92;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--back); }
.skip:focus { left: 0; z-index: 2; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .875em; }
code { background: var(--code); border-radius: 3px; padding: .1em .3em; overflow-wrap: anywhere; }
pre {
  margin: .25rem 0 1rem; padding: .75rem 1rem; max-height: 26rem; overflow: auto;
  background: var(--panel); border: 1px solid var(--line); border-radius: 6px; font-size: .8125rem; line-height: 1.5;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
pre code { background: none; padding: 0; font-size: inherit; }
pre b { color: var(--name); font-weight: 400; }
pre i { color: var(--string); font-style: normal; }
h1 { margin: 0 0 .5rem; font-size: 2rem; line-height: 1.2; }
h2 { margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.25; }
h3 { margin: 0 0 .25rem; font-size: 1.15rem; line-height: 1.3; }
h3 a, h2 a { color: inherit; }
h4 { margin: 1.25rem 0 .25rem; font-size: .8125rem; color: var(--soft); font-weight: 600; }
p, ul { margin: .4rem 0 .75rem; }
ul { padding-left: 1.25rem; }
.layout { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem 3rem 1.25rem;
  background: var(--panel); border-right: 1px solid var(--line); font-size: .9rem;
}
nav ul { list-style: none; margin: 0; padding: 0; }
nav ul ul { margin: .1rem 0 .5rem .15rem; padding-left: .7rem; border-left: 1px solid var(--line); }
nav li { margin: .1rem 0; }
nav a { display: block; padding: .2rem 0; color: var(--text); overflow-wrap: anywhere; }
nav .group { margin: 1rem 0 .2rem; color: var(--soft); font-size: .8125rem; font-weight: 600; }
nav summary { cursor: pointer; padding: .2rem 0 .2rem 1em; text-indent: -1em; overflow-wrap: anywhere; }
nav summary + ul { text-indent: 0; }
nav ul ul a { display: flex; gap: .5rem; font-size: .85rem; align-items: baseline; }
nav > input, nav > label { display: none; }
main { padding: 2rem 2.5rem 5rem; min-width: 0; }
main > section { max-width: 84rem; margin-bottom: 3.5rem; }
.guide { max-width: 50rem; }
.lead { color: var(--soft); font-size: 1.05rem; }
.method { font: 600 .72rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: nowrap; }
nav .method { flex: none; width: 2.9rem; }
.method.get { color: var(--get); } .method.post { color: var(--post); }
.method.put { color: var(--put); } .method.delete { color: var(--delete); }
.route { margin: .25rem 0 .6rem; } .route .method { font-size: .85rem; margin-right: .25rem; }
.operation {
  display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 2.5rem;
  border-top: 1px solid var(--line); margin-top: 1.75rem; padding-top: 1.5rem;
}
.operation > * { min-width: 0; }
.example h4:first-child { margin-top: 0; }
.example .status { font-weight: 400; }
.names { line-height: 1.8; }
.names code { white-space: nowrap; }
.scroll { overflow-x: auto; margin: .4rem 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 600; font-size: .8125rem; }
tbody th { font-weight: 400; }
tbody th code { white-space: nowrap; }
.expected { display: block; color: var(--soft); font-size: .95em; }
.access { color: var(--soft); font-size: .9rem; }
.operators code { white-space: nowrap; }
.values { display: block; font-size: .85em; margin-top: .15rem; }
details > summary { cursor: pointer; }
main details { margin: .75rem 0; }
main details > summary { color: var(--link); }
@media (min-width: 80rem) {
  .operation { grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); }
  .example { position: sticky; top: 1rem; align-self: start; }
}
@media (max-width: 55rem) {
  .layout { grid-template-columns: minmax(0, 1fr); }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: .75rem 1rem; }
  nav > input { display: inline-block; position: absolute; opacity: 0; }
  nav > label { display: block; font-weight: 600; cursor: pointer; }
  nav > label::before { content: "▸"; display: inline-block; width: 1.2em; }
  nav > input:checked + label::before { content: "▾"; }
  nav > input:focus-visible + label { outline: 2px solid var(--link); outline-offset: 2px; }
  nav > input:not(:checked) ~ .contents { display: none; }
  main { padding: 1.25rem 1rem 4rem; }
  h1 { font-size: 1.6rem; }
}
@media (max-width: 40rem) {
  .scroll { overflow-x: visible; }
  table, tbody, tr, th, td { display: block; border: 0; padding: 0; }
  thead { display: none; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  tr:first-child { border-top: 1px solid var(--line); }
  tbody th code { white-space: normal; }
  td { padding-top: .15rem; }
  td[data-head]:not(:empty)::before { content: attr(data-head) ": "; color: var(--soft); }
}
`;
